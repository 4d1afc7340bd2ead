// SPDX-License-Identifier: Apache-2.0
#include "nova/tensor/strided.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "novaphy/nova/custom.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;

void copy_elements(const void* from, void* to, std::int64_t from_at, std::int64_t to_at, std::size_t size) {
  std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(to_at) * size,
              static_cast<const std::byte*>(from) + static_cast<std::size_t>(from_at) * size, size);
}

/// part[e] = whole[place of e]
class FromStrided final : public CustomOperation {
 public:
  FromStrided(Strided place, std::size_t size) : place_(place), size_(size) {}
  const char* name() const noexcept override { return "select"; }
  void forward(const Forward& f) const override {
    place_.for_each(
        [&](std::int64_t e, std::int64_t at) { copy_elements(f.inputs[0], f.outputs[0], at, e, size_); });
  }
  void backward(const Backward& b) const override { add_back(b.output_cotangents[0], b.input_cotangents[0]); }
  void tangent(const Tangent& t) const override {
    place_.for_each([&](std::int64_t e, std::int64_t at) {
      t.output_tangents[0][e] = t.input_tangents[0] ? t.input_tangents[0][at] : 0.0f;
    });
  }
  void backward_tangent(const BackwardTangent& b) const override {
    add_back(b.output_cotangent_tangents[0], b.input_cotangent_tangents[0]);
  }

 private:
  void add_back(const float* part, float* whole) const {
    if (part && whole) place_.for_each([&](std::int64_t e, std::int64_t at) { whole[at] += part[e]; });
  }
  Strided place_;
  std::size_t size_;
};

/// whole[place of e] = part[e]; inputs: the old whole, part.
class ToStrided final : public CustomOperation {
 public:
  ToStrided(Strided place, std::int64_t whole, std::size_t size)
      : place_(place), whole_(whole), size_(size) {}
  const char* name() const noexcept override { return "assign"; }
  void forward(const Forward& f) const override {
    place_.for_each(
        [&](std::int64_t e, std::int64_t at) { copy_elements(f.inputs[1], f.outputs[0], e, at, size_); });
  }
  void backward(const Backward& b) const override { add_back(b.output_cotangents[0], b.input_cotangents); }
  void tangent(const Tangent& t) const override {
    float* const to = t.output_tangents[0];
    if (t.input_tangents[0] && t.input_tangents[0] != to) std::copy_n(t.input_tangents[0], whole_, to);
    if (!t.input_tangents[0]) std::fill_n(to, whole_, 0.0f);
    place_.for_each([&](std::int64_t e, std::int64_t at) {
      to[at] = t.input_tangents[1] ? t.input_tangents[1][e] : 0.0f;
    });
  }
  void backward_tangent(const BackwardTangent& b) const override {
    add_back(b.output_cotangent_tangents[0], b.input_cotangent_tangents);
  }

 private:
  void add_back(const float* whole, std::span<float* const> to) const {
    if (!whole) return;
    if (to[1]) place_.for_each([&](std::int64_t e, std::int64_t at) { to[1][e] += whole[at]; });
    if (!to[0]) return;
    std::vector<float> rest(whole, whole + whole_);
    place_.for_each([&](std::int64_t, std::int64_t at) { rest[static_cast<std::size_t>(at)] = 0.0f; });
    for (std::int64_t i = 0; i < whole_; ++i) to[0][i] += rest[static_cast<std::size_t>(i)];
  }
  Strided place_;
  std::int64_t whole_;
  std::size_t size_;
};

}  // namespace

void copy_from_strided(const DeviceArray& whole, const Strided& place, DeviceArray& part) {
  apply(std::make_shared<FromStrided>(place, novaphy::size_of(whole.dtype())),
        {CustomInput(whole).value_not_needed()}, {part});
}

void copy_to_strided(const DeviceArray& part, const Strided& place, DeviceArray& whole) {
  const DeviceArray source = share_memory(part, whole) ? Tensor(part).clone().array() : part;
  apply(std::make_shared<ToStrided>(place, whole.size(), novaphy::size_of(whole.dtype())),
        {CustomInput(whole).value_not_needed(), CustomInput(source).value_not_needed()}, {whole});
}

void copy_packed(const DeviceArray& from, DeviceArray& to) {
  Strided all;
  all.extents[0] = from.size(), all.strides[0] = 1;
  copy_from_strided(from, all, to);
}

}  // namespace nova
