/* SPDX-License-Identifier: Apache-2.0
 * Plugin hello_c_plugin in C: the contract of novaphy/abi.h alone. It publishes a table of C functions under an
 * interface id of its own, says hello in the log, and asks for an option of its manifest. */
#include "hello_c_plugin.h"

#include <stdio.h>
#include <string.h>

#include "novaphy/abi.h"

/* The distance that something falls in `time` s, m. */
static double fall(double time) {
  return 0.5 * 9.81 * time * time;
}

static const acme_fall_v1 fall_v1 = {sizeof(acme_fall_v1), fall};

static novaphy_status load(const novaphy_host* host, novaphy_error* error) {
  char line[256];
  if (host->abi_major != NOVAPHY_ABI_MAJOR) return NOVAPHY_E_ABI; /* its struct may look otherwise */
  const char* options = host->config_json(host->ctx); /* checked against the manifest, defaults filled in */
  snprintf(line, sizeof line, "%s from plain C", strstr(options, "\"loud\":true") ? "HELLO" : "hello");
  host->log(host->ctx, 2, line);
  return host->publish(host->ctx, ACME_FALL_V1, "earth", (void*)&fall_v1, error);
}

/* The descriptor is static memory; the runtime looks up this one symbol. */
const novaphy_plugin* novaphy_plugin_entry(void) {
  static const novaphy_plugin plugin = {
      sizeof(novaphy_plugin), NOVAPHY_ABI_MAJOR, NOVAPHY_ABI_MINOR, 0, "hello_c_plugin", "0.1.0",
      NULL, /* no fingerprint: no C++ type passes */
      load, NULL};
  return &plugin;
}
