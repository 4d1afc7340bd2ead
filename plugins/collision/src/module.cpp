// SPDX-License-Identifier: Apache-2.0
// Registers module `collision`.
#include "novaphy/collision/collision_pipeline.hpp"
#include "novaphy/plugin.hpp"

namespace {

class PipelineFactory final : public novaphy::ICollisionPipelineFactory {
 public:
  std::unique_ptr<novaphy::ICollisionPipeline> create(std::shared_ptr<novaphy::Model> model,
                                                      const novaphy::CollisionConfig& config) override {
    return std::make_unique<novaphy::CollisionPipeline>(std::move(model), config);
  }
};

void load(novaphy::PluginContext& context) {
  static PipelineFactory factory;
  context.publish<novaphy::ICollisionPipelineFactory>("collision", &factory);
}

}  // namespace

NOVAPHY_PLUGIN(load);
