// SPDX-License-Identifier: Apache-2.0
// Counting sort of contact records by particle.
#include "novaphy/semi_implicit/particle_contacts.hpp"

#include "novaphy/error.hpp"

namespace novaphy {

namespace {

std::array<const DeviceArray*, 4> record_list(const Contacts& contacts) {
  return {&contacts.soft_contact_count, &contacts.soft_contact_particle, &contacts.soft_contact_shape,
          &contacts.soft_contact_tids};
}

}  // namespace

bool SeenRecords::is_current(const Contacts& contacts) const {
  if (!noted_) return false;
  const auto arrays = record_list(contacts);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& storage = arrays[i]->storage();
    if (storage != seen_[i].storage || arrays[i]->version() != seen_[i].version) return false;
    if (storage && storage->escaped()) return false;
  }
  return true;
}

void SeenRecords::note(const Contacts& contacts) {
  const auto arrays = record_list(contacts);
  for (std::size_t i = 0; i < arrays.size(); ++i) seen_[i] = {arrays[i]->storage(), arrays[i]->version()};
  noted_ = true;
}

void check_records(const Contacts& contacts) {
  const auto used = static_cast<std::size_t>(contacts.soft_contacts_used());
  const auto particles = contacts.soft_contact_particle.read<std::int32_t>().first(used);
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>().first(used);
  for (std::size_t record = 0; record < used; ++record)
    NOVAPHY_REQUIRE(particles[record] >= 0 && particles[record] < contacts.particle_count &&
                        shapes[record] >= 0 && shapes[record] < contacts.shape_count,
                    ErrorKind::index, "soft contact ", record, " is between particle ", particles[record],
                    " and shape ", shapes[record], ", the model has ", contacts.particle_count,
                    " particles and ", contacts.shape_count, " shapes; collide again, or correct the record");
}

void ParticleContacts::update(const Contacts& contacts) {
  if (sorted_.is_current(contacts)) return;
  check_records(contacts);
  const auto used = static_cast<std::size_t>(contacts.soft_contacts_used());
  const auto particles = contacts.soft_contact_particle.read<std::int32_t>().first(used);

  first_.assign(static_cast<std::size_t>(contacts.particle_count) + 1, 0);
  for (const std::int32_t particle : particles) ++first_[static_cast<std::size_t>(particle) + 1];
  for (std::size_t particle = 1; particle < first_.size(); ++particle)
    first_[particle] += first_[particle - 1];

  records_.resize(used);
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t record = 0; record < used; ++record) {
    auto& slot = next[static_cast<std::size_t>(particles[record])];
    records_[static_cast<std::size_t>(slot++)] = static_cast<std::int32_t>(record);
  }

  sorted_.note(contacts);
}

}  // namespace novaphy
