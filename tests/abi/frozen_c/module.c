/* SPDX-License-Identifier: Apache-2.0
 * A C module that is built from the headers as ABI 1.0 was published, and must keep loading. It uses every field of the
 * host: its load says what it could not do. */
#include <stdio.h>
#include <string.h>

#include "novaphy/abi.h"

static int object;

static novaphy_status load(const novaphy_host* host, novaphy_error* error) {
  novaphy_error told = {sizeof(novaphy_error), NOVAPHY_OK, {0}};
  const char* wrong = NULL;
  if (host->abi_major != 1) wrong = "the host speaks another ABI";
  if (!novaphy_has(host, plugin_dir)) wrong = "the host is smaller than that of ABI 1.0";
  if (wrong == NULL && strcmp(host->config_json(host->ctx), "{}") != 0) wrong = "no options";
  if (wrong == NULL && host->plugin_dir(host->ctx)[0] != '/') wrong = "no folder";
  if (wrong == NULL && host->find(host->ctx, "test.IAbsent/1", "absent", &told) != NULL) wrong = "found what is not there";
  if (wrong == NULL && (told.code != NOVAPHY_E_NOT_FOUND || told.message[0] == '\0')) wrong = "no reason for a failed find";
  if (wrong == NULL && host->publish(host->ctx, "test.IPlain/1", "frozen_c", &object, NULL) != NOVAPHY_OK) wrong = "publish";
  if (wrong == NULL) {
    host->log(host->ctx, 1, "loaded");
    return NOVAPHY_OK;
  }
  error->code = NOVAPHY_E_INIT;
  snprintf(error->message, sizeof error->message, "%s", wrong);
  return NOVAPHY_E_INIT;
}

static novaphy_status unload(const novaphy_host* host, novaphy_error* error) {
  (void)host, (void)error;
  return NOVAPHY_OK;
}

const novaphy_plugin* novaphy_plugin_entry(void) {
  static const novaphy_plugin plugin = {sizeof(novaphy_plugin), 1, 0, 0, "frozen_c", "0.1.0", NULL, load, unload};
  return &plugin;
}
