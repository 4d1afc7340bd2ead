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

CameraConfig config_of(int width, int height, double fov, const py::object& position, const py::object& target, double near) {
  CameraConfig config;
  config.width = width, config.height = height;
  config.fov = novaphy::python::float32_of(fov, "Camera: fov");
  config.near = novaphy::python::float32_of(near, "Camera: near");
  config.position = vec3(position, "position"), config.target = vec3(target, "target");
  return config;
}

/// Indices (T, 3): those of a model's triangles, or an array's.
std::vector<std::int32_t> indices_of(const py::object& given, const std::string& who) {
  py::object value = given;
  if (py::isinstance<novaphy::Model>(given)) {
    value = given.attr("tri_indices");
    NOVAPHY_REQUIRE(value.attr("size").cast<std::int64_t>() > 0, novaphy::ErrorKind::value, who,
                    ": the model has no triangles; give an array of indices (n, 3), or draw particles with particle_silhouette "
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

float number(double value, const char* where) {
  return novaphy::python::float32_of(value, where);
}

py::tuple tuple_of(const novaphy::Vec3f& v) {
  return py::make_tuple(v.x, v.y, v.z);
}

void bind_pictures(py::class_<Camera>& camera) {
  camera
      .def(
          "silhouette",
          [](const Camera& self, const nova::Tensor& particle_q, const py::object& triangles, double sigma) {
            const auto indices = indices_of(triangles, "Camera.silhouette");
            return self.silhouette(particle_q, indices, number(sigma, "Camera.silhouette: sigma"));
          },
          py::arg("particle_q"), py::arg("triangles"), py::arg("sigma") = 1.0,
          "The soft silhouette (height, width) of triangles at particle_q (P, 3), from 0 to 1.\n\n"
          "triangles: a Model, whose triangles are drawn, or indices (T, 3). sigma [px^2]: softness of edges. Recorded on "
          "the open tape; gradients reach particle_q.")
      .def(
          "depth",
          [](const Camera& self, const nova::Tensor& particle_q, const py::object& triangles, double sigma, double background) {
            const auto indices = indices_of(triangles, "Camera.depth");
            return self.depth(particle_q, indices, number(sigma, "Camera.depth: sigma"),
                              number(background, "Camera.depth: background"));
          },
          py::arg("particle_q"), py::arg("triangles"), py::arg("sigma") = 1.0, py::arg("background") = 0.0,
          "The soft depth (height, width) of triangles along the view [m]; `background` where nothing is. With background 0, "
          "depth / silhouette is the mean depth of what is seen.")
      .def(
          "particle_silhouette",
          [](const Camera& self, const nova::Tensor& particle_q, const py::object& radius, double sigma) {
            const auto radii = radii_of(radius, "Camera.particle_silhouette");
            return self.particle_silhouette(particle_q, radii, number(sigma, "Camera.particle_silhouette: sigma"));
          },
          py::arg("particle_q"), py::arg("radius"), py::arg("sigma") = 1.0,
          "The soft silhouette (height, width) of spheres of `radius` [m], one number or (P), at particle_q (P, 3).")
      .def(
          "particle_depth",
          [](const Camera& self, const nova::Tensor& particle_q, const py::object& radius, double sigma, double background) {
            const auto radii = radii_of(radius, "Camera.particle_depth");
            return self.particle_depth(particle_q, radii, number(sigma, "Camera.particle_depth: sigma"),
                                       number(background, "Camera.particle_depth: background"));
          },
          py::arg("particle_q"), py::arg("radius"), py::arg("sigma") = 1.0, py::arg("background") = 0.0,
          "The soft depth (height, width) of the spheres' fronts along the view [m].");
}

}  // namespace

NOVAPHY_PYTHON_MODULE(_novaphy_camera, m) {
  py::module_::import("novaphy.nova").attr("Tensor");  // registers the class that the pictures are
  py::class_<Camera> camera(m, "Camera",
                            "A pinhole camera whose pictures are differentiable by positions. Z is up; row 0 is the top.\n\n"
                            "width, height [px]; fov: vertical field of view [degrees]; position, target (3) [m]; near [m]: "
                            "what reaches closer, or lies behind, is left out.");
  camera
      .def(py::init([](int width, int height, double fov, const py::object& position, const py::object& target, double near) {
             return Camera(config_of(width, height, fov, position, target, near));
           }),
           py::kw_only(), novaphy::python::integer("width") = 128, novaphy::python::integer("height") = 128,
           py::arg("fov") = 45.0, py::arg("position") = py::make_tuple(0.0, -3.0, 1.0),
           py::arg("target") = py::make_tuple(0.0, 0.0, 0.0), py::arg("near") = 0.01)
      .def_property_readonly("width", [](const Camera& c) { return c.config().width; })
      .def_property_readonly("height", [](const Camera& c) { return c.config().height; })
      .def_property_readonly("fov", [](const Camera& c) { return c.config().fov; })
      .def_property_readonly("position", [](const Camera& c) { return tuple_of(c.config().position); })
      .def_property_readonly("target", [](const Camera& c) { return tuple_of(c.config().target); })
      .def_property_readonly("near", [](const Camera& c) { return c.config().near; })
      .def("__repr__", [](const Camera& c) {
        const CameraConfig& k = c.config();
        return novaphy::text("Camera(width=", k.width, ", height=", k.height, ", fov=", k.fov, ", position=(", k.position.x, ", ",
                             k.position.y, ", ", k.position.z, "), target=(", k.target.x, ", ", k.target.y, ", ", k.target.z,
                             "), near=", k.near, ")");
      });
  bind_pictures(camera);
}
