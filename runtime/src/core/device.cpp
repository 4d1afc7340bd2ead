// SPDX-License-Identifier: Apache-2.0
// Device names.
#include "novaphy/device.hpp"

#include <charconv>

#include "novaphy/error.hpp"

namespace novaphy {

Device parse_device(std::string_view text) {
  if (text == "cpu") return {DeviceType::cpu, 0};
  if (text == "cuda") return {DeviceType::cuda, 0};
  constexpr std::string_view prefix = "cuda:";
  if (text.starts_with(prefix)) {
    const char* first = text.data() + prefix.size();
    const char* last = text.data() + text.size();
    int ordinal = -1;
    const auto [end, status] = std::from_chars(first, last, ordinal);
    if (status == std::errc{} && end == last && ordinal >= 0) return {DeviceType::cuda, ordinal};
  }
  fail(ErrorKind::value, "device is '", text,
       "': want \"cpu\", \"cuda\" or \"cuda:N\" with N the number of the GPU");
}

std::string to_string(const Device& device) {
  return device.is_cpu() ? "cpu" : text("cuda:", device.ordinal);
}

}  // namespace novaphy
