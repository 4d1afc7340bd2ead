// SPDX-License-Identifier: Apache-2.0
// Times the plugin system; prints one JSON line. `plan COUNT` plans COUNT generated plugins, `lookup` asks once for an
// object whose module is not loaded yet, `memory` says what is resident when everything is planned and nothing loaded.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "novaphy/collision.hpp"
#include "novaphy/runtime.hpp"
#include "runtime/scratch_folder.hpp"
#include "support/resident_memory.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kRuns = 31;

// CPU seconds of this process: other programs on the machine don't count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A plugin as people write them: two modules, the second requires the first and one of another plugin; options and
// Python names.
std::string manifest_of(const std::string& name, const std::string& other) {
  const std::string needs = other.empty() ? "" : ", \"" + other + "\": \">=0.1 <0.2\"";
  return R"({"schema": 1, "name": ")" + name + R"(", "version": "0.1.0", "title": "Generated for a measurement",
"license": "Apache-2.0", "runtime": ">=0.1 <0.2", "authors": ["somebody"], "platforms": ["linux-x86_64"],
"modules": [{"name": ")" + name + R"(", "library": "lib.so", "abi": "1.0",
  "provides": [{"interface": "novaphy.ISolverFactory/1", "name": ")" + name + R"(", "summary": "a solver",
                "devices": ["cpu"]}],
  "python": {"module": "_)" + name + R"(", "exports": {"novaphy.solvers": ["Solver_)" + name + R"("]}}},
 {"name": ")" + name + R"(_diff", "library": "lib.so", "abi": "1.0", "requires": {")" + name + R"(": "=0.1.0")" + needs + R"(},
  "optional": {"nova": "*"}}],
"config": {"iterations": {"type": "integer", "default": 10, "min": 1, "max": 1000, "doc": "sweeps a step"},
           "law": {"type": "string", "default": "a", "enum": ["a", "b"], "doc": "which law"}}})";
}

void write_plugins(const fs::path& folder, int count) {
  // the plan looks whether a library is one of this machine; nothing opens it
  std::string before, header(64, '\0');
  std::ifstream("/proc/self/exe", std::ios::binary).read(header.data(), static_cast<std::streamsize>(header.size()));
  for (int i = 0; i < count; ++i) {
    const std::string name = "generated_" + std::to_string(i);
    fs::create_directory(folder / name);
    std::ofstream(folder / name / "lib.so", std::ios::binary) << header;
    std::ofstream(folder / name / (name + ".novaplugin.json")) << manifest_of(name, before);
    before = i % 10 == 9 ? "" : name;  // chains of ten
  }
}

// Median CPU milliseconds of one start: every manifest read and planned, no library opened.
void measure_plan(int count) {
  const test::ScratchFolder folder;
  write_plugins(folder.path(), count);
  novaphy::RuntimeOptions options;
  options.paths = {folder.str()};
  std::vector<double> seconds;
  for (int run = 0; run <= kRuns; ++run) {
    const double start = cpu_seconds();
    novaphy::Runtime& runtime = novaphy::Runtime::start(options);
    const double taken = cpu_seconds() - start;
    if (run > 0) seconds.push_back(taken);  // the first one reads the folders from disk
    if (!runtime.has("generated_" + std::to_string(count - 1) + "_diff")) throw novaphy::Error("not planned");
    novaphy::Runtime::shutdown();
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  std::printf("{\"plan_ms\": %.4g}\n", seconds[kRuns / 2] * 1e3);
}

void measure_lookup() {
  novaphy::Runtime& runtime = novaphy::Runtime::instance();
  const double start = cpu_seconds();
  runtime.find(novaphy::ICollisionPipelineFactory::kId, "collision");
  const double first = cpu_seconds() - start;
  constexpr int kLater = 10000;
  const double again = cpu_seconds();
  for (int i = 0; i < kLater; ++i) runtime.find(novaphy::ICollisionPipelineFactory::kId, "collision");
  std::printf("{\"first_lookup_ms\": %.4g, \"later_lookup_ns\": %.4g}\n", first * 1e3,
              (cpu_seconds() - again) / kLater * 1e9);
  novaphy::Runtime::shutdown();
}

void measure_memory() {
  const std::size_t modules = novaphy::Runtime::instance().report().size();
  std::printf("{\"resident_mb\": %.4g, \"modules\": %zu}\n", test::resident_mb(), modules);
  novaphy::Runtime::shutdown();
}

void measure(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "plan" && argc == 3)
    measure_plan(std::atoi(argv[2]));
  else if (what == "lookup")
    measure_lookup();
  else if (what == "memory")
    measure_memory();
  else
    throw novaphy::Error("say plan COUNT, lookup or memory");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    measure(argc, argv);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plugin_system: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
