// SPDX-License-Identifier: Apache-2.0
// The base of objects that a plugin makes and others hold.
#pragma once

#include "novaphy/export.hpp"

namespace novaphy {

/// The runtime knows which of these live. Those that outlive their plugin's unload are named by plugin and
/// count in one line of the log, and are not destroyed. Their code stays in memory until the process ends, so
/// that using and deleting them is safe; what they look up by then is refused with a reason. Any thread.
class NOVAPHY_API PluginObject {
 public:
  virtual ~PluginObject();

 protected:
  PluginObject();
  PluginObject(const PluginObject&);
  PluginObject& operator=(const PluginObject&) = default;
};

}  // namespace novaphy
