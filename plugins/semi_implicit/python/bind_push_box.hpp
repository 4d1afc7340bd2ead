// SPDX-License-Identifier: Apache-2.0
// Where the extension finds the binding of the push of a box.
#pragma once

#include "novaphy/python.hpp"

namespace novaphy::python {

void bind_push_box(pybind11::module_& m);

}  // namespace novaphy::python
