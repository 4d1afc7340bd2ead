// SPDX-License-Identifier: Apache-2.0
// Camera: a pinhole camera whose soft pictures of triangles and particles are differentiable by positions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "novaphy/export.hpp"
#include "novaphy/math.hpp"
#include "novaphy/nova/tensor.hpp"

namespace novaphy::camera {

/// How a camera is made. Z is up; a camera that looks straight up or down has +y at the top of its picture.
struct CameraConfig {
  int width = 128, height = 128;                                ///< px
  float fov = 45.0f;                                            ///< vertical field of view, degrees
  Vec3f position{0.0f, -3.0f, 1.0f}, target{0.0f, 0.0f, 0.0f};  ///< m
  float near = 0.01f;  ///< m: what reaches closer, or lies behind, is left out
  float sigma = 1.0f;  ///< px^2: softness of edges, for pictures that name none
};

/// Axes of the camera in the world, and its focal length in pixels.
struct View {
  Vec3f position, right, down, forward;
  float focal, centre_u, centre_v, near;
  int width, height;
};

/// Draws pictures (height, width), row 0 at the top, recorded on this thread's open tape; gradients reach
/// particle_q (P, 3). Each pixel is composed of covers D: silhouette = 1 - prod(1 - D); depth = the covers
/// laid over each other from the nearest to the farthest (Porter and Duff 1984, "over"), then over
/// `background`. Covers below 2^-20 are left out, which moves a pixel by less than that each; derivatives are
/// those of the picture that was computed. The same bits on any thread count. A position in use that is not
/// finite makes the whole picture NaN.
///
/// sigma [px^2] is the softness of edges, by default the camera's: D falls from 1/2 at the edge to 0.27 at
/// sqrt(sigma) px outside. Left out whole: a triangle or sphere that reaches closer than `near` or lies
/// behind, and one with a corner that lies a billion metres away or whose image is a million pixels away.
///
/// Errors: value for sigma outside of [1e-6, 1e6] or a radius that is not positive and finite; index for a
/// triangle's corner outside of particle_q; shape_mismatch and type for arrays of another kind.
class NOVAPHY_API Camera {
 public:
  explicit Camera(const CameraConfig& config);

  const CameraConfig& config() const noexcept { return config_; }
  const View& view() const noexcept { return view_; }

  /// `triangles`: three indices into particle_q each. Both sides are seen.
  nova::Tensor silhouette(const nova::Tensor& particle_q, std::span<const std::int32_t> triangles,
                          std::optional<float> sigma = {}) const;
  /// Metres along the view's axis.
  nova::Tensor depth(const nova::Tensor& particle_q, std::span<const std::int32_t> triangles,
                     std::optional<float> sigma = {}, float background = 0.0f) const;
  /// `radius` [m]: one for all or one for each particle; no gradient reaches it.
  nova::Tensor particle_silhouette(const nova::Tensor& particle_q, std::span<const float> radius,
                                   std::optional<float> sigma = {}) const;
  nova::Tensor particle_depth(const nova::Tensor& particle_q, std::span<const float> radius,
                              std::optional<float> sigma = {}, float background = 0.0f) const;

 private:
  CameraConfig config_;
  View view_;
};

}  // namespace novaphy::camera
