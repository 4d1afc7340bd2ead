// SPDX-License-Identifier: Apache-2.0
// Contact records: distances and normals of every shape, order, overflow, worlds, bodies, threads, errors.
#include "novaphy/collision/collision_pipeline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "novaphy/builder.hpp"
#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/task_pool.hpp"

using namespace novaphy;

namespace {

struct Scene {
  std::shared_ptr<Model> model;
  std::shared_ptr<SimState> state;
  std::unique_ptr<CollisionPipeline> pipeline;
  std::shared_ptr<Contacts> contacts;

  explicit Scene(std::shared_ptr<Model> scene, CollisionConfig config = {}) : model(std::move(scene)) {
    state = model->state();
    pipeline = std::make_unique<CollisionPipeline>(model, config);
    contacts = pipeline->contacts();
    pipeline->collide(*state, *contacts);
  }
  int count() const { return contacts->soft_contact_count.read<std::int32_t>()[0]; }
  Vec3f point(std::size_t k) const { return contacts->soft_contact_body_pos.read<Vec3f>()[k]; }
  Vec3f normal(std::size_t k) const { return contacts->soft_contact_normal.read<Vec3f>()[k]; }
  int particle(std::size_t k) const { return contacts->soft_contact_particle.read<std::int32_t>()[k]; }
  int shape(std::size_t k) const { return contacts->soft_contact_shape.read<std::int32_t>()[k]; }
  std::vector<int> tids() const {
    const auto values = contacts->soft_contact_tids.read<std::int32_t>();
    return {values.begin(), values.end()};
  }
};

void check_vector(const Vec3f& got, const Vec3f& wanted) {
  CHECK(got.x == doctest::Approx(wanted.x));
  CHECK(got.y == doctest::Approx(wanted.y));
  CHECK(got.z == doctest::Approx(wanted.z));
}

/// One particle of radius 0.1 at `at` and one shape.
template <class AddShape>
Scene one_particle(const Vec3f& at, float margin, AddShape&& add_shape) {
  ModelBuilder builder;
  builder.add_particle(at, {0, 0, 0}, 1.0, 0.1);
  add_shape(builder);
  return Scene(builder.finalize(), {.soft_contact_margin = margin});
}

/// The ball of Newton's example_diffsim_ball before a wall.
std::shared_ptr<Model> ball_model() {
  ModelBuilder builder;
  builder.add_particle({0, -0.5f, 1}, {0, 5, -5}, 1.0);
  builder.add_shape_box(-1, 1, 0.25, 1, {.xform = Transformf{{0, 2, 1}, {0, 0, 0, 1}}});
  builder.add_ground_plane();
  return builder.finalize();
}

/// Many particles among shapes of all four kinds.
std::shared_ptr<Model> crowded_model(int particles) {
  std::mt19937 engine(7);
  const auto number = [&] { return static_cast<float>(engine() >> 8) * (2.0f / 16777216.0f) - 1.0f; };
  ModelBuilder builder;
  for (int p = 0; p < particles; ++p)
    builder.add_particle({number(), number(), number()}, {0, 0, 0}, 1.0, 0.05);
  for (int s = 0; s < 12; ++s) {
    const Quatf turned = normalize(Quatf{number(), number(), number(), 1.5f});
    const ShapeArgs args{.xform = Transformf{{number(), number(), number()}, turned}};
    if (s % 4 == 0) builder.add_shape_plane({0, 0, 1, 0}, 1, 1, -1, args);
    if (s % 4 == 1) builder.add_shape_box(-1, 0.3, 0.2, 0.1, args);
    if (s % 4 == 2) builder.add_shape_sphere(-1, 0.3, args);
    if (s % 4 == 3) builder.add_shape_capsule(-1, 0.2, 0.3, args);
  }
  return builder.finalize();
}

void collect_line(void* lines, LogLevel, const char* line) {
  static_cast<std::vector<std::string>*>(lines)->emplace_back(line);
}

template <class Call>
std::string message_of(Call&& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the ball's two records are Newton's") {
  const Scene scene(ball_model(), {.soft_contact_margin = 10.0f});
  REQUIRE(scene.count() == 2);
  CHECK(scene.shape(0) == 0);
  check_vector(scene.point(0), {0, 1.75f, 1});
  check_vector(scene.normal(0), {0, -1, 0});
  check_vector(scene.point(1), {0, -0.5f, 0});
  check_vector(scene.normal(1), {0, 0, 1});
  CHECK(scene.tids() == std::vector<int>{0, 1});
}

TEST_CASE("a particle within radius and margin of a shape gets a record, one beyond gets none") {
  const auto ground = [](ModelBuilder& builder) { builder.add_ground_plane(); };
  CHECK(one_particle({0, 0, 0.149f}, 0.05f, ground).count() == 1);
  CHECK(one_particle({0, 0, 0.151f}, 0.05f, ground).count() == 0);
}

TEST_CASE("a sheet is met from both sides, a half space repels from below") {
  const auto sheet = [](ModelBuilder& builder) { builder.add_shape_plane({0, 0, 1, 0}, 2, 2); };
  const auto half_space = [](ModelBuilder& builder) { builder.add_shape_plane({0, 0, 1, 0}, 0, 0); };
  CHECK(one_particle({0, 0, -0.5f}, 0.0f, sheet).count() == 0);
  CHECK(one_particle({0, 0, -0.5f}, 0.0f, half_space).count() == 1);
  CHECK(one_particle({1.5f, 0, 0}, 0.0f, sheet).count() == 0);
}

TEST_CASE("a box pushes out of its nearest face, and along the line to its edge outside") {
  const auto box = [](ModelBuilder& builder) { builder.add_shape_box(-1, 1, 2, 3); };
  const Scene inside = one_particle({-0.9f, 0, 0}, 0.0f, box);
  check_vector(inside.normal(0), {-1, 0, 0});
  check_vector(inside.point(0), {-1, 0, 0});
  const Scene edge = one_particle({1.3f, 2.4f, 0}, 1.0f, box);
  check_vector(edge.normal(0), {0.6f, 0.8f, 0});
  check_vector(edge.point(0), {1, 2, 0});
}

TEST_CASE("a sphere pushes away from its centre, upwards from the centre itself") {
  const auto sphere = [](ModelBuilder& builder) { builder.add_shape_sphere(-1, 0.5); };
  const Scene outside = one_particle({0.36f, 0.48f, 0}, 0.1f, sphere);
  check_vector(outside.normal(0), {0.6f, 0.8f, 0});
  check_vector(outside.point(0), {0.3f, 0.4f, 0});
  check_vector(one_particle({0, 0, 0}, 0.0f, sphere).normal(0), {0, 0, 1});
}

TEST_CASE("a capsule pushes away from its segment, downwards from its lower end") {
  const auto capsule = [](ModelBuilder& builder) { builder.add_shape_capsule(-1, 0.5, 1.0); };
  check_vector(one_particle({0.3f, 0.4f, 0.7f}, 0.0f, capsule).normal(0), {0.6f, 0.8f, 0});
  check_vector(one_particle({0.3f, 0, 1.4f}, 0.0f, capsule).normal(0), {0.6f, 0, 0.8f});
  check_vector(one_particle({0, 0, -1.2f}, 0.0f, capsule).normal(0), {0, 0, -1});
  check_vector(one_particle({0, 0, -1.2f}, 0.0f, capsule).point(0), {0, 0, -1.5f});
}

TEST_CASE("a turned shape gives its record in world axes") {
  const Quatf quarter_about_x{0.70710678f, 0, 0, 0.70710678f};
  const Scene scene = one_particle({0, -0.4f, 0}, 0.0f, [&](ModelBuilder& builder) {
    builder.add_shape_box(-1, 1, 2, 0.5, {.xform = Transformf{{0, 0, 0}, quarter_about_x}});
  });
  check_vector(scene.normal(0), {0, -1, 0});
  check_vector(scene.point(0), {0, -0.5f, 0});
}

TEST_CASE("a shape on a body moves with the body, and its point is stored in the body's frame") {
  ModelBuilder builder;
  builder.add_particle({3, 0, 0.55f}, {0, 0, 0}, 1.0, 0.1);
  BodyArgs body;
  body.is_kinematic = true;
  const int link = builder.add_link(body);
  builder.add_shape_box(link, 0.5, 0.5, 0.5);
  auto model = builder.finalize();
  auto state = model->state();
  state->body_q.write<Transformf>()[0] = {{3, 0, 0}, {0, 0, 0, 1}};
  CollisionPipeline pipeline(model, {});
  auto contacts = pipeline.contacts();
  pipeline.collide(*state, *contacts);
  REQUIRE(contacts->soft_contacts_used() == 1);
  check_vector(contacts->soft_contact_body_pos.read<Vec3f>()[0], {0, 0, 0.5f});
}

TEST_CASE("records come shape by shape, particles ascending, and tids tells where each pair is") {
  ModelBuilder builder;
  for (int p = 0; p < 3; ++p)
    builder.add_particle({static_cast<float>(p), 0, p == 1 ? 5.0f : 0.05f}, {0, 0, 0}, 1.0);
  builder.add_ground_plane();
  builder.add_shape_box(-1, 5, 5, 0.02);
  const Scene scene(builder.finalize());
  REQUIRE(scene.count() == 4);
  CHECK(std::vector<int>{scene.particle(0), scene.particle(1), scene.particle(2), scene.particle(3)} ==
        std::vector<int>{0, 2, 0, 2});
  CHECK(std::vector<int>{scene.shape(0), scene.shape(1), scene.shape(2), scene.shape(3)} ==
        std::vector<int>{0, 0, 1, 1});
  CHECK(scene.tids() == std::vector<int>{0, -1, 1, 2, -1, 3});
}

TEST_CASE("inactive particles, shapes without particle collision and other worlds get no records") {
  ModelBuilder one;
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  one.add_particle({0, 0, 0}, {0, 0, 0}, 1.0, {}, 0);
  one.add_ground_plane();
  ShapeConfig ghost;
  ghost.has_particle_collision = false;
  one.add_shape_sphere(-1, 1.0, {.cfg = ghost});
  ModelBuilder builder;
  builder.add_world(one);
  builder.add_world(one);
  const Scene scene(builder.finalize());
  REQUIRE(scene.count() == 2);
  CHECK(scene.particle(0) == 0);
  CHECK(scene.shape(0) == 0);
  CHECK(scene.particle(1) == 2);
  CHECK(scene.shape(1) == 2);
}

TEST_CASE("on overflow the count stays honest, records and tids stop at the room, and one line is logged") {
  ModelBuilder builder;
  for (int p = 0; p < 5; ++p) builder.add_particle({static_cast<float>(p), 0, 0}, {0, 0, 0}, 1.0);
  builder.add_ground_plane();
  std::vector<std::string> lines;
  set_log_sink(&collect_line, &lines);
  Scene scene(builder.finalize(), {.soft_contact_max = 3});
  scene.pipeline->collide(*scene.state, *scene.contacts);
  set_log_sink(nullptr, nullptr);
  CHECK(scene.count() == 5);
  CHECK(scene.contacts->soft_contact_overflow);
  CHECK(scene.contacts->soft_contacts_used() == 3);
  CHECK(scene.tids() == std::vector<int>{0, 1, 2, -1, -1});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find(
            "CollisionPipeline: 5 soft contacts, room for 3; the rest is left out: raise soft_contact_max") !=
        std::string::npos);
}

TEST_CASE("records are the same on 1, 2 and 7 threads with small tasks") {
  const auto model = crowded_model(10000);
  const auto state = model->state();
  CollisionPipeline pipeline(model, {.soft_contact_margin = 0.05f});
  const auto whole = pipeline.contacts();
  pipeline.soft_contacts().set_grain(1 << 30);
  pipeline.collide(*state, *whole);
  REQUIRE(whole->soft_contacts_used() > 2000);
  pipeline.soft_contacts().set_grain(64);
  const int threads_before = task_pool().thread_count();
  for (const int threads : {1, 2, 7}) {
    task_pool().set_thread_count(threads);
    const auto contacts = pipeline.contacts();
    pipeline.collide(*state, *contacts);
    const auto same = [](const DeviceArray& a, const DeviceArray& b) {
      return std::memcmp(a.storage()->data(), b.storage()->data(), a.bytes()) == 0;
    };
    CHECK(same(contacts->soft_contact_count, whole->soft_contact_count));
    CHECK(same(contacts->soft_contact_particle, whole->soft_contact_particle));
    CHECK(same(contacts->soft_contact_shape, whole->soft_contact_shape));
    CHECK(same(contacts->soft_contact_body_pos, whole->soft_contact_body_pos));
    CHECK(same(contacts->soft_contact_normal, whole->soft_contact_normal));
    CHECK(same(contacts->soft_contact_tids, whole->soft_contact_tids));
  }
  task_pool().set_thread_count(threads_before);
}

TEST_CASE("above four million pairs contacts have no table of pairs, and records are written all the same") {
  ModelBuilder builder;
  const int particles = 40001;
  for (int p = 0; p < particles; ++p)
    builder.add_particle({0, 0, p % 1000 == 0 ? 0.0f : 9.0f}, {0, 0, 0}, 1.0);
  builder.add_ground_plane();
  ShapeConfig ghost;
  ghost.has_particle_collision = false;
  for (int s = 0; s < 100; ++s) builder.add_shape_sphere(-1, 0.1, {.cfg = ghost});
  const Scene scene(builder.finalize(), {.soft_contact_max = 100});
  CHECK(scene.tids().empty());
  CHECK(scene.count() == 41);
  CHECK(scene.particle(40) == 40000);
}

TEST_CASE("every collide raises the generation") {
  Scene scene(ball_model());
  const auto before = scene.contacts->generation;
  scene.pipeline->collide(*scene.state, *scene.contacts);
  CHECK(scene.contacts->generation == before + 1);
}

TEST_CASE("a shape that particles can not meet is named at construction") {
  ModelBuilder builder;
  builder.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  builder.add_ground_plane();
  builder.add_shape_cylinder(-1, 1.0, 0.5, {.label = "pillar"});
  const auto model = builder.finalize();
  CHECK(message_of([&] { CollisionPipeline pipeline(model, {}); }, ErrorKind::unsupported_feature) ==
        "CollisionPipeline: shape 1 'pillar' is a CYLINDER, which particles can not collide with yet (PLANE, "
        "BOX, SPHERE "
        "and CAPSULE they can); build it with has_particle_collision=False");
}

TEST_CASE("candidate pairs of shapes are logged in one line, unless no rigid contacts are wanted") {
  ModelBuilder builder;
  const int link = builder.add_link({.mass = 1.0});
  builder.add_shape_sphere(link, 0.5);
  builder.add_ground_plane();
  const auto model = builder.finalize();
  std::vector<std::string> lines;
  set_log_sink(&collect_line, &lines);
  const CollisionPipeline accepted(model, {.rigid_contact_max = 0});
  CHECK(lines.empty());
  const CollisionPipeline pipeline(model, {});
  set_log_sink(nullptr, nullptr);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find(
            "CollisionPipeline: contact between shapes is not generated yet, so 1 pair of colliding "
            "shapes will pass through each other; rigid_contact_max=0 accepts this") != std::string::npos);
}

TEST_CASE("contacts and states of another model are refused") {
  Scene scene(ball_model());
  ModelBuilder other;
  other.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  other.add_particle({0, 0, 0}, {0, 0, 0}, 1.0);
  const auto model = other.finalize();
  CHECK(message_of([&] { scene.pipeline->collide(*model->state(), *scene.contacts); },
                   ErrorKind::shape_mismatch) ==
        "CollisionPipeline.collide: the state has 2 particles and 0 bodies, the model has 1 and 0; take it "
        "from this "
        "model's state()");
  CollisionPipeline theirs(model, {});
  CHECK(message_of([&] { scene.pipeline->collide(*scene.state, *theirs.contacts()); },
                   ErrorKind::shape_mismatch) ==
        "CollisionPipeline.collide: contacts were made for 2 particles and 0 shapes, the model has 1 and 2; "
        "take them "
        "from this pipeline's contacts()");
}

TEST_CASE("a margin that is not finite is refused") {
  const auto model = ball_model();
  CHECK(message_of([&] { CollisionPipeline(model, {.soft_contact_margin = INFINITY}); }, ErrorKind::value) ==
        "CollisionPipeline: soft_contact_margin is inf; give a finite distance in m");
}

TEST_CASE("bodies and pairs of shapes that do not exist are refused") {
  const auto model = ball_model();
  Scene scene(model);
  model->shape_body.write<std::int32_t>()[0] = 3;
  CHECK(message_of([&] { scene.pipeline->collide(*scene.state, *scene.contacts); }, ErrorKind::index) ==
        "CollisionPipeline: shape 0 is on body 3, the model has 0; correct shape_body, in which -1 means the "
        "world");
  const auto pairs = ball_model();
  pairs->shape_contact_pairs = DeviceArray(DType::i32, {1, 2});
  pairs->shape_contact_pairs.write<std::int32_t>()[1] = 7;
  CHECK(message_of([&] { CollisionPipeline(pairs, {}); }, ErrorKind::index) ==
        "CollisionPipeline: shape_contact_pairs row 0 names shape 7, the model has 2");
}

TEST_CASE("a second thread inside one object is refused, and may come in later") {
  collision::OneThread one_thread;
  {
    const collision::OneThread::Entry entry(one_thread, "CollisionPipeline.collide", "pipeline");
    CHECK(
        message_of([&] { collision::OneThread::Entry(one_thread, "CollisionPipeline.collide", "pipeline"); },
                   ErrorKind::generic) ==
        "CollisionPipeline.collide: another thread uses this pipeline; make one pipeline a thread");
  }
  const collision::OneThread::Entry again(one_thread, "CollisionPipeline.collide", "pipeline");
}
