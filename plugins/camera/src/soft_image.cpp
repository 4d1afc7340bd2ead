// SPDX-License-Identifier: Apache-2.0
// Draws row by row. Every number is summed in an order that the data alone decides: a pixel over its covers,
// a corner over rows from the top and columns from the left.
#include "soft_image.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "novaphy/camera/formula/footprint.h"
#include "novaphy/elementary.hpp"
#include "novaphy/task_pool.hpp"

namespace novaphy::camera {
namespace {

using formula::Corner;
using formula::Footprint;

constexpr float kFarthestPixel = 1e6f;
constexpr float kFarthestDepth = 1e9f;          // m: squares of it and of its inverse stay numbers
constexpr float kLowestExponent = -13.862943f;  // sigmoid of it is 2^-20: fainter covers are left out
constexpr std::int64_t kRowsAtOnce = 4;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Vec3f point(const float* positions, std::int32_t row) {
  const float* const p = positions + std::int64_t{3} * row;
  return {p[0], p[1], p[2]};
}

Corner<float> project(const View& view, const Vec3f& p) {
  const Vec3f d = p - view.position;
  const float z = dot(view.forward, d), scale = view.focal / z;
  return {view.centre_u + scale * dot(view.right, d), view.centre_v + scale * dot(view.down, d), z};
}

/// The change of a projected corner when its point moves by `change`.
Corner<float> project_tangent(const View& view, const Corner<float>& c, const Vec3f& change) {
  const float forward = dot(view.forward, change);
  return {(view.focal * dot(view.right, change) - (c.u - view.centre_u) * forward) / c.z,
          (view.focal * dot(view.down, change) - (c.v - view.centre_v) * forward) / c.z, forward};
}

/// The transpose of project_tangent.
Vec3f project_cotangent(const View& view, const Corner<float>& c, const Corner<float>& g) {
  const float along = g.z - ((c.u - view.centre_u) * g.u + (c.v - view.centre_v) * g.v) / c.z;
  return (view.right * g.u + view.down * g.v) * (view.focal / c.z) + view.forward * along;
}

/// Pixels [left, right) x [top, bottom) that something may cover.
struct Box {
  int left, right, top, bottom;
};

/// One cover of one pixel of a row. `slot`: the place of the primitive in its row's list.
struct Cover {
  int column, slot;
  float d, clear, z;  // D, 1 - D, depth
  float by_x, by_z;   // derivatives of the pixel by the exponent and by the depth
};

/// The state of one call: corners in the picture, and which primitives each row meets.
template <int N>
struct Scene {
  std::vector<Corner<float>> corners;  // N for each primitive
  std::vector<Box> boxes;              // one for each primitive
  std::vector<std::int64_t> first;     // first[row] .. first[row + 1] in `met`
  std::vector<std::int32_t> met;       // primitives, in order, row after row
  bool finite = true;
};

template <int N>
class SoftImage final : public nova::CustomOperation {
 public:
  SoftImage(const View& view, Primitives primitives, Picture picture, float sigma, float background)
      : view_(view),
        primitives_(std::move(primitives)),
        picture_(picture),
        sigma_(sigma),
        background_(background) {}

  const char* name() const noexcept override {
    return picture_ == Picture::depth ? "soft_depth" : "soft_silhouette";
  }

  void forward(const Forward& call) const override {
    const Scene<N> scene = look(static_cast<const float*>(call.inputs[0]));
    auto* const image = static_cast<float*>(call.outputs[0]);
    if (!scene.finite) return fill(image, kNaN);
    each_row([&](int row, std::vector<Cover>& covers) {
      float* const out = image + std::int64_t{row} * view_.width;
      cover_row(scene, row, covers);
      compose(covers, out);
    });
  }

  void backward(const Backward& call) const override {
    const float* const g = call.output_cotangents[0];
    float* const target = call.input_cotangents[0];
    if (g == nullptr || target == nullptr) return;
    const Scene<N> scene = look(static_cast<const float*>(call.inputs[0]));
    if (!scene.finite) {
      for (const std::int32_t corner : primitives_.corners)
        for (int axis = 0; axis < 3; ++axis) target[std::int64_t{3} * corner + axis] = kNaN;
      return;
    }
    std::vector<Corner<float>> parts(scene.met.size() * N, Corner<float>{0.0f, 0.0f, 0.0f});
    each_row([&](int row, std::vector<Cover>& covers) {
      differentiate(scene, row, covers);
      Corner<float>* const own = parts.data() + scene.first[index(row)] * N;
      for (const Cover& c : covers) {
        const float seed = g[std::int64_t{row} * view_.width + c.column];
        const Footprint<float, N> f = footprint(scene, row, c.column, primitive(scene, row, c.slot));
        for (int k = 0; k < N; ++k)
          add(own[c.slot * N + k], seed * c.by_x, f.by_x[k], seed * c.by_z, f.by_z[k]);
      }
    });
    gather(scene, parts, target);
  }

  void tangent(const Tangent& call) const override {
    float* const out = call.output_tangents[0];
    const float* const change = call.input_tangents[0];
    if (change == nullptr) return fill(out, 0.0f);
    const Scene<N> scene = look(static_cast<const float*>(call.inputs[0]));
    if (!scene.finite) return fill(out, kNaN);
    std::vector<Corner<float>> moved(scene.corners.size());
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] = project_tangent(view_, scene.corners[i], point(change, primitives_.corners[i]));
    each_row([&](int row, std::vector<Cover>& covers) {
      float* const line = out + std::int64_t{row} * view_.width;
      std::fill_n(line, view_.width, 0.0f);
      differentiate(scene, row, covers);
      for (const Cover& c : covers) {
        const std::int32_t p = primitive(scene, row, c.slot);
        const Footprint<float, N> f = footprint(scene, row, c.column, p);
        for (int k = 0; k < N; ++k) {
          const Corner<float>& m = moved[index(p) * N + index(k)];
          line[c.column] += c.by_x * (f.by_x[k].u * m.u + f.by_x[k].v * m.v + f.by_x[k].z * m.z) +
                            c.by_z * (f.by_z[k].u * m.u + f.by_z[k].v * m.v + f.by_z[k].z * m.z);
        }
      }
    });
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  void fill(float* image, float value) const {
    std::fill_n(image, std::int64_t{view_.width} * view_.height, value);
  }
  std::size_t count() const { return primitives_.corners.size() / N; }
  static std::int32_t primitive(const Scene<N>& scene, int row, int slot) {
    return scene.met[index(scene.first[index(row)] + slot)];
  }

  /// body(row, room for covers) for every row, in parallel.
  template <class Body>
  void each_row(Body&& body) const {
    parallel_for(view_.height, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Cover> covers;
      for (std::int64_t row = begin; row < end; ++row) body(static_cast<int>(row), covers);
    });
  }

  Scene<N> look(const float* positions) const {
    Scene<N> scene;
    scene.corners.reserve(primitives_.corners.size());
    for (const std::int32_t corner : primitives_.corners) {
      const Vec3f p = point(positions, corner);
      scene.finite = scene.finite && std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
      scene.corners.push_back(project(view_, p));
    }
    if (!scene.finite) return scene;
    scene.first.assign(index(view_.height) + 1, 0);
    for (std::size_t p = 0; p < count(); ++p) {
      scene.boxes.push_back(box_of(&scene.corners[p * N], p));
      for (int row = scene.boxes[p].top; row < scene.boxes[p].bottom; ++row) ++scene.first[index(row) + 1];
    }
    for (std::size_t row = 1; row < scene.first.size(); ++row) scene.first[row] += scene.first[row - 1];
    scene.met.resize(index(scene.first.back()));
    std::vector<std::int64_t> next(scene.first.begin(), scene.first.end() - 1);
    for (std::size_t p = 0; p < count(); ++p)
      for (int row = scene.boxes[p].top; row < scene.boxes[p].bottom; ++row)
        scene.met[index(next[index(row)]++)] = static_cast<std::int32_t>(p);
    return scene;
  }

  /// Empty for what is left out: too near, behind, or too far to the side.
  Box box_of(const Corner<float>* c, std::size_t p) const {
    float low_u = c[0].u, high_u = c[0].u, low_v = c[0].v, high_v = c[0].v;
    float rim = std::sqrt(-kLowestExponent * sigma_) + 1.0f;
    for (int k = 0; k < N; ++k) {
      float nearest = c[k].z;
      if constexpr (N == 1) nearest -= primitives_.radius[p];
      const bool aside = !(std::fabs(c[k].u) < kFarthestPixel && std::fabs(c[k].v) < kFarthestPixel);
      if (aside || !(nearest >= view_.near && c[k].z < kFarthestDepth)) return {0, 0, 0, 0};
      low_u = std::min(low_u, c[k].u), high_u = std::max(high_u, c[k].u);
      low_v = std::min(low_v, c[k].v), high_v = std::max(high_v, c[k].v);
    }
    if constexpr (N == 1) rim += formula::disc_radius(c[0], view_.focal, primitives_.radius[p]);
    const auto pixel = [](float x, int most) {
      return static_cast<int>(std::clamp(x, 0.0f, static_cast<float>(most)));
    };
    return {pixel(low_u - rim, view_.width), pixel(high_u + rim + 1.0f, view_.width),
            pixel(low_v - rim, view_.height), pixel(high_v + rim + 1.0f, view_.height)};
  }

  Footprint<float, N> footprint(const Scene<N>& scene, int row, int column, std::int32_t p) const {
    const float pu = static_cast<float>(column) + 0.5f, pv = static_cast<float>(row) + 0.5f;
    const Corner<float>* const c = &scene.corners[index(p) * N];
    if constexpr (N == 3)
      return formula::triangle_footprint<float>({c[0], c[1], c[2]}, pu, pv, sigma_);
    else
      return formula::sphere_footprint(c[0], view_.focal, primitives_.radius[index(p)], pu, pv, sigma_);
  }

  /// The covers of a row: for a silhouette in the order of primitives, for a depth by column and then by
  /// depth.
  void cover_row(const Scene<N>& scene, int row, std::vector<Cover>& covers) const {
    covers.clear();
    const auto met = static_cast<int>(scene.first[index(row) + 1] - scene.first[index(row)]);
    for (int slot = 0; slot < met; ++slot) {
      const std::int32_t p = primitive(scene, row, slot);
      const Box& box = scene.boxes[index(p)];
      for (int column = box.left; column < box.right; ++column) {
        const Footprint<float, N> f = footprint(scene, row, column, p);
        if (!(f.x >= kLowestExponent)) continue;
        const float small = novaphy::exp(-std::fabs(f.x)), most = 1.0f / (1.0f + small), rest = small * most;
        covers.push_back({column, slot, f.x < 0.0f ? rest : most, f.x < 0.0f ? most : rest, f.z, 0.0f, 0.0f});
      }
    }
    if (picture_ == Picture::depth)
      std::sort(covers.begin(), covers.end(), [](const Cover& a, const Cover& b) {
        return a.column != b.column ? a.column < b.column : a.z != b.z ? a.z < b.z : a.slot < b.slot;
      });
  }

  void compose(const std::vector<Cover>& covers, float* out) const {
    std::vector<float> clear(index(view_.width), 1.0f);  // what is still seen through
    if (picture_ == Picture::silhouette) {
      for (const Cover& c : covers) clear[index(c.column)] *= c.clear;
      for (int u = 0; u < view_.width; ++u) out[u] = 1.0f - clear[index(u)];
      return;
    }
    std::fill_n(out, view_.width, 0.0f);
    for (const Cover& c : covers) {
      out[c.column] += clear[index(c.column)] * c.d * c.z;
      clear[index(c.column)] *= c.clear;
    }
    for (int u = 0; u < view_.width; ++u) out[u] += clear[index(u)] * background_;
  }

  /// The covers of a row with the derivatives of their pixel by exponent and depth. dD/dx = D (1 - D).
  void differentiate(const Scene<N>& scene, int row, std::vector<Cover>& covers) const {
    cover_row(scene, row, covers);
    std::vector<float> clear(index(view_.width), 1.0f);
    if (picture_ == Picture::silhouette) {
      for (const Cover& c : covers) clear[index(c.column)] *= c.clear;
      for (Cover& c : covers) c.by_x = clear[index(c.column)] * c.d;
      return;
    }
    for (Cover& c : covers) {
      c.by_z = clear[index(c.column)] * c.d;
      clear[index(c.column)] *= c.clear;
    }
    std::vector<float> behind(index(view_.width), background_);  // the depth that is seen through a cover
    for (std::size_t i = covers.size(); i-- > 0;) {
      Cover& c = covers[i];
      float& rest = behind[index(c.column)];
      c.by_x = c.by_z * c.clear * (c.z - rest);
      rest = c.d * c.z + c.clear * rest;
    }
  }

  static void add(Corner<float>& to, float x, const Corner<float>& by_x, float z, const Corner<float>& by_z) {
    to.u += x * by_x.u + z * by_z.u, to.v += x * by_x.v + z * by_z.v, to.z += x * by_x.z + z * by_z.z;
  }

  /// Sums each corner's parts over the rows, and takes the sums back through the projection.
  void gather(const Scene<N>& scene, const std::vector<Corner<float>>& parts, float* target) const {
    std::vector<Corner<float>> sums(scene.corners.size(), Corner<float>{0.0f, 0.0f, 0.0f});
    for (std::size_t m = 0; m < scene.met.size(); ++m)
      for (std::size_t k = 0; k < N; ++k) {
        Corner<float>& sum = sums[index(scene.met[m]) * N + k];
        const Corner<float>& part = parts[m * N + k];
        sum.u += part.u, sum.v += part.v, sum.z += part.z;
      }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Box& box = scene.boxes[i / N];
      if (box.left >= box.right || box.top >= box.bottom)
        continue;  // unseen: its projection may be no number
      const Vec3f g = project_cotangent(view_, scene.corners[i], sums[i]);
      float* const to = target + std::int64_t{3} * primitives_.corners[i];
      to[0] += g.x, to[1] += g.y, to[2] += g.z;
    }
  }

  View view_;
  Primitives primitives_;
  Picture picture_;
  float sigma_, background_;
};

}  // namespace

std::shared_ptr<const nova::CustomOperation> make_soft_image(const View& view, Primitives primitives,
                                                             Picture picture, float sigma, float background) {
  if (primitives.radius.empty() && primitives.corners.size() % 3 == 0)
    return std::make_shared<SoftImage<3>>(view, std::move(primitives), picture, sigma, background);
  return std::make_shared<SoftImage<1>>(view, std::move(primitives), picture, sigma, background);
}

}  // namespace novaphy::camera
