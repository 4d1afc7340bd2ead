// SPDX-License-Identifier: Apache-2.0
// Operators and functions on tensors.
#include <pybind11/stl.h>

#include <optional>

#include "bindings.hpp"
#include "novaphy/nova/tensor_operations.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {
namespace {

using BinaryFunction = Tensor (*)(const TensorOrNumber&, const TensorOrNumber&);

float number(double value) {
  return novaphy::python::float32_of(value, "nova: the number");
}

/// `operation` as the function `name` and as the operators `name` and its reflection.
template <BinaryFunction operation>
void bind_binary(py::module_& m, py::class_<Tensor>& c, const char* name, const char* op,
                 const char* reflected, const char* doc) {
  const auto tensors = [](const Tensor& a, const Tensor& b) { return operation(a, b); };
  const auto right = [](const Tensor& a, double b) { return operation(a, number(b)); };
  const auto left = [](double a, const Tensor& b) { return operation(number(a), b); };
  m.def(name, tensors, py::arg("a"), py::arg("b"), doc);
  m.def(name, right, py::arg("a"), py::arg("b"));
  m.def(name, left, py::arg("a"), py::arg("b"));
  if (op == nullptr) return;
  c.def(op, tensors, py::arg("other"), py::is_operator());
  c.def(op, right, py::arg("other"), py::is_operator());
  c.def(
      reflected, [](const Tensor& b, double a) { return operation(number(a), b); }, py::arg("other"),
      py::is_operator());
}

template <Tensor (*operation)(const Tensor&)>
void bind_unary(py::module_& m, const char* name, const char* doc) {
  m.def(
      name, [](const Tensor& a) { return operation(a); }, py::arg("a"), doc);
}

template <Tensor (*whole)(const Tensor&), Tensor (*along)(const Tensor&, int)>
Tensor reduce(const Tensor& a, std::optional<int> axis) {
  return axis ? along(a, *axis) : whole(a);
}

constexpr const char* kElementwise =
    "Elementwise on equal shapes; a number or a tensor with one element goes with any shape. "
    "ShapeMismatchError.";

}  // namespace

void bind_operators(py::module_& m, py::class_<Tensor>& c) {
  bind_binary<&add>(m, c, "add", "__add__", "__radd__",
                    "a + b, elementwise; a row (m) is added to every row of (n, m). ShapeMismatchError.");
  bind_binary<&sub>(m, c, "sub", "__sub__", "__rsub__", kElementwise);
  bind_binary<&mul>(m, c, "mul", "__mul__", "__rmul__", kElementwise);
  bind_binary<&div>(m, c, "div", "__truediv__", "__rtruediv__", kElementwise);
  bind_binary<&pow>(m, c, "pow", "__pow__", "__rpow__", kElementwise);
  bind_binary<&minimum>(m, c, "minimum", nullptr, nullptr, kElementwise);
  bind_binary<&maximum>(m, c, "maximum", nullptr, nullptr, kElementwise);

  bind_unary<&neg>(m, "neg", "-a.");
  bind_unary<&abs>(m, "abs", "The absolute value; its derivative at 0 is 1.");
  bind_unary<&exp>(m, "exp", "e to the power a.");
  bind_unary<&log>(m, "log", "The natural logarithm.");
  bind_unary<&tanh>(m, "tanh", "The hyperbolic tangent.");
  bind_unary<&sin>(m, "sin", "The sine of radians.");
  bind_unary<&cos>(m, "cos", "The cosine of radians.");
  bind_unary<&sqrt>(m, "sqrt", "The square root.");
  c.def("__neg__", [](const Tensor& a) { return neg(a); });
  c.def("__abs__", [](const Tensor& a) { return abs(a); });
  m.def(
      "clamp", [](const Tensor& a, double low, double high) { return clamp(a, number(low), number(high)); },
      py::arg("a"), py::arg("low"), py::arg("high"),
      "min(max(a, low), high). ValueError unless low <= high.");

  m.def("sum",
        &reduce<static_cast<Tensor (*)(const Tensor&)>(&sum),
                static_cast<Tensor (*)(const Tensor&, int)>(&sum)>,
        py::arg("a"), py::arg("axis") = py::none(),
        "The sum of all elements, shape (1,), or along one axis. One order, whatever the number of threads.");
  m.def("mean",
        &reduce<static_cast<Tensor (*)(const Tensor&)>(&mean),
                static_cast<Tensor (*)(const Tensor&, int)>(&mean)>,
        py::arg("a"), py::arg("axis") = py::none(), "The sum divided by the number of elements.");
  m.def("dot", &dot, py::arg("a"), py::arg("b"), "The sum of the products of all elements, shape (1,).");
  m.def("norm", &norm, py::arg("a"), "The square root of dot(a, a), shape (1,); its gradient at 0 is 0.");
  m.def("matmul", &matmul, py::arg("a"), py::arg("b"),
        "(n, k) times (k, m) or (k,). The same bits on one machine at any number of threads. "
        "ShapeMismatchError.");
  c.def("__matmul__", &matmul, py::arg("other"), py::is_operator());
  m.def("add_row", &add_row, py::arg("a"), py::arg("row"), "A row (m,) added to every row of (n, m).");
  m.def(
      "detach", [](const Tensor& x) { return x.detach(); }, py::arg("x"),
      "A copy through which no gradient flows: cuts it on purpose.");
}

}  // namespace nova::python
