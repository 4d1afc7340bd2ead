// SPDX-License-Identifier: Apache-2.0
// Contact of particles with shapes of the world, for kernels that find the contact themselves: the
// distance is traced, so no Contacts are needed and point and normal are differentiated too.
#pragma once

#include <vector>

#include "novaphy/model.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::collision {

/// Throws Error(value) for a margin that is not finite, and Error(unsupported_feature), naming the shape, for
/// a shape that meets particles and has no particle distance, and for one that a body carries, unless
/// `ignore_body_shapes` leaves those out. `who` begins the message.
NOVAPHY_API void check_static_contact(const Model& model, float margin, bool ignore_body_shapes,
                                      const char* who);

/// What subtract_static_contact() reads. Particle inputs are named x, v, radius, flags, world; append more as
/// you like.
NOVAPHY_API std::vector<nova::In> static_contact_inputs();

/// The arrays for static_contact_inputs(), in its order. Holds views of the model's arrays: make it anew for
/// each launch.
class NOVAPHY_API StaticContactOperands {
 public:
  /// `margin` [m] as in CollisionPipeline.
  StaticContactOperands(const Model& model, const DeviceArray& particle_q, const DeviceArray& particle_qd,
                        float margin);
  std::vector<nova::Operand> operands;

 private:
  DeviceArray soft_material_, particle_material_;  // one row each
};

/// Takes the contact force of this row's particle with this domain row's shape from the sum.
NOVAPHY_API void subtract_static_contact(nova::KernelScope& k, nova::Acc<nova::Vec3E>& force);

/// f_out = f minus the forces of all these contacts, one kernel, one row a particle. Recorded on this
/// thread's open tape.
NOVAPHY_API void subtract_static_contacts(const Model& model, const DeviceArray& particle_q,
                                          const DeviceArray& particle_qd, const DeviceArray& f,
                                          const DeviceArray& f_out, float margin);

}  // namespace novaphy::collision
