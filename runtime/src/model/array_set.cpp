// SPDX-License-Identifier: Apache-2.0
// What Model, SimState, Control and Contacts have in common: a walk over named arrays.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/array_layout.hpp"

namespace novaphy {
namespace {

constexpr std::array kMatrices{"tri_poses", "tet_poses", "body_inertia", "body_inv_inertia"};

template <class T>
void fill_rows(DeviceArray& array, const std::vector<float>& row) {
  const std::span<T> values{static_cast<T*>(array.storage()->data_without_version()),
                            static_cast<std::size_t>(array.size())};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(row[i % row.size()]);
}

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_word = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), is_word);
}

bool of_contacts(Frequency frequency) {
  return frequency == Frequency::soft_contact || frequency == Frequency::rigid_contact ||
         frequency == Frequency::particle_shape;
}

/// Whole numbers below 2^24 survive the way through float.
bool fits(DType dtype, float value) {
  if (dtype == DType::f32) return true;
  const float lowest = dtype == DType::i32 ? -16777216.0f : 0.0f;
  const float highest = dtype == DType::u8 ? 255.0f : 16777216.0f;
  return std::trunc(value) == value && value >= lowest && value <= highest;
}

}  // namespace

ArraySet::~ArraySet() = default;

void ArraySet::visit(const ConstVisitor& visitor) const {
  const_cast<ArraySet*>(this)->visit(
      Visitor([&](const ArrayInfo& info, DeviceArray& array) { visitor(info, array); }));
}

DeviceArray* ArraySet::find(std::string_view name) {
  DeviceArray* found = nullptr;
  visit([&](const ArrayInfo& info, DeviceArray& array) {
    if (info.name == name) found = &array;
  });
  return found;
}

const DeviceArray* ArraySet::find(std::string_view name) const {
  return const_cast<ArraySet*>(this)->find(name);
}

std::span<const ArrayInfo> built_in_arrays(ArrayOwner owner) {
#define X(name, dtype, frequency, width, doc) \
  ArrayInfo{#name, DType::dtype, Frequency::frequency, width, doc},
  static const std::array model{
#include "novaphy/model_arrays.inc"
  };
#define X(name, dtype, frequency, width, doc) \
  ArrayInfo{#name, DType::dtype, Frequency::frequency, width, doc},
  static const std::array state{
#include "novaphy/state_arrays.inc"
  };
#define X(name, dtype, frequency, width, doc) \
  ArrayInfo{#name, DType::dtype, Frequency::frequency, width, doc},
  static const std::array control{
#include "novaphy/control_arrays.inc"
  };
#define X(name, dtype, frequency, width, doc) \
  ArrayInfo{#name, DType::dtype, Frequency::frequency, width, doc},
  static const std::array contacts{
#include "novaphy/contacts_arrays.inc"
  };
  switch (owner) {
    case ArrayOwner::model:
      return model;
    case ArrayOwner::state:
      return state;
    case ArrayOwner::control:
      return control;
    case ArrayOwner::contacts:
      return contacts;
  }
  return {};
}

Shape array_shape(const ArrayInfo& info, std::int64_t rows) {
  if (info.frequency == Frequency::once) return {info.width};
  if (info.width == 1) return {rows};
  if (std::find(kMatrices.begin(), kMatrices.end(), info.name) != kMatrices.end()) {
    const std::int64_t side = info.width == 4 ? 2 : 3;
    return {rows, side, side};
  }
  return {rows, info.width};
}

DeviceArray make_array(const ArrayInfo& info, std::int64_t rows, Device device, bool requires_grad,
                       const char* owner, int owner_index) {
  DeviceArray array(info.dtype, array_shape(info, rows), device);
  array.named(info.name, owner, owner_index);
  array.storage()->set_requires_grad(requires_grad && info.dtype == DType::f32);
  return array;
}

ArraySet::Custom make_custom_array(const CustomArray& spec, std::int64_t rows, Device device,
                                   bool requires_grad, const char* owner, int owner_index) {
  ArraySet::Custom custom{spec, make_array(spec.info, rows, device, requires_grad, owner, owner_index)};
  switch (spec.info.dtype) {
    case DType::f32:
      fill_rows<float>(custom.array, spec.default_row);
      break;
    case DType::i32:
      fill_rows<std::int32_t>(custom.array, spec.default_row);
      break;
    case DType::u32:
      fill_rows<std::uint32_t>(custom.array, spec.default_row);
      break;
    case DType::u8:
      fill_rows<std::uint8_t>(custom.array, spec.default_row);
      break;
  }
  return custom;
}

void check_custom_array(const CustomArray& spec, const std::vector<CustomArray>& existing) {
  const ArrayInfo& info = spec.info;
  NOVAPHY_REQUIRE(is_identifier(info.name), ErrorKind::value, "add_custom_array: name is '", info.name,
                  "': want letters, digits and underscores, not beginning with a digit");
  const auto same_name = [&](const ArrayInfo& other) { return other.name == info.name; };
  const auto built_in = built_in_arrays(spec.owner);
  const bool taken = std::any_of(built_in.begin(), built_in.end(), same_name) ||
                     std::any_of(existing.begin(), existing.end(), [&](const CustomArray& other) {
                       return other.owner == spec.owner && same_name(other.info);
                     });
  NOVAPHY_REQUIRE(!taken, ErrorKind::value, "add_custom_array: an array '", info.name,
                  "' exists already: choose another name");
  NOVAPHY_REQUIRE(info.width >= 1, ErrorKind::value, "add_custom_array: width of '", info.name, "' is ",
                  info.width, ": want at least 1");
  NOVAPHY_REQUIRE(!of_contacts(info.frequency) || spec.owner == ArrayOwner::contacts, ErrorKind::value,
                  "add_custom_array: frequency of '", info.name, "' is '", to_string(info.frequency),
                  "', which only arrays with owner \"contacts\" can have");
  NOVAPHY_REQUIRE(spec.default_row.size() == static_cast<std::size_t>(info.width), ErrorKind::value,
                  "add_custom_array: the default of '", info.name, "' has ", spec.default_row.size(),
                  " values: want ", info.width);
  for (const float value : spec.default_row)
    NOVAPHY_REQUIRE(fits(info.dtype, value), ErrorKind::value, "add_custom_array: the default of '",
                    info.name, "' holds ", value, ", which dtype ", to_string(info.dtype), " cannot hold");
}

std::vector<ArraySet::Custom> clone_custom_arrays(const std::vector<ArraySet::Custom>& arrays,
                                                  const char* owner, int owner_index) {
  std::vector<ArraySet::Custom> out;
  for (const ArraySet::Custom& custom : arrays) {
    out.push_back({custom.spec, custom.array.clone()});
    out.back().array.named(custom.spec.info.name, owner, owner_index);
  }
  return out;
}

}  // namespace novaphy
