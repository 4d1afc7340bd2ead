// SPDX-License-Identifier: Apache-2.0
// An open capture: the effects of its thread.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "nova/tape/commands.hpp"
#include "nova/tape/tape_state.hpp"
#include "nova/tensor/slot.hpp"
#include "novaphy/capture.hpp"

namespace nova {

class Capture final : public Effects, public novaphy::CaptureListener {
 public:
  Capture();
  ~Capture() override;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// Ends the capture.
  std::shared_ptr<Graph::State> finish();

  void run(const KernelRun& kernel) override;
  void run(const CustomRun& custom) override;
  void zero(void* to, std::size_t bytes) override;
  void set(float* to, float value) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void store_gradient(const std::shared_ptr<novaphy::Storage>& array, const float* cotangent,
                      GradientStore how, std::uint64_t recording) override;
  void drop_gradient(const std::shared_ptr<novaphy::Storage>& array) override;
  void read_gradient(const std::shared_ptr<novaphy::Storage>& array) override;
  void read(const std::shared_ptr<novaphy::Storage>& array) override;
  void keep(std::shared_ptr<void> memory) override;
  void opened(const std::shared_ptr<TapeState>& tape) override;
  std::uint64_t capture() const noexcept override { return number_; }

  void allocated(const std::shared_ptr<novaphy::Storage>& storage) override;
  void filled_from_host(const novaphy::Storage& storage) override;

 private:
  struct Before {
    std::shared_ptr<novaphy::Storage> grad;
    std::uint64_t grad_tape = 0;
  };
  void leave() noexcept;
  void drop_needless_clears();
  void use(const std::shared_ptr<novaphy::Storage>& storage);
  void use_root(const std::shared_ptr<novaphy::Storage>& root);
  Slot& touch(novaphy::Storage& array);
  std::shared_ptr<novaphy::Storage> pin(const std::shared_ptr<novaphy::Storage>& array);

  std::shared_ptr<Graph::State> graph_;
  std::uint64_t number_;
  bool allocates_gradient_ = false;
  std::unordered_set<const novaphy::Storage*> known_;  ///< in the graph already
  std::unordered_set<const novaphy::Storage*>
      checked_;  ///< arrays whose gradient is there at this point of a replay
  std::unordered_set<const novaphy::Storage*> read_;                 ///< read through addresses
  std::unordered_set<const novaphy::Storage*> named_;                ///< known to a command about gradients
  std::unordered_map<const novaphy::Storage*, std::size_t> clears_;  ///< own array -> its clear command
  std::unordered_map<Slot*, Before> gradients_before_;
  std::vector<std::weak_ptr<TapeState>> tapes_;
};

}  // namespace nova
