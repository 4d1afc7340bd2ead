// SPDX-License-Identifier: Apache-2.0
// The contact records of one step as kernels read them, and the kernels that turn them into forces.
#pragma once

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// Arrays of a Contacts, or of the copy that a recording keeps. Valid while the Contacts is neither changed nor destroyed.
struct ContactRecords {
  const DeviceArray *tids = nullptr, *particle = nullptr, *shape = nullptr, *point = nullptr, *normal = nullptr;
  std::int64_t used = 0;
};

/// The records in use. While a tape records they are a copy, made once for each content of `contacts` and shared by the
/// steps that follow, so that the Contacts may be collided anew before backward.
ContactRecords records_for_step(const Contacts& contacts);

/// f_out = f minus what the contacts take, in record order. `skip_carried_shapes` leaves out shapes on bodies.
void subtract_contact_forces(const Model& model, const ContactRecords& records, const DeviceArray& q, const DeviceArray& qd,
                             const DeviceArray& f, DeviceArray& f_out, bool skip_carried_shapes);

}  // namespace novaphy::semi_implicit
