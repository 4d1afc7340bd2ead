// SPDX-License-Identifier: Apache-2.0
// What a kernel is said to take and give: named inputs, outputs and indices, with their rows and how those
// are reached.
#pragma once

#include <string_view>
#include <vector>

#include "novaphy/nova/program.hpp"

namespace nova {

/// An input of a kernel. Make with in() and say how rows are reached; default: row e.
struct In {
  Name name;
  Row row_type = Row::f32;
  Reach reach = Reach::row;
  Name index{};
  int columns = 1, first_column = 0;
  bool differentiable = true, is_static = false;

  In& uniform() {
    reach = Reach::uniform;
    return *this;
  }
  /// One number, given to launch() as a float (or an int for Row::i32).
  In& value() {
    reach = Reach::value;
    return *this;
  }
  /// Row s of the reduction's domain.
  In& domain() {
    reach = Reach::domain;
    return *this;
  }
  /// Row s * rows + e.
  In& pair() {
    reach = Reach::pair;
    return *this;
  }
  /// Row index[e][first + k] for k = 0 .. columns-1; a negative index reads zeros. A `pair` index makes it
  /// one row per (e, s).
  In& gather(std::string_view index_name, int column_count = 1, int first = 0) {
    reach = Reach::gather, index = index_name, columns = column_count, first_column = first;
    return *this;
  }
  /// Never differentiated.
  In& constant() {
    differentiable = false;
    return *this;
  }
  /// Changes only when the user changes it (material, radius).
  In& rate_static() {
    is_static = true;
    return *this;
  }
};
inline In in(std::string_view name, Row row) {
  In out;
  out.name = name, out.row_type = row;
  return out;
}

/// An output of a kernel. Default: row e is set.
struct Out {
  Name name;
  Row row_type = Row::f32;
  Write write = Write::set;
  Name index{};
  int columns = 1, first_column = 0;

  /// Row e is added to.
  Out& add() {
    write = Write::add;
    return *this;
  }
  Out& scatter_add(std::string_view index_name, int column_count = 1, int first = 0) {
    write = Write::scatter_add, index = index_name, columns = column_count, first_column = first;
    return *this;
  }
  Out& scatter_sub(std::string_view index_name, int column_count = 1, int first = 0) {
    scatter_add(index_name, column_count, first).write = Write::scatter_sub;
    return *this;
  }
  /// One row: the sum over all rows, in an order that does not depend on threads.
  Out& sum() {
    write = Write::sum;
    return *this;
  }
};
inline Out out(std::string_view name, Row row) {
  Out o;
  o.name = name, o.row_type = row;
  return o;
}

/// An integer argument that gathers and scatters go through. It can be read as a value too.
struct IndexArg {
  Name name;
  Row row_type = Row::i32;
  Reach reach = Reach::row;
  IndexArg& pair() {
    reach = Reach::pair;
    return *this;
  }
};
inline IndexArg index(std::string_view name, Row row = Row::i32) {
  return {name, row};
}

/// A launch takes its inputs in the order `in`, then `index`, and its outputs in the order `out`.
struct KernelDesc {
  const char* name = "";
  std::vector<In> in;
  std::vector<Out> out;
  std::vector<IndexArg> index{};
};

/// Names the domain of a reduction, for messages ("shape").
struct DomainArg {
  const char* name = "domain";
};
inline DomainArg domain(const char* name) {
  return {name};
}

}  // namespace nova
