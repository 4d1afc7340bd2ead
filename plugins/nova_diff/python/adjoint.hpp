// SPDX-License-Identifier: Apache-2.0
// A kernel whose derivative is a Python function: `@nova.kernel(vjp=...)`.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <vector>

#include "novaphy/nova/tensor.hpp"
#include "novaphy/nova/tracer.hpp"

namespace nova::python {

namespace py = pybind11;

/// Launches the kernel as a custom operation, so that backward calls
/// vjp(*parameters, *cotangents of the outputs). `given` are numbers and tensors, one for each parameter.
void launch_with_vjp(const TracedKernel& kernel, const py::function& vjp,
                     const std::vector<std::string>& names, const std::vector<py::object>& given,
                     const std::vector<Tensor>& outputs, std::int64_t rows, std::int64_t domain);

}  // namespace nova::python
