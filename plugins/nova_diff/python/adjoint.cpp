// SPDX-License-Identifier: Apache-2.0
// A kernel with a derivative in Python, as a custom operation of the tape.
#include "adjoint.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/tape.hpp"
#include "traced.hpp"

namespace nova::python {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::fail;
using novaphy::Shape;
using novaphy::Storage;

/// Shape and type of an array whose memory a callback is given.
struct Layout {
  Shape shape;
  DType dtype;

  std::size_t bytes() const { return static_cast<std::size_t>(count()) * novaphy::size_of(dtype); }
  std::int64_t count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape.extents()) count *= extent;
    return count;
  }
  DeviceArray over(const void* memory) const {
    return DeviceArray(Storage::wrap(const_cast<void*>(memory), bytes(), novaphy::Device{}, nullptr, false),
                       dtype, shape);
  }
  /// A copy in memory of its own; zeros where there is none.
  Tensor copy(const void* memory) const {
    Tensor out(shape, dtype);
    if (memory != nullptr && bytes() > 0) std::memcpy(out.storage()->mutable_data(), memory, bytes());
    return out;
  }
};

Layout layout_of(const Tensor& tensor) {
  return {tensor.shape(), tensor.dtype()};
}

Tensor as_tensor(py::handle value) {
  return py::isinstance<Tensor>(value) ? value.cast<Tensor>() : Tensor(value.cast<DeviceArray>());
}

/// What Python owns, held from C++ and let go under the lock of the interpreter.
struct Held {
  py::function vjp;
  std::vector<py::object> numbers;  ///< by parameter; None for tensors
};
std::shared_ptr<Held> hold(Held held) {
  return {new Held(std::move(held)), [](Held* own) {
            const py::gil_scoped_acquire lock;
            delete own;
          }};
}

class KernelWithVjp final : public CustomOperation {
 public:
  KernelWithVjp(const TracedKernel& kernel, std::shared_ptr<Held> held, std::vector<std::string> names,
                std::vector<std::uint32_t> tensors, std::vector<Layout> in, std::vector<Layout> out,
                std::int64_t rows, std::int64_t domain)
      : kernel_(kernel),
        held_(std::move(held)),
        names_(std::move(names)),
        tensors_(std::move(tensors)),
        in_(std::move(in)),
        out_(std::move(out)),
        rows_(rows),
        domain_(domain) {}

  const char* name() const noexcept override { return kernel_.kernel.name(); }

  void forward(const Forward& call) const override {
    const NoGrad unrecorded;
    std::vector<DeviceArray> arrays, results;
    for (std::size_t i = 0; i < in_.size(); ++i) arrays.push_back(in_[i].over(call.inputs[i]));
    for (std::size_t k = 0; k < out_.size(); ++k) results.push_back(out_[k].over(call.outputs[k]));
    std::vector<Operand> inputs;
    const std::vector<Argument>& arguments = kernel_.kernel.program().arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::uint32_t parameter = kernel_.inputs[i];
      const auto at = std::find(tensors_.begin(), tensors_.end(), parameter);
      if (at != tensors_.end())
        inputs.emplace_back(arrays[static_cast<std::size_t>(at - tensors_.begin())]);
      else
        inputs.push_back(number(parameter, arguments[i].row));
    }
    launch(kernel_.kernel, inputs, std::vector<Operand>(results.begin(), results.end()), rows_, domain_);
  }

  void backward(const Backward& call) const override {
    const py::gil_scoped_acquire lock;
    const NoGrad unrecorded;
    py::list arguments;
    for (const py::object& given : held_->numbers) arguments.append(given);
    for (std::size_t i = 0; i < in_.size(); ++i)
      arguments[tensors_[i]] = py::cast(in_[i].copy(call.inputs[i]));
    for (std::size_t k = 0; k < out_.size(); ++k)
      arguments.append(py::cast(Layout{out_[k].shape, DType::f32}.copy(call.output_cotangents[k])));
    const py::object answer = held_->vjp(*arguments);
    for (std::size_t i = 0, place = 0; i < in_.size(); ++i) {
      if (in_[i].dtype != DType::f32) continue;
      const py::object cotangent = part(answer, names_[tensors_[i]], place++);
      if (!cotangent.is_none() && call.input_cotangents[i] != nullptr)
        add(i, cotangent, call.input_cotangents[i]);
    }
  }

 private:
  Operand number(std::uint32_t parameter, Row row) const {
    const py::gil_scoped_acquire lock;
    const py::object& given = held_->numbers[parameter];
    return is_float(row) ? Operand(float_literal(given)) : Operand(given.cast<std::int32_t>());
  }

  /// The cotangent of one float input: by name, by place, or the only one.
  py::object part(const py::object& answer, const std::string& wanted, std::size_t place) const {
    const auto floats = static_cast<std::size_t>(
        std::count_if(in_.begin(), in_.end(), [](const Layout& l) { return l.dtype == DType::f32; }));
    if (py::isinstance<py::dict>(answer)) {
      if (!answer.contains(wanted))
        fail(ErrorKind::value, name(), ": its vjp gave no cotangent of '", wanted,
             "'; give None where there is none");
      return answer[wanted.c_str()];
    }
    const bool many = py::isinstance<py::tuple>(answer) || py::isinstance<py::list>(answer);
    const std::size_t count = many ? py::len(answer) : 1;
    if (count != floats)
      fail(ErrorKind::value, name(), ": its vjp gave ", count, " cotangents for ", floats,
           " float inputs; give a dict by name, or a tuple with None where there is none");
    return many ? answer[py::int_(place)] : answer;
  }

  void add(std::size_t i, const py::object& cotangent, float* sum) const {
    if (!py::isinstance<Tensor>(cotangent) && !py::isinstance<DeviceArray>(cotangent))
      fail(ErrorKind::type, name(), ": its vjp gave a ",
           std::string(py::str(py::type::of(cotangent).attr("__name__"))), " for '", names_[tensors_[i]],
           "', not a tensor");
    const Tensor tensor = as_tensor(cotangent);
    if (tensor.dtype() != DType::f32 || tensor.size() != in_[i].count())
      fail(ErrorKind::shape_mismatch, name(), ": its vjp gave a cotangent of shape ",
           to_string(tensor.shape()), " and type ", to_string(tensor.dtype()), " for '", names_[tensors_[i]],
           "', which has shape ", to_string(in_[i].shape));
    const float* const values = tensor.array().read<float>().data();
    for (std::int64_t k = 0; k < tensor.size(); ++k) sum[k] += values[k];
  }

  TracedKernel kernel_;
  std::shared_ptr<Held> held_;
  std::vector<std::string> names_;      ///< of the parameters
  std::vector<std::uint32_t> tensors_;  ///< parameters that are tensors
  std::vector<Layout> in_, out_;
  std::int64_t rows_, domain_;
};

}  // namespace

void launch_with_vjp(const TracedKernel& kernel, const py::function& vjp,
                     const std::vector<std::string>& names, const std::vector<py::object>& given,
                     const std::vector<Tensor>& outputs, std::int64_t rows, std::int64_t domain) {
  Held held{vjp, given};
  std::vector<std::uint32_t> places;
  std::vector<Tensor> tensors;
  std::vector<Layout> in, out;
  std::vector<CustomInput> inputs;
  std::vector<CustomOutput> written;
  for (std::uint32_t p = 0; p < given.size(); ++p) {
    if (is_number(given[p])) continue;
    places.push_back(p), tensors.push_back(as_tensor(given[p])), in.push_back(layout_of(tensors.back()));
    held.numbers[p] = py::none();
  }
  for (const Tensor& tensor : tensors) inputs.emplace_back(tensor);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    out.push_back(layout_of(outputs[k]));
    const Write write = kernel.kernel.program().outputs[k].write;
    written.emplace_back(outputs[k]);
    if (write != Write::set && write != Write::sum) written.back().add();
  }
  apply(std::make_shared<KernelWithVjp>(kernel, hold(std::move(held)), names, std::move(places),
                                        std::move(in), std::move(out), rows, domain),
        inputs, written);
}

}  // namespace nova::python
