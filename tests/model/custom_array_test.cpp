// SPDX-License-Identifier: Apache-2.0
// Arrays that users and plugins add beside ours.
#include <doctest/doctest.h>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {

CustomArray array(const char* name, Frequency frequency, ArrayOwner owner, std::vector<float> row,
                  DType dtype = DType::f32) {
  return {{name, dtype, frequency, static_cast<int>(row.size()), "a test array"}, owner, row};
}

ModelBuilder three_particles() {
  ModelBuilder b;
  for (int i = 0; i < 3; ++i) b.add_particle({0, 0, 0}, {0, 0, 0}, 1);
  return b;
}

}  // namespace

TEST_CASE("custom arrays of every owner come with their objects, rows, defaults and labels") {
  ModelBuilder b = three_particles();
  b.add_custom_array(array("colour", Frequency::particle, ArrayOwner::model, {0.5f, 0.25f, 1}));
  b.add_custom_array(array("heat", Frequency::particle, ArrayOwner::state, {300}));
  b.add_custom_array(array("fan", Frequency::once, ArrayOwner::control, {1, 2}));
  b.add_custom_array(array("age", Frequency::soft_contact, ArrayOwner::contacts, {-1}, DType::i32));
  const auto m = b.finalize({}, true);
  const DeviceArray* colour = m->find("colour");
  REQUIRE(colour);
  CHECK(colour->shape() == Shape{3, 3});
  CHECK(colour->read<Vec3f>()[2].y == 0.25f);
  CHECK(to_string(colour->storage()->label()) == "'colour' of model");
  CHECK(colour->storage()->requires_grad());

  const auto s = m->state();
  REQUIRE(s->find("heat"));
  CHECK(s->find("heat")->shape() == Shape{3});
  CHECK(s->find("heat")->read<float>()[1] == 300);
  CHECK(to_string(s->find("heat")->storage()->label()) == "'heat' of state #0");
  CHECK(m->control()->find("fan")->shape() == Shape{2});
  CHECK(m->contacts(4, 0)->find("age")->shape() == Shape{4});
  CHECK(m->contacts(4, 0)->find("age")->read<std::int32_t>()[3] == -1);
  CHECK(m->find("heat") == nullptr);
}

TEST_CASE("custom arrays are visited last, cloned, assigned, checked and counted in the version") {
  ModelBuilder b = three_particles();
  b.add_custom_array(array("heat", Frequency::particle, ArrayOwner::state, {300}));
  b.add_custom_array(array("colour", Frequency::particle, ArrayOwner::model, {1}));
  const auto m = b.finalize();
  m->find("colour")->write<float>()[0] = 2;
  CHECK(m->version() == 1);
  CHECK(m->clone()->find("colour")->read<float>()[0] == 2);

  const auto a = m->state(), other = m->state();
  std::string last;
  a->visit([&](const ArrayInfo& info, const DeviceArray&) { last = info.name; });
  CHECK(last == "heat");
  other->find("heat")->write<float>()[2] = 77;
  a->assign(*other);
  CHECK(a->find("heat")->read<float>()[2] == 77);
  CHECK(a->clone()->find("heat")->read<float>()[2] == 77);
  CHECK(a->clone()->find("heat")->storage() != a->find("heat")->storage());
  a->find("heat")->write<float>()[0] = std::numeric_limits<float>::infinity();
  CHECK_FAILS(a->check_finite(), generic,
              "'heat' of state #0 is inf in row 0, component 0: want finite numbers");
}

TEST_CASE("a finished model takes more arrays, for itself and for what it makes from now on") {
  const auto m = three_particles().finalize();
  const auto before = m->state();
  m->add_custom_array(array("heat", Frequency::particle, ArrayOwner::state, {300}));
  m->add_custom_array(array("mark", Frequency::world, ArrayOwner::model, {7}, DType::u8));
  CHECK(before->find("heat") == nullptr);
  CHECK(m->state()->find("heat") != nullptr);
  CHECK(m->find("mark")->read<std::uint8_t>()[0] == 7);
  CHECK_FAILS(m->state()->assign(*before), shape_mismatch,
              "SimState.assign: 'heat' has shape (3) here and does not exist in the other state: want two "
              "states of one model");
}

TEST_CASE("custom arrays go with a builder that is added, once") {
  ModelBuilder part = three_particles();
  part.add_custom_array(array("colour", Frequency::particle, ArrayOwner::model, {4}));
  ModelBuilder b;
  b.replicate(part, 2);
  const auto m = b.finalize();
  CHECK(m->find("colour")->rows() == 6);
  CHECK(m->custom_array_specs.size() == 1);
  ModelBuilder clash;
  clash.add_custom_array(array("colour", Frequency::body, ArrayOwner::model, {4}));
  CHECK_FAILS(clash.add_builder(part), value,
              "add_custom_array: an array 'colour' exists already: choose another name");
  CHECK(clash.particle_count() == 0);
}

TEST_CASE("a custom array that cannot be is refused") {
  ModelBuilder b;
  const auto add = [&](const CustomArray& spec) { b.add_custom_array(spec); };
  add(array("heat", Frequency::particle, ArrayOwner::state, {0}));
  CHECK_FAILS(add(array("heat", Frequency::body, ArrayOwner::state, {0})), value,
              "add_custom_array: an array 'heat' exists already: choose another name");
  CHECK_FAILS(add(array("particle_q", Frequency::particle, ArrayOwner::model, {0})), value,
              "add_custom_array: an array 'particle_q' exists already: choose another name");
  CHECK_FAILS(add(array("my array", Frequency::particle, ArrayOwner::model, {0})), value,
              "add_custom_array: name is 'my array': want letters, digits and underscores, not beginning "
              "with a digit");
  CHECK_FAILS(add(array("age", Frequency::soft_contact, ArrayOwner::state, {0})), value,
              "add_custom_array: frequency of 'age' is 'soft_contact', which only arrays with owner "
              "\"contacts\" can have");
  CHECK_FAILS(add(array("flag", Frequency::body, ArrayOwner::state, {1.5f}, DType::i32)), value,
              "add_custom_array: the default of 'flag' holds 1.5, which dtype int32 cannot hold");
  CustomArray wide = array("wide", Frequency::body, ArrayOwner::state, {1, 2});
  wide.info.width = 3;
  CHECK_FAILS(add(wide), value, "add_custom_array: the default of 'wide' has 2 values: want 3");
  wide.info.width = 0;
  CHECK_FAILS(add(wide), value, "add_custom_array: width of 'wide' is 0: want at least 1");
  add(array("heat", Frequency::particle, ArrayOwner::control, {0}));  // another owner, another array
}

}  // namespace novaphy
