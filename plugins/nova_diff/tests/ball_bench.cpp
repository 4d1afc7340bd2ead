// SPDX-License-Identifier: Apache-2.0
// Times a ball-like substep (one particle, two shapes, two launches) in nanoseconds: forward, recorded,
// backward.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "ball_kernels.hpp"
#include "nova/kernel/compiled.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/tape.hpp"

namespace nova::test {
using novaphy::DeviceArray;
using novaphy::Shape;

namespace {

constexpr int kSubsteps = 288;

DeviceArray filled(std::vector<float> v, Shape shape) {
  return DeviceArray::from<float>(std::span<const float>(v), shape);
}

struct Scene {
  explicit Scene(std::int64_t count, bool all_gradients) : n(count) {
    std::vector<std::int32_t> record_data, flag_data(static_cast<std::size_t>(n), 1);
    std::vector<float> points, normals;
    for (int s = 0; s < 2; ++s)
      for (std::int64_t e = 0; e < n; ++e) {
        record_data.push_back(static_cast<std::int32_t>(s * n + e));
        points.insert(points.end(), s == 0 ? std::initializer_list<float>{0, 1.75f, 1}
                                           : std::initializer_list<float>{0, -0.5f, 0});
        normals.insert(normals.end(), s == 0 ? std::initializer_list<float>{0, -1, 0}
                                             : std::initializer_list<float>{0, 0, 1});
      }
    record = DeviceArray::from<std::int32_t>(std::span<const std::int32_t>(record_data), Shape{2 * n});
    flags = DeviceArray::from<std::int32_t>(std::span<const std::int32_t>(flag_data), Shape{n});
    point = filled(points, Shape{2 * n, 3}), normal = filled(normals, Shape{2 * n, 3});
    const auto rows = static_cast<std::size_t>(n);
    radius = filled(std::vector<float>(rows, 0.1f), Shape{n}),
    inv_mass = filled(std::vector<float>(rows, 1.0f), Shape{n});
    for (int t = 0; t <= kSubsteps; ++t) {
      q.emplace_back(novaphy::DType::f32, Shape{n, 3}), qd.emplace_back(novaphy::DType::f32, Shape{n, 3});
      f.emplace_back(novaphy::DType::f32, Shape{n, 3});
    }
    for (std::size_t e = 0; e < rows; ++e) {
      const float x[3] = {0, -0.5f, 1}, v[3] = {0, 5, -5};
      std::copy(x, x + 3, q[0].write<float>().data() + 3 * e),
          std::copy(v, v + 3, qd[0].write<float>().data() + 3 * e);
    }
    qd[0].storage()->set_requires_grad(true);
    if (!all_gradients) return;
    for (auto* arrays : {&q, &qd, &f})
      for (DeviceArray& a : *arrays) a.storage()->set_requires_grad(true);
    for (DeviceArray* a :
         {&radius, &inv_mass, &ke, &kd, &kf, &mu, &soft_ke, &soft_kd, &soft_kf, &soft_mu, &gravity})
      a->storage()->set_requires_grad(true);
  }

  void step(std::size_t t) {
    launch(contact,
           {q[t], qd[t], f[t], radius, flags, point, normal, ke, kd, kf, mu, soft_ke, soft_kd, soft_kf,
            soft_mu, record},
           {f[t]}, n, 2);
    launch(integrate, {q[t], qd[t], f[t], inv_mass, flags, gravity, 1e5f, 1.0f / 480}, {q[t + 1], qd[t + 1]},
           n);
  }
  void roll() {
    for (std::size_t t = 0; t < kSubsteps; ++t) {
      std::fill_n(f[t].write<float>().data(), 3 * n, 0.0f);
      step(t);
    }
  }

  std::int64_t n;
  Kernel contact = make_contact_kernel(), integrate = make_integrate_kernel();
  DeviceArray record, flags, point, normal, radius, inv_mass;
  DeviceArray ke = filled({1e4f, 1e4f}, Shape{2}), kd = filled({10, 10}, Shape{2}),
              kf = filled({0, 0}, Shape{2}), mu = filled({0.2f, 0.2f}, Shape{2});
  DeviceArray soft_ke = filled({1e4f}, Shape{1}), soft_kd = filled({10}, Shape{1}),
              soft_kf = filled({0}, Shape{1}), soft_mu = filled({0.2f}, Shape{1});
  DeviceArray gravity = filled({0, 0, -9.81f}, Shape{1, 3});
  std::vector<DeviceArray> q, qd, f;
};

double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void measure(std::int64_t rows, bool all_gradients, int rounds) {
  Scene scene(rows, all_gradients);
  std::vector<double> plain, recorded, backward;
  for (int i = 0; i < rounds; ++i) {
    double start = now();
    scene.roll();
    plain.push_back(now() - start);
    Tape tape;
    start = now();
    Tensor loss;
    {
      TapeScope scope(tape);
      scene.roll();
      loss = particle_point_loss_generated(Tensor(scene.q[kSubsteps]), 0, 0, -2, 1.5f);
    }
    recorded.push_back(now() - start);
    Tensor(scene.qd[0]).zero_grad();
    start = now();
    tape.backward(loss);
    backward.push_back(now() - start);
    if (i + 1 == rounds) {
      const auto g = Tensor(scene.qd[0]).grad()->array().read<float>();
      std::printf("  loss %.6f, dL/dv0 (%g, %g, %g)\n", static_cast<double>(loss.item()),
                  static_cast<double>(g[0]), static_cast<double>(g[1]), static_cast<double>(g[2]));
    }
  }
  const auto median = [&](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2] / kSubsteps;
  };
  std::printf("  rows %lld, %s: ns per substep: forward %.0f, recorded forward %.0f, backward %.0f\n",
              static_cast<long long>(rows), all_gradients ? "every array wanted" : "start velocity wanted",
              median(plain), median(recorded), median(backward));
}

}  // namespace

void measure_all(int rounds) {
  for (const bool compiled : {true, false}) {
    set_compiled_kernels(compiled);
    std::printf("%s:\n", backend_name());
    measure(1, false, rounds);
    measure(1, true, rounds);
    measure(2000, false, std::max(rounds / 20, 1));
  }
  const Scene scene(1, true);
  for (const Kernel* kernel : {&scene.contact, &scene.integrate}) {
    const auto& compiled = *kernel->compiled();
    const Adjoint& full = compiled.adjoint(compiled.differentiable, compiled.float_outputs);
    std::printf("  %s: %zu instructions, %u registers; full adjoint %zu, %u\n", kernel->name(),
                compiled.code.code.size(), compiled.code.registers, full.code.code.size(),
                full.code.registers);
  }
}

}  // namespace nova::test

int main(int argc, char** argv) {
  nova::test::measure_all(argc > 1 ? std::stoi(argv[1]) : 200);
}
