// SPDX-License-Identifier: Apache-2.0
// Counting sort of contact records by particle.
#include "novaphy/semi_implicit/particle_contacts.hpp"

#include "novaphy/error.hpp"

namespace novaphy {

bool ParticleContacts::is_current(const Contacts& contacts) const {
  const auto same = [](const DeviceArray& array, const std::shared_ptr<Storage>& storage,
                       std::uint64_t version) {
    return array.storage() == storage && array.version() == version && !(storage && storage->escaped());
  };
  return !first_.empty() && same(contacts.soft_contact_count, count_storage_, count_version_) &&
         same(contacts.soft_contact_particle, particle_storage_, particle_version_) &&
         same(contacts.soft_contact_shape, shape_storage_, shape_version_);
}

void ParticleContacts::update(const Model& model, const Contacts& contacts) {
  if (is_current(contacts)) return;
  const auto used = static_cast<std::size_t>(contacts.soft_contacts_used());
  const auto particles = contacts.soft_contact_particle.read<std::int32_t>().first(used);
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>().first(used);

  first_.assign(static_cast<std::size_t>(model.particle_count) + 1, 0);
  for (std::size_t record = 0; record < used; ++record) {
    NOVAPHY_REQUIRE(particles[record] >= 0 && particles[record] < model.particle_count &&
                        shapes[record] >= 0 && shapes[record] < model.shape_count,
                    ErrorKind::index, "soft contact ", record, " is between particle ", particles[record],
                    " and shape ", shapes[record], ", the model has ", model.particle_count,
                    " particles and ", model.shape_count, " shapes; collide again, or correct the record");
    ++first_[static_cast<std::size_t>(particles[record]) + 1];
  }
  for (std::size_t particle = 1; particle < first_.size(); ++particle)
    first_[particle] += first_[particle - 1];

  records_.resize(used);
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t record = 0; record < used; ++record) {
    auto& slot = next[static_cast<std::size_t>(particles[record])];
    records_[static_cast<std::size_t>(slot++)] = static_cast<std::int32_t>(record);
  }

  count_storage_ = contacts.soft_contact_count.storage(),
  count_version_ = contacts.soft_contact_count.version();
  particle_storage_ = contacts.soft_contact_particle.storage(),
  particle_version_ = contacts.soft_contact_particle.version();
  shape_storage_ = contacts.soft_contact_shape.storage(),
  shape_version_ = contacts.soft_contact_shape.version();
}

}  // namespace novaphy
