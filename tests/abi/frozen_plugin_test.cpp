// SPDX-License-Identifier: Apache-2.0
// Plugins that were built from headers as they were published keep loading and working, and either side may
// be the newer.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "fixtures/plugins/greeting.hpp"
#include "novaphy/abi.h"
#include "novaphy/api.hpp"
#include "runtime/with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

const std::string kPlugins = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/";

RuntimeOptions over(const std::string& folder) {
  RuntimeOptions options;
  options.paths = {kPlugins + folder};
  return options;
}

/// A host of a later runtime, which gives more than ABI 1.0 knows.
struct FutureHost {
  novaphy_host known;
  void (*added_later)(void* ctx);
};

struct Calls {
  int published = 0;
};

FutureHost future_host(Calls& calls) {
  FutureHost out{};
  out.known.struct_size = sizeof(FutureHost);
  out.known.abi_major = NOVAPHY_ABI_MAJOR;
  out.known.abi_minor = NOVAPHY_ABI_MINOR + 1;
  out.known.ctx = &calls;
  out.known.log = [](void*, std::int32_t, const char*) {};
  out.known.publish = [](void* ctx, const char*, const char*, void*, novaphy_error*) {
    ++static_cast<Calls*>(ctx)->published;
    return novaphy_status{NOVAPHY_OK};
  };
  out.known.find = [](void*, const char*, const char*, novaphy_error* error) -> void* {
    if (error != nullptr) {
      error->code = NOVAPHY_E_NOT_FOUND;
      error->message[0] = '!';
    }
    return nullptr;
  };
  out.known.config_json = [](void*) { return "{}"; };
  out.known.plugin_dir = [](void*) { return "/nowhere"; };
  return out;
}

const novaphy_plugin* descriptor(const std::string& name) {
  void* library = dlopen((kPlugins + "abi/frozen/" + name + "/libnovaphy_" + name + ".so").c_str(),
                         RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  const auto entry = reinterpret_cast<novaphy_plugin_entry_function>(dlsym(library, NOVAPHY_PLUGIN_ENTRY));
  REQUIRE((entry != nullptr) == true);
  CHECK(entry() == entry());
  return entry();
}

}  // namespace

TEST_CASE("a C plugin built from the headers of ABI 1.0 loads and finds all that it was promised") {
  const WithRuntime runtime(over("abi/frozen"));
  CHECK(runtime.load("frozen_c") == "");
  CHECK(runtime->find("test.IPlain/1", "frozen_c") != nullptr);
}

TEST_CASE(
    "a C++ plugin built from the headers of SDK 0.1 loads in every 0.1, and is refused by name afterwards") {
  const WithRuntime runtime(over("abi/frozen"));
  const std::string outcome = runtime.load("frozen_cpp");
  if (Runtime::version().starts_with("0.1.")) {
    CHECK(outcome == "");
    CHECK(find<test::IGreeting>("frozen_cpp").greet() == "hello from frozen_cpp");
    CHECK(find<test::IGreeting>("frozen_cpp").folder == kPlugins + "abi/frozen/frozen_cpp");
  } else {
    CHECK(outcome.find("built with sdk=0.1, runtime has ") != std::string::npos);
  }
}

TEST_CASE("plugins of ABI 1.0 load in a host whose struct is larger than they know") {
  for (const std::string name : {"frozen_c", "frozen_cpp"}) {
    Calls calls;
    const FutureHost host = future_host(calls);
    novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
    CHECK_MESSAGE(descriptor(name)->load(&host.known, &error) == NOVAPHY_OK, error.message);
    CHECK(calls.published == 1);
    CHECK(descriptor(name)->unload(&host.known, &error) == NOVAPHY_OK);
  }
}

TEST_CASE("a plugin whose descriptor is larger than this runtime knows loads") {
  const WithRuntime runtime(over("unusual"));
  CHECK(runtime.load("larger_descriptor") == "");
}
