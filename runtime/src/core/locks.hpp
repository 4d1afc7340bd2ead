// SPDX-License-Identifier: Apache-2.0
// The locks that the whole process shares, and what becomes of them in a forked child.
#pragma once

#include <mutex>

namespace novaphy {

// In the order in which a thread may take them. While a process forks, all of them are held, so that nothing
// is half done in the child, which has none of the other threads; there they are new and free.

/// Which runtime runs.
std::recursive_mutex& runtime_mutex();
/// Plans and loads; recursive, since a module that loads may ask for others.
std::recursive_mutex& load_mutex();
/// One log line at a time.
std::recursive_mutex& log_mutex();
/// The set of living objects of plugins.
std::recursive_mutex& live_objects_mutex();

}  // namespace novaphy
