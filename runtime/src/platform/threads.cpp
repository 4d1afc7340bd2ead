// SPDX-License-Identifier: Apache-2.0
#include "platform/threads.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>

#include "platform/files.hpp"

namespace novaphy::platform {

std::vector<int> thread_ids() {
  std::vector<int> out;
  for (const fs::path& entry : sorted_entries("/proc/self/task").paths) {
    const std::string name = entry.filename().string();
    int id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec == std::errc()) out.push_back(id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int> still_running(std::vector<int> threads) {
  std::sort(threads.begin(), threads.end());
  for (int attempt = 0; attempt < 20 && !threads.empty(); ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::vector<int> all = thread_ids();
    std::vector<int> left;
    std::set_intersection(threads.begin(), threads.end(), all.begin(), all.end(), std::back_inserter(left));
    threads = std::move(left);
  }
  return threads;
}

}  // namespace novaphy::platform
