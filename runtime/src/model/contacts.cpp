// SPDX-License-Identifier: Apache-2.0
// Contacts: buffers for contact records.
#include <algorithm>

#include "model/array_layout.hpp"

namespace novaphy {
namespace {

void fill_with_none(DeviceArray& indices) {
  const auto values = indices.write<std::int32_t>();
  std::fill(values.begin(), values.end(), -1);
}

int used(const DeviceArray& count, int capacity) {
  return count.empty() ? 0 : std::clamp(count.read<std::int32_t>()[0], 0, capacity);
}

}  // namespace

Contacts::Contacts() = default;
Contacts::~Contacts() = default;

void Contacts::visit(const Visitor& visitor) {
  const ArrayInfo* info = built_in_arrays(ArrayOwner::contacts).data();
#define X(name, dtype, frequency, width, doc) visitor(*info++, name);
#include "novaphy/contacts_arrays.inc"
  for (Custom& custom : custom_arrays) visitor(custom.spec.info, custom.array);
}

int Contacts::soft_contacts_used() const {
  return used(soft_contact_count, soft_contact_max);
}
int Contacts::rigid_contacts_used() const {
  return used(rigid_contact_count, rigid_contact_max);
}

std::uint64_t Contacts::origin_versions() const {
  std::uint64_t sum = 0;
  for (const DeviceArray* array :
       {&origin.particle_q, &origin.body_q, &origin.shape_transform, &origin.shape_scale, &soft_contact_count,
        &soft_contact_particle, &soft_contact_shape, &soft_contact_body_pos, &soft_contact_body_vel,
        &soft_contact_normal})
    sum += array->version();
  return sum;
}

void Contacts::clear() {
  origin = {};
  soft_contact_count.zero();
  rigid_contact_count.zero();
  for (DeviceArray* indices : {&soft_contact_particle, &soft_contact_shape, &soft_contact_tids,
                               &soft_contact_indices, &rigid_contact_shape0, &rigid_contact_shape1})
    fill_with_none(*indices);
  soft_contact_overflow = rigid_contact_overflow = false;
  ++generation;
}

std::shared_ptr<Contacts> Contacts::clone() const {
  auto out = std::make_shared<Contacts>();
#define X(array, dtype, frequency, width, doc) out->array = array.clone();
#include "novaphy/contacts_arrays.inc"
  out->custom_arrays = clone_custom_arrays(custom_arrays, "contacts");
  out->soft_contact_max = soft_contact_max;
  out->rigid_contact_max = rigid_contact_max;
  out->particle_count = particle_count;
  out->shape_count = shape_count;
  out->soft_contact_overflow = soft_contact_overflow;
  out->rigid_contact_overflow = rigid_contact_overflow;
  out->generation = generation;
  return out;
}

}  // namespace novaphy
