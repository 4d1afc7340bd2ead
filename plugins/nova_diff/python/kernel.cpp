// SPDX-License-Identifier: Apache-2.0
// What the Python front end of @nova.kernel stands on: the tracer, the things that a body writes to,
// launches.
#include "novaphy/nova/kernel.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <optional>
#include <string>

#include "adjoint.hpp"
#include "bindings.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/python.hpp"
#include "traced.hpp"

namespace nova::python {
/// How often nova.loop runs: whatever Python takes as an index.
class LoopCount : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(LoopCount, py::object, PyObject_Type)
};
}  // namespace nova::python

namespace pybind11::detail {
template <>
struct handle_type_name<nova::python::LoopCount> {
  static constexpr auto name = const_name("typing.SupportsIndex");
};
}  // namespace pybind11::detail

namespace nova::python {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::fail;
using novaphy::Shape;

/// An argument with one row for each round of the domain loop; the index of a round.
struct Table {
  std::uint32_t parameter = 0;
};
struct DomainRow {};

/// `for s in nova.domain(table):`; the body runs once.
struct Domain {
  int rounds = 0;
};

/// What `f[i] += value` writes to.
struct Scatter {
  std::uint32_t output = 0;
};
struct Place {
  std::uint32_t output = 0;
  Int index;
};

struct Total {
  std::uint32_t number = 0;
  Row row = Row::f32;
};

std::string class_name(py::handle value) {
  return py::str(py::type::of(value).attr("__name__"));
}

/// The row type of a traced value; nothing for other things.
std::optional<Row> row_of(py::handle value) {
  std::optional<Row> row;
  with_each_type([&]<class T>() {
    if (py::isinstance<T>(value)) row = kRowOf<T>;
  });
  return row;
}

Row row_of_type(const py::type& type) {
  std::optional<Row> row;
  with_each_type([&]<class T>() {
    if (type.is(py::type::of<T>())) row = kRowOf<T>;
  });
  return row.value();
}

// The tracer, as `with Trace(name) as trace:`
// ------------------------------------------------------------------

struct Trace {
  std::string name;
  std::unique_ptr<Tracer> tracer;

  Tracer& now() const { return *tracer; }
};

/// The row type of integers that are stored as `stored`: int32, uint32 or uint8.
Row row_stored_as(Row row, const std::string& stored) {
  return row != Row::i32 ? row : stored == "uint8" ? Row::u8 : stored == "uint32" ? Row::flags : row;
}
/// The row type of the traced value.
Row row_of_value(Row row) {
  return row == Row::u8 || row == Row::flags ? Row::i32 : row;
}

py::object add_parameter(Trace& self, const std::string& name, const py::type& type, const std::string& how,
                         const std::string& stored) {
  const Row row = row_stored_as(row_of_type(type), stored);
  const Reach reach = how == "uniform"  ? Reach::uniform
                      : how == "number" ? Reach::value
                      : how == "table"  ? Reach::domain
                                        : Reach::row;
  const std::uint32_t parameter = self.now().parameter(name, row, reach, how == "static");
  if (reach == Reach::domain) return py::cast(Table{parameter});
  return value_of(row_of_value(row), self.now().read(parameter));
}

std::uint32_t add_result(Trace& self, const std::string& name, const py::object& result) {
  Tracer& tracer = self.now();
  if (py::isinstance<Mask>(result))
    fail(ErrorKind::trace, "a truth value cannot be returned; return nova.where(condition, 1.0, 0.0)");
  if (py::isinstance<RowSum>(result)) {
    const auto sum = result.cast<RowSum>();
    const std::uint32_t output = tracer.output(name, sum.row);
    tracer.sum(output, sum.nodes);
    return output;
  }
  const py::object value = py::isinstance<Total>(result) ? result.attr("value") : result;
  const Row row = row_of(value).value_or(Row::f32);
  if (!row_of(value) && !is_number(value))
    fail(ErrorKind::trace, "a kernel returns traced values, nova.sum(...) or a tuple of them, not ",
         class_name(value));
  const std::uint32_t output = tracer.output(name, row);
  tracer.set(output, nodes_as(row, value, "the result"));
  return output;
}

// Launches
// ---------------------------------------------------------------------------------------------------

Tensor tensor_of(py::handle given) {
  return py::isinstance<Tensor>(given) ? given.cast<Tensor>() : Tensor(given.cast<DeviceArray>());
}

Shape shape_of_rows(Row row, std::int64_t rows) {
  const int width = width_of(row);
  if (row == Row::mat22) return Shape{rows, 2, 2};
  if (row == Row::mat33) return Shape{rows, 3, 3};
  return width == 1 ? Shape{rows} : Shape{rows, width};
}

Tensor allocated(const Program& program, const Output& output, std::int64_t rows) {
  if (output.reach == Reach::gather)
    fail(ErrorKind::value, program.name.view(), ": output '", output.name.view(),
         "' is written through an index, so how many rows it has is not known; give the tensor with out=");
  return Tensor(shape_of_rows(output.row, output.reach == Reach::uniform ? 1 : rows),
                is_float(output.row) ? DType::f32 : DType::i32);
}

/// Rows of the first parameter that is reached so.
std::optional<std::int64_t> rows_of(const TracedKernel& self, Reach reach,
                                    const std::vector<Tensor>& tensors) {
  const std::vector<Argument>& arguments = self.kernel.program().arguments;
  std::size_t first = arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].reach == reach && (first == arguments.size() || self.inputs[i] < self.inputs[first]))
      first = i;
  if (first == arguments.size()) return std::nullopt;
  return tensors[first].rows();
}

/// `given` holds what belongs to each parameter, `out` a tensor or None for each output.
std::vector<Tensor> run(const TracedKernel& self, const std::vector<py::object>& given,
                        const std::vector<py::object>& out, const std::optional<std::int64_t>& rows_given,
                        const std::optional<py::function>& vjp, const std::vector<std::string>& names) {
  const Program& program = self.kernel.program();
  std::vector<Tensor> tensors(program.arguments.size()), results;
  std::vector<Operand> inputs, outputs;
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    const py::object& operand = given.at(self.inputs[i]);
    if (program.arguments[i].reach != Reach::value)
      inputs.emplace_back(tensors[i] = tensor_of(operand));
    else if (is_float(program.arguments[i].row))
      inputs.emplace_back(float_literal(operand));
    else
      inputs.emplace_back(operand.cast<std::int32_t>());
  }
  std::optional<std::int64_t> rows = rows_of(self, Reach::row, tensors);
  if (!rows) rows = rows_given;
  for (std::size_t k = 0; !rows && k < out.size(); ++k)
    if (program.outputs[k].reach == Reach::row && !out[k].is_none()) rows = tensor_of(out[k]).rows();
  if (!rows)
    fail(ErrorKind::value, program.name.view(),
         ": how many rows it has is not known, since no argument is read at row e; give rows=");
  for (std::size_t k = 0; k < out.size(); ++k)
    results.push_back(out[k].is_none() ? allocated(program, program.outputs[k], *rows) : tensor_of(out[k]));
  for (const Tensor& result : results) outputs.emplace_back(result);
  const std::int64_t domain = rows_of(self, Reach::domain, tensors).value_or(0);
  if (vjp && is_recording()) {
    launch_with_vjp(self, *vjp, names, given, results, *rows, domain);
  } else {
    const py::gil_scoped_release unlocked;
    launch(self.kernel, inputs, outputs, *rows, domain);
  }
  return results;
}

// Classes
// ----------------------------------------------------------------------------------------------------

void bind_scatter(py::module_& m) {
  const auto adding = [](bool subtract) {
    return [subtract](const py::object& self, const py::object& value) {
      const auto place = self.cast<Place>();
      Tracer& tracer = Tracer::active("f[i] += value");
      tracer.scatter(place.output, place.index, nodes_as(tracer.row_of(place.output), value, "f[i] += value"),
                     subtract);
      return self;
    };
  };
  py::class_<Place>(m, "Place").def("__iadd__", adding(false)).def("__isub__", adding(true));
  const auto adding_row = [](bool subtract) {
    return [subtract](const py::object& self, const py::object& value) {
      const auto scatter = self.cast<Scatter>();
      Tracer& tracer = Tracer::active("f += value");
      tracer.add(scatter.output, nodes_as(tracer.row_of(scatter.output), value, "f += value"), subtract);
      return self;
    };
  };
  py::class_<Scatter>(m, "Scatter")
      .def("__getitem__",
           [](const Scatter& self, Int index) {
             return Place{self.output, index};
           })
      .def("__getitem__",
           [](const Scatter&, const py::object& index) -> Place {
             fail(ErrorKind::trace,
                  "f[i] += value wants an integer argument or a component of one for i, got ",
                  class_name(index));
           })
      .def("__setitem__",
           [](const Scatter&, const py::object&, const py::object& value) {
             if (!py::isinstance<Place>(value))
               fail(ErrorKind::trace,
                    "an output nova.scatter is added to: write f[i] += value or f[i] -= value");
           })
      .def("__iadd__", adding_row(false))
      .def("__isub__", adding_row(true));
}

void bind_domain(py::module_& m) {
  py::class_<DomainRow>(m, "DomainRow", "The row of a domain loop.");
  py::class_<Table>(m, "Table", "An argument nova.table[T].")
      .def("__getitem__",
           [](const Table& self, const DomainRow&) {
             Tracer& tracer = Tracer::active("table[s]");
             const Row row = row_of_value(tracer.row_of_parameter(self.parameter));
             return value_of(row, tracer.read(self.parameter));
           })
      .def("__getitem__", [](const Table&, const py::object&) -> py::object {
        fail(ErrorKind::trace, "a table is read with the s of 'for s in nova.domain(table):'");
      });
  py::class_<Domain>(
      m, "domain",
      "`for s in nova.domain(table, ...):` runs for every row s of the tables, in order; the body is "
      "traced once. Rows are read as table[s], sums are made with nova.total.")
      .def(py::init([](const py::args& tables) {
        Tracer::active("nova.domain");
        for (const py::handle table : tables)
          if (!py::isinstance<Table>(table))
            fail(ErrorKind::trace, "nova.domain takes arguments nova.table[T], got ", class_name(table));
        if (tables.empty()) fail(ErrorKind::trace, "nova.domain takes at least one argument nova.table[T]");
        return Domain{};
      }))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", [](Domain& self) {
        Tracer& tracer = Tracer::active("nova.domain");
        if (self.rounds++ > 0) {
          tracer.end_loop();
          throw py::stop_iteration();
        }
        tracer.begin_loop();
        return DomainRow{};
      });
}

void bind_total(py::module_& m) {
  const auto add = [](const Total& self, const py::object& value, const std::optional<Mask>& where,
                      bool subtract) {
    Tracer::active("nova.total")
        .accumulate(self.number, nodes_as(self.row, value, "nova.total += value"), where.value_or(Mask{}),
                    subtract);
  };
  py::class_<Total>(m, "total", "A sum over a domain loop: made before it, added to inside, read after it.")
      .def(py::init([](const py::object& start) {
             const Row row = row_of(start).value_or(Row::f32);
             return Total{Tracer::active("nova.total").total(nodes_as(row, start, "nova.total")), row};
           }),
           py::arg("start"), "Starts from a traced value or a number.")
      .def(
          "add",
          [add](const Total& self, const py::object& value, const std::optional<Mask>& where) {
            add(self, value, where, false);
          },
          py::arg("value"), py::kw_only(), py::arg("where") = py::none(),
          "Rows where `where` does not hold keep their sum to the bit.")
      .def(
          "sub",
          [add](const Total& self, const py::object& value, const std::optional<Mask>& where) {
            add(self, value, where, true);
          },
          py::arg("value"), py::kw_only(), py::arg("where") = py::none(), "Subtracts, as add() adds.")
      .def("__iadd__",
           [add](const py::object& self, const py::object& value) {
             add(self.cast<Total>(), value, {}, false);
             return self;
           })
      .def("__isub__",
           [add](const py::object& self, const py::object& value) {
             add(self.cast<Total>(), value, {}, true);
             return self;
           })
      .def_property_readonly(
          "value",
          [](const Total& self) {
            return value_of(self.row, Tracer::active("nova.total").result(self.number));
          },
          "The sum, after the loop.");
}

int count_of(const LoopCount& n) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(n.ptr()));
  if (!index) PyErr_Clear();  // its own words differ by type
  const auto text = [&] { return std::string(py::repr(n)); };
  NOVAPHY_REQUIRE(index, ErrorKind::trace, "nova.loop: n is ", text(),
                  "; give how often the body runs, an integer that is known now");
  int overflow = 0;
  const long count = PyLong_AsLongAndOverflow(index.ptr(), &overflow);
  NOVAPHY_REQUIRE(overflow <= 0 && count <= INT_MAX, ErrorKind::trace, "nova.loop: n is ", text(),
                  "; no kernel holds so many operations");
  return static_cast<int>(std::max(count, 0L));
}

void bind_loop(py::module_& m) {
  m.def(
      "loop",
      [](const LoopCount& n, const py::function& body, py::object carry) {
        const int count = count_of(n);
        for (int k = 0; k < count; ++k) carry = body(k, carry);
        return carry;
      },
      py::arg("n"), py::arg("body"), py::arg("carry"),
      "carry = body(k, carry) for k = 0 .. n-1; n is an integer of Python or NumPy, and the body is traced n "
      "times.");
}

}  // namespace

void bind_kernel(py::module_& m) {
  bind_scatter(m);
  bind_domain(m);
  bind_total(m);
  py::class_<RowSum>(m, "RowSum", "A sum over all rows, to be returned.");
  m.def(
      "sum",
      [](const Total&) -> RowSum {
        fail(ErrorKind::trace, "nova.sum takes a value; write nova.sum(total.value)");
      },
      py::arg("value"));
  with_each_type([&]<class T>() {
    if constexpr (kRowOf<T> < Row::i32)
      m.def(
          "sum",
          [](const T& value) {
            return RowSum{kRowOf<T>, nodes_of(value)};
          },
          py::arg("value"),
          "In a kernel: a result of one row, the sum over all rows, in an order that does not depend on "
          "threads.");
  });
  bind_loop(m);

  py::class_<Trace>(m, "Trace", "Records one function.")
      .def(py::init([](const std::string& name) {
        return Trace{name, nullptr};
      }))
      .def("__enter__",
           [](py::object self) {
             auto& trace = self.cast<Trace&>();
             trace.tracer = std::make_unique<Tracer>(trace.name);
             return self;
           })
      .def("__exit__", [](Trace& self, const py::args&) { self.tracer.reset(); })
      .def("parameter", &add_parameter,
           "name, class of a row, how it is reached, type of stored integers: the traced argument.")
      .def("scatter",
           [](Trace& self, const std::string& name, const py::type& type) {
             return Scatter{self.now().output(name, row_of_type(type))};
           })
      .def("result", &add_result)
      .def("finish", [](Trace& self) { return self.now().finish(); });

  py::class_<TracedKernel>(m, "TracedKernel", "A recorded function, ready to be launched.")
      .def("text", [](const TracedKernel& self) { return self.kernel.text(); })
      .def("launch", &run, py::arg("given"), py::arg("out"), py::arg("rows"), py::arg("vjp"),
           py::arg("names"));
}

}  // namespace nova::python
