// SPDX-License-Identifier: Apache-2.0
// Kernels compiled ahead of time: found by their program, equal to the interpreter in every byte.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "aot/write_source.hpp"
#include "ball_kernels.hpp"
#include "nova/grad/reverse.hpp"
#include "nova/kernel/compiled.hpp"
#include "nova/kernel/execute.hpp"
#include "nova/kernel/program_hash.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "compiled_random_kernels.hpp"
#include "patch_kernels.hpp"
#include "test_kernels.hpp"
#include "tetrahedra.hpp"

namespace nova::test {
namespace {

/// All arrays of one execution of a program: filled by chance, sized for `rows` rows, `domain` and
/// `vertices`.
struct Arrays {
  Arrays(const Program& program, std::int64_t rows, std::int64_t domain, std::int64_t vertices) {
    std::mt19937 rng(17);
    const auto count = [&](Reach reach) {
      switch (reach) {
        case Reach::row:
          return rows;
        case Reach::domain:
          return domain;
        case Reach::pair:
          return rows * domain;
        case Reach::gather:
          return vertices;
        default:
          return std::int64_t{1};
      }
    };
    for (const Argument& a : program.arguments) {
      auto& data = arguments.emplace_back(static_cast<std::size_t>(count(a.reach) * width_of(a.row)));
      for (std::uint32_t& word : data) word = is_float(a.row) ? number(rng) : index(rng, vertices);
    }
    for (const Output& o : program.outputs) {
      auto& data = outputs.emplace_back(static_cast<std::size_t>(count(o.reach) * width_of(o.row)));
      for (std::uint32_t& word : data) word = number(rng);
    }
  }
  static std::uint32_t number(std::mt19937& rng) {
    const int kind = std::uniform_int_distribution<int>(0, 40)(rng);
    const float x = kind == 0 ? 0.0f : kind == 1 ? -0.0f : std::uniform_real_distribution<float>(-2, 2)(rng);
    return std::bit_cast<std::uint32_t>(x);
  }
  static std::uint32_t index(std::mt19937& rng, std::int64_t vertices) {
    const auto last = static_cast<std::int32_t>(vertices - 1);
    return static_cast<std::uint32_t>(std::uniform_int_distribution<std::int32_t>(-1, last)(rng));
  }
  std::vector<std::vector<std::uint32_t>> arguments, outputs;
};

/// The outputs of a program after one execution.
std::vector<std::vector<std::uint32_t>> run(const Code& code, Arrays arrays, std::int64_t rows,
                                            std::int64_t domain) {
  std::vector<const void*> arguments;
  std::vector<void*> outputs;
  for (const auto& a : arrays.arguments) arguments.push_back(a.data());
  for (auto& o : arrays.outputs) outputs.push_back(o.data());
  Tensor index;
  if (code.patch_index != kNone) {
    const auto& words = arrays.arguments[code.patch_index];
    index = integers({words.begin(), words.end()}, Shape{static_cast<std::int64_t>(words.size())});
  }
  execute(code, arguments.data(), outputs.data(), rows, domain, index.storage().get());
  return arrays.outputs;
}

float number_of(std::uint32_t word) {
  return std::bit_cast<float>(word);
}
bool is_nan(std::uint32_t word) {
  return std::isnan(number_of(word));
}

void check_program(const Program& program, const Code& code) {
  REQUIRE(code.compiled != nullptr);
  for (const std::int64_t rows : {1, 3, 16, 50, 700})
    for (const std::int64_t vertices : {5, 400}) {
      constexpr std::int64_t kDomain = 3;
      const Arrays arrays(program, rows, kDomain, std::max(vertices, rows * kDomain));
      set_compiled_kernels(false), set_patches(Patches::never), set_builds(1);
      const auto want = run(code, arrays, rows, kDomain);
      set_compiled_kernels(true), set_patches(Patches::where_they_pay);
      for (std::size_t build = 1; build <= machine::builds().size(); ++build) {
        set_builds(build);
        const auto got = run(code, arrays, rows, kDomain);
        for (std::size_t k = 0; k < want.size(); ++k)
          for (std::size_t i = 0; i < want[k].size(); ++i)
            if (got[k][i] != want[k][i] && !(is_nan(got[k][i]) && is_nan(want[k][i])))
              FAIL(program.name.view(), ", ", rows, " rows, ", vertices, " vertices, build ",
                   machine::builds()[build - 1].name, ", output ", k, ", number ", i, ": ",
                   number_of(got[k][i]), ", want ", number_of(want[k][i]));
      }
      set_builds(0);
    }
}

void check_kernel(const Kernel& kernel, std::uint64_t wanted, std::uint64_t seeded) {
  check_program(kernel.program(), kernel.compiled()->code);
  const Adjoint& adjoint = kernel.compiled()->adjoint(wanted, seeded);
  check_program(adjoint.program, adjoint.code);
}

}  // namespace

TEST_CASE("kernels that the build has compiled give the bytes of the interpreter on every instruction set") {
  check_kernel(make_tetrahedron_kernel(), 0x3, 0x1);
  check_kernel(make_tetrahedron_kernel(), 0x1F, 0x1);
  check_kernel(make_many_outputs_kernel(), 0xF, 0x1F);
  check_kernel(make_contact_kernel(), 0x7F8F, 0x1);
  check_kernel(make_integrate_kernel(), 0x7, 0x3);
}

TEST_CASE("the switch for compiled kernels says whether they are in use, and the tier has a name") {
  CHECK(has_compiled_kernels());
  CHECK(set_compiled_kernels(false) == false);
  CHECK(std::string(backend_name()) == "interpreter");
  CHECK(set_compiled_kernels(true) == true);
  CHECK(compiled_kernels_wanted());
  CHECK(std::string(backend_name()) == "aot");
}

TEST_CASE("a program is known by what it computes, not by its names") {
  const auto make = [](const char* name, float factor) {
    return unary(name, [&](Expr a) { return a * factor; }).program();
  };
  CHECK(identity_of(make("one", 2.0f)) == identity_of(make("another", 2.0f)));
  CHECK(identity_of(make("one", 2.0f)) != identity_of(make("one", 3.0f)));
  CHECK(find_compiled(make("one", 2.0f)) == nullptr);
}

TEST_CASE(
    "random programs that the build has compiled give the bytes of the interpreter, and so do their "
    "adjoints") {
  for (const Kernel& kernel : compiled_random_kernels()) {
    const Kernel::Compiled& compiled = *kernel.compiled();
    check_kernel(kernel, compiled.differentiable, compiled.float_outputs);
  }
}

TEST_CASE("a kernel that does more than write its own rows is refused as a row kernel") {
  const auto refusal = [](const Kernel& kernel) {
    return std::string(
        error_of([&] { aot::row_function_text(kernel.compiled()->code, kernel.name(), "f"); }).what());
  };
  const std::string reason = "' sums, scatters or loops; a row kernel writes its own rows alone";
  for (const Kernel& kernel : {make_tetrahedron_kernel(), make_contact_kernel()})
    CHECK(refusal(kernel) == "novaphy_generate_kernels: kernel '" + std::string(kernel.name()) + reason);
  const std::string text = aot::row_function_text(make_integrate_kernel().compiled()->code, "integrate", "f");
  CHECK(text.find("void f(const void* const* arguments, void* const* outputs") != std::string::npos);
}

}  // namespace nova::test
