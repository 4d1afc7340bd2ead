// SPDX-License-Identifier: Apache-2.0
// The soft body's scene, loss and update.
#include "src/diffsim_soft_body.hpp"

#include <algorithm>

#include "novaphy/builder.hpp"
#include "novaphy/error.hpp"
#include "novaphy/nova/losses.hpp"

namespace novaphy::demos {

namespace {

constexpr int kCells = 2;                           // along each edge of the cube
constexpr double kCell = 0.1, kMass = 0.2;          // m, kg
constexpr double kYoung = 1.5e4, kPoisson = 0.3;    // Pa
constexpr float kTetrahedronRate = 1e7f;            // of a tetrahedron's own constants
constexpr float kLowest = 500.0f, kHighest = 4e6f;  // Pa
constexpr Vec3f kCentreTarget{0.0f, -1.0f, 1.5f};   // m
constexpr std::size_t kColumns = 3;                 // of a material: mu, lambda, damping

std::shared_ptr<Model> make_soft_body() {
  ShapeConfig surface;
  surface.ke = 1e3, surface.kf = 0.0, surface.kd = 1.0, surface.mu = 0.2;
  constexpr int particles = (kCells + 1) * (kCells + 1) * (kCells + 1);
  SoftGrid grid;
  grid.pos = {-0.1f, -0.5f, 1.0f}, grid.vel = {0.0f, 6.0f, -6.0f};
  grid.dim_x = grid.dim_y = grid.dim_z = kCells;
  grid.cell_x = grid.cell_y = grid.cell_z = kCell;
  grid.density = kMass / particles / (kCell * kCell * kCell);
  grid.k_mu = 0.5 * kYoung / (1.0 + kPoisson);
  grid.k_lambda = kYoung * kPoisson / ((1.0 + kPoisson) * (1.0 - 2.0 * kPoisson));
  grid.k_damp = 0.0;
  grid.tri_ke = grid.tri_ka = grid.tri_kd = 1e-4;
  ModelBuilder builder;
  builder.default_particle_radius = 0.0005;
  builder.add_soft_grid(grid);
  add_wall_and_ground(builder, surface);
  auto model = builder.finalize();
  set_contact_material(*model, surface);
  return model;
}

bool per_tet_of(const DemoOptions& options) {
  const auto found = options.values.find("per_tet");
  if (found == options.values.end() || found->second == "0") return false;
  NOVAPHY_REQUIRE(found->second == "1", ErrorKind::value, "diffsim_soft_body: per_tet is '", found->second,
                  "'; give 0 for one material or 1 for one of each tetrahedron");
  return true;
}

/// With one material for all, its gradient is the sum over all tetrahedra.
void share(std::span<float> gradient) {
  for (std::size_t column = 0; column < 2; ++column) {
    float sum = 0.0f;
    for (std::size_t i = column; i < gradient.size(); i += kColumns) sum += gradient[i];
    for (std::size_t i = column; i < gradient.size(); i += kColumns) gradient[i] = sum;
  }
}

}  // namespace

void DiffsimSoftBody::build(const DemoOptions& options) {
  check_options("diffsim_soft_body", options, {"per_tet"});
  per_tet_ = per_tet_of(options);
  start(make_soft_body());
  parameter_ = nova::view(model_->particle_tet_material).set_requires_grad(true);
}

void DiffsimSoftBody::before_step(SimState& state) {
  pipeline_->collide(state, *contacts_);
}

nova::Tensor DiffsimSoftBody::loss(nova::Tensor particle_q) const {
  return nova::vec3_point_loss_generated(nova::particle_centroid_generated(particle_q), kCentreTarget.x,
                                         kCentreTarget.y, kCentreTarget.z);
}

void DiffsimSoftBody::update() {
  const auto read = parameter_.grad()->array().read<float>();
  std::vector<float> gradient(read.begin(), read.end());
  if (!per_tet_) share(gradient);
  const float rate =
      per_tet_ ? kTetrahedronRate : kTetrahedronRate * 2.0f / static_cast<float>(model_->tet_count);
  const auto material = parameter_.array().write<float>();
  for (std::size_t i = 0; i < material.size(); ++i)
    if (i % kColumns < 2) material[i] = std::clamp(material[i] - rate * gradient[i], kLowest, kHighest);
}

}  // namespace novaphy::demos
