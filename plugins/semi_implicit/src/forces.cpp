// SPDX-License-Identifier: Apache-2.0
// Forces of other plugins: their lookup, their arrays and their sum.
#include "novaphy/semi_implicit/forces.hpp"

#include <algorithm>
#include <array>

#include "novaphy/api.hpp"
#include "novaphy/error.hpp"
#include "novaphy/task_pool.hpp"

namespace novaphy::semi_implicit {

namespace {

constexpr std::int64_t kBlock = 128;  // rows whose forces lie on the stack

std::string plugin_of(const std::string& name) {
  for (const ProvidedInterface& provided : list<IForce>())
    if (provided.name == name) return provided.plugin;
  return {};
}

GivenForce find_force(const std::string& name, const char* who) {
  GivenForce given;
  given.name = name;
  try {
    given.force = &find<IForce>(name);
  } catch (const Error& error) {
    throw Error(error.kind(), text(who, ": forces: ", error.what()));
  }
  given.plugin = plugin_of(name);
  try {
    given.description = given.force->describe();
    given.inputs = inputs_of(given.description);
    given.corner_count = corners_of(given.description.rows);
  } catch (const std::exception& error) {
    fail(ErrorKind::value, who, ": force '", name, "' of plugin '", given.plugin,
         "' describes itself wrongly: ", error.what());
  }
  return given;
}

bool same_layout(const ArrayInfo& a, const ArrayInfo& b) {
  return a.dtype == b.dtype && a.frequency == b.frequency && a.width == b.width;
}

void add_array(Model& model, const CustomArray& wanted, const GivenForce& force, const char* who) {
  for (const CustomArray& known : model.custom_array_specs) {
    if (known.info.name != wanted.info.name || known.owner != wanted.owner) continue;
    NOVAPHY_REQUIRE(same_layout(known.info, wanted.info), ErrorKind::value, who, ": force '", force.name,
                    "' of plugin '", force.plugin, "' wants the array '", wanted.info.name, "' with ",
                    wanted.info.width, " ", to_string(wanted.info.dtype), " for each ",
                    to_string(wanted.info.frequency), ", the model has one with ", known.info.width, " ",
                    to_string(known.info.dtype), " for each ", to_string(known.info.frequency));
    return;
  }
  model.add_custom_array(wanted);
}

/// Arrays that every model has are members of it; added ones move when another is added.
const DeviceArray* built_in(const Model& model, const std::string& name) {
  const auto is_it = [&](const ArrayInfo& info) { return info.name == name; };
  return std::ranges::any_of(built_in_arrays(ArrayOwner::model), is_it) ? model.find(name) : nullptr;
}

const DeviceArray* find_array(const ArraySet& set, const std::string& name) {
  for (const ArraySet::Custom& custom : set.custom_arrays)
    if (custom.spec.info.name == name) return &custom.array;
  return set.find(name);
}

/// The rows of a force's inputs in memory, for evaluate().
struct Inputs {
  Inputs(const GivenForce& given, const Model& model, const SimState& state) {
    for (std::size_t k = 0; k < given.inputs.size(); ++k) {
      arrays.push_back(given.array(k, model, state));
      const auto& storage = arrays.back().storage();
      rows.push_back(
          {storage ? storage->data() : nullptr, given.inputs[k].info.width, given.inputs[k].reach});
    }
    if (given.corners != nullptr) corners = given.corners->read<std::int32_t>();
  }
  ForceRows between(std::int64_t begin, std::int64_t end, int corner_count, float* out) const {
    return {begin, end, rows, corners.data(), corner_count, out};
  }
  std::vector<DeviceArray> arrays;
  std::vector<ForceInputRows> rows;
  std::span<const std::int32_t> corners;
};

void add_on_particles(const GivenForce& given, const Inputs& inputs, std::span<Vec3f> total,
                      std::int64_t grain) {
  parallel_for(static_cast<std::int64_t>(total.size()), grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<Vec3f, kBlock> forces;
    for (std::int64_t first = begin; first < end; first += kBlock) {
      const std::int64_t last = std::min(first + kBlock, end);
      given.force->evaluate(inputs.between(first, last, 1, &forces[0].x));
      for (std::int64_t row = first; row < last; ++row) {
        Vec3f& sum = total[static_cast<std::size_t>(row)];
        sum = sum + forces[static_cast<std::size_t>(row - first)];
      }
    }
  });
}

// Rows in parallel, then one sum after the other in the order of the rows, which is that of a recording.
void add_on_elements(const GivenForce& given, const Inputs& inputs, std::int64_t rows, std::span<Vec3f> total,
                     std::int64_t grain, std::vector<float>& buffer) {
  const std::int64_t width = 3 * given.corner_count;
  buffer.resize(static_cast<std::size_t>(rows * width));
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    given.force->evaluate(inputs.between(begin, end, given.corner_count, buffer.data() + begin * width));
  });
  for (std::size_t k = 0; k < inputs.corners.size(); ++k) {
    if (inputs.corners[k] < 0) continue;
    Vec3f& sum = total[static_cast<std::size_t>(inputs.corners[k])];
    sum = sum + Vec3f{buffer[3 * k], buffer[3 * k + 1], buffer[3 * k + 2]};
  }
}

}  // namespace

DeviceArray GivenForce::array(std::size_t k, const Model& model, const SimState& state) const {
  const ForceInput& input = inputs[k];
  const DeviceArray& found = fixed[k] != nullptr                ? *fixed[k]
                             : input.owner == ArrayOwner::state ? *find_array(state, input.info.name)
                                                                : *find_array(model, input.info.name);
  if (input.reach != ForceReach::uniform) return found;
  return DeviceArray(found.storage(), found.dtype(), Shape{1, input.info.width});
}

Forces::Forces(Model& model, const std::vector<std::string>& names, const char* who) {
  for (const std::string& name : names) {
    NOVAPHY_REQUIRE(std::ranges::count(names, name) == 1, ErrorKind::value, who, ": force '", name,
                    "' is given twice");
    forces_.push_back(find_force(name, who));
  }
  const auto of_state = [&](const std::string& name) {
    if (std::ranges::find(state_arrays_, name) == state_arrays_.end()) state_arrays_.push_back(name);
  };
  for (GivenForce& force : forces_) {
    for (const ForceInput& input : force.inputs)
      force.fixed.push_back(input.owner == ArrayOwner::model ? built_in(model, input.info.name) : nullptr);
    if (force.corner_count > 1)
      force.corners = built_in(model, std::string(corner_array_of(force.description.rows)));
    for (const CustomArray& array : force.description.arrays) {
      add_array(model, array, force, who);
      if (array.owner == ArrayOwner::state) of_state(array.info.name);
    }
    for (const ForceInput& input : force.inputs) {
      if (input.info.name != kTimeArray || input.owner != ArrayOwner::state) continue;
      add_array(model, {input.info, ArrayOwner::state, {0.0f}}, force, who);
      of_state(kTimeArray);
    }
  }
}

void Forces::add_to(std::span<Vec3f> total, const Model& model, const SimState& state, std::int64_t grain) {
  for (const GivenForce& given : forces_) {
    try {
      const Inputs inputs(given, model, state);
      if (given.corner_count == 1)
        add_on_particles(given, inputs, total, grain);
      else
        add_on_elements(given, inputs, given.rows(model), total, grain, rows_);
    } catch (const std::exception& error) {
      const auto* const known = dynamic_cast<const Error*>(&error);
      fail(known != nullptr ? known->kind() : ErrorKind::generic, "force '", given.name, "' of plugin '",
           given.plugin, "': ", error.what());
    }
  }
}

void Forces::check_state(const char* who, const char* which, const SimState& state) const {
  for (const std::string& name : state_arrays_)
    NOVAPHY_REQUIRE(find_array(state, name) != nullptr, ErrorKind::attribute, who, ": ", which,
                    " has no array '", name,
                    "', which a force of this solver keeps in states; make states after the solver");
}

void Forces::carry_over(const SimState& state_in, SimState& state_out, float dt) const {
  for (const std::string& name : state_arrays_) {
    DeviceArray& out = *state_out.find(name);
    if (&state_in != &state_out) out.copy_from(*find_array(state_in, name));
    if (name == kTimeArray) out.write<float>()[0] += dt;
    out.join_open_recording();
  }
}

}  // namespace novaphy::semi_implicit
