// SPDX-License-Identifier: Apache-2.0
// Shapes and the shaped handle of a storage.
#include <doctest/doctest.h>

#include <limits>

#include "messages.hpp"
#include "novaphy/array.hpp"
#include "novaphy/math.hpp"

namespace novaphy {

TEST_CASE("a shape knows its rows, its row width and its size") {
  const Shape matrices{5, 3, 3};
  CHECK(matrices.ndim() == 3);
  CHECK(matrices.rows() == 5);
  CHECK(matrices.width() == 9);
  CHECK(matrices.size() == 45);
  CHECK(to_string(matrices) == "(5, 3, 3)");
  CHECK(Shape{}.size() == 1);
  CHECK(to_string(Shape{}) == "()");
  CHECK(Shape{0, 3}.size() == 0);
  CHECK(Shape{0, 3}.width() == 3);
  CHECK(Shape{2, 3} != Shape{3, 2});
}

TEST_CASE("a shape that cannot be is refused") {
  CHECK_FAILS(Shape({1, 2, 3, 4, 5}), value, "a shape has 5 extents: want at most 4");
  CHECK_FAILS(Shape({3, -1}), value, "extent 1 of a shape is -1: want 0 or more");
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 4;
  CHECK_FAILS(Shape({huge, 3}), value,
              "a shape has more elements than memory can hold (extent 0 is " + std::to_string(huge) + ")");
}

TEST_CASE("copies of a handle share memory, clones do not") {
  DeviceArray a(DType::f32, {2, 3});
  a.named("particle_q", "state", 3);
  a.storage()->set_requires_grad(true);
  DeviceArray same = a;
  same.write<float>()[4] = 7;
  CHECK(a.read<float>()[4] == 7);
  DeviceArray other = a.clone();
  CHECK(other.read<float>()[4] == 7);
  CHECK(other.version() == 0);
  CHECK(other.storage()->requires_grad());
  CHECK(to_string(other.storage()->label()) == "'particle_q' of state #3");
  other.write<float>()[4] = 1;
  CHECK(a.read<float>()[4] == 7);
}

TEST_CASE("rows are read as numbers or as packed structs") {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const DeviceArray a = DeviceArray::from<float>(values, {2, 3});
  CHECK(a.read<Vec3f>().size() == 2);
  CHECK(a.read<Vec3f>()[1].y == 5);
  const std::int32_t indices[] = {1, 2};
  CHECK(DeviceArray::from<std::int32_t>(indices, {2}).dtype() == DType::i32);
}

TEST_CASE("reading an array as something else is refused") {
  DeviceArray a(DType::f32, {2, 2});
  a.named("tri_x", "model");
  CHECK_FAILS(a.read<Vec3f>(), type,
              "'tri_x' of model of shape (2, 2) and dtype float32 was read as elements of another dtype or "
              "of 12 bytes");
  CHECK_FAILS(a.read<std::int32_t>(), type,
              "'tri_x' of model of shape (2, 2) and dtype float32 was read as elements of another dtype or "
              "of 4 bytes");
}

TEST_CASE("every write of an array raises its version once") {
  DeviceArray a(DType::f32, {4});
  const DeviceArray source(DType::f32, {4});
  const float values[4] = {1, 2, 3, 4};
  a.write<float>();
  CHECK(a.version() == 1);
  a.zero();
  CHECK(a.version() == 2);
  a.copy_from(source);
  CHECK(a.version() == 3);
  a.assign_bytes(values, sizeof values);
  CHECK(a.version() == 4);
  a.read<float>();
  CHECK(a.version() == 4);
  CHECK(source.version() == 0);
}

TEST_CASE("copying between arrays that do not match says which and how") {
  DeviceArray a(DType::f32, {2, 3});
  a.named("particle_qd", "state", 0);
  CHECK_FAILS(a.copy_from(DeviceArray(DType::f32, {3, 3})), shape_mismatch,
              "'particle_qd' of state #0 has shape (2, 3): got an array of shape (3, 3)");
  CHECK_FAILS(a.copy_from(DeviceArray(DType::i32, {2, 3})), type,
              "'particle_qd' of state #0 has dtype float32: got an array of dtype int32");
  CHECK_FAILS(a.assign_bytes(nullptr, 12), shape_mismatch,
              "'particle_qd' of state #0 of shape (2, 3) and dtype float32 takes 24 bytes: got 12");
  CHECK_FAILS(DeviceArray(Storage::allocate({}, 8), DType::f32, Shape{3}), shape_mismatch,
              "an array of shape (3) and dtype float32 needs 12 bytes: its memory has 8");
  CHECK(a.version() == 0);
}

TEST_CASE("an empty array can be read, written, copied and cloned") {
  DeviceArray nothing;
  CHECK(nothing.empty());
  CHECK(nothing.rows() == 0);
  CHECK(nothing.read<float>().empty());
  CHECK(nothing.write<float>().empty());
  nothing.zero();
  nothing.copy_from(DeviceArray(DType::f32, {0}));
  CHECK(nothing.clone().empty());
}

TEST_CASE("labels name the array, its owner and the owner's number") {
  CHECK(to_string(ArrayLabel{}) == "a tensor");
  CHECK(to_string(ArrayLabel{"gravity", "model", -1}) == "'gravity' of model");
  CHECK(to_string(ArrayLabel{"body_q", "state", 0}) == "'body_q' of state #0");
  CHECK(to_string(ArrayLabel{"mine", "", -1}) == "'mine'");
}

TEST_CASE("dtypes are named as NumPy names them") {
  CHECK(std::string(to_string(DType::f32)) == "float32");
  CHECK(std::string(to_string(DType::i32)) == "int32");
  CHECK(std::string(to_string(DType::u32)) == "uint32");
  CHECK(std::string(to_string(DType::u8)) == "uint8");
}

}  // namespace novaphy
