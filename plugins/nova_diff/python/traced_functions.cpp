// SPDX-License-Identifier: Apache-2.0
// Functions of traced values. What has a formula in novaphy/math.hpp is that formula.
#include <string>

#include "bindings.hpp"
#include "traced.hpp"

namespace nova::python {
namespace {

using novaphy::ErrorKind;
using novaphy::fail;
using Number = Like<Expr>;

template <class T>
T selected(Mask condition, const T& a, const T& b) {
  auto nodes = nodes_of(a);
  const auto others = nodes_of(b);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    nodes[k] = trace(Op::select, kRowOf<T> >= Row::i32 ? ValueType::i32 : ValueType::f32, condition.node,
                     nodes[k], others[k]);
  return from_nodes<T>(nodes);
}

template <class T>
T filled(Expr number) {
  const std::vector<std::uint32_t> nodes(RowTraits<T>::width, number.node);
  return from_nodes<T>(nodes);
}

/// Left to right, as the dot product of novaphy/math.hpp.
template <class T>
Expr dot_of(const T& a, const T& b) {
  const auto left = nodes_of(a), right = nodes_of(b);
  Expr sum = Expr::of(left[0]) * Expr::of(right[0]);
  for (std::size_t k = 1; k < left.size(); ++k) sum += Expr::of(left[k]) * Expr::of(right[k]);
  return sum;
}

/// a / |a|, zero where |a| is zero, as novaphy/math.hpp does for vec3.
template <class T>
T normalized(const T& a) {
  const Expr length = sqrt(dot_of(a, a));
  auto nodes = nodes_of(a);
  for (std::uint32_t& node : nodes)
    node = select(length > Expr(0.0f), Expr::of(node) / length, Expr(0.0f)).node;
  return from_nodes<T>(nodes);
}

void bind_where(py::module_& m) {
  const char* const doc =
      "`a` in rows where `condition` holds, else `b`. Both are evaluated; the one that is not taken disturbs "
      "neither value nor gradient.";
  const auto condition = py::arg("condition"), a = py::arg("a"), b = py::arg("b");
  with_each_type([&]<class T>() {
    if constexpr (std::is_same_v<T, Expr>) return;
    m.def(
        "where", [](Mask c, const T& x, const Like<T>& y) { return selected(c, x, y.value); }, condition, a,
        b, doc);
    m.def(
        "where", [](Mask c, const Like<T>& x, const T& y) { return selected(c, x.value, y); }, condition, a,
        b, doc);
    if constexpr (kRowOf<T> < Row::i32) {
      m.def(
          "where", [](Mask c, const T& x, const Number& y) { return selected(c, x, filled<T>(y.value)); },
          condition, a, b, doc);
      m.def(
          "where", [](Mask c, const Number& x, const T& y) { return selected(c, filled<T>(x.value), y); },
          condition, a, b, doc);
    }
  });
  m.def(
      "where", [](Mask c, const Number& x, const Number& y) { return select(c, x.value, y.value); },
      condition, a, b, doc);
}

void bind_elementary(py::module_& m) {
  const auto one = [&](const char* name, Expr (*function)(Expr), const char* doc) {
    m.def(
        name, [function](const Number& a) { return function(a.value); }, py::arg("a"), doc);
  };
  one("sqrt", &sqrt, "The root; its derivative at 0 is 0.");
  one("abs", &abs, "The absolute value; at 0 the derivative is 1.");
  one("floor", &floor, "The next whole number below; no derivative.");
  one("sin", &sin, "Sine of radians.");
  one("cos", &cos, "Cosine of radians.");
  one("tan", &tan, "Tangent of radians.");
  one("asin", &asin, "Arc sine; the argument is clamped to -1 .. 1, where the derivative is 0.");
  one("acos", &acos, "Arc cosine; the argument is clamped to -1 .. 1, where the derivative is 0.");
  one("atan", &atan, "Arc tangent.");
  one("exp", &exp, "The exponential function.");
  one("log", &log, "The natural logarithm.");
  one("tanh", &tanh, "Hyperbolic tangent.");
  const auto two = [&](const char* name, Expr (*function)(Expr, Expr), const char* a, const char* b,
                       const char* doc) {
    m.def(
        name, [function](const Number& x, const Number& y) { return function(x.value, y.value); }, py::arg(a),
        py::arg(b), doc);
  };
  const auto of_integers = [&](const char* name, Int (*function)(Int, Int)) {
    m.def(
        name, [function](Int a, const Like<Int>& b) { return function(a, b.value); }, py::arg("a"),
        py::arg("b"));
    m.def(
        name, [function](const Like<Int>& a, Int b) { return function(a.value, b); }, py::arg("a"),
        py::arg("b"));
  };
  of_integers("min", &min), of_integers("max", &max);
  two("min", &min, "a", "b", "The smaller; of equal ones the second, which then has the derivative.");
  two("max", &max, "a", "b", "The larger; of equal ones the second, which then has the derivative.");
  two("atan2", &atan2, "y", "x", "The angle of (x, y); its derivative at (0, 0) is 0.");
  const char* const power = "a to the power b; a whole number b from 0 to 8 makes products.";
  m.def(
      "pow", [](const Number& a, int n) { return pow(a.value, n); }, py::arg("a"), py::arg("b"), power);
  m.def(
      "pow",
      [](const Number& a, float b) {
        const bool whole = 0 <= b && b <= 8 && b == static_cast<float>(static_cast<int>(b));
        return whole ? pow(a.value, static_cast<int>(b)) : pow(a.value, Expr(b));
      },
      py::arg("a"), py::arg("b"), power);
  two("pow", &pow, "a", "b", power);
  m.def(
      "clamp",
      [](const Number& x, const Number& low, const Number& high) {
        return min(max(low.value, x.value), high.value);
      },
      py::arg("x"), py::arg("low"), py::arg("high"), "x, at least low and at most high.");
  m.def(
      "sign",
      [](const Number& x) {
        return select(x.value < Expr(0.0f), Expr(-1.0f),
                      select(x.value > Expr(0.0f), Expr(1.0f), Expr(0.0f)));
      },
      py::arg("x"), "-1, 0 or 1; no derivative.");
  m.def(
      "fma", [](const Number& a, const Number& b, const Number& c) { return fma(a.value, b.value, c.value); },
      py::arg("a"), py::arg("b"), py::arg("c"), "a * b + c, rounded once.");
  m.def(
      "to_float", [](const Like<Int>& a) { return to_float(a.value); }, py::arg("a"),
      "An int32 as a float32; no derivative.");
  m.def(
      "to_int", [](const Number& a) { return to_int(a.value); }, py::arg("a"),
      "Towards zero, to the nearest int32; the gradient ends here.");
}

template <class T>
void bind_products(py::module_& m) {
  const auto a = py::arg("a"), b = py::arg("b");
  m.def(
      "dot", [](const T& x, const Like<T>& y) { return dot_of(x, y.value); }, a, b, "The inner product.");
  m.def(
      "dot", [](const Like<T>& x, const T& y) { return dot_of(x.value, y); }, a, b, "The inner product.");
  for (const char* name : {"norm", "length"})
    m.def(
        name, [](const T& x) { return sqrt(dot_of(x, x)); }, a, "The length; its derivative at 0 is 0.");
  m.def(
      "cw_mul",
      [](const T& x, const Like<T>& y) {
        auto nodes = nodes_of(x);
        const auto others = nodes_of(y.value);
        for (std::size_t k = 0; k < nodes.size(); ++k)
          nodes[k] = (Expr::of(nodes[k]) * Expr::of(others[k])).node;
        return from_nodes<T>(nodes);
      },
      a, b, "The product of each component.");
  if constexpr (!std::is_same_v<T, QuatE> && !std::is_same_v<T, SpatialE>)
    m.def(
        "normalize", [](const T& x) { return normalized(x); }, a,
        "a / |a|; zero, with the derivative 0, where |a| is 0.");
}

void bind_geometry(py::module_& m) {
  bind_products<Vec2E>(m);
  bind_products<Vec3E>(m);
  bind_products<Vec4E>(m);
  bind_products<QuatE>(m);
  bind_products<SpatialE>(m);
  const auto a = py::arg("a"), b = py::arg("b"), q = py::arg("q"), v = py::arg("v"), t = py::arg("t");
  m.def(
      "normalize", [](const QuatE& x) { return normalize(x); }, a, "q / |q|; the identity where |q| is 0.");
  m.def(
      "cross", [](const Vec3E& x, const Like<Vec3E>& y) { return cross(x, y.value); }, a, b,
      "The cross product.");
  m.def(
      "cross", [](const Like<Vec3E>& x, const Vec3E& y) { return cross(x.value, y); }, a, b,
      "The cross product.");
  m.def(
      "rotate", [](const QuatE& r, const Like<Vec3E>& x) { return rotate(r, x.value); }, q, v,
      "v rotated by the unit quaternion q.");
  m.def(
      "rotate_inverse", [](const QuatE& r, const Like<Vec3E>& x) { return rotate_inverse(r, x.value); }, q, v,
      "v rotated back by the unit quaternion q.");
  m.def(
      "transform_point",
      [](const TransformE& r, const Like<Vec3E>& x) { return transform_point(r, x.value); }, t, v,
      "The point v of the transform's frame: rotated, then moved.");
  m.def(
      "transform_vector", [](const TransformE& r, const Like<Vec3E>& x) { return rotate(r.q, x.value); }, t,
      v, "The direction v of the transform's frame: rotated.");
  m.def(
      "inverse", [](const TransformE& r) { return inverse(r); }, a,
      "The inverse of a transform or of a unit quaternion.");
  m.def(
      "inverse", [](const QuatE& r) { return conjugate(r); }, a,
      "The inverse of a transform or of a unit quaternion.");
  m.def(
      "quat_from_axis_angle",
      [](const Like<Vec3E>& axis, const Number& angle) {
        const Expr half = angle.value * Expr(0.5f), s = sin(half);
        return QuatE{axis.value.x * s, axis.value.y * s, axis.value.z * s, cos(half)};
      },
      py::arg("axis"), py::arg("angle"), "The rotation by `angle` radians about the unit vector `axis`.");
  m.def(
      "transpose", [](const Mat33E& x) { return transpose(x); }, a, "The transposed matrix.");
  m.def(
      "determinant", [](const Mat33E& x) { return determinant(x); }, a, "The determinant.");
  m.def(
      "determinant", [](const Mat22E& x) { return determinant(x); }, a, "The determinant.");
  m.def(
      "from_columns",
      [](const Like<Vec3E>& x, const Like<Vec3E>& y, const Like<Vec3E>& z) {
        return from_columns(x.value, y.value, z.value);
      },
      a, b, py::arg("c"), "The matrix with these columns.");
  m.def(
      "outer",
      [](const Vec3E& x, const Like<Vec3E>& y) {
        return from_columns(x * y.value.x, x * y.value.y, x * y.value.z);
      },
      a, b, "The matrix a b^T.");
}

}  // namespace

void bind_traced_functions(py::module_& m) {
  bind_where(m);
  bind_elementary(m);
  bind_geometry(m);
}

}  // namespace nova::python
