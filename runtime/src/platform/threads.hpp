// SPDX-License-Identifier: Apache-2.0
// The threads of this process, as the operating system counts them.
#pragma once

#include <vector>

namespace novaphy::platform {

/// Their numbers, sorted; empty where the system does not tell.
std::vector<int> thread_ids();

/// Which of `threads` still run after a moment: one that was joined just now needs it to go.
std::vector<int> still_running(std::vector<int> threads);

}  // namespace novaphy::platform
