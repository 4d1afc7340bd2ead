// SPDX-License-Identifier: Apache-2.0
// How ModelBuilder's sources read and append rows of its flat columns.
#pragma once

#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "model/arguments.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {

/// One value, rounded to the column's type.
template <class Element, class Value>
requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
void append(std::vector<Element>& column, Value value) {
  column.push_back(static_cast<Element>(value));
}

template <class Element, class Value>
void append(std::vector<Element>& column, std::initializer_list<Value> values) {
  for (const Value value : values) append(column, value);
}

/// A packed struct of floats: Vec3f, Transformf, Mat33f.
template <class Struct>
requires std::is_class_v<Struct>
void append(std::vector<float>& column, const Struct& value) {
  constexpr std::size_t count = sizeof(Struct) / sizeof(float);
  column.resize(column.size() + count);
  std::memcpy(column.data() + column.size() - count, &value, sizeof(Struct));
}

template <class Struct>
Struct row(const std::vector<float>& column, int index) {
  Struct value;
  std::memcpy(&value, column.data() + static_cast<std::size_t>(index) * (sizeof(Struct) / sizeof(float)),
              sizeof(Struct));
  return value;
}

template <class Struct>
void set_row(std::vector<float>& column, int index, const Struct& value) {
  std::memcpy(column.data() + static_cast<std::size_t>(index) * (sizeof(Struct) / sizeof(float)), &value,
              sizeof(Struct));
}

/// Columns are the turned axes, in float.
inline Mat33f rotation_matrix(const Quatf& q) {
  return from_columns(rotate(q, Vec3f{1, 0, 0}), rotate(q, Vec3f{0, 1, 0}), rotate(q, Vec3f{0, 0, 1}));
}

/// Runs `add`; when it throws, cuts every column back to its length before.
template <class Add>
void ModelBuilder::all_or_nothing(Add add) {
  const std::size_t lengths[] = {
#define X(name, dtype, frequency, width, doc) name.size(),
#include "novaphy/model_arrays.inc"
  };
  try {
    add();
  } catch (...) {
    const std::size_t* length = lengths;
#define X(name, dtype, frequency, width, doc) name.resize(*length++);
#include "novaphy/model_arrays.inc"
    throw;
  }
}

}  // namespace novaphy
