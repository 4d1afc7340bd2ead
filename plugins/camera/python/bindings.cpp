// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_camera: novaphy.camera.Camera.
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "novaphy/camera/camera.hpp"
#include "novaphy/model.hpp"
#include "novaphy/python.hpp"
#include "novaphy/python_arrays.hpp"

namespace py = pybind11;

namespace {

using novaphy::camera::Camera;
using novaphy::camera::CameraConfig;

novaphy::Vec3f vec3(const py::object& value, const char* name) {
  const py::array_t<float> given =
      novaphy::python::convert_array(value, {novaphy::text("Camera: ", name), novaphy::DType::f32, {3}});
  return {given.at(0), given.at(1), given.at(2)};
}

CameraConfig config_of(int width, int height, double fov, const py::object& position,
                       const py::object& target, double near, double sigma) {
  CameraConfig config;
  config.width = width, config.height = height;
  config.fov = novaphy::python::float32_of(fov, "Camera: fov");
  config.near = novaphy::python::float32_of(near, "Camera: near");
  config.sigma = novaphy::python::float32_of(sigma, "Camera: sigma");
  config.position = vec3(position, "position"), config.target = vec3(target, "target");
  return config;
}

/// Indices (T, 3): those of a model's triangles, or an array's.
std::vector<std::int32_t> indices_of(const py::object& given, const std::string& who) {
  py::object value = given;
  if (py::isinstance<novaphy::Model>(given)) {
    value = given.attr("tri_indices");
    NOVAPHY_REQUIRE(value.attr("size").cast<std::int64_t>() > 0, novaphy::ErrorKind::value, who,
                    ": the model has no triangles; give an array of indices (n, 3), or draw particles with "
                    "particle_silhouette "
                    "or particle_depth");
  }
  const py::array_t<std::int32_t> rows =
      novaphy::python::convert_array(value, {who + ": triangles", novaphy::DType::i32, {-1, 3}});
  return {rows.data(), rows.data() + rows.size()};
}

/// One number, or (P).
std::vector<float> radii_of(const py::object& given, const std::string& who) {
  const bool number = py::isinstance<py::float_>(given) || py::isinstance<py::int_>(given);
  const py::object value = number ? py::object(py::make_tuple(given)) : given;
  const py::array_t<float> rows =
      novaphy::python::convert_array(value, {who + ": radius", novaphy::DType::f32, {-1}});
  return {rows.data(), rows.data() + rows.size()};
}

float number(double value, const std::string& where) {
  return novaphy::python::float32_of(value, where.c_str());
}

using Softness = std::optional<double>;

std::optional<float> softness(const Softness& sigma, const std::string& who) {
  return sigma ? std::optional(number(*sigma, who + ": sigma")) : std::nullopt;
}

void bind_silhouettes(py::class_<Camera>& camera) {
  camera.def(
      "silhouette",
      [](const Camera& self, const nova::Tensor& particle_q, const py::object& triangles,
         const Softness& sigma) {
        const auto indices = indices_of(triangles, "Camera.silhouette");
        const auto soft = softness(sigma, "Camera.silhouette");
        const py::gil_scoped_release released;
        return self.silhouette(particle_q, indices, soft);
      },
      py::arg("particle_q"), py::arg("triangles"), py::arg("sigma") = py::none(),
      "The soft silhouette (height, width) of triangles at particle_q (P, 3), from 0 to 1.\n\n"
      "triangles: a Model, whose triangles are drawn, or indices (T, 3). sigma [px^2]: softness of edges, by "
      "default "
      "the camera's. Recorded on the open tape; gradients reach particle_q.");
  camera.def(
      "particle_silhouette",
      [](const Camera& self, const nova::Tensor& particle_q, const py::object& radius,
         const Softness& sigma) {
        const auto radii = radii_of(radius, "Camera.particle_silhouette");
        const auto soft = softness(sigma, "Camera.particle_silhouette");
        const py::gil_scoped_release released;
        return self.particle_silhouette(particle_q, radii, soft);
      },
      py::arg("particle_q"), py::arg("radius"), py::arg("sigma") = py::none(),
      "The soft silhouette (height, width) of spheres of `radius` [m], one number or (P), at particle_q (P, "
      "3).");
}

void bind_depths(py::class_<Camera>& camera) {
  camera.def(
      "depth",
      [](const Camera& self, const nova::Tensor& particle_q, const py::object& triangles,
         const Softness& sigma, double background) {
        const auto indices = indices_of(triangles, "Camera.depth");
        const auto soft = softness(sigma, "Camera.depth");
        const float beyond = number(background, "Camera.depth: background");
        const py::gil_scoped_release released;
        return self.depth(particle_q, indices, soft, beyond);
      },
      py::arg("particle_q"), py::arg("triangles"), py::arg("sigma") = py::none(), py::arg("background") = 0.0,
      "The soft depth (height, width) of triangles along the view [m]; `background` where nothing is. With "
      "background "
      "0, depth / silhouette is the mean depth of what is seen.");
  camera.def(
      "particle_depth",
      [](const Camera& self, const nova::Tensor& particle_q, const py::object& radius, const Softness& sigma,
         double background) {
        const auto radii = radii_of(radius, "Camera.particle_depth");
        const auto soft = softness(sigma, "Camera.particle_depth");
        const float beyond = number(background, "Camera.particle_depth: background");
        const py::gil_scoped_release released;
        return self.particle_depth(particle_q, radii, soft, beyond);
      },
      py::arg("particle_q"), py::arg("radius"), py::arg("sigma") = py::none(), py::arg("background") = 0.0,
      "The soft depth (height, width) of the spheres' fronts along the view [m].");
}

py::tuple tuple_of(const novaphy::Vec3f& v) {
  return py::make_tuple(v.x, v.y, v.z);
}

/// The arguments of Camera().
py::dict parameters_of(const Camera& camera) {
  const CameraConfig& c = camera.config();
  py::dict out;
  out["width"] = c.width, out["height"] = c.height, out["fov"] = c.fov;
  out["position"] = tuple_of(c.position), out["target"] = tuple_of(c.target);
  out["near"] = c.near, out["sigma"] = c.sigma;
  return out;
}

Camera camera_of(const py::dict& p) {
  return Camera(config_of(p["width"].cast<int>(), p["height"].cast<int>(), p["fov"].cast<double>(),
                          p["position"], p["target"], p["near"].cast<double>(), p["sigma"].cast<double>()));
}

std::string describe(const Camera& camera) {
  const CameraConfig& c = camera.config();
  const auto vector = [](const novaphy::Vec3f& v) {
    return novaphy::text("(", v.x, ", ", v.y, ", ", v.z, ")");
  };
  return novaphy::text("Camera(width=", c.width, ", height=", c.height, ", fov=", c.fov,
                       ", position=", vector(c.position), ", target=", vector(c.target), ", near=", c.near,
                       ", sigma=", c.sigma, ")");
}

void bind_camera(py::class_<Camera>& camera) {
  camera.attr("__module__") = "novaphy.camera";  // where pickle finds it
  camera
      .def(py::init([](int width, int height, double fov, const py::object& position,
                       const py::object& target, double near, double sigma) {
             return Camera(config_of(width, height, fov, position, target, near, sigma));
           }),
           py::kw_only(), novaphy::python::integer("width") = 128, novaphy::python::integer("height") = 128,
           py::arg("fov") = 45.0, py::arg("position") = py::make_tuple(0.0, -3.0, 1.0),
           py::arg("target") = py::make_tuple(0.0, 0.0, 0.0), py::arg("near") = 0.01, py::arg("sigma") = 1.0)
      .def_property_readonly("width", [](const Camera& c) { return c.config().width; })
      .def_property_readonly("height", [](const Camera& c) { return c.config().height; })
      .def_property_readonly("fov", [](const Camera& c) { return c.config().fov; })
      .def_property_readonly("position", [](const Camera& c) { return tuple_of(c.config().position); })
      .def_property_readonly("target", [](const Camera& c) { return tuple_of(c.config().target); })
      .def_property_readonly("near", [](const Camera& c) { return c.config().near; })
      .def_property_readonly("sigma", [](const Camera& c) { return c.config().sigma; })
      .def_property_readonly(
          "parameters", &parameters_of,
          "The arguments that make this camera, numbers that JSON can hold: Camera(**camera.parameters).")
      .def("__repr__", &describe)
      .def(py::pickle(&parameters_of, &camera_of));
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_camera, m) {
  // registers the class that is taken and returned; an accessor alone would look nothing up
  const py::object tensor = py::module_::import("novaphy.nova").attr("Tensor");
  py::class_<Camera> camera(
      m, "Camera",
      "A pinhole camera whose pictures are differentiable by positions. Z is up; row 0 is the top.\n\n"
      "width, height [px]; fov: vertical field of view [degrees]; position, target (3) [m]; near [m]: what "
      "reaches closer, or lies behind, is left out; sigma [px^2]: softness of edges.");
  bind_camera(camera);
  bind_silhouettes(camera);
  bind_depths(camera);
}
