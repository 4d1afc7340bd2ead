// SPDX-License-Identifier: Apache-2.0
// Damaged descriptions of programs: each is refused by name, or runs and differentiates without harm. 20,000 of
// them; 4,000 in slow builds (sanitizers, debug), unless NOVAPHY_TEST_ALL=1 stands in the environment.
#include <random>

#include "random_program.hpp"
#include "test_kernels.hpp"
#include "use_program.hpp"

namespace nova::test {

namespace {

class Damage {
 public:
  explicit Damage(std::mt19937& rng) : rng_(rng) {}

  /// Changes one field of one entry of one table.
  void to(Program& p) {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return node(p.nodes[below(p.nodes.size())], p.nodes.size());
      case 4:
      case 5:
        return argument(p.arguments[below(p.arguments.size())]);
      case 6:
      case 7:
        return output(p.outputs[below(p.outputs.size())]);
      case 8:
        return number(p.values[below(p.values.size())], p.nodes.size());
      case 9:
        if (!p.reductions.empty()) number(p.reductions[below(p.reductions.size())].init, p.nodes.size());
        if (!p.reductions.empty() && below(2) == 0) number(p.reductions[below(p.reductions.size())].stage, 6);
        return;
      case 10:
        if (!p.steps.empty()) step(p.steps[below(p.steps.size())], p.nodes.size());
        return;
      default:
        return length(p);
    }
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(rng_); }
  /// Small, near, or anything.
  void number(std::uint32_t& field, std::size_t usual) {
    const std::size_t kind = below(4);
    field = kind == 0   ? static_cast<std::uint32_t>(rng_())
            : kind == 1 ? kNone - static_cast<std::uint32_t>(below(3))
                        : static_cast<std::uint32_t>(below(usual + 2));
  }
  template <class Byte>
  void byte(Byte& field, std::size_t usual) {
    field = static_cast<Byte>(below(4) == 0 ? below(256) : below(usual + 1));
  }
  void name(Name& field) { field.characters.fill('x'); }

  void node(Node& n, std::size_t count) {
    switch (below(6)) {
      case 0:
        return byte(n.op, 100);
      case 1:
        return byte(n.type, 3);
      case 2:
        return byte(n.stage, 5);
      case 3:
        return number(n.a, count);
      case 4:
        return number(n.b, count);
      default:
        return number(n.c, count);
    }
  }
  void argument(Argument& a) {
    switch (below(7)) {
      case 0:
        return byte(a.row, 13);
      case 1:
        return byte(a.reach, 5);
      case 2:
        return byte(a.columns, 4);
      case 3:
        return number(a.index, 12);
      case 4:
        return number(a.first_column, 3);
      case 5:
        a.differentiable = !a.differentiable;
        return;
      default:
        return name(a.name);
    }
  }
  void output(Output& o) {
    switch (below(8)) {
      case 0:
        return byte(o.row, 13);
      case 1:
        return byte(o.write, 4);
      case 2:
        return byte(o.reach, 5);
      case 3:
        return byte(o.columns, 4);
      case 4:
        return byte(o.stage, 5);
      case 5:
        return number(o.index, 12);
      case 6:
        return number(o.first_column, 3);
      default:
        return below(4) == 0 ? name(o.name) : number(o.first_value, 20);
    }
  }
  void step(ReductionStep& s, std::size_t count) {
    switch (below(4)) {
      case 0:
        return number(s.reduction, 2);
      case 1:
        return number(s.term, count);
      case 2:
        return number(s.mask, count);
      default:
        return number(s.subtract, 1);
    }
  }
  void length(Program& p) {
    switch (below(5)) {
      case 0:
        p.nodes.resize(below(p.nodes.size()));
        return;
      case 1:
        p.arguments.resize(below(p.arguments.size()));
        return;
      case 2:
        p.values.resize(below(p.values.size()));
        return;
      case 3:
        p.reductions.resize(p.reductions.empty() ? 1 : p.reductions.size() - 1);
        return;
      default:
        return name(p.name);
    }
  }
  std::mt19937& rng_;
};

}  // namespace

TEST_CASE("damaged descriptions of programs are refused by name or harmless") {
  std::mt19937 rng(2026);
  Damage damage(rng);
  const int rounds = damaged_rounds();
  int refused = 0, ran = 0;
  for (int round = 0; round < rounds; ++round) {
    Program program = RandomProgram(rng, 10, Flavour::any).program;
    const std::size_t wounds = 1 + rng() % 3;
    for (std::size_t i = 0;
         i < wounds && !program.nodes.empty() && !program.arguments.empty() && !program.values.empty(); ++i)
      damage.to(program);
    try {
      use(compile(program), rng);
      ++ran;
    } catch (const Error& error) {
      ++refused;
      const std::string text = error.what();
      const bool named =
          text.find("random") != std::string::npos || text.find("name does not end") != std::string::npos;
      if (!named) FAIL("round ", round, ": ", text);
    }
  }
  CHECK(refused > rounds / 4);
  CHECK(ran > rounds / 10);
}

TEST_CASE("a program that is not well formed is told what is wrong with it") {
  std::mt19937 rng(1);
  Program good = RandomProgram(rng, 10, Flavour::any).program;
  while (good.reductions.empty()) good = RandomProgram(rng, 10, Flavour::any).program;
  compile(good);
  const auto refuses = [&](const char* text, auto change) {
    Program bad = good;
    change(bad);
    check_error(ErrorKind::value, text, [&] { compile(bad); });
  };
  refuses("program 'random': argument 'x' has an unknown row type or reach",
          [](Program& p) { p.arguments[0].row = static_cast<Row>(99); });
  refuses("program 'random': argument 'x' has 2 columns", [](Program& p) { p.arguments[0].columns = 2; });
  refuses("program 'random': index 'x' must be of an int32 row type",
          [](Program& p) { p.arguments[6].index = 0; });
  refuses("program 'random': 'g' needs 4 columns of index 'ij', which has 3",
          [](Program& p) { p.arguments[6].first_column = 2; });
  refuses("program 'random': 'g' goes through an index that does not exist",
          [](Program& p) { p.arguments[6].index = 50; });
  refuses("program 'random': operation 0 has the unknown number 200",
          [](Program& p) { p.nodes[0].op = static_cast<Op>(200); });
  refuses("program 'random': operation 0 reads 'x' as another type",
          [](Program& p) { p.nodes[0].type = ValueType::i32; });
  refuses("program 'random': output 'a' cannot be written this way from its stage",
          [](Program& p) { p.outputs[0].write = Write::sum; });
  refuses("program 'random': output 'm' is of an integer row type and can only be set",
          [](Program& p) { p.outputs[2].write = Write::add; });
  refuses("program 'random': a reduction step is incomplete", [](Program& p) { p.steps[0].term = kNone; });
  refuses("program 'random': a reduction starts from a value that is not known before its loop",
          [](Program& p) { p.reductions[0].init = kNone; });
  refuses("program 'random': output 'a' is not written whole", [](Program& p) { p.values[0] = kNone; });
}

}  // namespace nova::test
