// SPDX-License-Identifier: Apache-2.0
// Traced values in Python: the classes that the body of a @nova.kernel function computes with.
//
// Like<T> is the argument type of functions that take a traced T or numbers that become literals: a number
// for a Float, a sequence of three for a vec3.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "novaphy/nova/expr.hpp"
#include "novaphy/nova/tracer.hpp"

namespace nova::python {

namespace py = pybind11;

template <int N>
struct IVec {
  std::array<Int, N> v;
};

/// A sum over all rows: what nova.sum gives for a traced value.
struct RowSum {
  Row row = Row::f32;
  std::vector<std::uint32_t> nodes;
};

template <class T>
struct Like {
  T value;
};

void bind_traced(py::module_& m);
void bind_traced_functions(py::module_& m);
void bind_kernel(py::module_& m);

template <class T>
std::vector<std::uint32_t> nodes_of(const T& value);
template <class T>
T from_nodes(std::span<const std::uint32_t> nodes);

/// The Row of a C++ type, and the function's result for the C++ type of a Row.
template <class T>
inline constexpr Row kRowOf = Row::f32;
template <>
inline constexpr Row kRowOf<Vec2E> = Row::vec2;
template <>
inline constexpr Row kRowOf<Vec3E> = Row::vec3;
template <>
inline constexpr Row kRowOf<Vec4E> = Row::vec4;
template <>
inline constexpr Row kRowOf<QuatE> = Row::quat;
template <>
inline constexpr Row kRowOf<TransformE> = Row::transform;
template <>
inline constexpr Row kRowOf<SpatialE> = Row::spatial;
template <>
inline constexpr Row kRowOf<Mat22E> = Row::mat22;
template <>
inline constexpr Row kRowOf<Mat33E> = Row::mat33;
template <>
inline constexpr Row kRowOf<Int> = Row::i32;
template <>
inline constexpr Row kRowOf<IVec<2>> = Row::ivec2;
template <>
inline constexpr Row kRowOf<IVec<3>> = Row::ivec3;
template <>
inline constexpr Row kRowOf<IVec<4>> = Row::ivec4;

template <class Visit>
void with_each_type(Visit visit) {
  visit.template operator()<Expr>();
  visit.template operator()<Vec2E>();
  visit.template operator()<Vec3E>();
  visit.template operator()<Vec4E>();
  visit.template operator()<QuatE>();
  visit.template operator()<TransformE>();
  visit.template operator()<SpatialE>();
  visit.template operator()<Mat22E>();
  visit.template operator()<Mat33E>();
  visit.template operator()<Int>();
  visit.template operator()<IVec<2>>();
  visit.template operator()<IVec<3>>();
  visit.template operator()<IVec<4>>();
}

/// The Python value of a row type.
py::object value_of(Row row, std::span<const std::uint32_t> nodes);
/// The nodes of a Python value of that row type, numbers included. Throws Error(trace); `what` begins the
/// message.
std::vector<std::uint32_t> nodes_as(Row row, py::handle value, const std::string& what);

/// A Python number or a scalar of NumPy; a tuple, a list or an array of NumPy.
bool is_number(py::handle value);
bool is_sequence(py::handle value);
float float_literal(py::handle value);

}  // namespace nova::python

namespace nova {
template <int N>
struct RowTraits<python::IVec<N>> {
  static constexpr int width = N;
  template <class V, class F>
  static void visit(V& v, F f) {
    for (auto& x : v.v) f(x);
  }
};
}  // namespace nova

namespace nova::python {

template <class T>
std::vector<std::uint32_t> nodes_of(const T& value) {
  std::vector<std::uint32_t> nodes;
  RowTraits<T>::visit(value, [&](auto& number) { nodes.push_back(number.node); });
  return nodes;
}

template <class T>
T from_nodes(std::span<const std::uint32_t> nodes) {
  T out{};
  std::size_t next = 0;
  RowTraits<T>::visit(out, [&](auto& number) { number.node = nodes[next++]; });
  return out;
}

/// The numbers of a (nested) sequence as nodes; false when something else is among them.
bool literal_nodes(py::handle value, bool integers, std::vector<std::uint32_t>& nodes);

template <class T>
bool load_like(py::handle source, T& value) {
  if (py::isinstance<T>(source)) {
    value = source.cast<T>();
    return true;
  }
  constexpr bool integers = kRowOf<T> >= Row::i32;
  std::vector<std::uint32_t> nodes;
  if (RowTraits<T>::width > 1 ? !is_sequence(source) : !is_number(source)) return false;
  if (!literal_nodes(source, integers, nodes) || nodes.size() != RowTraits<T>::width) return false;
  value = from_nodes<T>(nodes);
  return true;
}

}  // namespace nova::python

namespace pybind11::detail {

template <class T>
struct type_caster<nova::python::Like<T>> {
  static constexpr auto type_name() {
    if constexpr (std::is_same_v<T, nova::Expr>)
      return make_caster<T>::name + const_name(" | float");
    else if constexpr (std::is_same_v<T, nova::Int>)
      return make_caster<T>::name + const_name(" | int");
    else
      return make_caster<T>::name + const_name(" | collections.abc.Sequence[typing.Any]");
  }
  PYBIND11_TYPE_CASTER(nova::python::Like<T>, type_name());
  bool load(handle source, bool) { return nova::python::load_like<T>(source, value.value); }
};

}  // namespace pybind11::detail
