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
  const DeviceArray* body = nullptr;  ///< of each record, -1 = the world; null where no shape is on a body
  const DeviceArray* velocity = nullptr;  ///< of the surface in the frame of the body
  const Contacts::Origin* origin =
      nullptr;  ///< what points and normals are computed from again; null = constants
  std::int64_t used = 0;
};

/// How a step works through the records of a Contacts.
struct RecordOrder {
  bool by_pair = false;        ///< one row a particle, summed over all shapes
  bool carried = false;        ///< some record is of a shape on a body
  bool skips_dynamic = false;  ///< records of shapes on dynamic bodies are left out
  friend bool operator==(const RecordOrder&, const RecordOrder&) = default;
};

/// The order of work. By pair is better where few pairs have no record; it needs a table of pairs that agrees
/// with the records, which those written by hand may not, and shapes of the world. Both orders add the same
/// numbers in the same sequence. The records must be valid.
RecordOrder order_of(const Model& model, const Contacts& contacts, bool skips_dynamic);

/// The records in use. While a tape records they are a copy, made once for each content of `contacts` and
/// shared by the steps that follow, so that the Contacts may be collided anew before backward. Records that
/// were collided in the open recording name their origin. Throws Error(stale_record) when that was
/// overwritten since.
ContactRecords records_for_step(const Model& model, const Contacts& contacts, const RecordOrder& order);

/// The model's materials as rows of a kernel; kept between steps, since making a view costs.
struct MaterialRows {
  DeviceArray soft, particle;  // one row each
  void follow(const Model& model);
};

/// total = sum plus the contact forces, added in record order; particle_f then holds the same, also on the
/// tape, while nothing but the step writes `total`. `sum`, the forces so far, is particle_f or `total`
/// itself.
void add_contact_forces(const Model& model, SimState& state, const ContactRecords& records,
                        const DeviceArray& sum, DeviceArray& total, MaterialRows& materials);
/// total minus the contact forces, one record after the other.
void subtract_by_record(const Model& model, const SimState& state, const ContactRecords& records,
                        const DeviceArray& total, const MaterialRows& materials);

}  // namespace novaphy::semi_implicit
