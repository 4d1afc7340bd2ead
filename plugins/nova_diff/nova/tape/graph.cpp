// SPDX-License-Identifier: Apache-2.0
// Graphs: checks, replay, and what they say about themselves.
#include "nova/tape/commands.hpp"
#include "nova/tape/find_anomaly.hpp"
#include "nova/tape/tape_state.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::Storage;

void check_owners(const Graph::State& graph) {
  for (const Graph::State::Outer& array : graph.outer)
    NOVAPHY_REQUIRE(
        array.is_held_elsewhere(), ErrorKind::capture, "graph.launch: ", to_string(array.root->label()),
        " is held by nobody but the graph any more, so it was replaced and a launch would work on the old "
        "array; keep what was captured and write new values into it, or capture again");
}

void check_recordable(const Graph::State& graph) {
  for (const auto& command : graph.commands)
    NOVAPHY_REQUIRE(command->is_recordable(), ErrorKind::capture,
                    "graph.launch: a tape records on this thread, and the graph holds an operation without a "
                    "derivative (",
                    command->text(), "); launch it outside of the recording, or under nova.no_grad()");
}

}  // namespace

// A region holds its root.
bool Graph::State::Outer::is_held_elsewhere() const noexcept {
  for (const std::shared_ptr<Storage>& region : regions)
    if (region.use_count() > 1) return true;
  return root.use_count() > 1 + static_cast<long>(regions.size());
}

std::shared_ptr<Storage> Graph::State::owner(const Storage* storage) const {
  if (storage == nullptr) return nullptr;
  for (const Outer& array : outer) {
    if (array.root.get() == storage) return array.root;
    for (const std::shared_ptr<Storage>& region : array.regions)
      if (region.get() == storage) return region;
  }
  for (const std::shared_ptr<Storage>& known : own)
    if (known.get() == storage) return known;
  for (const std::shared_ptr<void>& memory : kept)
    if (memory.get() == storage) return std::static_pointer_cast<Storage>(memory);
  return nullptr;
}

void Graph::launch() const {
  NOVAPHY_REQUIRE(state_ != nullptr, ErrorKind::capture,
                  "graph.launch: nothing was captured; the capture has not ended, or ended with an error");
  novaphy::refuse_in_capture("graph.launch");
  check_owners(*state_);
  if (TapeState::active() == nullptr) {
    set_adjoint_record(kNone);  // its adjoints are not those of a recording
    for (const auto& command : state_->commands) command->run();
    return;
  }
  check_recordable(*state_);
  for (const auto& command : state_->commands) command->record(*state_);
}

std::size_t Graph::op_count() const noexcept {
  std::size_t count = 0;
  if (state_)
    for (const auto& command : state_->commands) count += command->is_operation();
  return count;
}

std::vector<FrozenNumber> Graph::numbers() const {
  std::vector<FrozenNumber> numbers;
  if (state_)
    for (const auto& command : state_->commands) command->add_numbers(numbers);
  return numbers;
}

std::size_t Graph::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  if (state_)
    for (const std::shared_ptr<Storage>& storage : state_->own) bytes += storage->bytes();
  return bytes;
}

std::string Graph::text() const {
  std::string out;
  if (state_)
    for (const auto& command : state_->commands) out += command->text() + "\n";
  return out;
}

}  // namespace nova
