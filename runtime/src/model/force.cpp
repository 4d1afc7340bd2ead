// SPDX-License-Identifier: Apache-2.0
// The inputs of a force: names to arrays, and how a row reaches them.
#include "novaphy/force.hpp"

#include <algorithm>

#include "manifest/nearest_name.hpp"
#include "novaphy/error.hpp"

namespace novaphy {
namespace {

struct Corners {
  Frequency rows;
  int count;
  std::string_view array;
};
constexpr Corners kCorners[] = {{Frequency::particle, 1, ""},
                                {Frequency::spring, 2, "spring_indices"},
                                {Frequency::tri, 3, "tri_indices"},
                                {Frequency::edge, 4, "edge_indices"},
                                {Frequency::tet, 4, "tet_indices"}};

const Corners& corners(Frequency rows) {
  const auto found = std::ranges::find(kCorners, rows, &Corners::rows);
  NOVAPHY_REQUIRE(found != std::end(kCorners), ErrorKind::value, "force: its rows are '", to_string(rows),
                  "'; a force acts on particle, spring, tri, edge or tet");
  return *found;
}

const ArrayInfo kTime{"time", DType::f32, Frequency::once, 1, "s"};

ForceInput find_input(const ForceDescription& description, const std::string& name) {
  if (name == kTime.name) return {kTime, ArrayOwner::state};
  for (const CustomArray& own : description.arrays)
    if (own.info.name == name) return {own.info, own.owner};
  std::vector<std::string> names{kTime.name};
  for (const CustomArray& own : description.arrays) names.push_back(own.info.name);
  for (const ArrayOwner owner : {ArrayOwner::state, ArrayOwner::model})
    for (const ArrayInfo& info : built_in_arrays(owner)) {
      if (info.name == name) return {info, owner};
      names.push_back(info.name);
    }
  const std::string nearest = did_you_mean(name, names);
  fail(ErrorKind::value, "force: it reads '", name, "', which is no array of states or models",
       nearest.empty() ? "; add it to the arrays of the force" : nearest);
}

ForceReach reach_of(const ForceDescription& description, const ArrayInfo& info) {
  if (info.frequency == Frequency::once) return ForceReach::uniform;
  if (info.frequency == description.rows) return ForceReach::row;
  NOVAPHY_REQUIRE(info.frequency == Frequency::particle, ErrorKind::value, "force: it reads '", info.name,
                  "', which has a row for each ", to_string(info.frequency), "; its own rows are ",
                  to_string(description.rows), "; give an array with one row for each ",
                  to_string(description.rows), description.rows == Frequency::particle ? "" : " or particle",
                  ", or of frequency once");
  return ForceReach::corner;
}

}  // namespace

int corners_of(Frequency rows) {
  return corners(rows).count;
}

std::string_view corner_array_of(Frequency rows) {
  return corners(rows).array;
}

std::vector<ForceInput> inputs_of(const ForceDescription& description) {
  (void)corners(description.rows);
  std::vector<ForceInput> out;
  for (const std::string& name : description.inputs) {
    ForceInput input = find_input(description, name);
    NOVAPHY_REQUIRE(input.owner == ArrayOwner::state || input.owner == ArrayOwner::model, ErrorKind::value,
                    "force: its array '", name, "' belongs to neither model nor state");
    NOVAPHY_REQUIRE(input.info.dtype != DType::u8, ErrorKind::value, "force: its array '", name,
                    "' is of dtype uint8; give float32, int32 or uint32");
    input.reach = reach_of(description, input.info);
    out.push_back(std::move(input));
  }
  return out;
}

}  // namespace novaphy
