// SPDX-License-Identifier: Apache-2.0
// The lines of a recording as text.
#include <bit>

#include "nova/tape/tape_state.hpp"

namespace nova {
namespace {

std::string array_text(const TapeState& tape, std::uint32_t at) {
  const TapeArray& array = tape.arrays[at];
  const novaphy::Storage& storage = *array.storage;
  std::string out =
      storage.label().name.empty() ? novaphy::text("tensor #", array.root) : to_string(storage.label());
  if (storage.root()) out += novaphy::text("[", array.range().begin, ":", array.range().end, "]");
  return out;
}

RecordSummary::Argument input_text(const TapeState& tape, const Record& record, std::uint32_t i) {
  const Use& use = tape.uses[record.first_use + i];
  RecordSummary::Argument out;
  if (record.kernel) out.name = record.kernel->program.arguments[i].name.view();
  if (use.array != kNone)
    out.array = array_text(tape, use.array);
  else if (record.kernel && record.kernel->program.arguments[i].reach == Reach::value)
    out.array = record.signature->float_inputs >> i & 1
                    ? novaphy::text(std::bit_cast<float>(use.bits))
                    : novaphy::text(std::bit_cast<std::int32_t>(use.bits));
  else
    out.array = "nothing";
  return out;
}

RecordSummary::Argument output_text(const TapeState& tape, const Record& record, std::uint32_t k) {
  const Use& use = tape.uses[record.first_use + record.signature->inputs + k];
  RecordSummary::Argument out;
  if (record.kernel) out.name = record.kernel->program.outputs[k].name.view();
  out.array = use.array != kNone ? array_text(tape, use.array) : "nothing";
  return out;
}

}  // namespace

void add_records(const TapeState& tape, TapeReport& report) {
  for (const auto& [place, copy] : tape.saved)
    report.saved_copies.push_back(
        novaphy::text(array_text(tape, place.first), ", ", copy->bytes(), " bytes"));
  for (const Record& record : tape.records) {
    RecordSummary line;
    line.name = record.title ? novaphy::text(*record.title, ": ", record.name()) : std::string(record.name());
    line.rows = record.rows;
    for (std::uint32_t i = 0; i < record.signature->inputs; ++i)
      line.inputs.push_back(input_text(tape, record, i));
    for (std::uint32_t k = 0; k < record.signature->outputs; ++k)
      line.outputs.push_back(output_text(tape, record, k));
    report.records.push_back(std::move(line));
  }
}

}  // namespace nova
