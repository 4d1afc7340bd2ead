// SPDX-License-Identifier: Apache-2.0
// novaphy-host errors [CODE]: what an error code means and what to do.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "novaphy/reference.hpp"
#include "verbs.hpp"

namespace novaphy::host {
namespace {

nlohmann::json as_json(const ErrorCode& row) {
  return {{"code", row.code},
          {"title", row.title},
          {"meaning", row.meaning},
          {"remedy", row.remedy},
          {"example", row.example}};
}

void print_row(const ErrorCode& row, bool in_json) {
  if (in_json)
    std::cout << printed(as_json(row));
  else
    std::cout << row.code << ": " << row.title << "\n" << row.meaning << "\n" << row.remedy << "\n";
}

void print_all(bool in_json) {
  if (!in_json) {
    std::cout << errors_page();
    return;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const ErrorCode& row : error_codes()) rows.push_back(as_json(row));
  std::cout << printed(rows);
}

}  // namespace

Action add_errors(CLI::App& app, const Common& common) {
  CLI::App* verb =
      app.add_subcommand("errors", "What an error code means and what to do; without CODE, all of them");
  const auto code = std::make_shared<std::string>();
  verb->add_option("CODE", *code, "Such as NP203");
  return [&common, code] {
    if (code->empty()) {
      print_all(common.json);
      return int{kOk};
    }
    std::vector<std::string> known;
    for (const ErrorCode& row : error_codes()) {
      if (*code == row.code) {
        print_row(row, common.json);
        return int{kOk};
      }
      known.emplace_back(row.code);
    }
    const std::string nearest = nearest_name(*code, known);
    throw Exit{kUsage, "no error code '" + *code + "'" +
                           (nearest.empty() ? "; 'novaphy-host errors' lists them"
                                            : "; did you mean '" + nearest + "'?")};
  };
}

}  // namespace novaphy::host
