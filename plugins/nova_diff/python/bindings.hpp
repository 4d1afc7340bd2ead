// SPDX-License-Identifier: Apache-2.0
// The parts of extension _novaphy_nova, in the order in which they are bound.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#include "novaphy/nova/tensor.hpp"

namespace nova::python {

namespace py = pybind11;

/// What Python gave where a number is wanted, or a tensor or a number; our own sentences answer anything else.
using Number = py::typing::Union<double>;
using TensorOrFloat = py::typing::Union<Tensor, double>;

/// Lets the overload for traced values answer where one of these is such a value.
void leave_traced(std::initializer_list<py::handle> given);
/// A tensor or an array of the engine.
bool is_tensor(py::handle given);
/// Throws Error(type): "`who` is a str; give a number".
double number_of(py::handle given, std::string_view who);
/// Throws Error(type): "`who` is a str; give a nova.Tensor".
Tensor tensor_of(py::handle given, std::string_view who);
/// The name of its class.
std::string class_of(py::handle given);

/// A tensor as it is, or a copy of anything array-like of the type and shape of `target`.
Tensor source_of(const Tensor& target, const py::object& value);

void bind_tensor(py::module_& m);
void bind_indexing(py::module_& m, py::class_<Tensor>& c);
void bind_operators(py::module_& m, py::class_<Tensor>& c);
void bind_factories(py::module_& m);
void bind_interop(py::module_& m);
void bind_tape(py::module_& m);
void bind_derivatives(py::module_& m);
void bind_backend(py::module_& m);
void bind_views(py::module_& m);
void bind_optim(py::module_& m);
void bind_capture(py::module_& m);
void bind_rollout(py::module_& m);

/// Held by whatever walks over records or gradients without the GIL: two threads that share a tape, or whose
/// tapes share an array, go one after the other.
std::recursive_mutex& one_at_a_time();

/// TypeError for a list that holds tensors, whose gradient a copy through the host would cut without a word
/// while a tape records.
void refuse_tensors_inside(py::handle value, const char* who);

}  // namespace nova::python
