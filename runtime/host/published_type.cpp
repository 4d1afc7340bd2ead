// SPDX-License-Identifier: Apache-2.0
#include "published_type.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace novaphy::host {
namespace {

/// Any class with virtual functions: the Itanium C++ ABI puts the pointer to its table first.
struct Polymorphic {
  virtual ~Polymorphic() = default;
};

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : type.name();
}

/// The offsets at which `type` holds bases of type `wanted`; itself at 0. A dynamic_cast cannot answer this:
/// it starts from a static type, which is what has to be found out. Virtual bases, whose offset stands in the
/// object, are not followed: an interface has none.
void offsets_of(const std::type_info& wanted, const std::type_info& type, std::ptrdiff_t at,
                std::vector<std::ptrdiff_t>& out) {
  if (type == wanted) out.push_back(at);
  if (const auto* single = dynamic_cast<const abi::__si_class_type_info*>(&type)) {
    offsets_of(wanted, *single->__base_type, at, out);
  } else if (const auto* many = dynamic_cast<const abi::__vmi_class_type_info*>(&type)) {
    for (unsigned i = 0; i < many->__base_count; ++i) {
      const abi::__base_class_type_info& base = many->__base_info[i];
      if (base.__is_virtual_p() || !base.__is_public_p()) continue;
      offsets_of(wanted, *base.__base_type, at + base.__offset(), out);
    }
  }
}

}  // namespace

std::string why_not_a(const std::type_info& wanted, void* object) {
  auto* any = static_cast<Polymorphic*>(object);
  const std::type_info& actual = typeid(*any);
  const auto* whole = static_cast<const char*>(dynamic_cast<const void*>(any));
  std::vector<std::ptrdiff_t> offsets;
  offsets_of(wanted, actual, 0, offsets);
  for (const std::ptrdiff_t offset : offsets)
    if (whole + offset == static_cast<const char*>(object)) return {};
  if (offsets.empty()) return "a " + readable(actual) + ", which is no " + readable(wanted);
  return "another part of a " + readable(actual) + "; publish a pointer of type " + readable(wanted) + "*";
}

}  // namespace novaphy::host
