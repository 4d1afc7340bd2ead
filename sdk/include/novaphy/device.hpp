// SPDX-License-Identifier: Apache-2.0
// Where memory lies.
#pragma once

#include <string>
#include <string_view>

#include "novaphy/export.hpp"

namespace novaphy {

enum class DeviceType : int { cpu = 0, cuda = 1 };

/// A device: "cpu", "cuda" or "cuda:1".
struct Device {
  DeviceType type = DeviceType::cpu;
  int ordinal = 0;

  friend bool operator==(const Device&, const Device&) = default;
  bool is_cpu() const noexcept { return type == DeviceType::cpu; }
};

/// Parses "cpu", "cuda" or "cuda:N". Throws Error(value) on any other text.
NOVAPHY_API Device parse_device(std::string_view text);
NOVAPHY_API std::string to_string(const Device& device);

}  // namespace novaphy
