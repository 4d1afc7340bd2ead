// SPDX-License-Identifier: Apache-2.0
// Camera: its axes, the checks of what it is asked to draw.
#include "novaphy/camera/camera.hpp"

#include <cmath>
#include <numeric>

#include "novaphy/elementary.hpp"
#include "novaphy/error.hpp"
#include "soft_image.hpp"

namespace novaphy::camera {
namespace {

constexpr int kMostPixels = 16384;  // along one side
constexpr float kDegree = 0.017453292519943295f;

bool finite(const Vec3f& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void check_sigma(const char* who, float sigma) {
  NOVAPHY_REQUIRE(sigma >= 1e-6f && sigma <= 1e6f, ErrorKind::value, who, ": sigma is ", sigma,
                  " px^2; give a number from 1e-06 to 1e+06");
}

void check(const CameraConfig& c) {
  NOVAPHY_REQUIRE(c.width >= 1 && c.width <= kMostPixels && c.height >= 1 && c.height <= kMostPixels,
                  ErrorKind::value, "Camera: the picture is ", c.width, " x ", c.height,
                  " px; give a width and a height from 1 to ", kMostPixels);
  NOVAPHY_REQUIRE(c.fov > 0.0f && c.fov < 180.0f, ErrorKind::value, "Camera: fov is ", c.fov,
                  " degrees; give a vertical field of view between 0 and 180");
  NOVAPHY_REQUIRE(c.near > 0.0f && std::isfinite(c.near), ErrorKind::value, "Camera: near is ", c.near,
                  " m; give a positive distance");
  check_sigma("Camera", c.sigma);
  const auto text_of = [](const Vec3f& v) { return text("(", v.x, ", ", v.y, ", ", v.z, ")"); };
  NOVAPHY_REQUIRE(finite(c.position) && finite(c.target), ErrorKind::value, "Camera: position is ",
                  text_of(c.position), " and target ", text_of(c.target), "; give finite numbers");
  NOVAPHY_REQUIRE(length(c.target - c.position) > 0.0f, ErrorKind::value,
                  "Camera: position and target are both ", text_of(c.position),
                  "; give a target that lies before the camera");
}

View view_of(const CameraConfig& c) {
  const Vec3f forward = normalize(c.target - c.position);
  const Vec3f sideways = cross(forward, Vec3f{0.0f, 0.0f, 1.0f});
  const bool vertical = length(sideways) < 1e-6f;
  const Vec3f right = normalize(vertical ? cross(forward, Vec3f{0.0f, 1.0f, 0.0f}) : sideways);
  const float half_height = 0.5f * static_cast<float>(c.height);
  return {c.position,
          right,
          cross(forward, right),
          forward,
          half_height / tan(0.5f * kDegree * c.fov),
          0.5f * static_cast<float>(c.width),
          half_height,
          c.near,
          c.width,
          c.height};
}

void require_points(const char* who, const nova::Tensor& particle_q) {
  NOVAPHY_REQUIRE(particle_q.dtype() == DType::f32, ErrorKind::type, who, ": particle_q is ",
                  to_string(particle_q.dtype()), ", float32 is wanted");
  NOVAPHY_REQUIRE(particle_q.shape().ndim() == 2 && particle_q.shape()[1] == 3, ErrorKind::shape_mismatch,
                  who, ": particle_q has shape ", to_string(particle_q.shape()), ", (n, 3) is wanted");
}

Primitives triangles_of(const char* who, const nova::Tensor& particle_q,
                        std::span<const std::int32_t> triangles) {
  require_points(who, particle_q);
  NOVAPHY_REQUIRE(triangles.size() % 3 == 0, ErrorKind::shape_mismatch, who, ": triangles hold ",
                  triangles.size(), " indices; give three for each");
  for (std::size_t i = 0; i < triangles.size(); ++i)
    NOVAPHY_REQUIRE(triangles[i] >= 0 && triangles[i] < particle_q.rows(), ErrorKind::index, who,
                    ": triangle ", i / 3, " names particle ", triangles[i], "; particle_q has ",
                    particle_q.rows(), " rows");
  return {{triangles.begin(), triangles.end()}, {}};
}

Primitives spheres_of(const char* who, const nova::Tensor& particle_q, std::span<const float> radius) {
  require_points(who, particle_q);
  const auto count = static_cast<std::size_t>(particle_q.rows());
  NOVAPHY_REQUIRE(radius.size() == 1 || radius.size() == count, ErrorKind::shape_mismatch, who,
                  ": there are ", radius.size(), " radii for ", count,
                  " particles; give one for all or one for each");
  for (std::size_t i = 0; i < radius.size(); ++i)
    NOVAPHY_REQUIRE(radius[i] > 0.0f && std::isfinite(radius[i]), ErrorKind::value, who, ": radius ", i,
                    " is ", radius[i], " m; give a positive one");
  Primitives out{std::vector<std::int32_t>(count), std::vector<float>(radius.begin(), radius.end())};
  if (radius.size() == 1) out.radius.assign(count, radius[0]);
  std::iota(out.corners.begin(), out.corners.end(), 0);
  return out;
}

nova::Tensor drawn(const char* who, const View& view, const nova::Tensor& particle_q, Primitives primitives,
                   Picture picture, float sigma, float background) {
  check_sigma(who, sigma);
  NOVAPHY_REQUIRE(std::isfinite(background), ErrorKind::value, who, ": background is ", background,
                  " m; give a finite depth");
  nova::Tensor out(Shape{view.height, view.width});
  nova::apply(make_soft_image(view, std::move(primitives), picture, sigma, background), {particle_q}, {out});
  return out;
}

}  // namespace

Camera::Camera(const CameraConfig& config) : config_((check(config), config)), view_(view_of(config)) {}

nova::Tensor Camera::silhouette(const nova::Tensor& particle_q, std::span<const std::int32_t> triangles,
                                std::optional<float> sigma) const {
  constexpr const char* kWho = "Camera.silhouette";
  return drawn(kWho, view_, particle_q, triangles_of(kWho, particle_q, triangles), Picture::silhouette,
               sigma.value_or(config_.sigma), 0.0f);
}

nova::Tensor Camera::depth(const nova::Tensor& particle_q, std::span<const std::int32_t> triangles,
                           std::optional<float> sigma, float background) const {
  constexpr const char* kWho = "Camera.depth";
  return drawn(kWho, view_, particle_q, triangles_of(kWho, particle_q, triangles), Picture::depth,
               sigma.value_or(config_.sigma), background);
}

nova::Tensor Camera::particle_silhouette(const nova::Tensor& particle_q, std::span<const float> radius,
                                         std::optional<float> sigma) const {
  constexpr const char* kWho = "Camera.particle_silhouette";
  return drawn(kWho, view_, particle_q, spheres_of(kWho, particle_q, radius), Picture::silhouette,
               sigma.value_or(config_.sigma), 0.0f);
}

nova::Tensor Camera::particle_depth(const nova::Tensor& particle_q, std::span<const float> radius,
                                    std::optional<float> sigma, float background) const {
  constexpr const char* kWho = "Camera.particle_depth";
  return drawn(kWho, view_, particle_q, spheres_of(kWho, particle_q, radius), Picture::depth,
               sigma.value_or(config_.sigma), background);
}

}  // namespace novaphy::camera
