// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/compiled.hpp"

#include <algorithm>
#include <bit>

#include "nova/expr/passes.hpp"
#include "nova/grad/forward.hpp"
#include "nova/grad/reverse.hpp"
#include "nova/kernel/program_hash.hpp"

namespace nova {

Kernel::Compiled::Compiled(Program simplified) : program(std::move(simplified)), code(lower(program)) {
  code.compiled = find_compiled(program);
  inputs = static_cast<std::uint32_t>(program.arguments.size());
  outputs = static_cast<std::uint32_t>(program.outputs.size());
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    const Argument& a = program.arguments[i];
    if (is_float(a.row)) float_inputs |= std::uint64_t{1} << i;
    if (a.differentiable && is_float(a.row) && a.reach != Reach::value)
      differentiable |= std::uint64_t{1} << i;
    if (a.reach == Reach::gather)
      index_uses.push_back({a.index, a.first_column, a.columns, static_cast<std::uint32_t>(i), false});
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const Output& o = program.outputs[k];
    if (is_float(o.row)) float_outputs |= std::uint64_t{1} << k;
    if (o.write == Write::add || o.write == Write::scatter_add || o.write == Write::scatter_sub)
      adding_outputs |= std::uint64_t{1} << k;
    if (o.reach == Reach::gather)
      index_uses.push_back({o.index, o.first_column, o.columns, static_cast<std::uint32_t>(k), true});
  }
}

const Adjoint* Kernel::Compiled::find(std::uint64_t wanted, std::uint64_t seeded) const {
  for (const Adjoint* at = first_.load(std::memory_order_acquire); at != nullptr; at = at->next.get())
    if (at->wanted == wanted && at->seeded == seeded) return at;
  return nullptr;
}

namespace {

// The outputs of an adjoint program are the wanted arguments in order; without a path they have no nodes.
std::uint64_t reached(const Program& adjoint, std::uint64_t wanted) {
  std::uint64_t mask = 0;
  std::size_t output = 0;
  for (std::uint64_t left = wanted; left != 0; left &= left - 1) {
    const Output& o = adjoint.outputs[output++];
    const auto first = adjoint.values.begin() + static_cast<std::ptrdiff_t>(o.first_value);
    const auto has_path = [](std::uint32_t node) { return node != kNone; };
    if (std::any_of(first, first + o.columns * width_of(o.row), has_path)) mask |= left & ~(left - 1);
  }
  return mask;
}

// For each output of a derived program: of the first `count` arguments those that its numbers, or their places,
// are made from.
std::vector<std::uint64_t> reads_of_outputs(const Program& derived, std::size_t count) {
  const auto bit = [&](std::uint32_t argument) {
    return argument < count ? std::uint64_t{1} << argument : std::uint64_t{0};
  };
  std::vector<std::uint64_t> reads(derived.nodes.size());
  const auto of = [&](std::uint32_t node) { return node == kNone ? 0 : reads[node]; };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Node& n = derived.nodes[i];
    if (n.op == Op::input) {
      reads[i] = bit(n.a) | (derived.arguments[n.a].reach == Reach::gather ? bit(derived.arguments[n.a].index) : 0);
    } else if (n.op == Op::reduced) {
      reads[i] = of(derived.reductions[n.a].init);
      for (const ReductionStep& step : derived.steps)
        if (step.reduction == n.a) reads[i] |= of(step.term) | of(step.mask);
    } else {
      const std::uint32_t operands[3] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) reads[i] |= of(operands[k]);
    }
  }
  std::vector<std::uint64_t> result;
  for (const Output& o : derived.outputs) {
    std::uint64_t& mask = result.emplace_back(o.reach == Reach::gather ? bit(o.index) : 0);
    for (std::size_t k = 0; k < o.columns * static_cast<std::size_t>(width_of(o.row)); ++k)
      mask |= of(derived.values[o.first_value + k]);
  }
  return result;
}

std::uint64_t reads_of(const Program& derived, std::size_t count) {
  std::uint64_t mask = 0;
  for (const std::uint64_t output : reads_of_outputs(derived, count)) mask |= output;
  return mask;
}

}  // namespace

const Adjoint& Kernel::Compiled::adjoint(std::uint64_t wanted, std::uint64_t seeded) const {
  if (const Adjoint* known = find(wanted, seeded)) return *known;
  const std::lock_guard lock(mutex_);
  if (const Adjoint* known = find(wanted, seeded)) return *known;
  auto made = std::make_unique<Adjoint>();
  made->wanted = wanted, made->seeded = seeded;
  made->program = reverse(program, wanted, seeded);
  verify(made->program);
  made->reached = reached(made->program, wanted);
  made->reads = reads_of(made->program, program.arguments.size());
  made->code = lower(made->program);
  made->code.compiled = find_compiled(made->program);
  made->next = std::move(owner_);
  owner_ = std::move(made);
  first_.store(owner_.get(), std::memory_order_release);
  return *owner_;
}

const Tangent& Kernel::Compiled::tangent(const Adjoint* of, std::uint64_t moving) const {
  const std::lock_guard lock(mutex_);
  for (const auto& known : tangents_)
    if (known->of == of && known->moving == moving) return *known;
  Program made = forward(of == nullptr ? program : of->program, moving);
  verify(made);
  Code lowered = lower(made);
  const std::uint64_t reads = reads_of(made, program.arguments.size());
  tangents_.push_back(
      std::make_unique<const Tangent>(Tangent{of, moving, reads, std::move(made), std::move(lowered)}));
  return *tangents_.back();
}

std::uint64_t Kernel::Compiled::values_needed(std::uint64_t wanted) const {
  std::call_once(needed_known_, [this] {
    needed_by_.resize(program.arguments.size());
    const auto reads = reads_of_outputs(reverse(program, differentiable, float_outputs), program.arguments.size());
    std::size_t output = 0;
    for (std::size_t i = 0; i < needed_by_.size(); ++i)
      if (differentiable >> i & 1) needed_by_[i] = reads[output++];
  });
  std::uint64_t needed = 0;
  for (std::uint64_t left = wanted; left != 0; left &= left - 1)
    needed |= needed_by_[static_cast<std::size_t>(std::countr_zero(left))];
  return needed;
}

Kernel compile(const Program& program) {
  verify_launchable(program);
  Program simplified = simplify(program);
  verify(simplified);
  return Kernel(std::make_shared<const Kernel::Compiled>(std::move(simplified)));
}

const char* Kernel::name() const noexcept {
  return compiled_ ? compiled_->program.name.c_str() : "";
}
const Program& Kernel::program() const {
  return compiled_->program;
}
const Program& Kernel::adjoint(std::uint64_t wanted, std::uint64_t seeded) const {
  return compiled_->adjoint(wanted, seeded).program;
}
std::string Kernel::text() const {
  return listing(compiled_->program);
}

}  // namespace nova
