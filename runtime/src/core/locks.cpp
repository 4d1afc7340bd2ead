// SPDX-License-Identifier: Apache-2.0
#include "core/locks.hpp"

#include <new>

#include "platform/process.hpp"

namespace novaphy {
namespace {

struct Locks {
  std::recursive_mutex runtime, load, log, live_objects;
  Locks();
};

/// Never destroyed: other libraries may log while the process ends.
Locks& locks() {
  static Locks& instance = *new Locks;
  return instance;
}

void take_all() {
  locks().runtime.lock();
  locks().load.lock();
  locks().log.lock();
  locks().live_objects.lock();
}

void release_all() {
  locks().live_objects.unlock();
  locks().log.unlock();
  locks().load.unlock();
  locks().runtime.unlock();
}

/// A recursive mutex knows its thread by a number that is another one in the child, so it cannot be released
/// there.
void renew_all() {
  new (&locks().runtime) std::recursive_mutex;
  new (&locks().load) std::recursive_mutex;
  new (&locks().log) std::recursive_mutex;
  new (&locks().live_objects) std::recursive_mutex;
}

Locks::Locks() {
  platform::around_fork(&take_all, &release_all, &renew_all);
}

}  // namespace

std::recursive_mutex& runtime_mutex() {
  return locks().runtime;
}
std::recursive_mutex& load_mutex() {
  return locks().load;
}
std::recursive_mutex& log_mutex() {
  return locks().log;
}
std::recursive_mutex& live_objects_mutex() {
  return locks().live_objects;
}

}  // namespace novaphy
