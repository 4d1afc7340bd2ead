// SPDX-License-Identifier: Apache-2.0
// Device, and the device that is used where none is named.
#include "bindings.hpp"
#include "novaphy/array.hpp"
#include "novaphy/device.hpp"

#include <pybind11/native_enum.h>

namespace novaphy::python {
namespace {

Device default_device;

/// Memory on the device is the proof that it can be used; throws Error(plugin_not_available) with the reason.
void require_usable(Device device) {
  Storage::allocate(device, 4);
}

}  // namespace

Device device_argument(const py::object& value) {
  if (value.is_none()) return default_device;
  if (py::isinstance<Device>(value)) return value.cast<Device>();
  NOVAPHY_REQUIRE(py::isinstance<py::str>(value), ErrorKind::type,
                  "device wants text such as 'cpu' or a novaphy.Device, got ",
                  std::string(py::str(py::type::handle_of(value).attr("__name__"))));
  return parse_device(value.cast<std::string>());
}

void bind_device(py::module_& m) {
  py::native_enum<DeviceType>(m, "DeviceType", "enum.IntEnum", "Kinds of devices.")
      .value("CPU", DeviceType::cpu)
      .value("CUDA", DeviceType::cuda)
      .finalize();

  py::class_<Device>(m, "Device", "Where memory lies: Device('cpu'), Device('cuda:1').")
      .def(py::init([](const std::string& name) { return parse_device(name); }), py::arg("name") = "cpu")
      .def_static("cpu", [] { return Device{}; })
      .def_static(
          "cuda",
          [](int ordinal) {
            NOVAPHY_REQUIRE(ordinal >= 0, ErrorKind::value, "Device.cuda: ordinal must be at least 0, is ",
                            ordinal);
            return Device{DeviceType::cuda, ordinal};
          },
          integer("ordinal") = 0)
      .def_readonly("type", &Device::type, "DeviceType.CPU or DeviceType.CUDA.")
      .def_readonly("ordinal", &Device::ordinal, "Number of the GPU; 0 on the CPU.")
      .def_property_readonly("is_cpu", &Device::is_cpu)
      .def("__eq__",
           [](const Device& self, const py::object& other) {
             if (py::isinstance<Device>(other)) return self == other.cast<Device>();
             return py::isinstance<py::str>(other) && to_string(self) == other.cast<std::string>();
           })
      .def("__hash__", [](const Device& self) { return py::hash(py::str(to_string(self))); })
      .def("__str__", [](const Device& self) { return to_string(self); })
      .def("__repr__", [](const Device& self) { return text("Device('", to_string(self), "')"); })
      .def(py::pickle([](const Device& self) { return to_string(self); },
                      [](const std::string& name) { return parse_device(name); }));

  m.def("device_of", &device_argument, py::arg("device"), "The Device that an argument `device` means.");
  m.def(
      "get_device", [] { return default_device; }, "The device that is used where none is named.");
  m.def(
      "set_device",
      [](const py::object& device) {
        const Device wanted = device_argument(device);
        require_usable(wanted);
        default_device = wanted;
      },
      py::arg("device"),
      "Sets the device that is used where none is named. PluginNotAvailableError without a backend.");
  m.def(
      "synchronize", [](const py::object& device) { require_usable(device_argument(device)); },
      py::arg("device") = py::none(), "Waits until the device has done its work; the CPU always has.");
}

}  // namespace novaphy::python
