// SPDX-License-Identifier: Apache-2.0
#include "nova/kernel/compiled.hpp"

#include <algorithm>

#include "nova/expr/passes.hpp"
#include "nova/grad/forward.hpp"
#include "nova/grad/reverse.hpp"
#include "nova/kernel/program_hash.hpp"

namespace nova {

Kernel::Compiled::Compiled(Program simplified) : program(std::move(simplified)), code(lower(program)) {
  code.compiled = find_compiled(hash_of(program));
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
  made->code = lower(made->program);
  made->code.compiled = find_compiled(hash_of(made->program));
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
  tangents_.push_back(
      std::make_unique<const Tangent>(Tangent{of, moving, std::move(made), std::move(lowered)}));
  return *tangents_.back();
}

std::uint64_t Kernel::Compiled::values_needed() const {
  if (needed_known_.load(std::memory_order_acquire)) return needed_.load(std::memory_order_relaxed);
  const Program full = reverse(program, differentiable, float_outputs);
  std::uint64_t needed = 0;
  const auto need = [&](std::uint32_t argument) {
    if (argument < program.arguments.size()) needed |= std::uint64_t{1} << argument;
  };
  for (const Node& n : full.nodes)
    if (n.op == Op::input) {
      need(n.a);
      if (full.arguments[n.a].reach == Reach::gather) need(full.arguments[n.a].index);
    }
  for (const Output& o : full.outputs)
    if (o.reach == Reach::gather) need(o.index);
  needed_.store(needed, std::memory_order_relaxed);
  needed_known_.store(true, std::memory_order_release);
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
