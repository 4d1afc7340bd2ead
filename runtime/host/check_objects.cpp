// SPDX-License-Identifier: Apache-2.0
// C07 and C08: what a module publishes, and whether it works on a scene of a few elements.
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <typeinfo>

#include "check.hpp"
#include "check_force.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/collision.hpp"
#include "novaphy/demo.hpp"
#include "novaphy/solver.hpp"
#include "published_type.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;

constexpr int kSteps = 10;
constexpr float kTimeStep = 1.0f / 600.0f;

struct Item {
  std::string interface_id, name;
};

std::vector<Item> provided(const Runtime& runtime, const std::string& module) {
  std::vector<Item> out;
  for (const json& item : module_manifest(runtime, module).value("provides", json::array()))
    out.push_back({item.value("interface", ""), item.value("name", "")});
  return out;
}

/// Three particles, a box and a pendulum above a plane, as far as the solver says that it steps them.
std::shared_ptr<Model> small_scene(const SolverTraits& traits) {
  ModelBuilder builder;
  builder.add_ground_plane();
  if (traits.particles)
    for (int i = 0; i < 3; ++i)
      builder.add_particle({0.3f * static_cast<float>(i), 0.0f, 0.5f}, {0.1f, 0.0f, 0.0f}, 1.0);
  if (traits.bodies) {
    BodyArgs args;
    args.xform = Transformf{{0, 2, 1}, {0, 0, 0, 1}};
    builder.add_shape_box(builder.add_body(args), 0.1, 0.1, 0.1);
  }
  if (traits.articulations) {
    BodyArgs args;
    args.xform = Transformf{{0, 4, 1}, {0, 0, 0, 1}};
    const int link = builder.add_link(args);
    builder.add_shape_box(link, 0.1, 0.1, 0.1);
    builder.add_articulation({builder.add_joint_revolute(-1, link)});
  }
  return builder.finalize();
}

/// What is wrong when `action` does not refuse with Error; empty when it does.
std::string refusal_missing(const std::string& what, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error&) {
    return {};
  } catch (const std::exception& error) {
    return what + " it threw no novaphy::Error but another exception: " + error.what();
  } catch (...) {
    return what + " it threw something that is no exception object; throw novaphy::Error";
  }
  return what + " it did not refuse; throw novaphy::Error, with the option's name";
}

std::string try_solver(ISolverFactory& factory) {
  const SolverTraits traits = factory.traits();
  if (!traits.particles && !traits.bodies && !traits.articulations)
    return "its traits say that it steps neither particles nor bodies nor articulations";
  const std::shared_ptr<Model> model = small_scene(traits);
  const std::unique_ptr<ISolver> solver = factory.create(model, "");
  if (solver == nullptr) return "create returned null; throw novaphy::Error when it cannot";
  auto now = model->state(), next = model->state();
  const auto control = model->control();
  for (int i = 0; i < kSteps; ++i) {
    now->clear_forces();
    solver->step(*now, *next, control.get(), nullptr, kTimeStep);
    try {
      next->check_finite();
    } catch (const Error& error) {
      return "step " + std::to_string(i + 1) + " gave a value that is not finite: " + error.what();
    }
    std::swap(now, next);
  }
  const std::string unknown = refusal_missing("an option that it does not have, {\"no_such_option\": 1},",
                                              [&] { factory.create(model, R"({"no_such_option": 1})"); });
  if (!unknown.empty()) return unknown;
  return refusal_missing("options that are not JSON, '{',", [&] { factory.create(model, "{"); });
}

std::string try_collision(ICollisionPipelineFactory& factory) {
  const std::shared_ptr<Model> model = small_scene({.summary = "", .particles = true});
  const std::unique_ptr<ICollisionPipeline> pipeline = factory.create(model, {});
  if (pipeline == nullptr) return "create returned null; throw novaphy::Error when it cannot";
  const auto contacts = pipeline->contacts();
  pipeline->collide(*model->state(), *contacts);
  return refusal_missing("a margin that is not a number",
                         [&] { factory.create(model, {.soft_contact_margin = std::nanf("")}); });
}

std::string try_demo(IDemo& demo) {
  if (demo.summary().empty()) return "its summary is empty; say in one line what is to be seen";
  demo.build({});
  const float loss = demo.iterate(), after = demo.rollout();
  if (!std::isfinite(loss) || !std::isfinite(after))
    return "its losses are not finite: " + std::to_string(loss) + ", " + std::to_string(after);
  return {};
}

/// An interface of NovaPhy: its type, and what an object of it is asked to do.
struct KnownInterface {
  const std::type_info* type;
  std::string (*try_out)(void* object);
};

const std::map<std::string, KnownInterface>& known_interfaces() {
  static const std::map<std::string, KnownInterface> all = {
      {ISolverFactory::kId,
       {&typeid(ISolverFactory),
        [](void* object) { return try_solver(*static_cast<ISolverFactory*>(object)); }}},
      {ICollisionPipelineFactory::kId,
       {&typeid(ICollisionPipelineFactory),
        [](void* object) { return try_collision(*static_cast<ICollisionPipelineFactory*>(object)); }}},
      {IForce::kId, {&typeid(IForce), [](void* object) { return try_force(*static_cast<IForce*>(object)); }}},
      {IDemo::kId, {&typeid(IDemo), [](void* object) { return try_demo(*static_cast<IDemo*>(object)); }}}};
  return all;
}

Runtime& with_module_loaded(const StepContext& step) {
  Runtime& runtime = plan_for_check(step);
  row_to_load(step, runtime);
  load_module(step, runtime, false);
  return runtime;
}

void add_finding(std::string& text, const Item& item, const std::string& finding) {
  if (finding.empty()) return;
  text += (text.empty() ? "" : "\n") + item.interface_id + " '" + item.name + "': " + finding;
}

}  // namespace

Outcome check_published(const StepContext& step) {
  Runtime& runtime = with_module_loaded(step);
  std::string findings;
  for (const Item& item : provided(runtime, step.module)) {
    const auto known = known_interfaces().find(item.interface_id);
    if (known == known_interfaces().end())
      continue;  // an interface of somebody else: only its user knows its type
    const std::string other = why_not_a(*known->second.type, runtime.find(item.interface_id, item.name));
    if (!other.empty()) add_finding(findings, item, "the published object is " + other);
  }
  return findings.empty() ? Outcome{} : Outcome::failure(std::move(findings));
}

Outcome check_objects(const StepContext& step) {
  Runtime& runtime = with_module_loaded(step);
  std::string findings;
  bool any = false;
  for (const Item& item : provided(runtime, step.module)) {
    const auto known = known_interfaces().find(item.interface_id);
    if (known == known_interfaces().end()) continue;
    any = true;
    try {
      add_finding(findings, item, known->second.try_out(runtime.find(item.interface_id, item.name)));
    } catch (const std::exception& error) {
      add_finding(findings, item, std::string("on a small scene it threw: ") + error.what());
    }
  }
  if (!any) return Outcome::skip("publishes no solver, force, collision pipeline or demo");
  return findings.empty() ? Outcome{} : Outcome::failure(std::move(findings));
}

}  // namespace novaphy::host
