// SPDX-License-Identifier: Apache-2.0
// Bounds on dt from eigenvalues, contact stiffness and radii, and the sentences that tell them.
#include "novaphy/semi_implicit/stability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "src/element_products.hpp"
#include "src/largest_eigenvalue.hpp"

namespace novaphy::semi_implicit {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kFrame = 1.0 / 60.0;  // s: users count substeps of such a frame

/// The largest dt with 2 c dt + w^2 dt^2 <= 4.
double longest_step(double squared_frequency, double damping) {
  const double w2 = std::max(squared_frequency, 0.0), c = std::max(damping, 0.0);
  if (w2 == 0.0 && c == 0.0) return kUnbounded;
  return 4.0 / (c + std::sqrt(c * c + 4.0 * w2));  // the root of the quadratic that does not cancel
}

/// "at most 5.6e-05 s (about 297 substeps a frame of 1/60 s)".
std::string at_most(double dt) {
  return text("at most ", dt, " s (about ", std::max(1.0, std::round(kFrame / dt)), " substeps a frame of 1/60 s)");
}

/// 1/kg of particles that move, 0 of the others.
std::vector<float> mobilities(const Model& model) {
  const auto inverse = model.particle_inv_mass.read<float>();
  const auto flags = model.particle_flags.read<std::int32_t>();
  std::vector<float> out(inverse.begin(), inverse.end());
  for (std::size_t p = 0; p < out.size(); ++p)
    if ((flags[p] & ParticleFlags::ACTIVE) == 0) out[p] = 0.0f;
  return out;
}

std::span<const Vec3f> rows_of(std::span<const float> flat) {
  return {reinterpret_cast<const Vec3f*>(flat.data()), flat.size() / 3};
}
std::span<Vec3f> rows_of(std::span<float> flat) {
  return {reinterpret_cast<Vec3f*>(flat.data()), flat.size() / 3};
}

/// The largest eigenvalue of M^-1 A, by the similar M^-1/2 A M^-1/2; its vector is turned into a motion.
Eigenpair largest_mode(const ElementProducts& products, ForceMatrix matrix, const std::vector<float>& mobility) {
  const std::size_t size = 3 * mobility.size();
  std::vector<float> roots(size), scaled(size);
  for (std::size_t i = 0; i < size; ++i) roots[i] = std::sqrt(mobility[i / 3]);
  const auto scale = [&](std::span<const float> in, std::span<float> out) {
    std::ranges::transform(in, roots, out.begin(), std::multiplies<>{});
  };
  // 32 vectors of a million particles would be 400 MB: fewer there, at the price of a wider error
  constexpr std::size_t kMostFloats = 16u << 20;
  const auto steps = std::clamp<std::size_t>(kMostFloats / size, 8, 32);
  Eigenpair mode = largest_eigenvalue(
      size,
      [&](std::span<const float> in, std::span<float> out) {
        scale(in, scaled);
        products.multiply(matrix, rows_of(std::span<const float>(scaled)), rows_of(out));
        scale(out, out);
      },
      static_cast<int>(steps));
  scale(mode.vector, mode.vector);
  return mode;
}

class Report {
 public:
  Report(const Model& model, double dt) : model_(model), mobility_(mobilities(model)) {
    out_.dt = dt;
    out_.max_dt = kUnbounded;
  }

  StabilityReport make(std::span<const Vec3f> positions, bool contacts) {
    add_elements(positions);
    add_materials();
    if (contacts) add_contact();
    add_particle_contact();
    add_radii();
    if (out_.text.empty()) out_.text = "Nothing in this model bounds dt.";
    return std::move(out_);
  }

 private:
  void limit(const char* name, double max_dt) { out_.limits.push_back({name, max_dt}); }
  template <class... Parts>
  void say(const Parts&... parts) {
    out_.text += text(out_.text.empty() ? "" : " ", parts...);
  }
  /// Counts the limit and tells whether dt keeps it.
  bool keeps(double max_dt) {
    out_.max_dt = std::min(out_.max_dt, max_dt);
    const bool kept = out_.dt <= max_dt;
    out_.ok &= kept;
    return kept;
  }

  void add_elements(std::span<const Vec3f> positions) {
    const ElementProducts products(model_, positions);
    if (products.empty()) return;
    const Eigenpair elastic = largest_mode(products, ForceMatrix::stiffness, mobility_);
    const Eigenpair damping = largest_mode(products, ForceMatrix::damping, mobility_);
    const double elastic_dt = longest_step(elastic.value, 0.0), damping_dt = longest_step(0.0, damping.value);
    const double both = longest_step(elastic.value, damping.value);
    limit("elastic", elastic_dt);
    limit("damping", damping_dt);
    limit("elements", both);
    if (both == kUnbounded) return;
    const bool damped = damping_dt < elastic_dt;
    const ElementName worst = damped ? products.largest_share(ForceMatrix::damping, rows_of(std::span(damping.vector)))
                                     : products.largest_share(ForceMatrix::stiffness, rows_of(std::span(elastic.vector)));
    out_.worst_element = text(worst.kind, " ", worst.index);
    const bool kept = keeps(both);
    say("dt = ", out_.dt, " s is ", kept ? "short enough" : "too long", " for the elements, which want ", at_most(both),
        kept ? "." : text("; ", out_.worst_element, " decides."));
    say("Stiffness alone wants ", at_most(elastic_dt),
        damping_dt < kUnbounded ? text(", damping alone ", at_most(damping_dt)) : std::string(), ".");
    if (!kept)
      say("Take more substeps, or lower ", damped ? "the damping (k_damp, kd)" : "the stiffness (k_mu, k_lambda, ke)",
          ", or make particles heavier or elements larger.");
  }

  /// K_eff = k_lambda - k_mu / 8 of each tetrahedron must be positive, or it collapses at any dt.
  void add_materials() {
    if (model_.tet_count == 0) return;
    const auto materials = model_.particle_tet_material.read<Vec3f>();
    const auto ratio = [](const Vec3f& m) { return m.x > 0.0f ? m.x / m.y : 0.0f; };
    std::size_t worst = 0;
    std::int64_t collapsing = 0;
    for (std::size_t t = 0; t < materials.size(); ++t) {
      const bool stands = materials[t].x < 8.0f * materials[t].y || materials[t].x == 0.0f;
      const bool worse = ratio(materials[t]) > ratio(materials[worst]) || materials[worst].x == 0.0f;
      if (!stands) ++collapsing;
      if ((!stands && collapsing == 1) || (collapsing == 0 && worse)) worst = t;
    }
    if (collapsing == 0) return say("k_mu < 8 k_lambda holds everywhere: tetrahedron ", worst, " comes nearest with k_mu = ",
                                    materials[worst].x, " and k_lambda = ", materials[worst].y, ".");
    out_.ok = false;
    out_.worst_element = text("tetrahedron ", worst);
    say("k_mu < 8 k_lambda must hold, else an element collapses at any dt: tetrahedron ", worst, " has k_mu = ",
        materials[worst].x, " and k_lambda = ", materials[worst].y, " (", collapsing, " of ", materials.size(),
        " tetrahedra); lower k_mu or raise k_lambda.");
  }

  void add_contact() {
    const auto lightest = std::ranges::max_element(mobility_);
    if (lightest == mobility_.end() || !(*lightest > 0.0f)) return;
    const auto flags = model_.shape_flags.read<std::int32_t>();
    const auto ke = model_.shape_material_ke.read<float>(), kd = model_.shape_material_kd.read<float>(),
               kf = model_.shape_material_kf.read<float>(), soft = model_.soft_contact_material.read<float>();
    double normal = kUnbounded, friction = kUnbounded;
    std::size_t stiffest = 0;
    for (std::size_t s = 0; s < flags.size(); ++s) {
      if ((flags[s] & ShapeFlags::COLLIDE_PARTICLES) == 0) continue;
      const auto rate = [&](float of_model, float of_shape) { return 0.5 * (of_model + of_shape) * *lightest; };
      const double bound = longest_step(rate(soft[0], ke[s]), rate(soft[1], kd[s]));
      if (bound < normal) normal = bound, stiffest = s;
      friction = std::min(friction, longest_step(0.0, rate(soft[2], kf[s])));
    }
    if (normal == kUnbounded) return;
    limit("contact", normal);
    limit("friction", friction);
    const auto particle = lightest - mobility_.begin();
    if (!keeps(normal))
      say("In contact dt must be ", at_most(normal), ": particle ", particle, " of ", 1.0f / *lightest, " kg on shape ",
          stiffest, " ('", model_.shape_label[stiffest], "') with ke = ", 0.5f * (soft[0] + ke[stiffest]),
          " and kd = ", 0.5f * (soft[1] + kd[stiffest]),
          " (means of the model's soft_contact and the shape's); lower kd, then ke, in both places.");
    if (out_.dt > friction)
      say("Friction trembles above ", friction, " s (kf of the same contact): lower kf.");
  }

  /// Two of the lightest particles that push each other.
  void add_particle_contact() {
    const auto lightest = std::ranges::max_element(mobility_);
    if (!model_.particles_collide || lightest == mobility_.end() || !(*lightest > 0.0f)) return;
    const auto material = model_.particle_contact_material.read<float>();
    const double bound = longest_step(2.0 * material[0] * *lightest, 2.0 * material[1] * *lightest);
    limit("particle contact", bound);
    if (!keeps(bound))
      say("Where particles touch each other dt must be ", at_most(bound), ": two of ", 1.0f / *lightest,
          " kg with particle_ke = ", material[0], " and particle_kd = ", material[1], "; lower particle_kd, then particle_ke.");
  }

  /// Two corners of an element whose radii reach deepest into each other.
  struct Overlap {
    double side = 0.0, radius = 0.0, depth = 0.0;  // m; radius is the mean of both
  };

  Overlap deepest_overlap() const {
    const auto q = model_.particle_q.read<Vec3f>();
    const auto radii = model_.particle_radius.read<float>();
    Overlap deepest;
    const auto look = [&](const DeviceArray& indices, std::size_t corners) {
      const auto all = indices.read<std::int32_t>();
      for (std::size_t e = 0; e + corners <= all.size(); e += corners)
        for (std::size_t i = e; i < e + corners; ++i)
          for (std::size_t j = i + 1; j < e + corners; ++j) {
            if (all[i] < 0 || all[j] < 0) continue;
            const auto a = static_cast<std::size_t>(all[i]), b = static_cast<std::size_t>(all[j]);
            const double side = length(q[a] - q[b]), radius = 0.5 * (double{radii[a]} + double{radii[b]});
            if (2.0 * radius - side > deepest.depth) deepest = {side, radius, 2.0 * radius - side};
          }
    };
    look(model_.tet_indices, 4);
    look(model_.tri_indices, 3);
    look(model_.spring_indices, 2);
    return deepest;
  }

  void add_radii() {
    const auto [side, radius, depth] = deepest_overlap();
    if (!(depth > 0.0)) return;
    if (model_.particles_collide) out_.ok = false;
    std::string pushed;
    if (model_.particles_collide)
      pushed += ": model.particle_grid pushes them apart at the first step (None turns it off)";
    if (model_.tri_count > 0)
      pushed += text(pushed.empty() ? ": " : ", ",
                     "triangles push them out at the first step (enable_tri_contact=False)");
    say("Particles of radius ", static_cast<float>(radius), " m overlap at rest, neighbours are ", side,
        " m apart", pushed, "; give particle_radius of at most ", 0.5 * side, " m.");
  }

  const Model& model_;
  std::vector<float> mobility_;
  StabilityReport out_;
};

}  // namespace

StabilityReport stability_report(const Model& model, float dt, const SimState* state, bool contacts) {
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, "stability_report: dt is ", dt,
                  "; give a positive time in s");
  NOVAPHY_REQUIRE(state == nullptr || state->particle_count() == model.particle_count, ErrorKind::shape_mismatch,
                  "stability_report: state has ", state == nullptr ? 0 : state->particle_count(),
                  " particles, the model has ", model.particle_count, "; take it from this model's state()");
  check_owners("stability_report", model);
  Report report(model, dt);
  return report.make((state != nullptr ? state->particle_q : model.particle_q).read<Vec3f>(), contacts);
}

void warn_if_unstable(const char* who, const Model& model, const SimState& state, float dt, bool contacts) {
  struct Told {
    std::weak_ptr<const Model> model;
    float dt;
    bool contacts;
  };
  static std::mutex mutex;
  static std::vector<Told> told;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(told, [](const auto& entry) { return entry.model.expired(); });
    const std::weak_ptr<const Model> self = model.weak_from_this();
    for (const Told& entry : told) {
      const bool same_model = !entry.model.owner_before(self) && !self.owner_before(entry.model);
      if (same_model && entry.dt == dt && entry.contacts == contacts) return;
    }
    told.push_back({self, dt, contacts});
  }
  const StabilityReport report = stability_report(model, dt, &state, contacts);
  if (!report.ok) log(LogLevel::warn, text(who, ": ", report.text));
}

}  // namespace novaphy::semi_implicit
