// SPDX-License-Identifier: Apache-2.0
// JSON options of SolverSemiImplicit.
#include "src/config_json.hpp"

#include <nlohmann/json.hpp>

#include "novaphy/error.hpp"

namespace novaphy::semi_implicit {

namespace {

float number(const std::string& key, const nlohmann::json& value) {
  NOVAPHY_REQUIRE(value.is_number(), ErrorKind::value, "semi_implicit: option '", key, "' must be a number, is ", value.dump());
  return static_cast<float>(value.get<double>());
}

void read_option(SemiImplicitConfig& config, const std::string& key, const nlohmann::json& value) {
  if (key == "angular_damping") {
    config.angular_damping = number(key, value);
  } else if (key == "friction_smoothing") {
    if (!value.is_null()) config.friction_smoothing = number(key, value);
  } else if (key == "friction_law") {
    NOVAPHY_REQUIRE(value.is_null() || value.is_string(), ErrorKind::value,
                    "semi_implicit: option 'friction_law' must be a string or null, is ", value.dump());
    if (!value.is_null()) config.friction_law = value.get<std::string>();
  } else if (key == "joint_attach_ke") {
    config.joint_attach_ke = number(key, value);
  } else if (key == "joint_attach_kd") {
    config.joint_attach_kd = number(key, value);
  } else if (key == "enable_tri_contact") {
    NOVAPHY_REQUIRE(value.is_boolean(), ErrorKind::value,
                    "semi_implicit: option 'enable_tri_contact' must be true or false, is ", value.dump());
    config.enable_tri_contact = value.get<bool>();
  } else {
    fail(ErrorKind::value, "semi_implicit: there is no option '", key,
         "'; there are angular_damping, friction_smoothing, friction_law, joint_attach_ke, joint_attach_kd, "
         "enable_tri_contact");
  }
}

}  // namespace

SemiImplicitConfig config_from_json(std::string_view json) {
  SemiImplicitConfig config;
  if (json.empty()) return config;
  const auto options = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  NOVAPHY_REQUIRE(options.is_object(), ErrorKind::parse, "semi_implicit: the options must be a JSON object, got '", json, "'");
  for (const auto& [key, value] : options.items()) read_option(config, key, value);
  return config;
}

}  // namespace novaphy::semi_implicit
