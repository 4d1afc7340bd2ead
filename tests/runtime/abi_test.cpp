// SPDX-License-Identifier: Apache-2.0
// The C contract is frozen: sizes and places of ABI 1.0.
#include <doctest/doctest.h>

#include <cstddef>

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

TEST_CASE("the structs of ABI 1.0 have the layout that they were published with") {
  static_assert(sizeof(novaphy_error) == 2048 && offsetof(novaphy_error, message) == 8);
  static_assert(sizeof(novaphy_host) == 64 && offsetof(novaphy_host, ctx) == 16 &&
                offsetof(novaphy_host, log) == 24);
  static_assert(offsetof(novaphy_host, publish) == 32 && offsetof(novaphy_host, find) == 40);
  static_assert(offsetof(novaphy_host, config_json) == 48 && offsetof(novaphy_host, plugin_dir) == 56);
  static_assert(sizeof(novaphy_plugin) == 56 && offsetof(novaphy_plugin, name) == 16 &&
                offsetof(novaphy_plugin, load) == 40);
  CHECK(NOVAPHY_ABI_MAJOR == 1);
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

TEST_CASE("an exception of a load function becomes a status and its text") {
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  CHECK(novaphy::plugin_detail::trapped<throws_text>(nullptr, &error) == NOVAPHY_E_EXCEPTION);
  CHECK(std::string(error.message) == "why");
  CHECK(novaphy::plugin_detail::trapped<throws_unavailable>(nullptr, &error) == NOVAPHY_UNAVAILABLE);
  CHECK(std::string(error.message) == "no device");
  CHECK(novaphy::plugin_detail::trapped<throws_number>(nullptr, nullptr) == NOVAPHY_E_EXCEPTION);
}
