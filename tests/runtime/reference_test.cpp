// SPDX-License-Identifier: Apache-2.0
// What the plugin system says about itself: the committed pages and the schemas are those of the tables.
#include "novaphy/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "host_process.hpp"
#include "manifest/fields.hpp"
#include "resolve/host_config.hpp"

using namespace novaphy;

namespace {

std::string committed(const std::string& page) {
  return test::read_text(test::fs::path(NOVAPHY_SOURCE_DIR) / "sdk/docs" / page);
}

}  // namespace

TEST_CASE("sdk/docs/errors.md is what `novaphy-host errors` prints") {
  CHECK_MESSAGE(committed("errors.md") == errors_page(),
                "write it again: novaphy-host errors >sdk/docs/errors.md");
}

TEST_CASE("sdk/docs/manifest.md is what `novaphy-host manifest-schema --page` prints") {
  CHECK_MESSAGE(committed("manifest.md") == manifest_page(),
                "write it again: novaphy-host manifest-schema --page >sdk/docs/manifest.md");
}

TEST_CASE("each error code stands once in the table, in order, with whole sentences") {
  std::string before;
  for (const ErrorCode& row : error_codes()) {
    CHECK(before < row.code);
    before = row.code;
    for (const std::string text : {row.meaning, row.remedy}) CHECK_MESSAGE(text.ends_with("."), row.code);
    CHECK_MESSAGE(std::string(row.example).size() > 5, row.code);
  }
}

TEST_CASE("the host configuration's JSON schema is made from the table that validates") {
  const nlohmann::json schema = nlohmann::json::parse(host_config_schema());
  for (const Field& field : host_config_fields())
    CHECK(schema["properties"][field.key]["description"] == field.doc);
  CHECK(schema["properties"].size() == host_config_fields().size());
  CHECK(schema["properties"]["plugins"]["items"]["anyOf"][1]["required"] == nlohmann::json{"name"});
  CHECK(schema["properties"]["on_error"]["enum"] == nlohmann::json{"fail", "continue"});
}
