// SPDX-License-Identifier: Apache-2.0
// The tracer: what it records is the program that a declared recording gives.
#include <doctest/doctest.h>

#include <string>

#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tracer.hpp"

namespace nova {
namespace {

Vec3E vec3_of(const std::vector<std::uint32_t>& nodes) {
  return {Expr::of(nodes[0]), Expr::of(nodes[1]), Expr::of(nodes[2])};
}
std::vector<std::uint32_t> nodes_of(const Vec3E& v) {
  return {v.x.node, v.y.node, v.z.node};
}

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const novaphy::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("a traced spring is the program that declared arguments give") {
  const Kernel declared =
      make_indexed_expr_kernel_typed_access_n({.name = "spring",
                                               .in = {in("x", Row::vec3).gather("ij", 2), in("ke", Row::f32)},
                                               .out = {out("f", Row::vec3).scatter_add("ij", 2)},
                                               .index = {index("ij", Row::ivec2)}},
                                              [](KernelScope& k) {
                                                const auto x = k.vec3s<2>("x");
        const Vec3E d = x[0] - x[1];
        const Vec3E force = d * k.f32("ke");
        k.write("f", std::array{-force, force});
                                              });

  Tracer tracer("spring");
  const auto x = tracer.parameter("x", Row::vec3, Reach::row, false);
  const auto ij = tracer.parameter("ij", Row::ivec2, Reach::row, false);
  const auto ke = tracer.parameter("ke", Row::f32, Reach::row, false);
  const auto f = tracer.output("f", Row::vec3);
  const auto ends = tracer.read(ij), here = tracer.read(x);
  const Int i = Int::of(ends[0]), j = Int::of(ends[1]);
  const Vec3E first = vec3_of(tracer.gather(here, i));
  const Vec3E second = vec3_of(tracer.gather(here, j));
  const Vec3E d = first - second;
  const auto force = nodes_of(d * Expr::of(tracer.read(ke)[0]));
  tracer.scatter(f, i, force, true);
  tracer.scatter(f, j, force, false);
  const TracedKernel traced = tracer.finish();
  CHECK(traced.kernel.text() == declared.text());
  CHECK(traced.inputs == std::vector<std::uint32_t>{x, ke, ij});
  CHECK(traced.kernel.program().arguments[0].columns == 2);
}

TEST_CASE("subtractions alone are a scatter that subtracts, and columns apart keep their places") {
  Tracer tracer("apart");
  const auto a = tracer.parameter("a", Row::f32, Reach::row, false);
  const auto i = tracer.parameter("i", Row::ivec3, Reach::row, false);
  const auto f = tracer.output("f", Row::f32);
  const auto value = tracer.read(a), columns = tracer.read(i);
  tracer.scatter(f, Int::of(columns[2]), value, true);
  tracer.scatter(f, Int::of(columns[0]), tracer.gather(value, Int::of(columns[2])), true);
  const TracedKernel traced = tracer.finish();
  const Output& output = traced.kernel.program().outputs[0];
  CHECK(output.write == Write::scatter_sub);
  CHECK(output.columns == 3);
  CHECK(traced.kernel.program().values[1] == kNone);

  const Tensor values = Tensor::from<float>(std::array{1.0f, 2.0f, 4.0f}, {3});
  const Tensor index = Tensor::from<std::int32_t>(std::array{0, 0, 2, 1, 0, 2, 2, 0, 0}, {3, 3});
  const Tensor sum(novaphy::Shape{3});
  std::vector<Operand> inputs;
  for (const auto parameter : traced.inputs) inputs.emplace_back(parameter == a ? values : index);
  launch(traced.kernel, inputs, std::vector<Operand>{sum}, 3);
  const auto got = sum.array().read<float>();
  CHECK(got[0] == -4.0f - 4.0f);  // row 0 through column 0, row 2 through column 2
  CHECK(got[1] == -4.0f);         // row 1 through column 0
  CHECK(got[2] == -1.0f - 2.0f - 1.0f);
}

TEST_CASE("an argument that no result needs is not asked for") {
  Tracer tracer("unused");
  const auto a = tracer.parameter("a", Row::f32, Reach::row, false);
  const auto b = tracer.parameter("b", Row::f32, Reach::row, false);
  const auto out = tracer.output("out", Row::f32);
  tracer.read(b);
  tracer.set(out, tracer.read(a));
  CHECK(tracer.finish().inputs == std::vector<std::uint32_t>{a});
}

TEST_CASE("a traced value without a tracer, and an output without a value, are refused by name") {
  CHECK(message_of([] { Tracer::active("nova.vec3"); }) ==
        "nova.vec3: traced values exist while a @nova.kernel function runs; outside of it use tensors");
  CHECK(message_of([] {
          Tracer tracer("k");
          tracer.output("f", Row::f32);
          tracer.finish();
        }) == "output 'f' is never written");
}

}  // namespace
}  // namespace nova
