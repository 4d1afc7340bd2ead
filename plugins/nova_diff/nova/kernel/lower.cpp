// SPDX-License-Identifier: Apache-2.0
// Lowering: orders operations by stage, joins products with the sums that use them (both roundings stay),
// assigns registers.
#include <algorithm>
#include <queue>
#include <vector>

#include "nova/expr/passes.hpp"
#include "nova/kernel/code.hpp"
#include "nova/kernel/machine_operations.hpp"

namespace nova {
namespace {

using machine::Do;
using machine::From;
using machine::Instruction;
using machine::To;

From origin(const Program& program, const Argument& argument) {
  switch (argument.reach) {
    case Reach::row:
      return From::row;
    case Reach::uniform:
      return From::uniform;
    case Reach::value:
      return From::value;
    case Reach::domain:
      return From::domain;
    case Reach::pair:
      return From::pair;
    case Reach::gather:
      break;
  }
  return program.arguments[argument.index].reach == Reach::pair ? From::gather_pair : From::gather_row;
}

class Lowering {
 public:
  explicit Lowering(const Program& program)
      : program_(program),
        nodes_(program.nodes),
        uses_(nodes_.size()),
        last_(nodes_.size()),
        reg_(nodes_.size(), kNone) {
    for (const Node& n : nodes_) stage_count_ = std::max<std::uint32_t>(stage_count_, n.stage + 1u);
    for (const Reduction& r : program.reductions) stage_count_ = std::max(stage_count_, r.stage + 2);
    for (const Output& o : program.outputs)
      stage_count_ = std::max<std::uint32_t>(stage_count_, o.stage + 1u);
    if (stage_count_ % 2 == 0) ++stage_count_;
    count_uses();
    join_products();
    order_nodes();
    find_last_uses();
    find_patch_index();
    plan_outputs();
    emit();
  }
  Code take() { return std::move(out_); }

 private:
  bool is_loop(std::uint32_t stage) const { return stage % 2 == 1; }
  template <class F>
  void each_operand(const Node& n, F f) const {
    const std::uint32_t operands[3] = {n.a, n.b, n.c};
    for (int k = 0; k < operand_count(n.op); ++k) f(operands[k]);
  }
  bool resident(std::uint32_t node) const {
    const Node& n = nodes_[node];
    if (n.op == Op::constant) return true;
    return n.op == Op::input &&
           (program_.arguments[n.a].reach == Reach::uniform || program_.arguments[n.a].reach == Reach::value);
  }
  std::uint32_t output_stage(const Output& o) const { return is_loop(o.stage) ? o.stage : stage_count_ - 1; }

  void count_uses();
  void join_products();
  void order_nodes();
  void find_last_uses();
  void plan_outputs();
  void emit();
  void emit_stage(std::uint32_t stage);
  void emit_steps(std::uint32_t stage);
  void begin_reductions(std::uint32_t stage);
  void emit_load(std::uint32_t node, std::vector<machine::Load>& to, std::size_t first);
  void find_patch_index();
  void plan_corners(std::uint8_t output);
  std::uint32_t value_of(const Output& output, std::uint32_t number) const {
    return program_.values[output.first_value + number];
  }
  std::uint16_t table_of(std::uint8_t argument, std::uint8_t component);
  std::uint32_t take_register();
  void release(std::uint32_t node, std::uint32_t position);

  const Program& program_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> uses_, last_, reg_;
  std::vector<bool> joined_;                       // products that live inside their sum now
  std::vector<std::vector<std::uint32_t>> order_;  // nodes of each stage
  std::vector<std::uint32_t> stage_end_;           // position of the end of each stage
  std::vector<std::uint32_t> accumulator_, accumulator_last_;
  std::vector<std::vector<machine::Store>> stores_;
  std::vector<machine::Corner> absent_corners_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t stage_count_ = 1;
  Code out_;
};

void Lowering::count_uses() {
  for (const Node& n : nodes_) each_operand(n, [&](std::uint32_t x) { ++uses_[x]; });
  for (const std::uint32_t value : program_.values)
    if (value != kNone) ++uses_[value];
  for (const Reduction& r : program_.reductions) ++uses_[r.init];
  for (const ReductionStep& s : program_.steps) {
    ++uses_[s.term];
    if (s.mask != kNone) ++uses_[s.mask];
  }
}

void Lowering::join_products() {
  joined_.assign(nodes_.size(), false);
  for (Node& n : nodes_) {
    if (n.op != Op::add && n.op != Op::sub) continue;
    const auto product = [&](std::uint32_t x) {
      return nodes_[x].op == Op::mul && uses_[x] == 1 && nodes_[x].stage == n.stage;
    };
    if (product(n.a)) {
      const Node m = nodes_[n.a];
      joined_[n.a] = true;
      n = {.op = n.op == Op::add ? Op::mul_add : Op::mul_sub, .stage = n.stage, .a = m.a, .b = m.b, .c = n.b};
    } else if (product(n.b)) {
      const Node m = nodes_[n.b];
      joined_[n.b] = true;
      n = {.op = n.op == Op::add ? Op::mul_add : Op::sub_mul, .stage = n.stage, .a = m.a, .b = m.b, .c = n.a};
    }
  }
}

void Lowering::order_nodes() {
  order_.resize(stage_count_);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (!joined_[i] && !resident(i) && nodes_[i].op != Op::reduced) order_[nodes_[i].stage].push_back(i);
  std::uint32_t position = 0;
  for (const auto& nodes : order_)
    stage_end_.push_back(position += static_cast<std::uint32_t>(nodes.size()) + 1);
}

// A value from before a loop stays until the loop ends, because every iteration reads it.
void Lowering::find_last_uses() {
  accumulator_.assign(program_.reductions.size(), kNone);
  accumulator_last_.resize(program_.reductions.size());
  for (std::size_t k = 0; k < program_.reductions.size(); ++k)
    accumulator_last_[k] = stage_end_[program_.reductions[k].stage];
  const auto use = [&](std::uint32_t node, std::uint32_t stage, std::uint32_t position) {
    if (is_loop(stage) && nodes_[node].stage != stage) position = stage_end_[stage];
    std::uint32_t& last = nodes_[node].op == Op::reduced ? accumulator_last_[nodes_[node].a] : last_[node];
    last = std::max(last, position);
  };
  for (std::uint32_t stage = 0; stage < stage_count_; ++stage) {
    std::uint32_t position = stage == 0 ? 0 : stage_end_[stage - 1];
    for (const std::uint32_t i : order_[stage]) {
      ++position;
      last_[i] = std::max(last_[i], position);
      each_operand(nodes_[i], [&](std::uint32_t x) { use(x, stage, position); });
    }
  }
  for (const Reduction& r : program_.reductions) use(r.init, r.stage - 1, stage_end_[r.stage - 1]);
  for (const ReductionStep& s : program_.steps) {
    const std::uint32_t stage = program_.reductions[s.reduction].stage;
    use(s.term, stage, stage_end_[stage]);
    if (s.mask != kNone) use(s.mask, stage, stage_end_[stage]);
  }
  for (const Output& o : program_.outputs)
    for (int k = 0; k < o.columns * width_of(o.row); ++k)
      if (const std::uint32_t value = program_.values[o.first_value + static_cast<std::uint32_t>(k)];
          value != kNone)
        use(value, output_stage(o), stage_end_[output_stage(o)]);
}

// All gathers and scatters through one index, a row of it for each row of the program: patches serve them.
void Lowering::find_patch_index() {
  std::uint32_t last = 0;
  bool several = false;
  const auto reach = [&](std::uint32_t index, std::uint32_t first, std::uint32_t columns) {
    several |= program_.arguments[index].reach != Reach::row ||
               (out_.patch_index != kNone && out_.patch_index != index);
    out_.first_column = out_.patch_index == kNone ? first : std::min(out_.first_column, first);
    out_.patch_index = index, last = std::max(last, first + columns);
  };
  for (const Argument& a : program_.arguments)
    if (a.reach == Reach::gather) reach(a.index, a.first_column, a.columns);
  for (const Output& o : program_.outputs)
    if (o.reach == Reach::gather) reach(o.index, o.first_column, o.columns);
  if (several) out_.patch_index = kNone, out_.first_column = 0;
  if (out_.patch_index == kNone) return;
  out_.columns = last - out_.first_column;
  out_.index_width = static_cast<std::uint32_t>(width_of(program_.arguments[out_.patch_index].row));
}

// Stores with node numbers in place of registers, which are not known yet.
void Lowering::plan_outputs() {
  stores_.resize(stage_count_);
  for (std::uint8_t at = 0; at < program_.outputs.size(); ++at) {
    const Output& o = program_.outputs[at];
    const auto width = static_cast<std::uint8_t>(width_of(o.row));
    const bool loop = is_loop(o.stage);
    if (o.reach == Reach::gather && !loop) {
      plan_corners(at);
      continue;
    }
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(o.columns) * width; ++k) {
      const std::uint32_t value = value_of(o, k);
      if (value == kNone) continue;
      const auto component = static_cast<std::uint8_t>(k % width);
      machine::Store store{
          .output = at, .width = width, .component = component, .reg = static_cast<std::uint16_t>(value)};
      if (o.reach == Reach::gather) {
        store.to = To::staged_loop;
        store.slot = static_cast<std::uint32_t>(out_.pair_scatters.size());
        out_.pair_scatters.push_back(
            {.output = at,
             .width = width,
             .component = component,
             .index = {.argument = static_cast<std::uint8_t>(o.index),
                       .width = static_cast<std::uint8_t>(width_of(program_.arguments[o.index].row)),
                       .column = static_cast<std::uint8_t>(o.first_column + k / width)},
             .slot = store.slot});
      } else if (o.reach == Reach::uniform || o.reach == Reach::domain) {
        const bool domain = o.reach == Reach::domain;
        store.to = domain ? To::sum_loop : To::sum_row;
        store.slot = domain ? out_.loop_sums++ : out_.row_sums++;
        out_.sums.push_back({.how = domain                  ? Sum::How::domain
                                    : o.write == Write::sum ? Sum::How::set
                                                            : Sum::How::add,
                             .output = at,
                             .width = width,
                             .component = component,
                             .slot = store.slot});
      } else {
        store.to = o.reach == Reach::pair ? To::add_pair : o.write == Write::add ? To::add : To::set;
      }
      stores_[output_stage(o)].push_back(store);
    }
  }
  out_.corners.insert(out_.corners.end(), absent_corners_.begin(), absent_corners_.end());
}

// A scatter: pieces of at most four numbers, and a corner of each for every column of the index. On patches
// every piece has a corner in all columns, some of which add nothing.
void Lowering::plan_corners(std::uint8_t at) {
  const Output& o = program_.outputs[at];
  const auto width = static_cast<std::uint32_t>(width_of(o.row));
  const bool patched = out_.patch_index != kNone;
  const std::uint32_t first = patched ? out_.first_column : o.first_column;
  const std::uint32_t columns = patched ? out_.columns : o.columns;
  for (std::uint32_t component = 0; component < width; component += 4) {
    const std::uint32_t count = std::min(width - component, 4u);
    std::vector<machine::Corner> adding, absent;
    for (std::uint32_t column = 0; column < columns; ++column) {
      machine::Corner corner{.piece = static_cast<std::uint16_t>(out_.pieces.size()),
                             .column = static_cast<std::uint8_t>(column),
                             .negative_zero = o.write != Write::scatter_sub};
      const std::uint32_t own = first + column - o.first_column;  // wraps for columns before its first
      bool adds = false;
      for (std::uint32_t k = 0; k < count && own < o.columns; ++k)
        if (const std::uint32_t value = value_of(o, own * width + component + k); value != kNone)
          corner.reg[k] = static_cast<std::uint16_t>(value), adds = true;
      (adds ? adding : absent).push_back(corner);
    }
    if (adding.empty()) continue;
    for (const machine::Corner& corner : adding) {
      out_.corners.push_back(corner);
      out_.corner_indices.push_back(
          {.argument = static_cast<std::uint8_t>(o.index),
           .width = static_cast<std::uint8_t>(width_of(program_.arguments[o.index].row)),
           .column = static_cast<std::uint8_t>(first + corner.column)});
    }
    if (patched) absent_corners_.insert(absent_corners_.end(), absent.begin(), absent.end());
    out_.pieces.push_back({.output = at,
                           .width = static_cast<std::uint8_t>(width),
                           .component = static_cast<std::uint8_t>(component),
                           .count = static_cast<std::uint8_t>(count),
                           .subtract = o.write == Write::scatter_sub});
  }
}

std::uint32_t Lowering::take_register() {
  if (free_.empty()) return out_.registers++;
  const std::uint32_t reg = free_.top();
  free_.pop();
  return reg;
}

void Lowering::release(std::uint32_t node, std::uint32_t position) {
  if (resident(node) || nodes_[node].op == Op::reduced || last_[node] != position || reg_[node] == kNone)
    return;
  free_.push(reg_[node]);
  last_[node] = kNone;  // released once
}

std::uint16_t Lowering::table_of(std::uint8_t argument, std::uint8_t component) {
  for (std::size_t k = 0; k < out_.tables.size(); ++k)
    if (out_.tables[k].argument == argument && out_.tables[k].component == component)
      return static_cast<std::uint16_t>(k);
  const auto width = static_cast<std::uint8_t>(width_of(program_.arguments[argument].row));
  out_.tables.push_back({.argument = argument,
                         .width = width,
                         .component = component,
                         .count = static_cast<std::uint8_t>(std::min(width - component, 4))});
  return static_cast<std::uint16_t>(out_.tables.size() - 1);
}

// Numbers of one row that lie side by side are loaded together; `first`: loads of this stage begin there.
void Lowering::emit_load(std::uint32_t node, std::vector<machine::Load>& to, std::size_t first) {
  const Node& n = nodes_[node];
  const Argument& argument = program_.arguments[n.a];
  const auto width = static_cast<std::uint32_t>(width_of(argument.row));
  const std::uint32_t column = n.b / width, component = n.b % width, at = component % 4;
  machine::Load load{.from = origin(program_, argument),
                     .argument = static_cast<std::uint8_t>(n.a),
                     .width = static_cast<std::uint8_t>(width),
                     .component = static_cast<std::uint8_t>(component - at),
                     .bytes = argument.row == Row::u8};
  if (argument.reach == Reach::gather) {
    load.index = static_cast<std::uint8_t>(argument.index);
    load.index_width = static_cast<std::uint8_t>(width_of(program_.arguments[argument.index].row));
    load.index_column = static_cast<std::uint8_t>(argument.first_column + column);
    if (out_.patch_index != kNone && !load.bytes) {
      load.table = table_of(load.argument, load.component);
      load.local = static_cast<std::uint8_t>(load.index_column - out_.first_column);
    }
  }
  const auto together = [&](const machine::Load& other) {
    return other.argument == load.argument && other.component == load.component &&
           other.index_column == load.index_column;
  };
  auto place = std::find_if(to.begin() + static_cast<std::ptrdiff_t>(first), to.end(), together);
  if (place == to.end()) place = to.insert(place, load);
  place->reg[at] = static_cast<std::uint16_t>(reg_[node]);
  place->count = std::max(place->count, static_cast<std::uint8_t>(at + 1));
}

void Lowering::emit() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (joined_[i] || !resident(i) || uses_[i] == 0) continue;
    reg_[i] = out_.registers++;
    if (nodes_[i].op == Op::constant)
      out_.constants.push_back({.reg = static_cast<std::uint16_t>(reg_[i]), .bits = nodes_[i].a});
    else
      emit_load(i, out_.uniforms, 0);
  }
  for (std::uint32_t stage = 0; stage < stage_count_; ++stage) emit_stage(stage);
}

void Lowering::emit_stage(std::uint32_t stage) {
  machine::Stage part{.loads = static_cast<std::uint32_t>(out_.loads.size()),
                      .code = static_cast<std::uint32_t>(out_.code.size()),
                      .stores = static_cast<std::uint32_t>(out_.stores.size())};
  const auto reg = [&](std::uint32_t node) {
    const std::uint32_t r = nodes_[node].op == Op::reduced ? accumulator_[nodes_[node].a] : reg_[node];
    return static_cast<std::uint16_t>(r);
  };
  std::uint32_t position = stage == 0 ? 0 : stage_end_[stage - 1];
  // all loads come first, so their registers are taken before any is released
  for (const std::uint32_t i : order_[stage])
    if (nodes_[i].op == Op::input) reg_[i] = take_register(), emit_load(i, out_.loads, part.loads);
  for (const std::uint32_t i : order_[stage]) {
    ++position;
    const Node& n = nodes_[i];
    if (n.op == Op::input) {
      release(i, position);
      continue;
    }
    Instruction x{.op = machine_op(n.op)};
    const std::uint32_t operands[3] = {n.a, n.b, n.c};
    std::uint16_t* const fields[3] = {&x.a, &x.b, &x.c};
    for (int k = 0; k < operand_count(n.op); ++k) *fields[k] = reg(operands[k]);
    each_operand(n, [&](std::uint32_t operand) { release(operand, position); });
    reg_[i] = take_register();
    x.d = static_cast<std::uint16_t>(reg_[i]);
    out_.code.push_back(x);
    release(i, position);
  }
  if (is_loop(stage)) emit_steps(stage);
  begin_reductions(stage + 1);
  for (machine::Store store : stores_[stage]) {
    store.reg = reg(store.reg);
    out_.stores.push_back(store);
  }
  if (stage + 1 == stage_count_)
    for (machine::Corner& corner : out_.corners)
      for (std::uint16_t& value : corner.reg)
        if (value != machine::kNoRegister) value = reg(value);
  // whatever was last used at the end of this stage is free now; in a loop this holds for its own values too
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) release(i, stage_end_[stage]);
  for (std::size_t k = 0; k < accumulator_.size(); ++k)
    if (accumulator_[k] != kNone && accumulator_last_[k] == stage_end_[stage] &&
        program_.reductions[k].stage < stage)
      free_.push(accumulator_[k]);
  part.loads_end = static_cast<std::uint32_t>(out_.loads.size());
  part.code_end = static_cast<std::uint32_t>(out_.code.size());
  part.stores_end = static_cast<std::uint32_t>(out_.stores.size());
  out_.stages.push_back(part);
}

void Lowering::emit_steps(std::uint32_t stage) {
  for (const ReductionStep& step : program_.steps) {
    if (program_.reductions[step.reduction].stage != stage) continue;
    const auto reg = [&](std::uint32_t node) {
      return static_cast<std::uint16_t>(nodes_[node].op == Op::reduced ? accumulator_[nodes_[node].a]
                                                                       : reg_[node]);
    };
    const auto sum = static_cast<std::uint16_t>(accumulator_[step.reduction]);
    if (step.mask == kNone)
      out_.code.push_back({.op = step.subtract ? Do::sub : Do::add, .d = sum, .a = sum, .b = reg(step.term)});
    else
      out_.code.push_back({.op = step.subtract ? Do::sub_if : Do::add_if,
                           .d = sum,
                           .a = sum,
                           .b = reg(step.term),
                           .c = reg(step.mask)});
  }
}

// The sums of loop `stage` start at the end of the stage before it.
void Lowering::begin_reductions(std::uint32_t stage) {
  for (std::size_t k = 0; k < program_.reductions.size(); ++k) {
    if (program_.reductions[k].stage != stage) continue;
    const std::uint32_t init = program_.reductions[k].init;
    const std::uint32_t from = nodes_[init].op == Op::reduced ? accumulator_[nodes_[init].a] : reg_[init];
    accumulator_[k] = take_register();
    out_.code.push_back({.op = Do::copy,
                         .d = static_cast<std::uint16_t>(accumulator_[k]),
                         .a = static_cast<std::uint16_t>(from)});
  }
}

}  // namespace

Code lower(const Program& program) {
  return Lowering(program).take();
}

}  // namespace nova
