// SPDX-License-Identifier: Apache-2.0
// Classes of traced values: operators, components, other rows, and what is refused because it needs a number.
#include "traced.hpp"

#include <type_traits>

#include "bindings.hpp"

namespace nova::python {

namespace {

using novaphy::ErrorKind;
using novaphy::fail;

[[noreturn]] void needs_number(const char* what) {
  fail(ErrorKind::trace, what);
}

// What Python asks of a number: none of it has an answer while the function is traced.
template <class C>
void refuse_numbers(C& c) {
  using Self = typename C::type;
  c.def("__bool__",
        [](const Self&) -> bool {
          needs_number(
              "'if', 'while', 'and', 'or' and 'not' need a number now; use nova.where(cond, a, b), &, | and "
              "~");
        })
      .def("__float__",
           [](const Self&) -> double {
             needs_number(
                 "float() and the functions of math need a number now; use those of nova, such as nova.sqrt");
           })
      .def("__int__",
           [](const Self&) -> long {
             needs_number("int() needs a number now; a traced value stays as it is");
           })
      .def("__index__",
           [](const Self&) -> long {
             needs_number("range() and list[ ] need a number now; use nova.loop or an index argument");
           })
      .def("__array__",
           [](const Self&, const py::args&, const py::kwargs&) -> py::object {
             needs_number("a NumPy array needs numbers now; use the functions of nova");
           })
      .def("__array_function__",
           [](const Self&, const py::object& function, const py::args&) -> py::object {
             fail(ErrorKind::trace, "numpy.", std::string(py::str(function.attr("__name__"))),
                  " needs numbers now; use the functions of nova");
           })
      .def("__hash__",
           [](const Self&) -> long { needs_number("a traced value is no key of a dict or set"); });
}

/// number_of_numpy (op) value: NumPy asks the traced value first; its scalars and arrays become literals.
template <class C>
void take_numpy_operands(C& c) {
  using Self = typename C::type;
  c.def("__array_ufunc__",
        [](const py::object& self, const py::object& ufunc, const py::str&, const py::args& inputs,
           const py::kwargs&) -> py::object {
          const std::string name = py::str(ufunc.attr("__name__"));
          static const std::array<std::array<const char*, 3>, 10> kOperators{
              {{"add", "__add__", "__radd__"},
               {"subtract", "__sub__", "__rsub__"},
               {"multiply", "__mul__", "__rmul__"},
               {"divide", "__truediv__", "__rtruediv__"},
               {"less", "__lt__", "__gt__"},
               {"less_equal", "__le__", "__ge__"},
               {"greater", "__gt__", "__lt__"},
               {"greater_equal", "__ge__", "__le__"},
               {"equal", "__eq__", "__eq__"},
               {"not_equal", "__ne__", "__ne__"}}};
          for (const auto& [ufunc_name, left, right] : kOperators) {
            if (name != ufunc_name || inputs.size() != 2) continue;
            const bool self_first = py::isinstance<Self>(inputs[0]);
            const py::object other = inputs[self_first ? 1 : 0];
            const char* const method = self_first ? left : right;
            const py::object literal = other.attr("tolist")();
            const py::object result =
                py::hasattr(self, method) ? py::object(self.attr(method)(literal)) : py::none();
            if (!result.is_none() && !result.is(py::reinterpret_borrow<py::object>(Py_NotImplemented)))
              return result;
            fail(ErrorKind::trace, "numpy.", name, " does not take a ",
                 std::string(py::str(py::type::of(self).attr("__name__"))), " and an array of shape ",
                 std::string(py::str(other.attr("shape"))));
          }
          fail(ErrorKind::trace, "numpy.", name, " needs numbers now; use the functions of nova");
        });
}

template <class T>
py::object other_row(const T& self, Int index) {
  return value_of(kRowOf<T>, Tracer::active("x[i]").gather(nodes_of(self), index));
}

template <class T>
T constructed(const py::args& numbers, const char* name) {
  Tracer::active(novaphy::text("nova.", name));
  std::vector<std::uint32_t> nodes;
  const bool fits = literal_nodes(numbers, kRowOf<T> >= Row::i32, nodes);
  if (fits && nodes.empty()) {  // zeros; rotations are the identity
    for (int k = 0; k < RowTraits<T>::width; ++k) nodes.push_back(trace_constant(0.0f));
    if (kRowOf<T> == Row::quat || kRowOf<T> == Row::transform) nodes.back() = trace_constant(1.0f);
  }
  if (!fits || nodes.size() != RowTraits<T>::width)
    fail(ErrorKind::trace, "nova.", name, " takes ", RowTraits<T>::width, " numbers, ", nodes.size(),
         " were given");
  return from_nodes<T>(nodes);
}

/// Componentwise, in memory order.
template <class T, class F>
T map(const T& a, F f) {
  auto nodes = nodes_of(a);
  for (std::uint32_t& node : nodes) node = f(Expr::of(node)).node;
  return from_nodes<T>(nodes);
}
template <class T, class F>
T map(const T& a, const T& b, F f) {
  auto nodes = nodes_of(a);
  const auto others = nodes_of(b);
  for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] = f(Expr::of(nodes[k]), Expr::of(others[k])).node;
  return from_nodes<T>(nodes);
}

template <class T, class C>
void add_components(C& c, const char* name) {
  const auto component = [name](const T& self, py::ssize_t i) {
    const auto nodes = nodes_of(self);
    const auto count = static_cast<py::ssize_t>(nodes.size());
    if (i < -count || i >= count)
      throw py::index_error(novaphy::text(name, " has ", count, " components, not ", i));
    return nodes[static_cast<std::size_t>(i < 0 ? i + count : i)];
  };
  c.def("__len__", [](const T&) { return RowTraits<T>::width; });
  if constexpr (kRowOf<T> >= Row::i32)
    c.def("__getitem__", [component](const T& self, py::ssize_t i) { return Int::of(component(self, i)); });
  else
    c.def("__getitem__", [component](const T& self, py::ssize_t i) { return Expr::of(component(self, i)); });
}

/// After every other __getitem__.
template <class T>
void refuse_other_indices(py::class_<T>& c, const char* name) {
  c.def("__getitem__", [name](const T&, const py::object& index) -> py::object {
    fail(ErrorKind::trace, name, "[", std::string(py::repr(index)),
         "]: [ ] takes an integer argument or a component of one, which names a row",
         RowTraits<T>::width > 1 ? ", or the place of a component" : "");
  });
}

/// A class that declare() has made, with its constructor, components, other rows and refusals.
template <class T>
py::class_<T> traced_class(const char* name) {
  auto c = py::reinterpret_borrow<py::class_<T>>(py::type::of<T>());
  c.def("__getitem__", &other_row<T>, py::arg("index"),
        "The row of this argument that an index argument names.");
  c.def("__repr__", [name](const T&) { return std::string(name); });
  refuse_numbers(c);
  take_numpy_operands(c);
  if constexpr (RowTraits<T>::width > 1) {
    c.def(py::init([name](const py::args& numbers) { return constructed<T>(numbers, name); }));
    if constexpr (kRowOf<T> != Row::mat22 && kRowOf<T> != Row::mat33) add_components<T>(c, name);
  }
  if constexpr (kRowOf<T> != Row::mat22 && kRowOf<T> != Row::mat33) refuse_other_indices(c, name);
  return c;
}

/// + - with its own kind, * / with numbers.
template <class T>
void add_linear(py::class_<T>& c) {
  using Other = Like<T>;
  using Number = Like<Expr>;
  const auto plus = [](Expr a, Expr b) { return a + b; };
  const auto minus = [](Expr a, Expr b) { return a - b; };
  c.def(
       "__add__", [plus](const T& a, const Other& b) { return map(a, b.value, plus); }, py::is_operator())
      .def(
          "__radd__", [plus](const T& a, const Other& b) { return map(b.value, a, plus); }, py::is_operator())
      .def(
          "__sub__", [minus](const T& a, const Other& b) { return map(a, b.value, minus); },
          py::is_operator())
      .def(
          "__rsub__", [minus](const T& a, const Other& b) { return map(b.value, a, minus); },
          py::is_operator())
      .def("__neg__", [](const T& a) { return map(a, [](Expr x) { return -x; }); })
      .def(
          "__mul__", [](const T& a, const Number& s) { return map(a, [&](Expr x) { return x * s.value; }); },
          py::is_operator())
      .def(
          "__rmul__", [](const T& a, const Number& s) { return map(a, [&](Expr x) { return x * s.value; }); },
          py::is_operator())
      .def(
          "__truediv__",
          [](const T& a, const Number& s) { return map(a, [&](Expr x) { return x / s.value; }); },
          py::is_operator());
}

void bind_float() {
  auto c = traced_class<Expr>("Float");
  using Other = Like<Expr>;
  const auto op = py::is_operator();
  c.def(
       "__add__", [](Expr a, const Other& b) { return a + b.value; }, op)
      .def(
          "__radd__", [](Expr a, const Other& b) { return b.value + a; }, op)
      .def(
          "__sub__", [](Expr a, const Other& b) { return a - b.value; }, op)
      .def(
          "__rsub__", [](Expr a, const Other& b) { return b.value - a; }, op)
      .def(
          "__mul__", [](Expr a, const Other& b) { return a * b.value; }, op)
      .def(
          "__rmul__", [](Expr a, const Other& b) { return b.value * a; }, op)
      .def(
          "__truediv__", [](Expr a, const Other& b) { return a / b.value; }, op)
      .def(
          "__rtruediv__", [](Expr a, const Other& b) { return b.value / a; }, op)
      .def("__neg__", [](Expr a) { return -a; })
      .def("__pos__", [](Expr a) { return a; })
      .def("__abs__", [](Expr a) { return abs(a); })
      .def(
          "__lt__", [](Expr a, const Other& b) { return a < b.value; }, op)
      .def(
          "__le__", [](Expr a, const Other& b) { return a <= b.value; }, op)
      .def(
          "__gt__", [](Expr a, const Other& b) { return a > b.value; }, op)
      .def(
          "__ge__", [](Expr a, const Other& b) { return a >= b.value; }, op)
      .def(
          "__eq__", [](Expr a, const Other& b) { return a == b.value; }, op)
      .def(
          "__ne__", [](Expr a, const Other& b) { return a != b.value; }, op);
  c.def(
      "__floordiv__", [](Expr a, const Other& b) { return floor(a / b.value); }, op);
  c.def(
      "__pow__",
      [](Expr a, int exponent) {
        if (exponent < 0 || exponent > 8)
          fail(ErrorKind::trace, "x ** n takes n from 0 to 8 and becomes products, not ", exponent,
               "; use nova.pow");
        return pow(a, exponent);
      },
      py::is_operator());
}

/// Python's // and %: the quotient is rounded down. By zero both are 0.
std::pair<Int, Int> floor_division(Int a, Int b) {
  const Int quotient = a / b, rest = a % b;
  const Mask below = both(rest != Int(0), (rest ^ b) < Int(0));
  return {select(below, quotient - Int(1), quotient), select(below, rest + b, rest)};
}

void bind_int() {
  auto c = traced_class<Int>("Int");
  using Other = Like<Int>;
  const auto op = py::is_operator();
  c.def(
       "__add__", [](Int a, const Other& b) { return a + b.value; }, op)
      .def(
          "__radd__", [](Int a, const Other& b) { return b.value + a; }, op)
      .def(
          "__sub__", [](Int a, const Other& b) { return a - b.value; }, op)
      .def(
          "__rsub__", [](Int a, const Other& b) { return b.value - a; }, op)
      .def(
          "__mul__", [](Int a, const Other& b) { return a * b.value; }, op)
      .def(
          "__rmul__", [](Int a, const Other& b) { return b.value * a; }, op)
      .def(
          "__and__", [](Int a, const Other& b) { return a & b.value; }, op)
      .def(
          "__or__", [](Int a, const Other& b) { return a | b.value; }, op)
      .def(
          "__xor__", [](Int a, const Other& b) { return a ^ b.value; }, op)
      .def(
          "__floordiv__", [](Int a, const Other& b) { return floor_division(a, b.value).first; }, op)
      .def(
          "__mod__", [](Int a, const Other& b) { return floor_division(a, b.value).second; }, op)
      .def(
          "__lshift__", [](Int a, const Other& b) { return a << b.value; }, op)
      .def(
          "__rshift__", [](Int a, const Other& b) { return a >> b.value; }, op)
      .def("__neg__", [](Int a) { return -a; })
      .def(
          "__lt__", [](Int a, const Other& b) { return a < b.value; }, op)
      .def(
          "__le__", [](Int a, const Other& b) { return a <= b.value; }, op)
      .def(
          "__gt__", [](Int a, const Other& b) { return a > b.value; }, op)
      .def(
          "__ge__", [](Int a, const Other& b) { return a >= b.value; }, op)
      .def(
          "__eq__", [](Int a, const Other& b) { return a == b.value; }, op)
      .def(
          "__ne__", [](Int a, const Other& b) { return a != b.value; }, op);
  traced_class<IVec<2>>("ivec2");
  traced_class<IVec<3>>("ivec3");
  traced_class<IVec<4>>("ivec4");
}

void bind_mask() {
  auto c = py::reinterpret_borrow<py::class_<Mask>>(py::type::of<Mask>());
  refuse_numbers(c);
  take_numpy_operands(c);
  c.def(
       "__and__", [](Mask a, Mask b) { return both(a, b); }, py::is_operator())
      .def(
          "__or__", [](Mask a, Mask b) { return either(a, b); }, py::is_operator())
      .def("__invert__", [](Mask a) { return negate(a); })
      .def("__repr__", [](Mask) { return "Mask"; });
}

template <class T>
void add_matrix(py::class_<T>& c, int size, const char* name) {
  c.def("__len__", [size](const T&) { return size; });
  c.def(
      "__getitem__",
      [size](const T& self, const std::pair<int, int>& at) {
        const auto [i, j] = at;
        if (i < 0 || j < 0 || i >= size || j >= size)
          throw py::index_error(
              novaphy::text("the matrix has ", size, " rows and columns, not [", i, ", ", j, "]"));
        return Expr(self.m[i][j]);
      },
      py::arg("at"), "The number in a row and a column.");
  refuse_other_indices(c, name);
  c.def_property_readonly(
      "T",
      [size](const T& self) {
        T out{};
        for (int i = 0; i < size; ++i)
          for (int j = 0; j < size; ++j) out.m[i][j] = self.m[j][i];
        return out;
      },
      "Transposed.");
}

void bind_vectors() {
  auto v2 = traced_class<Vec2E>("vec2");
  auto v3 = traced_class<Vec3E>("vec3");
  auto v4 = traced_class<Vec4E>("vec4");
  auto q = traced_class<QuatE>("quat");
  add_linear(v2), add_linear(v3), add_linear(v4), add_linear(q);
  const auto readonly = [](auto& c, const char* name, auto member) {
    c.def_property_readonly(name, [member](const typename std::remove_reference_t<decltype(c)>::type& self) {
      return self.*member;
    });
  };
  readonly(v2, "x", &Vec2E::x), readonly(v2, "y", &Vec2E::y);
  readonly(v3, "x", &Vec3E::x), readonly(v3, "y", &Vec3E::y), readonly(v3, "z", &Vec3E::z);
  readonly(v4, "x", &Vec4E::x), readonly(v4, "y", &Vec4E::y), readonly(v4, "z", &Vec4E::z),
      readonly(v4, "w", &Vec4E::w);
  readonly(q, "x", &QuatE::x), readonly(q, "y", &QuatE::y), readonly(q, "z", &QuatE::z),
      readonly(q, "w", &QuatE::w);
  q.def(
      "__mul__", [](const QuatE& a, const QuatE& b) { return a * b; }, py::is_operator());

  auto t = traced_class<TransformE>("transform");
  readonly(t, "p", &TransformE::p), readonly(t, "q", &TransformE::q);
  t.def(
      "__mul__", [](const TransformE& a, const TransformE& b) { return a * b; }, py::is_operator());
  auto s = traced_class<SpatialE>("spatial");
  add_linear(s);
  readonly(s, "linear", &SpatialE::linear), readonly(s, "angular", &SpatialE::angular);
}

void bind_matrices() {
  auto m2 = traced_class<Mat22E>("mat22");
  auto m3 = traced_class<Mat33E>("mat33");
  add_linear(m2), add_linear(m3);
  add_matrix(m2, 2, "mat22"), add_matrix(m3, 3, "mat33");
  m3.def(
        "__matmul__", [](const Mat33E& a, const Mat33E& b) { return a * b; }, py::is_operator())
      .def(
          "__matmul__", [](const Mat33E& a, const Vec3E& v) { return a * v; }, py::is_operator());
}

// All classes before any method, so that signatures can name them.
void declare(py::module_& m) {
  py::class_<Mask>(m, "Mask", "A truth value of one row: what comparisons give. Combined with &, | and ~.");
  py::class_<Expr>(m, "Float", "A float32 of one row.");
  py::class_<Int>(m, "Int", "An int32 of one row; arithmetic wraps.");
  py::class_<Vec2E>(m, "vec2", "Two float32 of one row.");
  py::class_<Vec3E>(m, "vec3", "Three float32 of one row.");
  py::class_<Vec4E>(m, "vec4", "Four float32 of one row.");
  py::class_<QuatE>(m, "quat", "A quaternion x, y, z, w of one row; nova.quat() is the identity.");
  py::class_<TransformE>(m, "transform", "A position p and a rotation q of one row.");
  py::class_<SpatialE>(m, "spatial", "A twist or wrench of one row: linear, then angular.");
  py::class_<Mat22E>(m, "mat22", "A 2 x 2 matrix of one row, row-major.");
  py::class_<Mat33E>(m, "mat33", "A 3 x 3 matrix of one row, row-major.");
  py::class_<IVec<2>>(m, "ivec2", "Two int32 of one row.");
  py::class_<IVec<3>>(m, "ivec3", "Three int32 of one row.");
  py::class_<IVec<4>>(m, "ivec4", "Four int32 of one row.");
}

}  // namespace

void bind_traced(py::module_& m) {
  declare(m);
  bind_mask();
  bind_float();
  bind_int();
  bind_vectors();
  bind_matrices();
}

}  // namespace nova::python
