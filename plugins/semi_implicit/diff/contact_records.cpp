// SPDX-License-Identifier: Apache-2.0
// Copies of contact records for a recording.
#include "diff/contact_records.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "novaphy/error.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/semi_implicit/step_checks.hpp"
#include "novaphy/types.hpp"

namespace novaphy::semi_implicit {

namespace {

/// The used rows of the arrays, and which content of the Contacts they were.
struct RecordedContacts {
  std::uint64_t generation = 0, versions = 0;
  RecordOrder order;
  DeviceArray tids, particle, shape, point, normal, velocity, body;
};

std::uint64_t versions_of(const Contacts& contacts) {
  return contacts.soft_contact_count.version() + contacts.soft_contact_tids.version() +
         contacts.soft_contact_particle.version() + contacts.soft_contact_shape.version() +
         contacts.soft_contact_body_pos.version() + contacts.soft_contact_body_vel.version() +
         contacts.soft_contact_normal.version();
}

/// Somebody holds a writable pointer, so equal versions do not mean equal contents.
bool may_change_unseen(const Contacts& contacts) {
  for (const DeviceArray* array :
       {&contacts.soft_contact_count, &contacts.soft_contact_tids, &contacts.soft_contact_particle,
        &contacts.soft_contact_shape, &contacts.soft_contact_body_pos, &contacts.soft_contact_body_vel,
        &contacts.soft_contact_normal})
    if (array->storage() && array->storage()->escaped()) return true;
  return false;
}

/// Rows `kept` of an array, in memory of its own.
DeviceArray kept_rows(const DeviceArray& array, const std::vector<std::int64_t>& kept) {
  const auto rows = static_cast<std::int64_t>(kept.size());
  const Shape shape = array.shape().ndim() == 1 ? Shape{rows} : Shape{rows, array.shape()[1]};
  const std::size_t width = array.bytes() / static_cast<std::size_t>(std::max<std::int64_t>(array.rows(), 1));
  const auto* from = static_cast<const std::byte*>(array.storage()->data());
  std::vector<std::byte> bytes(kept.size() * width);
  for (std::size_t i = 0; i < kept.size(); ++i)
    std::copy_n(from + static_cast<std::size_t>(kept[i]) * width, width, bytes.data() + i * width);
  DeviceArray copy(array.dtype(), shape, array.device());
  copy.assign_bytes(bytes.data(), bytes.size());
  copy.named(array.storage()->label().name, "contacts");
  return copy;
}

/// The bodies of the shapes of the records `kept`, -1 = the world.
DeviceArray bodies_of(const Model& model, const Contacts& contacts, const std::vector<std::int64_t>& kept) {
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  std::vector<std::int32_t> out;
  for (const std::int64_t record : kept)
    out.push_back(bodies[static_cast<std::size_t>(shapes[static_cast<std::size_t>(record)])]);
  return DeviceArray::from<std::int32_t>(out, Shape{static_cast<std::int64_t>(out.size())});
}

/// The records that the step works through.
std::vector<std::int64_t> kept_records(const Model& model, const Contacts& contacts,
                                       const RecordOrder& order) {
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  std::vector<std::int64_t> kept;
  for (std::int64_t record = 0; record < contacts.soft_contacts_used(); ++record) {
    const std::int32_t body = bodies[static_cast<std::size_t>(shapes[static_cast<std::size_t>(record)])];
    if (!order.skips_dynamic || !is_dynamic(model, body)) kept.push_back(record);
  }
  return kept;
}

constexpr std::int64_t kFewPairs =
    256;  // with so few, the second launch of the other order costs more than empty pairs

std::shared_ptr<RecordedContacts> copy_of(const Model& model, const Contacts& contacts,
                                          const RecordOrder& order) {
  auto copy = std::make_shared<RecordedContacts>();
  copy->generation = contacts.generation;
  copy->versions = versions_of(contacts);
  copy->order = order;
  const auto kept = kept_records(model, contacts, order);
  if (order.by_pair) copy->tids = contacts.soft_contact_tids.clone();
  copy->particle = kept_rows(contacts.soft_contact_particle, kept);
  copy->shape = kept_rows(contacts.soft_contact_shape, kept);
  copy->point = kept_rows(contacts.soft_contact_body_pos, kept);
  copy->normal = kept_rows(contacts.soft_contact_normal, kept);
  if (!order.carried) return copy;
  copy->velocity = kept_rows(contacts.soft_contact_body_vel, kept);
  copy->body = bodies_of(model, contacts, kept);
  return copy;
}

const RecordedContacts& recorded(const Model& model, const Contacts& contacts, const RecordOrder& order) {
  const auto* kept = static_cast<const RecordedContacts*>(contacts.recorded_copy.get());
  if (kept != nullptr && kept->generation == contacts.generation && kept->versions == versions_of(contacts) &&
      kept->order == order && !may_change_unseen(contacts))
    return *kept;
  auto copy = copy_of(model, contacts, order);
  const RecordedContacts& made = *copy;
  contacts.recorded_copy = std::move(copy);
  return made;
}

/// Null unless the records were collided in the recording that is open now and stand as collide() left them.
const Contacts::Origin* live_origin(const Contacts& contacts) {
  const Contacts::Origin& origin = contacts.origin;
  if (!nova::is_recording() || origin.recording == 0 || origin.recording != open_recording()) return nullptr;
  NOVAPHY_REQUIRE(
      origin.versions == contacts.origin_versions(), ErrorKind::stale_record,
      "DiffSemiImplicitSolver.step: the contacts were collided in this recording, and since then ",
      "the records, or the positions or poses that they were found with, were overwritten; collide ",
      "again, or collide before the recording so that the records are constants");
  return &origin;
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

/// Whether one row a particle is the better order. It loses where most pairs have no record.
bool works_by_pair(const Contacts& contacts) {
  const std::int64_t pairs = std::int64_t{contacts.shape_count} * contacts.particle_count;
  if (contacts.soft_contact_tids.rows() != pairs) return false;  // left out above four million
  if (pairs > kFewPairs && std::int64_t{4} * contacts.soft_contacts_used() < pairs) return false;
  return table_agrees(contacts);
}

}  // namespace

RecordOrder order_of(const Model& model, const Contacts& contacts, bool skips_dynamic) {
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>().first(
      static_cast<std::size_t>(contacts.soft_contacts_used()));
  const auto bodies = model.shape_body.read<std::int32_t>();
  const bool carried = std::ranges::any_of(
      shapes, [&](std::int32_t shape) { return bodies[static_cast<std::size_t>(shape)] >= 0; });
  return {.by_pair = !carried && works_by_pair(contacts), .carried = carried, .skips_dynamic = skips_dynamic};
}

ContactRecords records_for_step(const Model& model, const Contacts& contacts, const RecordOrder& order) {
  const Contacts::Origin* const origin = live_origin(contacts);
  const bool by_pair = order.by_pair && origin == nullptr;
  if (!nova::is_recording() && !order.carried)
    return {.tids = by_pair ? &contacts.soft_contact_tids : nullptr,
            .particle = &contacts.soft_contact_particle,
            .shape = &contacts.soft_contact_shape,
            .point = &contacts.soft_contact_body_pos,
            .normal = &contacts.soft_contact_normal,
            .used = contacts.soft_contacts_used()};
  const RecordedContacts& copy = recorded(model, contacts, order);
  return {.tids = by_pair ? &copy.tids : nullptr,
          .particle = &copy.particle,
          .shape = &copy.shape,
          .point = &copy.point,
          .normal = &copy.normal,
          .body = order.carried ? &copy.body : nullptr,
          .velocity = order.carried ? &copy.velocity : nullptr,
          .origin = origin,
          .used = copy.particle.rows()};
}

}  // namespace novaphy::semi_implicit
