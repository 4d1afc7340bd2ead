// SPDX-License-Identifier: Apache-2.0
// A launch: checks what it was given, notes it on the open tape, runs.
#include <algorithm>
#include <array>
#include <span>

#include "nova/kernel/launch.hpp"
#include "nova/tape/effects.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"
#include "novaphy/nova/kernel.hpp"

namespace nova {
namespace {

using novaphy::DeviceArray;
using novaphy::DType;
using novaphy::ErrorKind;
using novaphy::fail;

constexpr std::int64_t kAny = -1;  // any number of rows
constexpr std::int64_t kAtLeastOne = -2;

struct Wanted {
  Row row;
  std::int64_t rows;
};

std::int64_t size_of_row(const novaphy::Shape& shape) noexcept {
  std::int64_t width = 1;
  for (const std::int64_t extent : shape.extents().subspan(shape.ndim() > 0 ? 1 : 0)) width *= extent;
  return width;
}

std::string describe(const Wanted& wanted) {
  const int width = width_of(wanted.row);
  const char* const type = is_float(wanted.row)       ? "float32"
                           : wanted.row == Row::flags ? "int32 or uint32"
                           : wanted.row == Row::u8    ? "uint8"
                                                      : "int32";
  const std::string rows = wanted.rows == kAny          ? "rows"
                           : wanted.rows == kAtLeastOne ? "at least one row"
                                                        : novaphy::text(wanted.rows, " rows");
  return novaphy::text(rows, " of ", width, " ", type);
}

[[noreturn]] void refuse(const Kernel::Compiled& kernel, const char* what, const Name& name,
                         const DeviceArray& given, const Wanted& wanted, ErrorKind kind) {
  fail(kind, kernel.program.name.view(), ": ", what, " '", name.view(), "' has shape ",
       to_string(given.shape()), " and type ", to_string(given.dtype()), "; wanted are ", describe(wanted));
}

void check_array(const Kernel::Compiled& kernel, const char* what, const Name& name, const DeviceArray& given,
                 const Wanted& wanted) {
  const DType type = given.dtype();
  const bool fits = is_float(wanted.row)       ? type == DType::f32
                    : wanted.row == Row::u8    ? type == DType::u8
                    : wanted.row == Row::flags ? type == DType::i32 || type == DType::u32
                                               : type == DType::i32;
  if (!fits) [[unlikely]]
    refuse(kernel, what, name, given, wanted, ErrorKind::type);
  const novaphy::Shape& shape = given.shape();
  const std::int64_t rows = shape.rows();
  const bool rows_fit =
      rows == wanted.rows || wanted.rows == kAny || (wanted.rows == kAtLeastOne && rows >= 1);
  if (!rows_fit || (rows > 0 && size_of_row(shape) != width_of(wanted.row))) [[unlikely]]
    refuse(kernel, what, name, given, wanted, ErrorKind::shape_mismatch);
  if (rows > 0 && !given.storage()->device().is_cpu()) [[unlikely]]
    fail(ErrorKind::device_mismatch, kernel.program.name.view(), ": ", what, " '", name.view(), "' lies on '",
         to_string(given.device()), "', and this kernel runs on 'cpu'");
}

std::int64_t rows_wanted(const Argument& argument, std::int64_t rows, std::int64_t domain) {
  switch (argument.reach) {
    case Reach::row:
      return rows;
    case Reach::domain:
      return domain;
    case Reach::pair:
      return rows * domain;
    case Reach::gather:
      return kAny;
    case Reach::uniform:
    case Reach::value:
      break;
  }
  return kAtLeastOne;
}

std::int64_t rows_wanted(const Output& output, std::int64_t rows) {
  return output.reach == Reach::gather ? kAny : output.reach == Reach::uniform ? 1 : rows;
}

// The largest entry of an index array; remembered for arrays that are not tiny.
std::int32_t largest_index(const DeviceArray& index) {
  const std::span<const std::int32_t> entries = index.read<std::int32_t>();
  const auto find = [&] { return entries.empty() ? -1 : *std::max_element(entries.begin(), entries.end()); };
  novaphy::Storage& storage = *index.storage();
  if (entries.size() <= 16 || storage.escaped()) return find();
  Slot& slot = slot_of(storage);
  if (slot.largest_version.load(std::memory_order_acquire) == storage.version())
    return slot.largest.load(std::memory_order_relaxed);
  const std::int32_t largest = find();
  slot.largest.store(largest, std::memory_order_relaxed);
  slot.largest_version.store(storage.version(), std::memory_order_release);
  return largest;
}

// Looks only at the columns that are used; names the first entry that is too large.
void search_index(const Kernel::Compiled& kernel, const IndexUse& use, const DeviceArray& index,
                  const Name& target, std::int64_t rows) {
  const Argument& argument = kernel.program.arguments[use.index];
  const std::span<const std::int32_t> entries = index.read<std::int32_t>();
  const auto width = static_cast<std::size_t>(width_of(argument.row));
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const std::size_t column = at % width;
    if (column < use.first_column || column >= use.first_column + use.columns || entries[at] < rows) continue;
    fail(ErrorKind::index, kernel.program.name.view(), ": index '", argument.name.view(), "' row ",
         at / width, ", column ", column, " is ", entries[at], ", '", target.view(), "' has ", rows, " rows");
  }
}

}  // namespace

void check_indices(const Kernel::Compiled& kernel, std::span<const Operand> inputs,
                   std::span<const Operand> outputs) {
  for (const IndexUse& use : kernel.index_uses) {
    const DeviceArray& index = *inputs[use.index].array();
    if (index.size() == 0) continue;
    const DeviceArray& target = use.is_output ? *outputs[use.array].array() : *inputs[use.array].array();
    if (largest_index(index) < target.rows()) continue;
    const Name& name =
        use.is_output ? kernel.program.outputs[use.array].name : kernel.program.arguments[use.array].name;
    search_index(kernel, use, index, name, target.rows());
  }
}

namespace {

// A row that is written as the launch goes must not be read by another row.
void check_sharing(const Kernel::Compiled& kernel, std::span<const Operand> inputs,
                   std::span<const Operand> outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const DeviceArray& written = *outputs[k].array();
    const Output& output = kernel.program.outputs[k];
    for (std::size_t other = 0; other < k; ++other)
      NOVAPHY_REQUIRE(!share_memory(*outputs[other].array(), written), ErrorKind::value,
                      kernel.program.name.view(), ": outputs '", kernel.program.outputs[other].name.view(),
                      "' and '", output.name.view(), "' share memory");
    if (output.reach != Reach::row) continue;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const DeviceArray* const array = inputs[i].array();
      if (array == nullptr || !share_memory(*array, written)) continue;
      const Argument& argument = kernel.program.arguments[i];
      const bool same_rows = array->storage()->data() == written.storage()->data() &&
                             width_of(argument.row) == width_of(output.row) && argument.row != Row::u8;
      NOVAPHY_REQUIRE(argument.reach == Reach::row && same_rows, ErrorKind::value, kernel.program.name.view(),
                      ": output '", output.name.view(), "' shares memory with input '", argument.name.view(),
                      "', which other rows read; write into another array");
    }
  }
}

void check_value(const Kernel::Compiled& kernel, const Argument& argument, const Operand& operand) {
  const bool number_wanted = argument.reach == Reach::value;
  if (operand.array() == nullptr && !number_wanted)
    fail(ErrorKind::type, kernel.program.name.view(), ": input '", argument.name.view(),
         "' is an array, a number was given");
  if (!number_wanted) return;
  if (operand.array() != nullptr)
    fail(ErrorKind::type, kernel.program.name.view(), ": input '", argument.name.view(),
         "' is a number, an array was given");
  if (operand.is_float() != is_float(argument.row))
    fail(ErrorKind::type, kernel.program.name.view(), ": input '", argument.name.view(), "' is ",
         is_float(argument.row) ? "a float" : "an int", ", ", operand.is_float() ? "a float" : "an int",
         " was given");
}

void check_launch(const Kernel::Compiled& kernel, std::span<const Operand> inputs,
                  std::span<const Operand> outputs, std::int64_t rows, std::int64_t domain) {
  const Program& program = kernel.program;
  NOVAPHY_REQUIRE(inputs.size() == program.arguments.size() && outputs.size() == program.outputs.size(),
                  ErrorKind::value, program.name.view(), ": takes ", program.arguments.size(), " inputs and ",
                  program.outputs.size(), " outputs, ", inputs.size(), " and ", outputs.size(),
                  " were given");
  NOVAPHY_REQUIRE(rows >= 0 && domain >= 0, ErrorKind::value, program.name.view(), ": rows (", rows,
                  ") and domain (", domain, ") must not be negative");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& argument = program.arguments[i];
    check_value(kernel, argument, inputs[i]);
    if (argument.reach != Reach::value)
      check_array(kernel, "input", argument.name, *inputs[i].array(),
                  {argument.row, rows_wanted(argument, rows, domain)});
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Output& output = program.outputs[k];
    NOVAPHY_REQUIRE(outputs[k].array() != nullptr, ErrorKind::type, program.name.view(), ": output '",
                    output.name.view(), "' is an array, a number was given");
    check_array(kernel, "output", output.name, *outputs[k].array(), {output.row, rows_wanted(output, rows)});
  }
  check_sharing(kernel, inputs, outputs);
  check_indices(kernel, inputs, outputs);
}

}  // namespace

void launch(const Kernel& kernel, std::span<const Operand> inputs, std::span<const Operand> outputs,
            std::int64_t rows, std::int64_t domain) {
  NOVAPHY_REQUIRE(kernel, ErrorKind::value, "nova.launch: the kernel is empty");
  const Kernel::Compiled& compiled = *kernel.compiled();
  check_launch(compiled, inputs, outputs, rows, domain);

  TapeState* const tape = TapeState::active();
  if (tape != nullptr) tape->begin_record(kernel.compiled(), rows, domain);
  std::array<const void*, Program::kMaxArguments> arguments;
  std::array<void*, Program::kMaxArguments> results;
  std::array<std::uint32_t, Program::kMaxArguments> numbers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DeviceArray* const array = inputs[i].array();
    if (array == nullptr) {
      numbers[i] = inputs[i].bits();
      arguments[i] = &numbers[i];
      if (tape != nullptr) tape->note_number(inputs[i].bits());
      continue;
    }
    const std::shared_ptr<novaphy::Storage>& storage = array->storage();
    arguments[i] = storage ? storage->data() : nullptr;
    if (tape != nullptr) tape->note_input(storage, i);
  }
  bool escaped = false;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::shared_ptr<novaphy::Storage>& storage = outputs[k].array()->storage();
    if (tape != nullptr) tape->save_before_write(storage);
    results[k] = storage ? storage->mutable_data() : nullptr;
    if (tape == nullptr) continue;
    tape->note_output(storage, k);
    escaped |= storage && storage->escaped();
  }
  const std::uint32_t patched = compiled.code.patch_index;
  novaphy::Storage* const index = patched == kNone ? nullptr : inputs[patched].array()->storage().get();
  Effects::now().run({.kernel = kernel.compiled(),
                      .arguments = arguments.data(),
                      .results = results.data(),
                      .rows = rows,
                      .domain = domain,
                      .index = index,
                      .inputs = inputs,
                      .outputs = outputs});
  if (!escaped) return;
  for (const Operand& output : outputs)
    if (const auto& storage = output.array()->storage(); storage && storage->escaped())
      tape->note_content(*storage);
}

}  // namespace nova
