// SPDX-License-Identifier: Apache-2.0
// Contacts, and its records as named tuples for debugging.
#include "array_set.hpp"

namespace novaphy::python {
namespace {

std::shared_ptr<Contacts> contacts_from(const py::dict& pickled) {
  auto contacts = std::make_shared<Contacts>();
  contacts->soft_contact_max = pickled["soft_contact_max"].cast<int>();
  contacts->rigid_contact_max = pickled["rigid_contact_max"].cast<int>();
  contacts->particle_count = pickled["particle_count"].cast<int>();
  contacts->shape_count = pickled["shape_count"].cast<int>();
  contacts->soft_contact_overflow = pickled["soft_contact_overflow"].cast<bool>();
  contacts->rigid_contact_overflow = pickled["rigid_contact_overflow"].cast<bool>();
  arrays_from_dict(*contacts, pickled, "contacts", -1);
  return contacts;
}

py::dict contacts_to(Contacts& contacts) {
  py::dict out = arrays_to_dict(contacts);
  out["soft_contact_max"] = contacts.soft_contact_max;
  out["rigid_contact_max"] = contacts.rigid_contact_max;
  out["particle_count"] = contacts.particle_count;
  out["shape_count"] = contacts.shape_count;
  out["soft_contact_overflow"] = contacts.soft_contact_overflow;
  out["rigid_contact_overflow"] = contacts.rigid_contact_overflow;
  return out;
}

/// One named tuple a soft contact: particle, shape, body_pos, body_vel, normal.
py::list points(const Contacts& contacts) {
  const py::object type = py::module_::import("collections")
                              .attr("namedtuple")("SoftContact", "particle shape body_pos body_vel normal");
  const auto particles = contacts.soft_contact_particle.read<std::int32_t>();
  const auto shapes = contacts.soft_contact_shape.read<std::int32_t>();
  const auto pos = contacts.soft_contact_body_pos.read<Vec3f>(),
             vel = contacts.soft_contact_body_vel.read<Vec3f>();
  const auto normal = contacts.soft_contact_normal.read<Vec3f>();
  const auto tuple_of = [](const Vec3f& v) { return py::make_tuple(v.x, v.y, v.z); };
  py::list out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(contacts.soft_contacts_used()); ++i)
    out.append(type(particles[i], shapes[i], tuple_of(pos[i]), tuple_of(vel[i]), tuple_of(normal[i])));
  return out;
}

}  // namespace

void bind_contacts(py::module_& m) {
  py::class_<Contacts, ArraySet, py::smart_holder> contacts(
      m, "Contacts", "Contact records, written by a collision pipeline.");
#define X(name, dtype, frequency, width, doc) def_array(contacts, #name, &Contacts::name, doc);
#include "novaphy/contacts_arrays.inc"
  contacts.def_readonly("soft_contact_max", &Contacts::soft_contact_max)
      .def_readonly("rigid_contact_max", &Contacts::rigid_contact_max)
      .def_readonly("soft_contact_overflow", &Contacts::soft_contact_overflow,
                    "More contacts were found than fit.")
      .def_readonly("rigid_contact_overflow", &Contacts::rigid_contact_overflow,
                    "More contacts were found than fit.")
      .def("clear", &Contacts::clear, "No contacts.")
      .def("clone", &Contacts::clone, "A copy in memory of its own.")
      .def("points", &points, "The soft contacts in use as named tuples, for looking at.")
      .def("__copy__", &Contacts::clone)
      .def(
          "__deepcopy__", [](const Contacts& self, const py::dict&) { return self.clone(); }, py::arg("memo"))
      .def("__repr__",
           [](const Contacts& self) {
             return text("Contacts(soft ", self.soft_contacts_used(), " of ", self.soft_contact_max,
                         ", rigid ", self.rigid_contacts_used(), " of ", self.rigid_contact_max, ")");
           })
      .def(py::pickle(&contacts_to, &contacts_from));
}

}  // namespace novaphy::python
