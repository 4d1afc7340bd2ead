// SPDX-License-Identifier: Apache-2.0
// Times tetrahedron forces, and force with adjoint, in nanoseconds per tetrahedron; prints one line of JSON.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/task_pool.hpp"
#include "tetrahedra.hpp"

namespace nova::test {
namespace {
using novaphy::DeviceArray;
using novaphy::Shape;

/// Nanoseconds of this process on one thread, of the clock on the wall on several.
double now() {
  timespec t{};
  clock_gettime(novaphy::task_pool().thread_count() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

DeviceArray floats(const std::vector<float>& v, Shape shape) {
  return DeviceArray::from<float>(std::span<const float>(v), shape);
}

/// In nanoseconds: the median on one thread; on several the shortest, since what else the machine does lengthens time
/// on the wall.
template <class Action>
double time_of(int rounds, Action&& action) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const double start = now();
    action();
    times.push_back(now() - start);
  }
  const int wanted = novaphy::task_pool().thread_count() == 1 ? rounds / 2 : 0;
  std::nth_element(times.begin(), times.begin() + wanted, times.end());
  return times[static_cast<std::size_t>(wanted)];
}

struct Scene {
  explicit Scene(const TetrahedronGrid& cells) : grid(cells) {
    std::mt19937 rng(3);
    std::uniform_real_distribution<float> noise(-0.004f, 0.004f);
    std::vector<float> points = grid.points, speeds(points.size());
    for (float& p : points) p += noise(rng);
    for (float& s : speeds) s = noise(rng) * 10.0f;
    const auto n = static_cast<std::size_t>(grid.elements);
    std::vector<float> rests, materials;
    for (std::size_t e = 0; e < n; ++e) {
      const auto inverse = rest_of(e);
      rests.insert(rests.end(), inverse.begin(), inverse.end());
      materials.insert(materials.end(), {1000.0f, 3000.0f, 1.0f});
    }
    const Shape rows{grid.vertices, 3};
    x = floats(points, rows), v = floats(speeds, rows), f = DeviceArray(novaphy::DType::f32, rows);
    x_bar = DeviceArray(novaphy::DType::f32, rows), v_bar = DeviceArray(novaphy::DType::f32, rows);
    f_bar = floats(speeds, rows);
    rest = floats(rests, Shape{grid.elements, 3, 3}), material = floats(materials, Shape{grid.elements, 3});
    activation = DeviceArray(novaphy::DType::f32, Shape{grid.elements});
    corner =
        DeviceArray::from<std::int32_t>(std::span<const std::int32_t>(grid.corners), Shape{grid.elements, 4});
  }
  std::array<float, 9> rest_of(std::size_t e) const {
    double m[3][3];
    const auto point = [&](int k, int c) {
      return static_cast<double>(
          grid.points[3 * static_cast<std::size_t>(grid.corners[4 * e + static_cast<std::size_t>(k)]) +
                      static_cast<std::size_t>(c)]);
    };
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) m[r][c] = point(c + 1, r) - point(0, r);
    const auto minor = [&](int r0, int c0, int r1, int c1) {
      return m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0];
    };
    const double det =
        m[0][0] * minor(1, 1, 2, 2) - m[0][1] * minor(1, 0, 2, 2) + m[0][2] * minor(1, 0, 2, 1);
    const double inverse[9] = {minor(1, 1, 2, 2),  -minor(0, 1, 2, 2), minor(0, 1, 1, 2),
                               -minor(1, 0, 2, 2), minor(0, 0, 2, 2),  -minor(0, 0, 1, 2),
                               minor(1, 0, 2, 1),  -minor(0, 0, 2, 1), minor(0, 0, 1, 1)};
    std::array<float, 9> out;
    for (std::size_t k = 0; k < 9; ++k) out[k] = static_cast<float>(inverse[k] / det);
    return out;
  }

  void force() { launch(kernel, {x, v, rest, material, activation, corner}, {f}, grid.elements); }

  TetrahedronGrid grid;
  Kernel kernel = make_tetrahedron_kernel();
  DeviceArray x, v, f, x_bar, v_bar, f_bar, rest, material, activation, corner;
};

/// Records the force, then runs its adjoint.
void gradient(Scene& scene, Tape& tape) {
  {
    const TapeScope scope(tape);
    scene.force();
  }
  tape.backward(Tensor(scene.f), Tensor(scene.f_bar));
  tape.reset();
}

void measure(const char* name, const TetrahedronGrid& grid, bool compiled, int rounds) {
  set_compiled_kernels(compiled);
  Scene scene(grid);
  const double n = static_cast<double>(grid.elements);
  scene.x.storage()->set_requires_grad(true), scene.v.storage()->set_requires_grad(true);
  Tape tape;
  gradient(scene, tape);
  const double forward = time_of(rounds, [&] { scene.force(); }) / n;
  const double both = time_of(rounds, [&] { gradient(scene, tape); }) / n;
  std::printf("\"%s_%s_force_ns\": %.3f, \"%s_%s_both_ns\": %.3f, ", name,
              compiled ? "compiled" : "interpreted", forward, name, compiled ? "compiled" : "interpreted",
              both);
}

/// From the definition of a kernel that nobody has seen to its first gradient.
double own_kernel_ms(int rounds) {
  const TetrahedronGrid grid(4);
  Scene scene(grid);
  scene.x.storage()->set_requires_grad(true), scene.v.storage()->set_requires_grad(true);
  Tape tape;
  float shift = 1.0f;
  return 1e-6 * time_of(rounds, [&] {
           scene.kernel = make_tetrahedron_kernel(shift += 0.001f);
           gradient(scene, tape);
         });
}

}  // namespace

void measure_all(int rounds) {
  std::printf("{");
  for (const bool compiled : {true, false}) {
    measure("tets_4000", TetrahedronGrid(10, 10, 8), compiled, 10 * rounds);
    measure("tets_40000", TetrahedronGrid(20), compiled, rounds);
  }
  std::printf("\"own_kernel_first_gradient_ms\": %.4f, \"threads\": %d}\n", own_kernel_ms(rounds),
              novaphy::task_pool().thread_count());
}
}  // namespace nova::test

int main(int argc, char** argv) {
  nova::test::measure_all(argc > 1 ? std::stoi(argv[1]) : 50);
}
