// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack 1.0, by which array libraries hand memory to each other without copying.
#pragma once

#include <cstdint>

namespace novaphy::dlpack {

inline constexpr std::int32_t kCpu = 1, kCuda = 2;              // device types
inline constexpr std::uint8_t kInt = 0, kUint = 1, kFloat = 2;  // type codes
inline constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;    // flags of ManagedVersioned

struct Device {
  std::int32_t type = kCpu;
  std::int32_t ordinal = 0;
};

struct DataType {
  std::uint8_t code = kFloat, bits = 32;
  std::uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  ///< in elements; null = packed, row-major
  std::uint64_t byte_offset = 0;
};

/// The content of a capsule named "dltensor".
struct Managed {
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
};

struct Version {
  std::uint32_t major = 1, minor = 0;
};

/// The content of a capsule named "dltensor_versioned".
struct ManagedVersioned {
  Version version;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;
};

}  // namespace novaphy::dlpack
