// SPDX-License-Identifier: Apache-2.0
#include "manifest/json_text.hpp"

#include <fmt/format.h>

#include <set>

namespace novaphy {
namespace {

using nlohmann::json;

/// Follows the parser, for what the parsed value no longer shows: keys that are given twice, and the depth.
class Follower {
 public:
  Follower(const JsonTextCodes& codes, Problems& problems) : codes_(codes), problems_(problems) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (depth >= kMaxJsonDepth && !too_deep_) {
          too_deep_ = true;
          problems_.add(codes_.too_large, pointer(),
                        fmt::format("is nested deeper than {} levels", kMaxJsonDepth));
        }
        if (too_deep_) return false;
        levels_.push_back({event == json::parse_event_t::array_start, 0, {}, {}});
        return true;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        if (!levels_.empty()) levels_.pop_back();
        next_element();
        return true;
      case json::parse_event_t::key:
        if (!too_deep_ && !levels_.empty()) enter_key(parsed.get<std::string>());
        return true;
      case json::parse_event_t::value:
        next_element();
        return true;
    }
    return true;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t index;
    std::string key;
    std::set<std::string> keys;
  };

  void enter_key(std::string key) {
    levels_.back().key = key;
    if (!levels_.back().keys.insert(std::move(key)).second)
      problems_.add(codes_.duplicate_key, pointer(), "given twice");
  }
  void next_element() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().index;
  }
  std::string pointer() const {
    std::string out;
    for (const Level& level : levels_)
      out += pointer_segment(level.is_array ? std::to_string(level.index) : level.key);
    return out;
  }

  const JsonTextCodes& codes_;
  Problems& problems_;
  std::vector<Level> levels_;
  bool too_deep_ = false;
};

/// "[json.exception.parse_error.101] parse error at line 3, column 16: syntax error while parsing object -
/// invalid literal; last read: '0.1.'; expected '}'" -> "line 3, column 16: expected '}'; last read '0.1.'".
std::string shortened(const std::string& message) {
  const std::size_t place = message.find("line ");
  const std::size_t colon = message.find(": ", place == std::string::npos ? 0 : place);
  if (place == std::string::npos || colon == std::string::npos) return message;
  std::string detail = message.substr(colon + 2);
  if (const std::size_t dash = detail.find(" - "); dash != std::string::npos)
    detail = detail.substr(dash + 3);
  const std::string where = message.substr(place, colon - place);
  const std::size_t expected = detail.rfind("; expected ");
  const std::size_t read = detail.find("; last read: ");
  const std::string wanted = expected == std::string::npos ? "" : detail.substr(expected + 2);
  if (read == std::string::npos) {
    if (wanted.empty() || !detail.starts_with("unexpected ")) return where + ": " + detail;
    return where + ": " + wanted + ", found " + detail.substr(11, expected - 11);
  }
  const std::string what = wanted.empty() ? detail.substr(0, read) : wanted;
  const std::size_t begin = read + 13;
  std::string token = detail.substr(begin, wanted.empty() ? std::string::npos : expected - begin);
  if (token.size() > kMaxExcerpt) token = "'..." + token.substr(token.size() - kMaxExcerpt);
  return where + ": " + what + "; last read " + token;
}

std::string size_text(std::uintmax_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

json parse_json_text(const std::string& text, const JsonTextCodes& codes, Problems& problems) {
  json value;
  const std::size_t before = problems.size();
  if (text.empty()) {
    problems.add(codes.not_json, "", "is empty, must hold a JSON object");
    return nullptr;
  }
  try {
    value = json::parse(text, Follower(codes, problems));
  } catch (const json::parse_error& error) {
    problems.add(codes.not_json, "", "not valid JSON at " + shortened(error.what()));
    return nullptr;
  } catch (const json::out_of_range&) {
    problems.add(codes.not_json, "", "holds a number that is too large to read; write a smaller one");
    return nullptr;
  }
  if (problems.size() > before && value.is_discarded()) return nullptr;
  if (!value.is_object()) {
    if (problems.size() == before)
      problems.add(codes.not_object, "", "must hold a JSON object, holds " + describe_value(value));
    return nullptr;
  }
  return value;
}

json parse_json_file(const platform::FileText& file, const JsonTextCodes& codes, Problems& problems) {
  if (!file.error.empty()) {
    problems.add(codes.unreadable, "", "cannot be read: " + file.error);
    return nullptr;
  }
  if (file.size > kMaxJsonBytes) {
    problems.add(codes.too_large, "", "is " + size_text(file.size) + ", the limit is 1 MiB");
    return nullptr;
  }
  return parse_json_text(file.text, codes, problems);
}

std::string describe_value(const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "an array";
    case json::value_t::string:
      return "a string";
    default:
      return value.dump();
  }
}

}  // namespace novaphy
