// SPDX-License-Identifier: Apache-2.0
#include "nova/tape/find_anomaly.hpp"

#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "nova/expr/evaluate.hpp"
#include "nova/tape/tape_state.hpp"
#include "novaphy/nova/anomaly.hpp"

namespace nova {
namespace {

thread_local int depth = 0;
thread_local std::uint32_t adjoint_record = kNone;

std::string number_text(float value) {
  if (std::isnan(value)) return "nan";  // whatever its sign
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

/// One row of a run, with the values of its operations as far as they are computed.
class ObservedRow {
 public:
  ObservedRow(const KernelRun& run, const Program& program, std::int64_t row)
      : run_(run), program_(program), row_(row), values_(program.nodes.size()) {}

  /// Where the first number that is not finite is written; empty = nowhere.
  std::string look() {
    std::string found;
    evaluate_row<float>(
        program_, {run_.arguments, run_.rows, run_.domain}, row_,
        [&](std::uint32_t node, const Number<float>& value, std::int64_t) { values_[node] = value; },
        [&](std::uint32_t output, std::uint32_t k, const Number<float>& value, std::int64_t) {
          if (found.empty() && is_float(program_.outputs[output].row) && !std::isfinite(value.real))
            found = describe(output, k);
        });
    return found;
  }

 private:
  bool is_bad(std::uint32_t node) const {
    return program_.nodes[node].type == ValueType::f32 && !std::isfinite(values_[node].real);
  }
  std::string describe(std::uint32_t output, std::uint32_t k) const;
  std::uint32_t origin(std::uint32_t node) const;
  std::string operation_text(std::uint32_t node) const;
  std::string place() const;

  const KernelRun& run_;
  const Program& program_;
  const std::int64_t row_;
  std::vector<Number<float>> values_;
};

// The operation that made the value from finite ones; of a select, along the arm that was taken.
std::uint32_t ObservedRow::origin(std::uint32_t node) const {
  for (;;) {
    const Node& n = program_.nodes[node];
    const std::uint32_t operands[3] = {n.a, n.b, n.c};
    std::optional<std::uint32_t> earlier;
    for (int k = 0; k < operand_count(n.op) && !earlier; ++k) {
      if (n.op == Op::select && (k == 0 || (k == 1) != (values_[n.a].word != 0))) continue;
      if (is_bad(operands[k])) earlier = operands[k];
    }
    if (!earlier) return node;
    node = *earlier;
  }
}

std::string ObservedRow::operation_text(std::uint32_t node) const {
  const Node& n = program_.nodes[node];
  if (n.op == Op::input)
    return novaphy::text("input '", program_.arguments[n.a].name.view(), "' already was ",
                         number_text(values_[node].real));
  if (n.op == Op::reduced) return "the sum of a loop became so";
  const std::uint32_t operands[3] = {n.a, n.b, n.c};
  std::string text = novaphy::text("operation ", node, ", ", name_of(n.op), "(");
  for (int k = 0; k < operand_count(n.op); ++k) {
    const std::uint32_t x = operands[k];
    text += k == 0 ? "" : ", ";
    text += program_.nodes[x].type == ValueType::f32 ? number_text(values_[x].real)
                                                     : std::to_string(values_[x].word);
  }
  return text + ") gave " + number_text(values_[node].real);
}

std::string ObservedRow::place() const {
  const std::string_view name = program_.name.view();
  if (run_.adjoint != nullptr && adjoint_record != kNone)
    return novaphy::text("backward of launch ", adjoint_record, " (", name, ")");
  if (run_.adjoint != nullptr) return novaphy::text("backward of ", name);
  const TapeState* const tape = TapeState::active();
  if (tape == nullptr || tape->records.empty()) return std::string(name);
  return novaphy::text("launch ", tape->records.size() - 1, " (", name, ")");
}

std::string ObservedRow::describe(std::uint32_t output, std::uint32_t k) const {
  const Output& o = program_.outputs[output];
  const std::uint32_t node = program_.values[o.first_value + k];
  const char* const what = run_.adjoint != nullptr ? "the cotangent of '" : "'";
  return novaphy::text("nova.anomaly: ", place(), " makes ", what, o.name.view(), "' ",
                       number_text(values_[node].real), " in row ", row_, ", number ", k, ": ",
                       operation_text(origin(node)), ".");
}

}  // namespace

Anomaly::Anomaly() noexcept {
  ++depth;
}
Anomaly::~Anomaly() {
  --depth;
}

bool looks_for_anomalies() noexcept {
  return depth > 0;
}
void set_adjoint_record(std::uint32_t record) noexcept {
  adjoint_record = record;
}

std::string find_anomaly(const KernelRun& run) {
  const Program& program = run.adjoint != nullptr ? run.adjoint->program : run.kernel->program;
  for (std::int64_t row = 0; row < run.rows; ++row)
    if (std::string found = ObservedRow(run, program, row).look(); !found.empty()) return found;
  return {};
}

std::string find_anomaly(const CustomRun& run) {
  const auto find = [](std::span<const float> numbers, std::string_view who, std::string_view what, std::size_t k) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        return novaphy::text("nova.anomaly: ", who, " makes ", what, " ", k, " ", number_text(numbers[i]),
                             " at number ", i, ".");
    return std::string();
  };
  std::string found;
  const std::string_view name = run.operation->name();
  if (run.is_backward) {
    const std::string who = adjoint_record == kNone
                                ? novaphy::text("backward of ", name)
                                : novaphy::text("backward of launch ", adjoint_record, " (", name, ")");
    for (std::size_t k = 0; k < run.input_cotangents.size() && found.empty(); ++k)
      if (run.input_cotangents[k] != nullptr)
        found = find({run.input_cotangents[k], run.input_sizes[k]}, who, "the cotangent of input", k);
    return found;
  }
  for (std::size_t k = 0; k < run.results.size() && found.empty(); ++k) {
    const novaphy::DeviceArray& array = run.results[k].array();
    if (array.dtype() == novaphy::DType::f32 && array.size() > 0)
      found = find(array.read<float>(), name, "output", k);
  }
  return found;
}

}  // namespace nova
