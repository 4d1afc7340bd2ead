// SPDX-License-Identifier: Apache-2.0
// How an array of the tables becomes memory: its shape, its label, its start value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "novaphy/model.hpp"

namespace novaphy {

/// (rows) for width 1, (width) for what is there once, (rows, n, n) for matrices, else (rows, width).
Shape array_shape(const ArrayInfo& info, std::int64_t rows);

/// A zeroed, labelled array. `requires_grad` marks float32 arrays.
DeviceArray make_array(const ArrayInfo& info, std::int64_t rows, Device device, bool requires_grad,
                       const char* owner, int owner_index = -1);

/// The same, every row holding the default of the custom array.
ArraySet::Custom make_custom_array(const CustomArray& spec, std::int64_t rows, Device device,
                                   bool requires_grad, const char* owner, int owner_index = -1);

/// Throws Error(value) when `spec` cannot be added beside `existing`.
void check_custom_array(const CustomArray& spec, const std::vector<CustomArray>& existing);

/// A copy of the custom arrays that shares no memory; the label gets `owner_index`.
std::vector<ArraySet::Custom> clone_custom_arrays(const std::vector<ArraySet::Custom>& arrays,
                                                  const char* owner, int owner_index = -1);

}  // namespace novaphy
