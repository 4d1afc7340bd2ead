// SPDX-License-Identifier: Apache-2.0
// Tensors over memory of other libraries, and tensors of other libraries over ours. Nothing is copied.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "novaphy/dlpack.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/python.hpp"
#include "novaphy/python_arrays.hpp"

namespace nova::python {
namespace {

using novaphy::Device;
using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::Shape;
using novaphy::Storage;
using novaphy::text;
namespace dlpack = novaphy::dlpack;

std::string type_name(const py::handle& object) {
  return py::str(py::type::handle_of(object).attr("__name__"));
}

/// Keeps a Python object alive from C++, from any thread.
std::shared_ptr<void> keep_alive(py::object owner) {
  return {new py::object(std::move(owner)), [](void* object) {
            const py::gil_scoped_acquire gil;
            delete static_cast<py::object*>(object);
          }};
}

Tensor over(void* data, DType dtype, std::span<const std::int64_t> extents, std::shared_ptr<void> owner) {
  const Shape shape(extents);
  const auto bytes = static_cast<std::size_t>(shape.size()) * novaphy::size_of(dtype);
  return Tensor(DeviceArray(Storage::wrap(data, bytes, Device{}, std::move(owner), true), dtype, shape));
}

/// What `describe` says about memory that cannot be taken over as it is.
struct Memory {
  const char* who;
  std::string description;
  void require(bool condition, ErrorKind kind, const char* wish, const char* remedy) const {
    NOVAPHY_REQUIRE(condition, kind, who, ": ", wish, ", got ", description, remedy);
  }
  void require_layout(bool packed, bool aligned, bool writable, int ndim) const {
    require(packed, ErrorKind::value, "wants packed memory", "; nova.tensor copies it");
    require(aligned, ErrorKind::value, "wants memory that begins at a multiple of its element size",
            "; nova.tensor copies it");
    require(writable, ErrorKind::value, "wants memory that may be written, as a tensor can be",
            ", which is read-only; nova.tensor copies it");
    require(ndim <= Shape::kMaxDims, ErrorKind::shape_mismatch, "takes at most 4 dimensions", "");
  }
};

Tensor over_array(const py::object& source, const char* who) {
  const py::array array = py::module_::import("numpy").attr("asarray")(source);
  const Memory memory{who, text(std::string(py::str(array.dtype())), " of shape ",
                                std::string(py::str(array.attr("shape"))))};
  for (const DType dtype : {DType::f32, DType::i32, DType::u32, DType::u8}) {
    if (!array.dtype().equal(novaphy::python::numpy_dtype(dtype))) continue;
    memory.require_layout(array.flags() & py::array::c_style,
                          array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_, array.writeable(),
                          static_cast<int>(array.ndim()));
    const std::vector<std::int64_t> extents(array.shape(), array.shape() + array.ndim());
    return over(array.request().ptr, dtype, extents, keep_alive(array));
  }
  memory.require(false, ErrorKind::type, "wants float32, int32, uint32 or uint8",
                 "; nova.tensor converts with a copy");
  return {};
}

const char* device_kind(std::int32_t type) {
  switch (type) {
    case dlpack::kCuda:
      return "cuda";
    case 3:
      return "cuda_host";
    case 4:
      return "opencl";
    case 7:
      return "vulkan";
    case 8:
      return "metal";
    case 10:
      return "rocm";
    case 13:
      return "cuda_managed";
    case 14:
      return "oneapi";
    default:
      return "unknown";
  }
}

void require_cpu(const char* who, dlpack::Device device) {
  NOVAPHY_REQUIRE(device.type == dlpack::kCpu, ErrorKind::device_mismatch, who,
                  ": the memory lies on device '", device_kind(device.type), ":", device.ordinal,
                  "' (DLPack type ", device.type,
                  "), for which there is no backend here; copy it to the CPU first");
}

std::string describe(const dlpack::Tensor& tensor) {
  static constexpr const char* kCodes[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string out = tensor.dtype.code < 7 ? kCodes[tensor.dtype.code] : "unknown";
  out += std::to_string(tensor.dtype.bits) + " of shape (";
  for (int i = 0; i < tensor.ndim; ++i) out += (i ? ", " : "") + std::to_string(tensor.shape[i]);
  return out + (tensor.ndim == 1 ? ",)" : ")");
}

bool is_packed(const dlpack::Tensor& tensor) {
  std::int64_t stride = 1;
  for (int i = tensor.ndim - 1; i >= 0 && tensor.strides != nullptr; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

Tensor over_dlpack(const dlpack::Tensor& tensor, bool read_only, std::shared_ptr<void> owner,
                   const char* who) {
  require_cpu(who, tensor.device);
  const Memory memory{who, describe(tensor)};
  const dlpack::DataType type = tensor.dtype;
  const bool plain = type.lanes == 1 && (type.bits == 32 || (type.bits == 8 && type.code == dlpack::kUint)) &&
                     type.code <= dlpack::kFloat;
  memory.require(plain, ErrorKind::type, "wants float32, int32, uint32 or uint8",
                 "; nova.tensor converts with a copy");
  const DType dtype = type.code == dlpack::kFloat ? DType::f32
                      : type.code == dlpack::kInt ? DType::i32
                      : type.bits == 32           ? DType::u32
                                                  : DType::u8;
  auto* const data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % novaphy::size_of(dtype) == 0;
  memory.require_layout(is_packed(tensor), aligned, !read_only, tensor.ndim);
  return over(data, dtype, {tensor.shape, static_cast<std::size_t>(tensor.ndim)}, std::move(owner));
}

/// Takes a capsule over: renames it, and calls its deleter when the last tensor over the memory is gone.
template <class Managed>
Tensor consume(const py::object& capsule, const char* name, const char* used, bool read_only,
               const char* who) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), used);
  const std::shared_ptr<void> owner(managed, [](void* object) {
    const py::gil_scoped_acquire gil;
    auto* const held = static_cast<Managed*>(object);
    if (held->deleter != nullptr) held->deleter(held);
  });
  if constexpr (requires { managed->flags; }) read_only = managed->flags & dlpack::kReadOnly;
  return over_dlpack(managed->tensor, read_only, owner, who);
}

py::object capsule_of(const py::object& source, const char* who) {
  if (PyCapsule_CheckExact(source.ptr())) return source;
  NOVAPHY_REQUIRE(py::hasattr(source, "__dlpack__"), ErrorKind::type, who,
                  ": wants an object with __dlpack__, got a ", type_name(source));
  const auto device = source.attr("__dlpack_device__")().cast<std::pair<std::int32_t, std::int32_t>>();
  require_cpu(who, {device.first, device.second});
  try {
    return source.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return source.attr("__dlpack__")();  // a library from before DLPack 1
  }
}

/// A capsule from before DLPack 1 cannot say that its memory is read-only, as a JAX array's is; NumPy's view
/// of the same object can, where there is one: a torch built for another NumPy refuses to make it.
bool is_known_read_only(const py::object& source) {
  if (!py::hasattr(source, "__array__")) return false;
  try {
    return !py::array(py::module_::import("numpy").attr("asarray")(source)).writeable();
  } catch (const py::error_already_set&) {
    return false;
  }
}

Tensor from_capsule(const py::object& source, const char* who) {
  const py::object capsule = capsule_of(source, who);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return consume<dlpack::ManagedVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned", false,
                                             who);
  NOVAPHY_REQUIRE(PyCapsule_IsValid(capsule.ptr(), "dltensor"), ErrorKind::value, who,
                  ": the DLPack capsule has been taken by another library already");
  return consume<dlpack::Managed>(capsule, "dltensor", "used_dltensor", is_known_read_only(source), who);
}

Tensor with_gradient(Tensor tensor, bool requires_grad) {
  if (requires_grad) tensor.set_requires_grad(true);
  return tensor;
}

Tensor from_dlpack(const py::object& source, bool requires_grad) {
  return with_gradient(from_capsule(source, "nova.from_dlpack"), requires_grad);
}

Tensor as_tensor(const py::object& source, bool requires_grad) {
  constexpr const char* kWho = "nova.as_tensor";
  if (py::isinstance<Tensor>(source)) return with_gradient(source.cast<Tensor>(), requires_grad);
  if (py::isinstance<DeviceArray>(source))
    return with_gradient(Tensor(source.cast<DeviceArray>()), requires_grad);
  if (py::hasattr(source, "__array_interface__"))
    return with_gradient(over_array(source, kWho), requires_grad);
  if (py::hasattr(source, "__dlpack__")) return with_gradient(from_capsule(source, kWho), requires_grad);
  NOVAPHY_REQUIRE(!py::hasattr(source, "__cuda_array_interface__"), ErrorKind::device_mismatch, kWho,
                  ": the memory of a ", type_name(source),
                  " lies on device 'cuda', for which there is no backend here; copy it to the CPU first");
  NOVAPHY_REQUIRE(py::hasattr(source, "__array__"), ErrorKind::type, kWho,
                  ": wants packed memory of another library, got a ", type_name(source),
                  "; nova.tensor copies anything array-like");
  return with_gradient(over_array(source, kWho), requires_grad);
}

py::module_ import_for(const char* library, const char* who) {
  try {
    return py::module_::import(library);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    throw py::import_error(
        text(who, ": ", library, " is not installed; install it with 'pip install ", library, "'"));
  }
}

/// An older capsule, because torch tensors can be written: the storage counts as escaped.
py::object to_torch(const Tensor& tensor) {
  const py::module_ torch = import_for("torch", "nova.to_torch");
  const py::none none;
  return torch.attr("from_dlpack")(novaphy::python::dlpack_capsule(tensor.array(), none, none, none));
}

/// JAX takes arrays for unchangeable, so it gets memory of its own.
py::object to_jax(const Tensor& tensor) {
  const py::module_ numpy = import_for("jax.numpy", "nova.to_jax");
  return numpy.attr("array")(novaphy::python::numpy_view(tensor.array(), false), py::arg("copy") = true);
}

}  // namespace

void bind_interop(py::module_& m) {
  m.def("as_tensor", &as_tensor, py::arg("obj"), py::arg("requires_grad") = false,
        "A tensor over packed float32, int32, uint32 or uint8 memory of another library (NumPy, DLPack, the "
        "array interface), without a copy. TypeError for other types, ValueError for memory that is not "
        "packed or may not be written (JAX, read-only NumPy), DeviceMismatchError for a device without a "
        "backend; nova.tensor copies those.");
  m.def("from_dlpack", &from_dlpack, py::arg("obj"), py::arg("requires_grad") = false,
        "A tensor over the memory of an object with __dlpack__, or of a DLPack capsule, without a copy. A "
        "bare capsule from before DLPack 1 is taken as memory that may be written. Errors as as_tensor.");
  m.def(
      "to_torch", &to_torch, py::arg("tensor"),
      "A torch tensor over the same memory. Torch may write it, so recordings compare contents from then on. "
      "ImportError without torch.");
  m.def("to_jax", &to_jax, py::arg("tensor"),
        "A JAX array with a copy of the values, because JAX takes arrays for unchangeable. ImportError "
        "without jax.");
}

}  // namespace nova::python
