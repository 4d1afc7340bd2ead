// SPDX-License-Identifier: Apache-2.0
// A C++ module that is built from the headers of SDK 0.1.
#include "fixtures/plugins/greeting.hpp"
#include "novaphy/plugin.hpp"

static test::Greeting greeting("frozen_cpp");

static void load(novaphy::PluginContext& context) {
  greeting.config = context.config_json();
  greeting.folder = context.plugin_dir();
  context.log(novaphy::LogLevel::debug, "loaded");
  if (context.find_optional<test::IGreeting>("absent") != nullptr)
    throw novaphy::Error("found what is not there");
  context.publish<test::IGreeting>("frozen_cpp", &greeting);
}

static void unload(novaphy::PluginContext&) {}

NOVAPHY_PLUGIN(load, unload);
