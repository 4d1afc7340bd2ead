// SPDX-License-Identifier: Apache-2.0
// Times the ball through the host's C++ loop, without Python, and the discovery of all plugins; prints one JSON line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <vector>

#include "novaphy/demo.hpp"
#include "novaphy/runtime.hpp"

namespace {

constexpr int kSubsteps = 288, kRuns = 31;
constexpr float kLoss = 9.105798f;  // of the untrained throw; a figure of a wrong program is worth nothing

// CPU seconds of this process: other programs on the machine don't count.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Median over kRuns of the CPU seconds of one call; `repeat` calls are timed together, since the clock ticks in us.
template <class F>
double median_seconds(int repeat, F call) {
  call();
  std::vector<double> seconds;
  for (int run = 0; run < kRuns; ++run) {
    const double start = cpu_seconds();
    for (int i = 0; i < repeat; ++i) call();
    seconds.push_back((cpu_seconds() - start) / repeat);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  return seconds[kRuns / 2];
}

// One start of the runtime: every manifest read and planned, no library opened.
std::size_t discover() {
  const std::vector<novaphy::ReportRow> rows = novaphy::Runtime::start({}).report();
  for (const novaphy::ReportRow& row : rows) {
    if (row.state == novaphy::PluginState::loaded) throw novaphy::Error(row.module + " was loaded by discovery");
  }
  novaphy::Runtime::shutdown();
  return rows.size();
}

void measure() {
  const double discovery = median_seconds(4, discover);
  const std::size_t modules = discover();

  auto* demo = static_cast<novaphy::IDemo*>(novaphy::Runtime::instance().find(novaphy::IDemo::kId, "diffsim_ball"));
  demo->build({});
  const float loss = demo->rollout();
  if (!(std::abs(loss - kLoss) < 1e-5f)) throw novaphy::Error(novaphy::text("the loss is ", loss, ", expected ", kLoss));
  const double forward = median_seconds(4, [&] { demo->rollout(); });
  const double both = median_seconds(4, [&] { demo->iterate(); });
  std::printf("{\"discovery_ms\": %.4g, \"modules\": %zu, \"forward_us\": %.4g, \"forward_backward_us\": %.4g, \"loss\": %.9g}\n",
              discovery * 1e3, modules, forward / kSubsteps * 1e6, both / kSubsteps * 1e6, static_cast<double>(loss));
}

}  // namespace

int main() {
  try {
    measure();
    novaphy::Runtime::shutdown();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ball_loop: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
