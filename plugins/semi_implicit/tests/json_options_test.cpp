// SPDX-License-Identifier: Apache-2.0
// Solvers from their factories, as other plugins make them: options in JSON and the errors about them.
#include "src/json_options.hpp"

#include <doctest/doctest.h>

#include "messages.hpp"

using namespace novaphy;
using semi_implicit::JsonOptions;
using test::message_of;

TEST_CASE("options are read over the defaults") {
  float number = 1.0f, untouched = 2.0f;
  bool flag = true;
  std::optional<float> maybe, nothing = 3.0f;
  std::optional<std::string> name;
  JsonOptions options(R"({"number": 0.5, "flag": false, "maybe": 4, "name": "newton1.7", "none": null})",
                      "solver");
  options.read("number", number);
  options.read("untouched", untouched);
  options.read("flag", flag);
  options.read("maybe", maybe);
  options.read("none", nothing);
  options.read("name", name);
  options.finish();
  CHECK(number == 0.5f);
  CHECK(untouched == 2.0f);
  CHECK_FALSE(flag);
  CHECK(maybe == 4.0f);
  CHECK(nothing == 3.0f);
  CHECK(name == "newton1.7");
}

TEST_CASE("no options are no error") {
  CHECK_NOTHROW(JsonOptions("", "solver").finish());
}

TEST_CASE("options that are no JSON object, of another type or unknown are refused by name") {
  CHECK(message_of([] { JsonOptions("[1]", "solver"); }, ErrorKind::parse) ==
        "solver: the options must be a JSON object, got '[1]'");
  float number = 0.0f;
  bool flag = false;
  std::optional<std::string> name;
  JsonOptions options(R"({"number": "x", "flag": 1, "name": 7, "dampling": 1})", "solver");
  CHECK(message_of([&] { options.read("number", number); }, ErrorKind::value) ==
        "solver: option 'number' must be a number, is \"x\"");
  CHECK(message_of([&] { options.read("flag", flag); }, ErrorKind::value) ==
        "solver: option 'flag' must be true or false, is 1");
  CHECK(message_of([&] { options.read("name", name); }, ErrorKind::value) ==
        "solver: option 'name' must be a string or null, is 7");
  CHECK(message_of([&] { options.finish(); }, ErrorKind::value) ==
        "solver: there is no option 'dampling'; there are number, flag, name");
}
