// SPDX-License-Identifier: Apache-2.0
// What the engine must know of captures: while a thread captures launches, nothing runs, so what acts at once refuses.
#pragma once

#include <memory>
#include <string_view>

#include "novaphy/export.hpp"

namespace novaphy {

class Storage;

/// The capture that is open on a thread, as the engine sees it. Nova implements it.
class NOVAPHY_API CaptureListener {
 public:
  virtual ~CaptureListener();
  /// New zeroed memory: it belongs to the graph, which clears it at this place of every replay.
  virtual void allocated(const std::shared_ptr<Storage>& storage) = 0;
  /// The new memory was given its content from the host, which every replay finds there.
  virtual void filled_from_host(const Storage& storage) = 0;
};

/// Null while this thread captures nothing.
NOVAPHY_API CaptureListener*& capture_listener() noexcept;
inline bool is_capturing() noexcept { return capture_listener() != nullptr; }

[[noreturn]] NOVAPHY_API void fail_in_capture(std::string_view what);
/// Throws Error(capture) that begins with `what` while this thread captures. For whatever reads or writes array values at
/// once: steps of solvers that do not support capture, collision, transfers between host and arrays.
inline void refuse_in_capture(std::string_view what) {
  if (is_capturing()) [[unlikely]] fail_in_capture(what);
}

}  // namespace novaphy
