// SPDX-License-Identifier: Apache-2.0
// Versions, ranges, and the nearest name.
#include "manifest/version.hpp"

#include <doctest/doctest.h>

#include "manifest/nearest_name.hpp"

using novaphy::parse_range;
using novaphy::parse_version;

static bool holds(const char* range, const char* version) {
  return parse_range(range).value().contains(parse_version(version).value());
}

TEST_CASE("a version is three numbers and nothing else") {
  CHECK(parse_version("0.1.0").value().parts == std::array{0, 1, 0});
  CHECK(parse_version("10.20.30").value().parts == std::array{10, 20, 30});
  for (const char* text : {"", "1", "1.2", "1.2.3.4", "1.2.x", "v1.2.3", "1.2.3 ", "01.2.3", "-1.2.3", "1..3",
                           "99999999999.0.0"})
    CHECK_FALSE_MESSAGE(parse_version(text), text);
}

TEST_CASE("all comparators of a range must hold") {
  CHECK(holds("*", "7.0.0"));
  CHECK(holds(">=0.1 <0.2", "0.1.0"));
  CHECK(holds(">=0.1 <0.2", "0.1.9"));
  CHECK_FALSE(holds(">=0.1 <0.2", "0.2.0"));
  CHECK_FALSE(holds(">=0.1 <0.2", "0.0.9"));
  CHECK(holds("=0.1.0", "0.1.0"));
  CHECK_FALSE(holds("=0.1.0", "0.1.1"));
}

TEST_CASE("parts that are not written do not count for =, <= and >") {
  CHECK(holds("=0.1", "0.1.7"));
  CHECK(holds("<=0.1", "0.1.7"));
  CHECK_FALSE(holds(">0.1", "0.1.7"));
  CHECK(holds(">0.1", "0.2.0"));
  CHECK_FALSE(holds("=0.1", "0.2.0"));
}

TEST_CASE("carets, tildes and alternatives are not ranges") {
  for (const char* text :
       {"", "^1.0", "~1.0", "1.0", ">=1.0 || <0.5", ">= 1.0", "=>1.0", "==1.0", ">=1.0,<2.0"})
    CHECK_FALSE_MESSAGE(parse_range(text), text);
}

TEST_CASE("the nearest name is the one with the fewest edits, and none when all are far") {
  const std::vector<std::string> known = {"requires", "provides", "phase"};
  CHECK(novaphy::nearest_name("requirse", known) == "requires");
  CHECK(novaphy::nearest_name("phases", known) == "phase");
  CHECK(novaphy::nearest_name("library", known) == "");
  CHECK(novaphy::nearest_name("x", {"a"}) == "");
  CHECK(novaphy::did_you_mean("provide", known) == "; did you mean 'provides'?");
  CHECK(novaphy::did_you_mean("nothing_like_it", known) == "");
}
