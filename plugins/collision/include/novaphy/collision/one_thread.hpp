// SPDX-License-Identifier: Apache-2.0
// A guard of objects that keep buffers between calls: a second thread inside is an error, not a race.
#pragma once

#include <atomic>

#include "novaphy/error.hpp"

namespace novaphy::collision {

class OneThread {
 public:
  /// Inside for its lifetime. Throws Error(generic) while another call is.
  class Entry {
   public:
    /// `who` and `what` as in "CollisionPipeline.collide" and "pipeline".
    Entry(OneThread& object, const char* who, const char* what) : inside_(object.inside_) {
      NOVAPHY_REQUIRE(!inside_.exchange(true, std::memory_order_acquire), ErrorKind::generic, who,
                      ": another thread uses this ", what, "; make one ", what, " a thread");
    }
    ~Entry() { inside_.store(false, std::memory_order_release); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    std::atomic<bool>& inside_;
  };

 private:
  std::atomic<bool> inside_{false};
};

}  // namespace novaphy::collision
