// SPDX-License-Identifier: Apache-2.0
// Options as factories receive them: JSON read over the defaults, and the errors about it.
#include "novaphy/json_options.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "messages.hpp"

using namespace novaphy;

TEST_CASE("options are read over the defaults") {
  float number = 1.0f, untouched = 2.0f;
  bool flag = true;
  std::optional<float> maybe, nothing = 3.0f;
  std::optional<std::string> name;
  std::int32_t count = 1;
  std::string word = "few";
  JsonOptions options(R"({"number": 0.5, "flag": false, "maybe": 4, "name": "newton1.7", "none": null, "count": -7,
                          "word": "many"})",
                      "solver");
  options.read("count", count);
  options.read("word", word);
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
  CHECK(count == -7);
  CHECK(word == "many");
}

TEST_CASE("a list of names is read, and nothing else in its place") {
  std::vector<std::string> names{"default"};
  JsonOptions(R"({"other": 1})", "solver").read("forces", names);
  CHECK(names == std::vector<std::string>{"default"});
  JsonOptions(R"({"forces": ["wind", "rain"]})", "solver").read("forces", names);
  CHECK(names == std::vector<std::string>{"wind", "rain"});
  for (const std::string wrong : {"\"wind\"", "[1]", "null"})
    CHECK_FAILS(JsonOptions("{\"forces\": " + wrong + "}", "solver").read("forces", names), value,
                "solver: option 'forces' must be an array of strings, is " + wrong);
}

TEST_CASE("no options are no error") {
  CHECK_NOTHROW(JsonOptions("", "solver").finish());
}

TEST_CASE("options that are no JSON object, of another type or unknown are refused by name") {
  CHECK_FAILS(JsonOptions("[1]", "solver"), parse,
              "solver: the options must be a JSON object, got '[1]'");
  float number = 0.0f;
  bool flag = false;
  std::optional<std::string> name;
  std::optional<float> maybe;
  std::string word;
  JsonOptions options(R"({"number": "x", "flag": 1, "name": 7, "maybe": true, "word": null, "dampling": 1})", "solver");
  CHECK_FAILS(options.read("number", number), value,
              "solver: option 'number' must be a number, is \"x\"");
  CHECK_FAILS(options.read("flag", flag), value,
              "solver: option 'flag' must be true or false, is 1");
  CHECK_FAILS(options.read("name", name), value,
              "solver: option 'name' must be a string or null, is 7");
  CHECK_FAILS(options.read("maybe", maybe), value,
              "solver: option 'maybe' must be a number or null, is true");
  CHECK_FAILS(options.read("word", word), value,
              "solver: option 'word' must be a string, is null");
  CHECK_FAILS(options.finish(), value,
              "solver: there is no option 'dampling'; there are number, flag, name, maybe, word");
}

TEST_CASE("an option that is an integer takes nothing else, and none that does not fit") {
  std::int32_t count = 3;
  for (const std::string wrong : {"1.5", "true", "2147483648", "4294967297", "-2147483649", "\"1\"", "null"}) {
    CAPTURE(wrong);
    CHECK_FAILS(JsonOptions("{\"count\": " + wrong + "}", "solver").read("count", count), value,
                "solver: option 'count' must be an integer, is " + wrong);
  }
  CHECK(count == 3);
  JsonOptions("{\"count\": -2147483648}", "solver").read("count", count);
  CHECK(count == std::numeric_limits<std::int32_t>::min());
}
