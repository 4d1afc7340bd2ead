// SPDX-License-Identifier: Apache-2.0
// What module `nova` publishes as novaphy.x.INova/1: programs of others run, are recorded and are checked as
// Nova's own.
#include "nova/kernel/byte_programs.hpp"
#include "novaphy/nova/program_bytes.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

using novaphy::LaunchOperand;
using novaphy::ProgramId;

Program drag(const char* name, float factor) {
  return record_rows({.name = name,
                      .in = {in("v", Row::vec3), in("c", Row::f32).uniform(), in("scale", Row::f32).value()},
                      .out = {out("f", Row::vec3)}},
                     [=](KernelScope& k) {
                       const Vec3E v = k.vec3("v");
                       k.write("f", v * (length(v) * k.f32("c") * k.f32("scale") * factor));
                     });
}

void launch(novaphy::INova& nova, ProgramId program, const Tensor& v, const Tensor& c, const Tensor& f) {
  const LaunchOperand inputs[] = {v.array(), c.array(), 0.5f}, outputs[] = {f.array()};
  nova.launch(program, {.inputs = inputs, .outputs = outputs, .rows = v.rows()});
}

}  // namespace

TEST_CASE("equal bytes give one program, other bytes another, also of the same name") {
  BytePrograms nova;
  const ProgramId first = nova.compile(serialize(drag("drag", 1.0f)));
  CHECK(nova.compile(serialize(drag("drag", 1.0f))) == first);
  CHECK(nova.compile(serialize(drag("drag", 2.0f))) != first);
  CHECK(nova.compile(serialize(drag("lift", 1.0f))) != first);
  CHECK(nova.text(first).starts_with("program drag\n"));
  CHECK(nova.text(first).find("mul") != std::string::npos);
}

TEST_CASE("a byte program gives the bits and the gradients of the kernel that it was recorded as") {
  BytePrograms nova;
  const Program program = drag("drag", 3.0f);
  const ProgramId id = nova.compile(serialize(program));
  const Kernel kernel = compile(program);
  std::vector<std::vector<float>> found;
  for (const bool as_bytes : {true, false}) {
    const Tensor v = tensor({1, 2, 3, -4, 0, 5, 0, 0, 0}, {3, 3}, true), c = scalars({0.25f}, true),
                 f(Shape{3, 3});
    Tape tape;
    CHECK(nova.active_tape() == 0);
    {
      const TapeScope scope(tape);
      CHECK(nova.active_tape() != 0);
      if (as_bytes)
        launch(nova, id, v, c, f);
      else
        nova::launch(kernel, {v, c, 0.5f}, {f}, 3);
      const NoGrad no_grad;
      CHECK(nova.active_tape() == 0);
    }
    CHECK(tape.record_count() == 1);
    tape.backward(f, tensor({1, 1, 1, 2, 2, 2, 3, 3, 3}, {3, 3}));
    found.push_back(values(f));
    found.push_back(gradient(v));
    found.push_back(gradient(c));
  }
  for (std::size_t k = 0; k < 3; ++k) CHECK(found[k] == found[k + 3]);
}

TEST_CASE("a launch of a byte program is checked as any other, and the tape's protections hold") {
  BytePrograms nova;
  const ProgramId id = nova.compile(serialize(drag("drag", 1.0f)));
  Tensor v = tensor({1, 2, 3}, {1, 3}, true), c = scalars({0.25f}, true), f(Shape{1, 3});
  check_error(ErrorKind::shape_mismatch,
              "drag: output 'f' has shape (2, 3) and type float32; wanted are 1 rows of 3 float32", [&] {
                launch(nova, id, v, c, Tensor(Shape{2, 3}));
              });
  check_error(ErrorKind::value, "drag: takes 3 inputs and 1 outputs, 1 and 1 were given", [&] {
    const LaunchOperand inputs[] = {v.array()}, outputs[] = {f.array()};
    nova.launch(id, {.inputs = inputs, .outputs = outputs, .rows = 1});
  });
  check_error(ErrorKind::value, "INova::launch: there is no program 7; give an id that compile() returned",
              [&] { launch(nova, ProgramId{7}, v, c, f); });
  check_error(ErrorKind::value, "INova::text: there is no program 0; give an id that compile() returned",
              [&] { (void)nova.text(ProgramId{0}); });
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(nova, id, v, c, f);
  }
  v.array().write<float>()[0] = 7.0f;
  CHECK(error_of([&] { tape.backward(f, tensor({1, 1, 1}, {1, 3})); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("a byte program that is not well formed is refused by name") {
  BytePrograms nova;
  Program bad = drag("drag", 1.0f);
  bad.nodes.back().a = 5000;
  check_error(ErrorKind::value,
              "program 'drag': operation " + std::to_string(bad.nodes.size() - 1) +
                  " (mul) uses operation 5000, which does not precede it",
              [&] { nova.compile(serialize(bad)); });
}

}  // namespace nova::test
