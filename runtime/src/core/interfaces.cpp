// SPDX-License-Identifier: Apache-2.0
// Destructors of the public interfaces: one vtable and one typeinfo each, in this library, for all plugins.
#include "novaphy/collision.hpp"
#include "novaphy/demo.hpp"
#include "novaphy/error.hpp"
#include "novaphy/force.hpp"
#include "novaphy/nova.hpp"
#include "novaphy/solver.hpp"
#include "novaphy/task_pool.hpp"

namespace novaphy {

Error::~Error() = default;
ITaskPool::~ITaskPool() = default;
ICollisionPipeline::~ICollisionPipeline() = default;
ICollisionPipelineFactory::~ICollisionPipelineFactory() = default;
ISolver::~ISolver() = default;
ISolverFactory::~ISolverFactory() = default;
IDemo::~IDemo() = default;
IForce::~IForce() = default;
INova::~INova() = default;

}  // namespace novaphy
