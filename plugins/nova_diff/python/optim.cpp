// SPDX-License-Identifier: Apache-2.0
// Parameter updates of novaphy.nova and the optimisers of novaphy.nova.optim.
#include "novaphy/nova/optim.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "novaphy/python.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;
using novaphy::python::float32_of;

using RateArgument = std::variant<double, Tensor>;
using StepArgument = std::variant<std::int64_t, Tensor>;
using BoundsArgument = std::optional<std::pair<double, double>>;

Rate rate_of(const RateArgument& rate, const char* where) {
  if (const auto* tensor = std::get_if<Tensor>(&rate)) return *tensor;
  return float32_of(std::get<double>(rate), where);
}

void adam(const Tensor& param, const Tensor& m, const Tensor& v, const StepArgument& step,
          const RateArgument& rate, double beta1, double beta2, double eps) {
  constexpr const char* kRate = "nova.adam_update_f32: learning_rate";
  const auto run = [&](const Tensor& count) {
    adam_update_f32(param, m, v, count, rate_of(rate, kRate), static_cast<float>(beta1),
                    static_cast<float>(beta2), static_cast<float>(eps));
  };
  if (const auto* tensor = std::get_if<Tensor>(&step)) return run(*tensor);
  const std::int64_t number = std::get<std::int64_t>(step);
  NOVAPHY_REQUIRE(number >= 0 && number < 0x7fffffff, ErrorKind::value, "nova.adam_update_f32: step is ",
                  number, "; give the number of updates that were made before this one");
  const auto updates = static_cast<std::int32_t>(number);
  run(Tensor::from<std::int32_t>(std::span(&updates, 1), Shape{1}));
}

std::vector<Tensor> params_of(const py::object& params, const char* who) {
  NOVAPHY_REQUIRE(!py::isinstance<Tensor>(params) && !py::isinstance<DeviceArray>(params), ErrorKind::type,
                  who, ": params is one tensor; give a list of tensors");
  std::vector<Tensor> out;
  for (const py::handle item : params) {
    NOVAPHY_REQUIRE(py::isinstance<Tensor>(item) || py::isinstance<DeviceArray>(item), ErrorKind::type, who,
                    ": parameter ", out.size(), " is a ",
                    std::string(py::str(py::type::handle_of(item).attr("__name__"))), ", not a tensor");
    out.push_back(py::isinstance<Tensor>(item) ? item.cast<Tensor>() : Tensor(item.cast<DeviceArray>()));
  }
  return out;
}

optim::Bounds bounds_of(const BoundsArgument& bounds) {
  if (!bounds) return {};
  return {static_cast<float>(bounds->first), static_cast<float>(bounds->second)};
}

py::object bounds_object(const optim::Optimizer& self) {
  const optim::Bounds& b = self.bounds();
  if (std::isinf(b.low) && std::isinf(b.high)) return py::none();
  return py::make_tuple(b.low, b.high);
}

py::list copies(const std::vector<Tensor>& tensors) {
  py::list out;
  for (const Tensor& tensor : tensors)
    out.append(novaphy::python::numpy_view(tensor.array(), false).attr("copy")());
  return out;
}

[[noreturn]] void refuse(const char* who, const std::string& what) {
  novaphy::fail(ErrorKind::value, who, ".load_state_dict: ", what);
}

py::object entry(const char* who, const py::dict& state, const char* name) {
  if (!state.contains(name))
    refuse(who, novaphy::text("'", name, "' is missing; give what state_dict() returned"));
  return state[name];
}

/// Refuses a number that differs from the optimiser's own.
void check_same(const char* who, const py::dict& state, const char* name, const py::object& own) {
  const py::object given = entry(who, state, name);
  if (!given.equal(own))
    refuse(who, novaphy::text(name, " is ", std::string(py::str(given)), ", this optimiser has ",
                              std::string(py::str(own))));
}

/// Checks everything before anything is written.
class StateLists {
 public:
  StateLists(const char* who, const py::dict& state) : who_(who), state_(state) {}
  void add(const char* name, const std::vector<Tensor>& into) {
    const py::list given = py::list(entry(who_, state_, name));
    if (given.size() != into.size())
      refuse(who_, novaphy::text("'", name, "' has ", given.size(), " arrays, this optimiser ", into.size()));
    for (std::size_t i = 0; i < into.size(); ++i) {
      DeviceArray array = novaphy::python::new_array(
          given[i], into[i].dtype(), novaphy::text(who_, ".load_state_dict: '", name, "'"), {});
      if (array.shape() != into[i].shape())
        refuse(who_, novaphy::text("'", name, "' ", i, " has shape ", to_string(array.shape()),
                                   ", parameter ", i, " needs ", to_string(into[i].shape())));
      pairs_.emplace_back(into[i].array(), std::move(array));
    }
  }
  void write() {
    for (auto& [into, from] : pairs_) into.copy_from(from);
  }

 private:
  const char* who_;
  const py::dict& state_;
  std::vector<std::pair<DeviceArray, DeviceArray>> pairs_;
};

py::dict sgd_state(const optim::SGD& self) {
  py::dict state;
  state["lr"] = self.learning_rate(), state["momentum"] = self.momentum(),
  state["bounds"] = bounds_object(self);
  state["velocity"] = copies(self.velocity());
  return state;
}

using State = py::typing::Union<py::dict>;

py::dict dict_of(const char* who, const State& state) {
  NOVAPHY_REQUIRE(py::isinstance<py::dict>(state), ErrorKind::type, who, ".load_state_dict: state is a ",
                  class_of(state), "; give what state_dict() returned");
  return py::reinterpret_borrow<py::dict>(state);
}

void load_sgd(optim::SGD& self, const State& given) {
  constexpr const char* kWho = "nova.optim.SGD";
  const py::dict state = dict_of(kWho, given);
  check_same(kWho, state, "momentum", py::float_(self.momentum()));
  check_same(kWho, state, "bounds", bounds_object(self));
  StateLists lists(kWho, state);
  lists.add("velocity", self.velocity());
  self.set_learning_rate(float32_of(entry(kWho, state, "lr").cast<double>(), "nova.optim.SGD: lr"));
  lists.write();
}

py::dict adam_state(const optim::Adam& self) {
  py::dict state;
  state["lr"] = self.learning_rate(), state["betas"] = py::make_tuple(self.beta1(), self.beta2());
  state["eps"] = self.eps(), state["bounds"] = bounds_object(self);
  state["step"] = copies(self.steps()), state["m"] = copies(self.m()), state["v"] = copies(self.v());
  return state;
}

void load_adam(optim::Adam& self, const State& given) {
  constexpr const char* kWho = "nova.optim.Adam";
  const py::dict state = dict_of(kWho, given);
  check_same(kWho, state, "betas", py::make_tuple(self.beta1(), self.beta2()));
  check_same(kWho, state, "eps", py::float_(self.eps()));
  check_same(kWho, state, "bounds", bounds_object(self));
  StateLists lists(kWho, state);
  lists.add("step", self.steps()), lists.add("m", self.m()), lists.add("v", self.v());
  self.set_learning_rate(float32_of(entry(kWho, state, "lr").cast<double>(), "nova.optim.Adam: lr"));
  lists.write();
}

template <class Class>
void bind_common(Class& c) {
  using T = typename Class::type;
  c.def("step", &T::step,
        "Updates every parameter that has a gradient. ValueError when none has. No part of a recording.")
      .def("zero_grad", &T::zero_grad, "Drops the gradients of the parameters.")
      .def_property(
          "lr", &T::learning_rate,
          [](T& self, double rate) { self.set_learning_rate(float32_of(rate, "nova.optim: lr")); },
          "The learning rate. A captured graph reads it anew at each launch.")
      .def_property_readonly("params", &T::params, "The parameters, a list of tensors.")
      .def_property_readonly("bounds", &bounds_object,
                             "(low, high) that a step keeps parameters within, or None.");
}

void bind_sgd(py::module_& m) {
  py::class_<optim::SGD> sgd(
      m, "SGD",
      "Gradient descent: velocity = momentum * velocity + grad; param -= lr * velocity. "
      "`params`: float32 tensors or arrays of the engine; `bounds`: (low, high) that "
      "parameters are brought back to after each step.");
  sgd.def(py::init([](const py::object& params, double lr, double momentum, const BoundsArgument& bounds) {
            return optim::SGD(params_of(params, "nova.optim.SGD"), float32_of(lr, "nova.optim.SGD: lr"),
                              float32_of(momentum, "nova.optim.SGD: momentum"), bounds_of(bounds));
          }),
          py::arg("params"), py::arg("lr"), py::arg("momentum") = 0.0, py::kw_only(),
          py::arg("bounds") = py::none());
  bind_common(sgd);
  sgd.def_property_readonly("momentum", &optim::SGD::momentum, "The part of the velocity that a step keeps.")
      .def("state_dict", &sgd_state,
           "Copies of everything that step() keeps, as a dict of numbers and arrays.")
      .def("load_state_dict", &load_sgd, py::arg("state"),
           "Takes over what state_dict() returned, in place. ValueError where it does not fit.");
}

using Betas = py::typing::Union<py::typing::Tuple<double, double>>;

std::pair<double, double> betas_of(const py::object& given) {
  const bool is_pair = (py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given)) && py::len(given) == 2;
  NOVAPHY_REQUIRE(is_pair, ErrorKind::value, "nova.optim.Adam: betas is ", std::string(py::repr(given)),
                  "; give two numbers, (beta1, beta2)");
  const py::sequence pair(given);
  return {number_of(pair[0], "nova.optim.Adam: betas[0]"), number_of(pair[1], "nova.optim.Adam: betas[1]")};
}

void bind_adam(py::module_& m) {
  py::class_<optim::Adam> adam_class(
      m, "Adam",
      "Adam (Kingma and Ba 2015), with bias correction. `params`: float32 tensors or "
      "arrays of the engine; `bounds`: (low, high) that parameters are brought back "
      "to after each step.");
  adam_class.def(
      py::init([](const py::object& params, double lr, const Betas& given, double eps,
                  const BoundsArgument& bounds) {
        const std::pair<double, double> betas = betas_of(given);
        return optim::Adam(params_of(params, "nova.optim.Adam"), float32_of(lr, "nova.optim.Adam: lr"),
                           float32_of(betas.first, "nova.optim.Adam: betas"),
                           float32_of(betas.second, "nova.optim.Adam: betas"),
                           float32_of(eps, "nova.optim.Adam: eps"), bounds_of(bounds));
      }),
      py::arg("params"), py::arg("lr") = 1e-3, py::arg("betas") = py::make_tuple(0.9, 0.999),
      py::arg("eps") = 1e-8, py::kw_only(), py::arg("bounds") = py::none());
  bind_common(adam_class);
  adam_class
      .def_property_readonly(
          "betas", [](const optim::Adam& self) { return py::make_tuple(self.beta1(), self.beta2()); },
          "(beta1, beta2): the parts that a step keeps of the means of gradients and of their squares.")
      .def_property_readonly("eps", &optim::Adam::eps, "Added to the root of the mean of squares.")
      .def("state_dict", &adam_state,
           "Copies of everything that step() keeps, as a dict of numbers and arrays.")
      .def("load_state_dict", &load_adam, py::arg("state"),
           "Takes over what state_dict() returned, in place. ValueError where it does not fit.");
}

}  // namespace

void bind_optim(py::module_& m) {
  m.def(
      "sgd_update_f32",
      [](const Tensor& param, const RateArgument& rate) {
        sgd_update_f32(param, rate_of(rate, "nova.sgd_update_f32: learning_rate"));
      },
      py::arg("param"), py::arg("learning_rate"),
      "param -= learning_rate * param.grad, in place. `learning_rate`: a number, or a tensor of one element. "
      "ValueError without a gradient.");
  m.def(
      "sgd_update_vec3_clipped_f32",
      [](const Tensor& param, const RateArgument& rate, double max_parameter_norm, double max_gradient_norm) {
        sgd_update_vec3_clipped_f32(param, rate_of(rate, "nova.sgd_update_vec3_clipped_f32: learning_rate"),
                                    static_cast<float>(max_parameter_norm),
                                    static_cast<float>(max_gradient_norm));
      },
      py::arg("param"), py::arg("learning_rate"), py::arg("max_parameter_norm"), py::arg("max_gradient_norm"),
      "The same for param (n, 3), row by row: a gradient that is not finite counts as zero, a longer one is "
      "shortened to max_gradient_norm, then a longer parameter to max_parameter_norm. ValueError for a "
      "missing gradient and limits <= 0, ShapeMismatchError for another shape.");
  m.def("adam_update_f32", &adam, py::arg("param"), py::arg("m"), py::arg("v"), py::arg("step"),
        py::arg("learning_rate"), py::arg("beta1") = 0.9, py::arg("beta2") = 0.999, py::arg("eps") = 1e-8,
        "Adam's update of param, m and v (of the shape of param, zeros at first), in place. `step`: the "
        "number of updates made before this one, an int32 tensor of one element, which is advanced, or an "
        "int, which is not. ValueError without a gradient, ShapeMismatchError for another shape.");
  m.def(
      "clamp_update_f32",
      [](const Tensor& param, double low, double high) {
        clamp_update_f32(param, static_cast<float>(low), static_cast<float>(high));
      },
      py::arg("param"), py::arg("low"), py::arg("high"), "param = min(max(param, low), high), in place.");

  py::module_ optimisers = m.def_submodule("optim", "Optimisers: SGD and Adam.");
  bind_sgd(optimisers);
  bind_adam(optimisers);
  py::module_::import("novaphy._core").attr("finish_classes")(optimisers);
}

}  // namespace nova::python
