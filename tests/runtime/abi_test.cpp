// SPDX-License-Identifier: Apache-2.0
// What novaphy/plugin.hpp makes of the C contract, whose layout tests/abi freezes.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "novaphy/plugin.hpp"
#include "novaphy/runtime.hpp"

static void throws_text(novaphy::PluginContext&) {
  throw std::runtime_error("why");
}
static void throws_unavailable(novaphy::PluginContext&) {
  throw novaphy::Unavailable{"no device"};
}
static void throws_number(novaphy::PluginContext&) {
  throw 7;
}

TEST_CASE("novaphy_has looks at the sender's size") {
  novaphy_host host{};
  host.struct_size = offsetof(novaphy_host, plugin_dir);
  CHECK(novaphy_has(&host, config_json));
  CHECK_FALSE(novaphy_has(&host, plugin_dir));
}

TEST_CASE("the headers have the version of the runtime") {
  CHECK(novaphy::Runtime::version() ==
        NOVAPHY_TEXT_OF(NOVAPHY_SDK_VERSION_MAJOR) "." NOVAPHY_TEXT_OF(
            NOVAPHY_SDK_VERSION_MINOR) "." NOVAPHY_TEXT_OF(NOVAPHY_SDK_VERSION_PATCH));
}

/// A runtime that speaks this ABI major and gives nothing else.
static novaphy_host host_of_major(std::uint32_t abi_major) {
  novaphy_host host{};
  host.struct_size = sizeof host;
  host.abi_major = abi_major;
  return host;
}

TEST_CASE("an exception of a load function becomes a status and its text") {
  const novaphy_host host = host_of_major(NOVAPHY_ABI_MAJOR);
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  CHECK(novaphy::plugin_detail::trapped<throws_text>(&host, &error) == NOVAPHY_E_EXCEPTION);
  CHECK(std::string(error.message) == "why");
  CHECK(novaphy::plugin_detail::trapped<throws_unavailable>(&host, &error) == NOVAPHY_UNAVAILABLE);
  CHECK(std::string(error.message) == "no device");
  CHECK(novaphy::plugin_detail::trapped<throws_number>(&host, nullptr) == NOVAPHY_E_EXCEPTION);
}

TEST_CASE("a module does nothing under a runtime of another ABI major") {
  const novaphy_host host = host_of_major(NOVAPHY_ABI_MAJOR + 1);
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  CHECK(novaphy::plugin_detail::trapped<throws_text>(&host, &error) == NOVAPHY_E_ABI);
  CHECK(std::string(error.message) == "the runtime speaks another plugin ABI than 1; rebuild the plugin");
}
