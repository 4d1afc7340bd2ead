// SPDX-License-Identifier: Apache-2.0
// novaphy-host run DEMO: trains a demo without Python and prints the falling loss.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "dump.hpp"
#include "novaphy/demo.hpp"
#include "verbs.hpp"
#include "watch.hpp"

namespace novaphy::host {
namespace {

struct RunOptions {
  std::string demo, dump_folder;
  int iterations = -1;
  bool watch = false;
  std::vector<std::string> settings;  ///< "name=value"
};

/// "no demo 'difsim_ball'; did you mean 'diffsim_ball'? There are: ...".
std::string unknown_demo(const std::string& name, const Runtime& runtime) {
  std::vector<std::string> names;
  for (const ProvidedInterface& item : runtime.list(IDemo::kId)) names.push_back(item.name);
  return "NP408 command line: no demo '" + name + "'" +
         (names.empty() ? "; no plugin that was found provides one, see 'novaphy-host list'"
                        : known_names(name, names));
}

IDemo& find_demo(Runtime& runtime, const std::string& name) {
  const std::vector<ProvidedInterface> demos = runtime.list(IDemo::kId);
  const auto is_it = [&](const ProvidedInterface& item) { return item.name == name; };
  if (std::none_of(demos.begin(), demos.end(), is_it)) throw Exit{kUsage, unknown_demo(name, runtime)};
  try {
    return *static_cast<IDemo*>(runtime.find(IDemo::kId, name));
  } catch (const Error& error) {
    throw Exit{kPluginFailed, error.what()};
  }
}

void check_required(Runtime& runtime) {
  if (runtime.on_error() == "continue") return;
  try {
    runtime.require_listed();
  } catch (const Error& error) {
    throw Exit{kPluginFailed, error.what()};
  }
}

/// What is wrong with a number of iterations; CLI11's own text names the largest number that there is.
std::string iterations_fault(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : "is '" + text + "'; give a whole number of at least 0";
}

DemoOptions demo_options(const RunOptions& options) {
  DemoOptions out;
  out.iterations = options.iterations;
  for (const std::string& setting : options.settings) {
    const std::size_t equal = setting.find('=');
    if (equal == std::string::npos || equal == 0)
      throw Exit{kUsage, "--set " + setting + ": write --set NAME=VALUE"};
    out.values[setting.substr(0, equal)] = setting.substr(equal + 1);
  }
  return out;
}

int run_demo(const RunOptions& options, const Common& common) {
  const DemoOptions settings = demo_options(options);
  Runtime& runtime = start_runtime(common, false);
  check_required(runtime);
  IDemo& demo = find_demo(runtime, options.demo);
  demo.build(settings);
  const int iterations = options.iterations >= 0 ? options.iterations : demo.default_iterations();
  if (!common.json) std::cout << options.demo << ": " << demo.summary() << std::endl;

  std::vector<float> losses;
  for (int i = 0; i < iterations; ++i) {
    losses.push_back(demo.iterate());
    if (!common.json) std::cout << fmt::format("iteration {:>4}  loss {}", i, losses.back()) << std::endl;
  }
  const float loss = demo.rollout();
  if (!options.dump_folder.empty()) {
    std::vector<DemoArray> arrays = demo.arrays();
    arrays.push_back({"loss", DeviceArray::from(std::span<const float>(&loss, 1), {1})});
    dump_arrays(options.dump_folder, arrays, {options.demo, iterations}, runtime, common);
  }
  if (common.json) {
    std::cout << printed({{"demo", options.demo},
                          {"iterations", iterations},
                          {"losses", losses},
                          {"loss", loss},
                          {"dump", options.dump_folder}});
    return kOk;
  }
  std::cout << fmt::format("after {} iterations  loss {}\n", iterations, loss);
  if (!options.dump_folder.empty()) std::cout << "states written to " << options.dump_folder << "\n";
  return kOk;
}

}  // namespace

Action add_run(CLI::App& app, const Common& common) {
  CLI::App* verb = app.add_subcommand("run", "Trains a demo that a plugin provides");
  const auto options = std::make_shared<RunOptions>();
  verb->add_option("DEMO", options->demo, "Its name, such as diffsim_ball")->required()->type_name("DEMO");
  verb->add_option("--iterations", options->iterations, "Training iterations; 0: only the initial rollout")
      ->check(iterations_fault);
  verb->add_option("--dump-states", options->dump_folder, "Folder for the arrays of the last rollout")
      ->type_name("PATH");
  verb->add_option("--set", options->settings, "An option of the demo; may be given again")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  verb->add_flag(
      "--watch", options->watch,
      "Start the demo again whenever a plugin's library or manifest changes, until it is interrupted");
  return [&common, options] { return options->watch ? watch(common) : run_demo(*options, common); };
}

}  // namespace novaphy::host
