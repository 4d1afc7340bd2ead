// SPDX-License-Identifier: Apache-2.0
// The C contract is frozen: every size, place and number of ABI 1.0. A new field goes to the end, and raises
// the minor.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "novaphy/abi.h"

static_assert(NOVAPHY_ABI_MAJOR == 1);
static_assert(sizeof(void*) == 8, "the numbers below are those of 64-bit machines");

static_assert(sizeof(novaphy_error) == 2048);
static_assert(offsetof(novaphy_error, struct_size) == 0 && sizeof(novaphy_error::struct_size) == 4);
static_assert(offsetof(novaphy_error, code) == 4 && sizeof(novaphy_error::code) == 4);
static_assert(offsetof(novaphy_error, message) == 8 && sizeof(novaphy_error::message) == 2040);

static_assert(sizeof(novaphy_host) == 64);
static_assert(offsetof(novaphy_host, struct_size) == 0 && sizeof(novaphy_host::struct_size) == 4);
static_assert(offsetof(novaphy_host, abi_major) == 4 && sizeof(novaphy_host::abi_major) == 4);
static_assert(offsetof(novaphy_host, abi_minor) == 8 && sizeof(novaphy_host::abi_minor) == 4);
static_assert(offsetof(novaphy_host, reserved) == 12 && sizeof(novaphy_host::reserved) == 4);
static_assert(offsetof(novaphy_host, ctx) == 16 && sizeof(novaphy_host::ctx) == 8);
static_assert(offsetof(novaphy_host, log) == 24 && sizeof(novaphy_host::log) == 8);
static_assert(offsetof(novaphy_host, publish) == 32 && sizeof(novaphy_host::publish) == 8);
static_assert(offsetof(novaphy_host, find) == 40 && sizeof(novaphy_host::find) == 8);
static_assert(offsetof(novaphy_host, config_json) == 48 && sizeof(novaphy_host::config_json) == 8);
static_assert(offsetof(novaphy_host, plugin_dir) == 56 && sizeof(novaphy_host::plugin_dir) == 8);

static_assert(sizeof(novaphy_plugin) == 56);
static_assert(offsetof(novaphy_plugin, struct_size) == 0 && sizeof(novaphy_plugin::struct_size) == 4);
static_assert(offsetof(novaphy_plugin, abi_major) == 4 && sizeof(novaphy_plugin::abi_major) == 4);
static_assert(offsetof(novaphy_plugin, abi_minor) == 8 && sizeof(novaphy_plugin::abi_minor) == 4);
static_assert(offsetof(novaphy_plugin, reserved) == 12 && sizeof(novaphy_plugin::reserved) == 4);
static_assert(offsetof(novaphy_plugin, name) == 16 && sizeof(novaphy_plugin::name) == 8);
static_assert(offsetof(novaphy_plugin, version) == 24 && sizeof(novaphy_plugin::version) == 8);
static_assert(offsetof(novaphy_plugin, cxx_fingerprint) == 32 &&
              sizeof(novaphy_plugin::cxx_fingerprint) == 8);
static_assert(offsetof(novaphy_plugin, load) == 40 && sizeof(novaphy_plugin::load) == 8);
static_assert(offsetof(novaphy_plugin, unload) == 48 && sizeof(novaphy_plugin::unload) == 8);

static_assert(sizeof(novaphy_status) == 4 && NOVAPHY_OK == 0 && NOVAPHY_E_ABI == 1 && NOVAPHY_E_INIT == 2);
static_assert(NOVAPHY_E_EXCEPTION == 3 && NOVAPHY_E_STATE == 4 && NOVAPHY_E_NOT_FOUND == 5 &&
              NOVAPHY_UNAVAILABLE == 6);

TEST_CASE("the one exported symbol has the name that was published") {
  CHECK(std::string(NOVAPHY_PLUGIN_ENTRY) == "novaphy_plugin_entry");
}
