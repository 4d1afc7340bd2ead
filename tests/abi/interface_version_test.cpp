// SPDX-License-Identifier: Apache-2.0
// A second version of an interface beside its first: who asks takes the highest that it knows and that is
// there.
#include <doctest/doctest.h>

#include "abi/greetings.hpp"
#include "novaphy/api.hpp"
#include "runtime/with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

RuntimeOptions greeters(const std::string& folder) {
  RuntimeOptions options;
  options.paths = {std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/abi/" + folder};
  return options;
}

/// How a user of the interface asks: the highest id that it knows, then lower ones.
std::string greeting(const std::string& whom) {
  if (auto* second = find_optional<x::Greeting2>("polite")) return second->greet(whom);
  if (auto* first = find_optional<x::Greeting1>("polite")) return first->greet();
  return "silence";
}

}  // namespace

TEST_CASE("a new plugin serves new users and old ones") {
  const WithRuntime runtime(greeters("new"));
  CHECK(greeting("Ada") == "good day, Ada");
  CHECK(find<x::Greeting1>("polite").greet() == "good day, whoever you are");
  CHECK(list<x::Greeting1>().size() == 1);
  CHECK(list<x::Greeting2>().size() == 1);
}

TEST_CASE("a new user works with an old plugin, and without any") {
  {
    const WithRuntime runtime(greeters("old"));
    CHECK(greeting("Ada") == "good day");
    CHECK(list<x::Greeting2>().empty());
  }
  const WithRuntime runtime(greeters("frozen"));
  CHECK(greeting("Ada") == "silence");
}

TEST_CASE("an old plugin and a new one that provide the same are told apart") {
  RuntimeOptions options = greeters("new");
  options.paths.push_back(greeters("old").paths[0]);
  const WithRuntime runtime(options);
  CHECK(runtime.verdict("one_version").find("NP211 ") != std::string::npos);
  CHECK(greeting("Ada") == "good day, Ada");
}
