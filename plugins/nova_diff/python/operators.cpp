// SPDX-License-Identifier: Apache-2.0
// Operators and functions on tensors.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor_operations.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {
namespace {

using novaphy::ErrorKind;
using BinaryFunction = Tensor (*)(const TensorOrNumber&, const TensorOrNumber&);

float number(double value) {
  return novaphy::python::float32_of(value, "nova: the number");
}

/// A tensor, or the number that stands for one.
class Operand {
 public:
  Operand(const py::object& given, const std::string& who) {
    py::detail::make_caster<double> plain;
    if (is_tensor(given))
      tensor_ = tensor_of(given, who);
    else if (plain.load(given, true))
      number_ = number(py::detail::cast_op<double>(plain));
    else
      novaphy::fail(ErrorKind::type, who, " is a ", class_of(given), "; give a nova.Tensor or a number");
  }
  bool is_number() const noexcept { return !tensor_; }
  operator TensorOrNumber() const { return tensor_ ? TensorOrNumber(*tensor_) : TensorOrNumber(number_); }

 private:
  std::optional<Tensor> tensor_;
  float number_ = 0.0f;
};

/// `operation` as the function `name` and as the operators `name` and its reflection.
template <BinaryFunction operation>
void bind_binary(py::module_& m, py::class_<Tensor>& c, const char* name, const char* op,
                 const char* reflected, const char* doc) {
  m.def(
      name,
      [who = std::string("nova.") + name](const TensorOrFloat& first, const TensorOrFloat& second) {
        leave_traced({first, second});
        const Operand a(first, who + ": a"), b(second, who + ": b");
        NOVAPHY_REQUIRE(!a.is_number() || !b.is_number(), ErrorKind::type, who,
                        ": a and b are numbers; give at least one nova.Tensor");
        return operation(a, b);
      },
      py::arg("a"), py::arg("b"), doc);
  if (op == nullptr) return;
  c.def(op, [](const Tensor& a, const Tensor& b) { return operation(a, b); }, py::arg("other"), py::is_operator());
  c.def(op, [](const Tensor& a, double b) { return operation(a, number(b)); }, py::arg("other"), py::is_operator());
  c.def(
      reflected, [](const Tensor& b, double a) { return operation(number(a), b); }, py::arg("other"),
      py::is_operator());
}

/// `op`, such as "__isub__": a tensor that requires gradient keeps its array and takes the new values, so that
/// an update of a parameter reaches the model. Inside a recording, and for any other tensor, the name gets a
/// new tensor.
template <BinaryFunction operation>
void bind_update(py::class_<Tensor>& c, const char* op) {
  const auto update = [](const py::object& self, const TensorOrNumber& by) {
    auto& a = self.cast<Tensor&>();
    Tensor result = operation(a, by);
    if (is_recording() || !a.requires_grad()) return py::cast(std::move(result));
    a.assign(result);
    return self;
  };
  c.def(
      op, [update](const py::object& self, const Tensor& by) { return update(self, by); }, py::arg("other"),
      py::is_operator());
  c.def(
      op, [update](const py::object& self, double by) { return update(self, number(by)); }, py::arg("other"),
      py::is_operator());
}

/// A function of one tensor; anything else is refused by the name of the argument.
using AnyTensor = py::typing::Union<Tensor>;

template <Tensor (*operation)(const Tensor&)>
void bind_unary(py::module_& m, const char* name, const char* doc) {
  m.def(
      name, [who = novaphy::text("nova.", name, ": a")](const AnyTensor& a) {
        leave_traced({a});
        return operation(tensor_of(a, who));
      },
      py::arg("a"), doc);
}

using Axis = py::typing::Optional<int>;

template <Tensor (*whole)(const Tensor&), Tensor (*along)(const Tensor&, int)>
void bind_reduction(py::module_& m, const char* name, const char* doc) {
  m.def(
      name,
      [who = novaphy::text("nova.", name)](const AnyTensor& given, const Axis& axis) {
        leave_traced({given});
        const Tensor a = tensor_of(given, who + ": a");
        if (axis.is_none()) return whole(a);
        NOVAPHY_REQUIRE(PyIndex_Check(axis.ptr()) != 0 && !PyBool_Check(axis.ptr()), ErrorKind::type, who,
                        ": axis is a ", class_of(axis), "; give an integer or None");
        return along(a, axis.cast<int>());
      },
      py::arg("a"), py::arg("axis") = py::none(), doc);
}

template <Tensor (*operation)(const Tensor&, const Tensor&)>
void bind_pair(py::module_& m, const char* name, const char* second, const char* doc) {
  m.def(
      name,
      [who = novaphy::text("nova.", name, ": "), second](const AnyTensor& a, const AnyTensor& b) {
        leave_traced({a, b});
        return operation(tensor_of(a, who + "a"), tensor_of(b, who + second));
      },
      py::arg("a"), py::arg(second), doc);
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
  bind_update<&add>(c, "__iadd__");
  bind_update<&sub>(c, "__isub__");
  bind_update<&mul>(c, "__imul__");
  bind_update<&div>(c, "__itruediv__");
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
      "clamp",
      [](const AnyTensor& a, const Number& low, const Number& high) {
        leave_traced({a, low, high});
        const double from = number_of(low, "nova.clamp: low"), to = number_of(high, "nova.clamp: high");
        return clamp(tensor_of(a, "nova.clamp: a"), number(from), number(to));
      },
      py::arg("a"), py::arg("low"), py::arg("high"),
      "min(max(a, low), high), of numbers low and high. ValueError unless low <= high.");

  bind_reduction<&sum, &sum>(
      m, "sum",
      "The sum of all elements, shape (1,), or along one axis. One order, whatever the number of threads.");
  bind_reduction<&mean, &mean>(m, "mean", "The sum divided by the number of elements.");
  bind_pair<&dot>(m, "dot", "b", "The sum of the products of all elements, shape (1,).");
  bind_unary<&norm>(m, "norm", "The square root of dot(a, a), shape (1,); its gradient at 0 is 0.");
  bind_pair<&matmul>(m, "matmul", "b",
                     "(n, k) times (k, m) or (k,). The same bits on one machine at any number of threads. "
                     "ShapeMismatchError.");
  c.def("__matmul__", &matmul, py::arg("other"), py::is_operator());
  bind_pair<&add_row>(m, "add_row", "row", "A row (m,) added to every row of (n, m).");
  m.def(
      "detach", [](const AnyTensor& x) { return tensor_of(x, "nova.detach: x").detach(); }, py::arg("x"),
      "A copy through which no gradient flows: cuts it on purpose.");
}

}  // namespace nova::python
