// SPDX-License-Identifier: Apache-2.0
// The members of KernelScope and ProgramBuilder, which program_builder.hpp includes.
#pragma once

#include <algorithm>

#include "novaphy/nova/program_builder.hpp"

namespace nova {

namespace detail {
inline std::uint32_t find_name(const std::vector<Argument>& arguments, std::string_view name) {
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name.view() == name) return i;
  return kNone;
}
}  // namespace detail

inline std::uint32_t ProgramBuilder::index_of(const KernelDesc& desc, const Name& name,
                                              std::string_view user) const {
  for (std::size_t i = 0; i < desc.index.size(); ++i)
    if (desc.index[i].name == name) return static_cast<std::uint32_t>(desc.in.size() + i);
  novaphy::fail(novaphy::ErrorKind::value, "kernel '", desc.name, "': '", user, "' goes through index '",
                name.view(), "', which is not in its index list");
}

inline void ProgramBuilder::add_input(const KernelDesc& desc, const In& in) {
  Argument a{.name = in.name,
             .row = in.row_type,
             .reach = in.reach,
             .columns = static_cast<std::uint8_t>(in.columns),
             .differentiable = in.differentiable && is_float(in.row_type) && in.reach != Reach::value,
             .is_static = in.is_static,
             .first_column = static_cast<std::uint32_t>(in.first_column)};
  NOVAPHY_REQUIRE(in.reach != Reach::value || width_of(in.row_type) == 1, novaphy::ErrorKind::value,
                  "kernel '", desc.name, "': value input '", in.name.view(), "' must be f32, i32 or flags");
  if (in.reach == Reach::gather) a.index = index_of(desc, in.index, in.name.view());
  program_.arguments.push_back(a);
}

inline void ProgramBuilder::add_output(const KernelDesc& desc, const Out& out) {
  Output o{.name = out.name,
           .row = out.row_type,
           .write = out.write,
           .columns = static_cast<std::uint8_t>(out.columns),
           .first_column = static_cast<std::uint32_t>(out.first_column),
           .first_value = static_cast<std::uint32_t>(program_.values.size())};
  if (out.write == Write::sum) o.reach = Reach::uniform;
  if (out.write == Write::scatter_add || out.write == Write::scatter_sub) {
    o.reach = Reach::gather, o.index = index_of(desc, out.index, out.name.view());
    const Argument& index = program_.arguments[o.index];
    NOVAPHY_REQUIRE(index.reach == Reach::row && out.first_column + out.columns <= width_of(index.row),
                    novaphy::ErrorKind::value, "kernel '", desc.name, "': output '", out.name.view(),
                    "' needs columns ", out.first_column, " to ", out.first_column + out.columns - 1,
                    " of an index of row reach");
  }
  program_.values.resize(
      program_.values.size() + static_cast<std::size_t>(out.columns * width_of(out.row_type)), kNone);
  program_.outputs.push_back(o);
}

inline ProgramBuilder::ProgramBuilder(const KernelDesc& desc) {
  program_.name = desc.name;
  for (const In& in : desc.in) add_input(desc, in);
  for (const IndexArg& index : desc.index)
    program_.arguments.push_back(
        {.name = index.name, .row = index.row_type, .reach = index.reach, .differentiable = false});
  for (const Out& out : desc.out) add_output(desc, out);
  written_.resize(desc.out.size());
  frame_ = {.program = &program_, .outer = novaphy::active_program()};
  novaphy::active_program() = &frame_;
}

inline void KernelScope::read_nodes(std::string_view name, int column, std::span<std::uint32_t> nodes) {
  Program& program = builder_.program_;
  const std::uint32_t at = detail::find_name(program.arguments, name);
  NOVAPHY_REQUIRE(at != kNone, novaphy::ErrorKind::trace, "kernel '", program.name.view(), "' has no input '",
                  name, "'");
  const Argument& argument = program.arguments[at];
  const auto width = static_cast<std::size_t>(width_of(argument.row));
  NOVAPHY_REQUIRE(nodes.size() == width, novaphy::ErrorKind::trace, "kernel '", program.name.view(),
                  "': input '", name, "' has rows of ", width, " numbers, ", nodes.size(), " were read");
  NOVAPHY_REQUIRE(column >= 0 && column < argument.columns, novaphy::ErrorKind::trace, "kernel '",
                  program.name.view(), "': input '", name, "' has ", static_cast<int>(argument.columns),
                  " columns, column ", column, " was read");
  const bool loop = in_loop(program, argument);
  NOVAPHY_REQUIRE(!loop || builder_.frame_.loop_open, novaphy::ErrorKind::trace, "kernel '",
                  program.name.view(), "': input '", name,
                  "' has one row per domain index; read it in the term of a reduction");
  for (std::size_t k = 0; k < width; ++k)
    nodes[k] =
        detail::append({.op = Op::input,
                        .type = type_of(argument.row),
                        .stage = static_cast<std::uint8_t>(loop ? 1 : 0),
                        .a = at,
                        .b = static_cast<std::uint32_t>(static_cast<std::size_t>(column) * width + k)});
}

inline void KernelScope::check_columns(std::string_view name, int columns) {
  const Program& program = builder_.program_;
  const std::uint32_t at = detail::find_name(program.arguments, name);
  NOVAPHY_REQUIRE(at == kNone || program.arguments[at].columns == columns, novaphy::ErrorKind::trace,
                  "kernel '", program.name.view(), "': input '", name, "' has ",
                  static_cast<int>(program.arguments[at].columns), " columns, ", columns, " were read");
}

inline void KernelScope::write_nodes(std::string_view name, std::span<const std::uint32_t> nodes) {
  Program& program = builder_.program_;
  const auto place = std::find_if(program.outputs.begin(), program.outputs.end(),
                                  [&](const Output& o) { return o.name.view() == name; });
  NOVAPHY_REQUIRE(place != program.outputs.end(), novaphy::ErrorKind::trace, "kernel '", program.name.view(),
                  "' has no output '", name, "'");
  const auto wanted = static_cast<std::size_t>(place->columns * width_of(place->row));
  NOVAPHY_REQUIRE(nodes.size() == wanted, novaphy::ErrorKind::trace, "kernel '", program.name.view(),
                  "': output '", name, "' takes ", wanted, " numbers a row, ", nodes.size(), " were written");
  const auto at = static_cast<std::size_t>(place - program.outputs.begin());
  NOVAPHY_REQUIRE(!builder_.written_[at], novaphy::ErrorKind::trace, "kernel '", program.name.view(),
                  "': output '", name, "' is written twice");
  NOVAPHY_REQUIRE(!builder_.frame_.loop_open, novaphy::ErrorKind::trace, "kernel '", program.name.view(),
                  "': output '", name, "' is written in the term of a reduction; write it after the loop");
  builder_.written_[at] = true;
  for (std::size_t k = 0; k < wanted; ++k) {
    NOVAPHY_REQUIRE(nodes[k] < program.nodes.size(), novaphy::ErrorKind::trace, "kernel '",
                    program.name.view(), "': output '", name, "' was given a number without a value");
    program.values[place->first_value + k] = nodes[k];
  }
}

inline void ProgramBuilder::begin_loop(std::span<const std::uint32_t> init) {
  for (const std::uint32_t node : init) {
    NOVAPHY_REQUIRE(node < program_.nodes.size(), novaphy::ErrorKind::trace, "kernel '", program_.name.view(),
                    "': the start value of the reduction was never given a value");
    NOVAPHY_REQUIRE(program_.nodes[node].type == ValueType::f32, novaphy::ErrorKind::trace, "kernel '",
                    program_.name.view(), "': a reduction sums float32 values");
    program_.reductions.push_back({.init = node});
  }
  frame_.loop_open = true;
}

inline void ProgramBuilder::accumulate(std::span<const std::uint32_t> term, std::uint32_t mask,
                                       bool subtract) {
  NOVAPHY_REQUIRE(term.size() == program_.reductions.size(), novaphy::ErrorKind::trace, "kernel '",
                  program_.name.view(), "': the term has ", term.size(), " numbers, the sum ",
                  program_.reductions.size());
  for (std::uint32_t k = 0; k < term.size(); ++k)
    program_.steps.push_back({.reduction = k, .term = term[k], .mask = mask, .subtract = subtract});
}

inline std::vector<std::uint32_t> ProgramBuilder::end_loop() {
  frame_.loop_open = false;
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < program_.reductions.size(); ++k)
    out.push_back(detail::append(
        {.op = Op::reduced, .type = program_.nodes[program_.reductions[k].init].type, .stage = 2, .a = k}));
  return out;
}

inline Program ProgramBuilder::finish() const {
  for (std::size_t k = 0; k < written_.size(); ++k)
    NOVAPHY_REQUIRE(written_[k], novaphy::ErrorKind::trace, "kernel '", program_.name.view(), "': output '",
                    program_.outputs[k].name.view(), "' was never written");
  return program_;
}

}  // namespace nova
