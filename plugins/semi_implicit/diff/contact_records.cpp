// SPDX-License-Identifier: Apache-2.0
// Copies of contact records for a recording.
#include "diff/contact_records.hpp"

#include <algorithm>
#include <memory>

#include "novaphy/nova/tape.hpp"

namespace novaphy::semi_implicit {

namespace {

/// The used rows of the five arrays, and which content of the Contacts they were.
struct RecordedContacts {
  std::uint64_t generation = 0, versions = 0;
  DeviceArray tids, particle, shape, point, normal;
};

std::uint64_t versions_of(const Contacts& contacts) {
  return contacts.soft_contact_count.version() + contacts.soft_contact_tids.version() +
         contacts.soft_contact_particle.version() + contacts.soft_contact_shape.version() +
         contacts.soft_contact_body_pos.version() + contacts.soft_contact_normal.version();
}

/// Somebody holds a writable pointer, so equal versions do not mean equal contents.
bool may_change_unseen(const Contacts& contacts) {
  for (const DeviceArray* array :
       {&contacts.soft_contact_count, &contacts.soft_contact_tids, &contacts.soft_contact_particle,
        &contacts.soft_contact_shape, &contacts.soft_contact_body_pos, &contacts.soft_contact_normal})
    if (array->storage() && array->storage()->escaped()) return true;
  return false;
}

DeviceArray first_rows(const DeviceArray& array, std::int64_t rows) {
  const Shape shape = array.shape().ndim() == 1 ? Shape{rows} : Shape{rows, array.shape()[1]};
  DeviceArray copy(array.dtype(), shape, array.device());
  copy.assign_bytes(array.storage()->data(), copy.bytes());
  copy.named(array.storage()->label().name, "contacts");
  return copy;
}

constexpr std::int64_t kFewPairs =
    256;  // with so few, the second launch of the other order costs more than empty pairs

std::shared_ptr<RecordedContacts> copy_of(const Contacts& contacts, bool by_pair) {
  auto copy = std::make_shared<RecordedContacts>();
  copy->generation = contacts.generation;
  copy->versions = versions_of(contacts);
  const std::int64_t used = contacts.soft_contacts_used();
  if (by_pair) copy->tids = contacts.soft_contact_tids.clone();
  copy->particle = first_rows(contacts.soft_contact_particle, used);
  copy->shape = first_rows(contacts.soft_contact_shape, used);
  copy->point = first_rows(contacts.soft_contact_body_pos, used);
  copy->normal = first_rows(contacts.soft_contact_normal, used);
  return copy;
}

const RecordedContacts& recorded(const Contacts& contacts, bool by_pair) {
  const auto* kept = static_cast<const RecordedContacts*>(contacts.recorded_copy.get());
  if (kept != nullptr && kept->generation == contacts.generation && kept->versions == versions_of(contacts) &&
      !may_change_unseen(contacts))
    return *kept;
  auto copy = copy_of(contacts, by_pair);
  const RecordedContacts& made = *copy;
  contacts.recorded_copy = std::move(copy);
  return made;
}

/// Whether the records come shape by shape, particles ascending, and tids holds these and no others.
bool table_agrees(const Contacts& contacts) {
  const auto used = static_cast<std::size_t>(contacts.soft_contacts_used());
  const auto particles = contacts.soft_contact_particle.read<std::int32_t>();
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>();
  const auto tids = contacts.soft_contact_tids.read<std::int32_t>();
  std::int64_t last = -1;
  for (std::size_t record = 0; record < used; ++record) {
    const std::int64_t pair = std::int64_t{shapes[record]} * contacts.particle_count + particles[record];
    if (pair <= last || tids[static_cast<std::size_t>(pair)] != static_cast<std::int64_t>(record))
      return false;
    last = pair;
  }
  const auto listed = std::count_if(tids.begin(), tids.end(), [](std::int32_t slot) { return slot >= 0; });
  return listed == static_cast<std::ptrdiff_t>(used);
}

}  // namespace

bool works_by_pair(const Contacts& contacts) {
  const std::int64_t pairs = std::int64_t{contacts.shape_count} * contacts.particle_count;
  if (contacts.soft_contact_tids.rows() != pairs) return false;  // left out above four million
  if (pairs > kFewPairs && std::int64_t{4} * contacts.soft_contacts_used() < pairs) return false;
  return table_agrees(contacts);
}

ContactRecords records_for_step(const Contacts& contacts, bool by_pair) {
  const std::int64_t used = contacts.soft_contacts_used();
  if (!nova::is_recording())
    return {by_pair ? &contacts.soft_contact_tids : nullptr,
            &contacts.soft_contact_particle,
            &contacts.soft_contact_shape,
            &contacts.soft_contact_body_pos,
            &contacts.soft_contact_normal,
            used};
  const RecordedContacts& copy = recorded(contacts, by_pair);
  return {by_pair ? &copy.tids : nullptr, &copy.particle, &copy.shape, &copy.point, &copy.normal, used};
}

}  // namespace novaphy::semi_implicit
