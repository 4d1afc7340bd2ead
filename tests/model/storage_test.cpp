// SPDX-License-Identifier: Apache-2.0
// Blocks of memory: alignment, slack, versions, foreign memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {

TEST_CASE("memory is aligned to 64 bytes, zero, and readable 64 bytes past its end") {
  for (const std::size_t bytes : {0u, 1u, 4u, 63u, 64u, 65u, 4000u}) {
    const auto storage = Storage::allocate({}, bytes);
    CHECK(storage->bytes() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(storage->data()) % 64 == 0);
    const auto* data = static_cast<const unsigned char*>(storage->data());
    CHECK(std::accumulate(data, data + bytes + 64, 0) == 0);
    CHECK(storage->has_slack());
    CHECK_FALSE(storage->is_external());
    CHECK_FALSE(storage->escaped());
    CHECK(storage->device() == Device{});
  }
}

TEST_CASE("every writable access raises the version, reading does not") {
  const auto storage = Storage::allocate({}, 16);
  CHECK(storage->version() == 0);
  storage->data();
  storage->data_without_version();
  CHECK(storage->version() == 0);
  storage->mutable_data();
  CHECK(storage->version() == 1);
  storage->raise_version();
  CHECK(storage->version() == 2);
}

TEST_CASE("memory of somebody else is kept alive, has no slack, and escapes when others may write it") {
  auto owner = std::make_shared<std::vector<float>>(4, 1.0f);
  std::weak_ptr<std::vector<float>> alive = owner;
  auto storage = Storage::wrap(owner->data(), 16, {}, owner, true);
  owner.reset();
  CHECK_FALSE(alive.expired());
  CHECK(storage->is_external());
  CHECK(storage->escaped());
  CHECK_FALSE(storage->has_slack());
  storage.reset();
  CHECK(alive.expired());
  float own[2] = {};
  CHECK_FALSE(Storage::wrap(own, sizeof own, {}, nullptr, false)->escaped());
}

TEST_CASE("a device without a backend is refused by name") {
  CHECK_FAILS(Storage::allocate(parse_device("cuda:1"), 4), plugin_not_available,
              "device 'cuda:1' needs plugin 'cuda_backend', which is not there: use device 'cpu'");
  CHECK_FAILS(ModelBuilder().finalize(parse_device("cuda")), plugin_not_available,
              "device 'cuda:0' needs plugin 'cuda_backend', which is not there: use device 'cpu'");
  CHECK_FAILS(Storage::wrap(nullptr, 4, {}, nullptr, false), value,
              "a memory block of 4 bytes has a null pointer");
}

TEST_CASE("the 289 states of a rollout are made quickly") {
  ModelBuilder b;
  b.add_particle({0, 0, 0}, {0, 0, 0}, 1);
  const auto model = b.finalize();
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<SimState>> states;
    for (int i = 0; i < 289; ++i) states.push_back(model->state());
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  MESSAGE("289 states took ", best, " ms");
  CHECK(best < 100);  // 0.2 ms in a release build; instrumented builds on busy machines run this too
}

TEST_CASE("copies carry the number of the recording that made a value, writes drop it") {
  DeviceArray made(DType::f32, {2});
  made.storage()->set_recording(7);
  DeviceArray copy(DType::f32, {2});
  copy.copy_from(made);
  CHECK(copy.storage()->recording() == 7);
  CHECK(made.clone().storage()->recording() == 7);

  copy.zero();
  CHECK(copy.storage()->recording() == 0);
  CHECK(made.storage()->recording() == 7);
}

TEST_CASE("under no_grad copies and computed values belong to no recording") {
  DeviceArray made(DType::f32, {2}), copy(DType::f32, {2});
  made.storage()->set_recording(7);
  open_recording() = kNoRecording;
  CHECK(made.clone().storage()->recording() == 0);
  copy.copy_from(made);
  CHECK(copy.storage()->recording() == 0);
  copy.join_open_recording();
  CHECK(copy.storage()->recording() == 0);
  open_recording() = 8;
  copy.join_open_recording();
  CHECK(copy.storage()->recording() == 8);
  open_recording() = 0;
}

TEST_CASE("a write raises the versions of all that it touches, and of nothing else") {
  DeviceArray all(DType::f32, Shape{6, 3});
  DeviceArray first = all.slice_rows(0, 2), middle = all.slice_rows(1, 4), last = all.slice_rows(4, 6);
  CHECK(first.storage()->root() == all.storage());
  CHECK(middle.storage()->offset() == 12);
  const auto versions = [&] {
    return std::vector<std::uint64_t>{all.version(), first.version(), middle.version(), last.version()};
  };
  first.zero();
  CHECK(versions() == std::vector<std::uint64_t>{1, 1, 1, 0});
  middle.zero();
  CHECK(versions() == std::vector<std::uint64_t>{2, 2, 2, 0});
  last.write<float>()[0] = 5;
  CHECK(versions() == std::vector<std::uint64_t>{3, 2, 2, 1});
  all.zero();
  CHECK(versions() == std::vector<std::uint64_t>{4, 3, 3, 2});
}

TEST_CASE("flags and label of a region are those of the whole, and a region keeps the whole alive") {
  DeviceArray all(DType::f32, Shape{4});
  all.named("ring", "state", 2);
  DeviceArray part = all.slice_rows(1, 3);
  part.storage()->mark_escaped();
  part.storage()->set_requires_grad(true);
  CHECK(all.storage()->escaped());
  CHECK(all.storage()->requires_grad());
  CHECK(to_string(part.storage()->label()) == "'ring' of state #2");
  all = DeviceArray();
  part.write<float>()[1] = 3;
  CHECK(part.storage()->root()->bytes() == 16);
}

TEST_CASE("many short-lived regions leave nothing behind, and a new one begins as the whole is") {
  DeviceArray all(DType::f32, Shape{10000});
  for (std::int64_t at = 0; at < 10000; ++at) all.slice_rows(at, at + 1).write<float>()[0] = 1.0f;
  CHECK(all.version() == 10000);
  all.storage()->set_recording(7);
  CHECK(all.slice_rows(3, 5).storage()->recording() == 7);
}

}  // namespace novaphy
