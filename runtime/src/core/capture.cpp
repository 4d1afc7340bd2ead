// SPDX-License-Identifier: Apache-2.0
// The capture that is open on a thread.
#include "novaphy/capture.hpp"

#include "novaphy/error.hpp"

namespace novaphy {

CaptureListener::~CaptureListener() = default;

CaptureListener*& capture_listener() noexcept {
  thread_local CaptureListener* listener = nullptr;
  return listener;
}

void fail_in_capture(std::string_view what) {
  fail(ErrorKind::capture, what,
       ": this thread captures a graph, which runs nothing before its launch, and this acts at once; do it "
       "before or "
       "after the capture");
}

}  // namespace novaphy
