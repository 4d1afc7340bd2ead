// SPDX-License-Identifier: Apache-2.0
// The contact records of one step as kernels read them, and the kernels that turn them into forces.
#pragma once

#include "novaphy/model.hpp"

namespace novaphy::semi_implicit {

/// Arrays of a Contacts, or of the copy that a recording keeps. Valid while the Contacts is neither changed
/// nor destroyed.
struct ContactRecords {
  const DeviceArray* tids = nullptr;  ///< null where records are worked through one by one
  const DeviceArray *particle = nullptr, *shape = nullptr, *point = nullptr, *normal = nullptr;
  std::int64_t used = 0;
};

/// Whether one row a particle, summed over all shapes, is the better order of work. It needs a table of pairs
/// that agrees with the records, which those written by hand may not, and loses where most pairs have no
/// record. Both orders add the same numbers in the same sequence. The records must be valid.
bool works_by_pair(const Contacts& contacts);

/// The records in use. While a tape records they are a copy, made once for each content of `contacts` and
/// shared by the steps that follow, so that the Contacts may be collided anew before backward.
ContactRecords records_for_step(const Contacts& contacts, bool by_pair);

/// The model's materials as rows of a kernel; kept between steps, since making a view costs.
struct MaterialRows {
  DeviceArray soft, particle;  // one row each
  void follow(const Model& model);
};

/// total = f plus the contact forces, added in record order; f then holds the same, also on the tape, while
/// nothing but the step writes `total`. `skip_carried_shapes` leaves out shapes on bodies.
void add_contact_forces(const Model& model, const ContactRecords& records, const DeviceArray& q,
                        const DeviceArray& qd, DeviceArray& f, DeviceArray& total, MaterialRows& materials,
                        bool skip_carried_shapes);

}  // namespace novaphy::semi_implicit
