// SPDX-License-Identifier: Apache-2.0
// The warning before the first step, and the search for the first value that is not finite.
#include "novaphy/semi_implicit/step_watch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>

#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/semi_implicit/stability.hpp"

namespace novaphy::semi_implicit {

namespace {

/// The largest size of a number, infinite where one is infinite or NaN. Sizes of floats are ordered as their bits are,
/// and integers make a loop without branches that becomes vector code.
float largest_size(std::span<const float> values) {
  constexpr std::int32_t kSize = 0x7fffffff, kInfinity = 0x7f800000;
  std::int32_t largest = 0;
  for (const float value : values) {
    const std::int32_t size = std::bit_cast<std::int32_t>(value) & kSize;
    largest = size > largest ? size : largest;
  }
  return std::bit_cast<float>(std::min(largest, kInfinity));
}

bool is_finite(const Vec3f& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

std::string shown(const Vec3f& a) {
  return text("(", a.x, ", ", a.y, ", ", a.z, ")");
}

/// "particle 17 of tetrahedron 40": the first element that has it.
std::string place_of(const Model& model, std::size_t particle) {
  const auto element = [&](const char* kind, const DeviceArray& indices, std::size_t corners) {
    const auto all = indices.read<std::int32_t>();
    const auto found = std::ranges::find(all, static_cast<std::int32_t>(particle));
    if (found == all.end()) return std::string();
    return text(" of ", kind, " ", static_cast<std::size_t>(found - all.begin()) / corners);
  };
  std::string of = element("tetrahedron", model.tet_indices, 4);
  if (of.empty()) of = element("triangle", model.tri_indices, 3);
  if (of.empty()) of = element("spring", model.spring_indices, 2);
  return text("particle ", particle, of);
}

std::string what_happened(const SimState& state_in, const SimState& state_out, std::size_t p) {
  const bool in_place = &state_in == &state_out;
  const Vec3f q = state_in.particle_q.read<Vec3f>()[p], qd = state_in.particle_qd.read<Vec3f>()[p],
              f = state_in.particle_f.read<Vec3f>()[p];
  if (!in_place && (!is_finite(q) || !is_finite(qd)))
    return text("came in with position ", shown(q), " and velocity ", shown(qd));
  if (!is_finite(f)) return text("got the force ", shown(f), " N");
  return text("got the velocity ", shown(state_out.particle_qd.read<Vec3f>()[p]), " m/s from the force ", shown(f), " N");
}

[[noreturn]] void refuse(const char* who, const Model& model, const SimState& state_in, const SimState& state_out,
                         float dt, std::int64_t step) {
  const auto q = state_out.particle_q.read<Vec3f>(), qd = state_out.particle_qd.read<Vec3f>();
  std::size_t p = 0;
  while (is_finite(q[p]) && is_finite(qd[p])) ++p;
  const StabilityReport report = stability_report(model, dt);
  fail(ErrorKind::domain_check, who, ": at step ", step, " of this solver ", place_of(model, p), " ",
       what_happened(state_in, state_out, p), ". ",
       report.ok ? "The model's start is stable with this dt; look at the state that was given, at external forces and "
                   "at parameters that were changed since."
                 : report.text);
}

}  // namespace

void StepWatch::tell_of_speed(const char* who, const Model& model, const SimState& state_out) {
  const auto qd = state_out.particle_qd.read<Vec3f>();
  const auto capped =
      std::ranges::find_if(qd, [&](const Vec3f& v) { return length(v) >= 0.9999f * model.particle_max_velocity; });
  if (capped == qd.end()) return;
  told_of_speed_ = true;
  log(LogLevel::warn,
      text(who, ": at step ", steps_, " of this solver ", place_of(model, static_cast<std::size_t>(capped - qd.begin())),
           " reached particle_max_velocity = ", model.particle_max_velocity,
           " m/s, where speeds are cut off: the simulation has blown up. novaphy.diff.stability_report(model, dt) tells "
           "which dt it wants."));
}

void StepWatch::before_step(const char* who, const Model& model, const SimState& state_in, float dt,
                            bool contacts) {
  if (dt == dt_ && contacts == contacts_) return;
  dt_ = dt, contacts_ = contacts;
  warn_if_unstable(who, model, state_in, dt, contacts);
}

void StepWatch::after_step(const char* who, const Model& model, const SimState& state_in, const SimState& state_out,
                           float dt, bool check) {
  ++steps_;
  if (!check) return;
  const float farthest = largest_size(state_out.particle_q.read<float>()),
              fastest = largest_size(state_out.particle_qd.read<float>());
  if (!std::isfinite(farthest) || !std::isfinite(fastest)) refuse(who, model, state_in, state_out, dt, steps_);
  constexpr float kShare = 0.57f;  // a vector's largest component is at least its length over the root of 3
  if (!told_of_speed_ && fastest >= kShare * model.particle_max_velocity) tell_of_speed(who, model, state_out);
}

}  // namespace novaphy::semi_implicit
