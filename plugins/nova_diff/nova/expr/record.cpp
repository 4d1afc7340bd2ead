// SPDX-License-Identifier: Apache-2.0
// Recording of a kernel body: traced operations become the nodes of a program.
#include <algorithm>
#include <bit>
#include <string>

#include "nova/expr/passes.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {

/// What this thread records; recordings may nest (a body that makes another kernel).
struct ActiveRecording {
  Program* program = nullptr;
  bool loop_open = false;
  ActiveRecording* outer = nullptr;
};

namespace {

using novaphy::ErrorKind;
using novaphy::fail;

thread_local ActiveRecording* active = nullptr;

ActiveRecording& recording() {
  NOVAPHY_REQUIRE(active != nullptr, ErrorKind::trace,
                  "nova: a traced value was used outside of a kernel body; make kernels with "
                  "nova::make_..._kernel_typed_access_n");
  return *active;
}

std::uint32_t append(const Node& node) {
  Program& program = *recording().program;
  program.nodes.push_back(node);
  return static_cast<std::uint32_t>(program.nodes.size() - 1);
}

std::uint32_t find_name(const std::vector<Argument>& arguments, std::string_view name) {
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name.view() == name) return i;
  return kNone;
}

}  // namespace

std::uint32_t trace(Op op, ValueType type, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const ActiveRecording& now = recording();
  const std::uint32_t operands[3] = {a, b, c};
  std::uint8_t stage = 0;
  for (int k = 0; k < operand_count(op); ++k) {
    NOVAPHY_REQUIRE(operands[k] < now.program->nodes.size(), ErrorKind::trace, "kernel '",
                    now.program->name.view(), "': operand ", k, " of ", name_of(op),
                    " was never given a value");
    stage = std::max(stage, now.program->nodes[operands[k]].stage);
  }
  NOVAPHY_REQUIRE(stage != 1 || now.loop_open, ErrorKind::trace, "kernel '", now.program->name.view(),
                  "': a value of the reduction's term is used outside of it; only the sum leaves the loop");
  return append({.op = op, .type = type, .stage = stage, .a = a, .b = b, .c = c});
}

std::uint32_t trace_constant(float value) {
  return append({.op = Op::constant, .a = std::bit_cast<std::uint32_t>(value)});
}

std::uint32_t trace_constant(std::int32_t value) {
  return append({.op = Op::constant, .type = ValueType::i32, .a = static_cast<std::uint32_t>(value)});
}

struct Recording::State {
  Program program;
  ActiveRecording frame;
  std::vector<bool> written;
};

Recording::Recording(const KernelDesc& desc) : state_(std::make_unique<State>()) {
  Program& program = state_->program;
  program.name = desc.name;
  const auto index_of = [&](const Name& name, std::string_view user) -> std::uint32_t {
    for (std::size_t i = 0; i < desc.index.size(); ++i)
      if (desc.index[i].name == name) return static_cast<std::uint32_t>(desc.in.size() + i);
    fail(ErrorKind::value, "kernel '", desc.name, "': '", user, "' goes through index '", name.view(),
         "', which is not in its index list");
  };
  for (const In& in : desc.in) {
    Argument a{.name = in.name,
               .row = in.row_type,
               .reach = in.reach,
               .columns = static_cast<std::uint8_t>(in.columns),
               .differentiable = in.differentiable && is_float(in.row_type) && in.reach != Reach::value,
               .is_static = in.is_static,
               .first_column = static_cast<std::uint32_t>(in.first_column)};
    NOVAPHY_REQUIRE(in.reach != Reach::value || width_of(in.row_type) == 1, ErrorKind::value, "kernel '",
                    desc.name, "': value input '", in.name.view(), "' must be f32, i32 or flags");
    if (in.reach == Reach::gather) a.index = index_of(in.index, in.name.view());
    program.arguments.push_back(a);
  }
  for (const IndexArg& index : desc.index)
    program.arguments.push_back(
        {.name = index.name, .row = index.row_type, .reach = index.reach, .differentiable = false});
  for (const Out& out : desc.out) {
    Output o{.name = out.name,
             .row = out.row_type,
             .write = out.write,
             .columns = static_cast<std::uint8_t>(out.columns),
             .first_column = static_cast<std::uint32_t>(out.first_column),
             .first_value = static_cast<std::uint32_t>(program.values.size())};
    if (out.write == Write::sum) o.reach = Reach::uniform;
    if (out.write == Write::scatter_add || out.write == Write::scatter_sub) {
      o.reach = Reach::gather, o.index = index_of(out.index, out.name.view());
      const Argument& index = program.arguments[o.index];
      NOVAPHY_REQUIRE(index.reach == Reach::row && out.first_column + out.columns <= width_of(index.row),
                      ErrorKind::value, "kernel '", desc.name, "': output '", out.name.view(),
                      "' needs columns ", out.first_column, " to ", out.first_column + out.columns - 1,
                      " of an index of row reach");
    }
    program.values.resize(
        program.values.size() + static_cast<std::size_t>(out.columns * width_of(out.row_type)), kNone);
    program.outputs.push_back(o);
  }
  state_->written.resize(desc.out.size());
  state_->frame = {.program = &program, .outer = active};
  active = &state_->frame;
}

Recording::~Recording() {
  active = state_->frame.outer;
}

void KernelScope::read_nodes(std::string_view name, int column, std::span<std::uint32_t> nodes) {
  Program& program = recording_.state_->program;
  const std::uint32_t at = find_name(program.arguments, name);
  NOVAPHY_REQUIRE(at != kNone, ErrorKind::trace, "kernel '", program.name.view(), "' has no input '", name,
                  "'");
  const Argument& argument = program.arguments[at];
  const auto width = static_cast<std::size_t>(width_of(argument.row));
  NOVAPHY_REQUIRE(nodes.size() == width, ErrorKind::trace, "kernel '", program.name.view(), "': input '",
                  name, "' has rows of ", width, " numbers, ", nodes.size(), " were read");
  NOVAPHY_REQUIRE(column >= 0 && column < argument.columns, ErrorKind::trace, "kernel '", program.name.view(),
                  "': input '", name, "' has ", static_cast<int>(argument.columns), " columns, column ",
                  column, " was read");
  const bool loop = in_loop(program, argument);
  NOVAPHY_REQUIRE(!loop || recording_.state_->frame.loop_open, ErrorKind::trace, "kernel '",
                  program.name.view(), "': input '", name,
                  "' has one row per domain index; read it in the term of a reduction");
  for (std::size_t k = 0; k < width; ++k)
    nodes[k] = append({.op = Op::input,
                       .type = type_of(argument.row),
                       .stage = static_cast<std::uint8_t>(loop ? 1 : 0),
                       .a = at,
                       .b = static_cast<std::uint32_t>(static_cast<std::size_t>(column) * width + k)});
}

void KernelScope::check_columns(std::string_view name, int columns) {
  const Program& program = recording_.state_->program;
  const std::uint32_t at = find_name(program.arguments, name);
  NOVAPHY_REQUIRE(at == kNone || program.arguments[at].columns == columns, ErrorKind::trace, "kernel '",
                  program.name.view(), "': input '", name, "' has ",
                  static_cast<int>(program.arguments[at].columns), " columns, ", columns, " were read");
}

void KernelScope::write_nodes(std::string_view name, std::span<const std::uint32_t> nodes) {
  Program& program = recording_.state_->program;
  const auto place = std::find_if(program.outputs.begin(), program.outputs.end(),
                                  [&](const Output& o) { return o.name.view() == name; });
  NOVAPHY_REQUIRE(place != program.outputs.end(), ErrorKind::trace, "kernel '", program.name.view(),
                  "' has no output '", name, "'");
  const auto wanted = static_cast<std::size_t>(place->columns * width_of(place->row));
  NOVAPHY_REQUIRE(nodes.size() == wanted, ErrorKind::trace, "kernel '", program.name.view(), "': output '",
                  name, "' takes ", wanted, " numbers a row, ", nodes.size(), " were written");
  const auto at = static_cast<std::size_t>(place - program.outputs.begin());
  NOVAPHY_REQUIRE(!recording_.state_->written[at], ErrorKind::trace, "kernel '", program.name.view(),
                  "': output '", name, "' is written twice");
  NOVAPHY_REQUIRE(!recording_.state_->frame.loop_open, ErrorKind::trace, "kernel '", program.name.view(),
                  "': output '", name, "' is written in the term of a reduction; write it after the loop");
  recording_.state_->written[at] = true;
  for (std::size_t k = 0; k < wanted; ++k) {
    NOVAPHY_REQUIRE(nodes[k] < program.nodes.size(), ErrorKind::trace, "kernel '", program.name.view(),
                    "': output '", name, "' was given a number without a value");
    program.values[place->first_value + k] = nodes[k];
  }
}

void Recording::begin_loop(std::span<const std::uint32_t> init) {
  for (const std::uint32_t node : init) {
    NOVAPHY_REQUIRE(node < state_->program.nodes.size(), ErrorKind::trace, "kernel '",
                    state_->program.name.view(),
                    "': the start value of the reduction was never given a value");
    NOVAPHY_REQUIRE(state_->program.nodes[node].type == ValueType::f32, ErrorKind::trace, "kernel '",
                    state_->program.name.view(), "': a reduction sums float32 values");
    state_->program.reductions.push_back({.init = node});
  }
  state_->frame.loop_open = true;
}

void Recording::accumulate(std::span<const std::uint32_t> term, std::uint32_t mask, bool subtract) {
  NOVAPHY_REQUIRE(term.size() == state_->program.reductions.size(), ErrorKind::trace, "kernel '",
                  state_->program.name.view(), "': the term has ", term.size(), " numbers, the sum ",
                  state_->program.reductions.size());
  for (std::uint32_t k = 0; k < term.size(); ++k)
    state_->program.steps.push_back({.reduction = k, .term = term[k], .mask = mask, .subtract = subtract});
}

std::vector<std::uint32_t> Recording::end_loop() {
  state_->frame.loop_open = false;
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < state_->program.reductions.size(); ++k)
    out.push_back(append({.op = Op::reduced,
                          .type = state_->program.nodes[state_->program.reductions[k].init].type,
                          .stage = 2,
                          .a = k}));
  return out;
}

Program& Recording::draft() noexcept {
  return state_->program;
}

Kernel Recording::finish() {
  for (std::size_t k = 0; k < state_->written.size(); ++k)
    NOVAPHY_REQUIRE(state_->written[k], ErrorKind::trace, "kernel '", state_->program.name.view(),
                    "': output '", state_->program.outputs[k].name.view(), "' was never written");
  return compile(state_->program);
}

}  // namespace nova
