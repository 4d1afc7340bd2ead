/* SPDX-License-Identifier: Apache-2.0
 * The C contract between the runtime and a module's library. Stable inside an ABI major: structs only grow at
 * the end, and every struct begins with its size. C++ authors use novaphy/plugin.hpp, which is built on this.
 */
#ifndef NOVAPHY_ABI_H
#define NOVAPHY_ABI_H

#include <stddef.h>
#include <stdint.h>

#define NOVAPHY_ABI_MAJOR 1
#define NOVAPHY_ABI_MINOR 0

/* True when the sender's struct is large enough to hold `field`. Needed before touching a field newer
 * than 1.0. */
#define novaphy_has(object, field)                                                              \
  ((size_t)((const char*)&(object)->field - (const char*)(object)) + sizeof((object)->field) <= \
   (object)->struct_size)

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t novaphy_status;
enum {
  NOVAPHY_OK = 0,
  NOVAPHY_E_ABI = 1,       /* the other side speaks another ABI */
  NOVAPHY_E_INIT = 2,      /* load or unload could not do its work; the message says why */
  NOVAPHY_E_EXCEPTION = 3, /* a C++ exception was caught at the boundary; the message is its text */
  NOVAPHY_E_STATE = 4,     /* called at a time when it may not be called */
  NOVAPHY_E_NOT_FOUND = 5, /* no such interface; the message says why */
  NOVAPHY_UNAVAILABLE = 6  /* healthy, but this machine lacks the thing (no GPU): not a failure */
};

/* Filled by the callee. The caller sets struct_size. Strings are UTF-8 and NUL-terminated everywhere. */
typedef struct novaphy_error {
  uint32_t struct_size;
  novaphy_status code;
  char message[2040];
} novaphy_error;

/* What the runtime gives a module. Valid from load until unload returns; `ctx` belongs to this one module.
 * The receiver of a string copies it unless a lifetime is stated. Neither side frees the other's memory. */
typedef struct novaphy_host {
  uint32_t struct_size, abi_major, abi_minor, reserved;
  void* ctx;
  /* level: 0 trace, 1 debug, 2 info, 3 warn, 4 error. Any thread. */
  void (*log)(void* ctx, int32_t level, const char* message);
  /* Offers `object` (a pointer to the interface's own type) under (interface_id, name). Only inside load();
   * the object must live until unload returns. `error` may be null. */
  novaphy_status (*publish)(void* ctx, const char* interface_id, const char* name, void* object,
                            novaphy_error* error);
  /* The object that some module publishes under (interface_id, name), loading that module when needed; null
   * and a reason in `error` (which may be null) when there is none. Any thread. What is loaded
   * already is found at once; modules load and unload under one lock, so a load or unload that waits for another
   * thread whose find has to load a module waits for ever. */
  void* (*find)(void* ctx, const char* interface_id, const char* name, novaphy_error* error);
  /* This plugin's options, validated and with defaults filled in, as a JSON object. Valid until unload
   * returns. */
  const char* (*config_json)(void* ctx);
  /* The folder of this plugin's manifest, absolute. Valid until unload returns. */
  const char* (*plugin_dir)(void* ctx);
} novaphy_host;

/* What a module gives the runtime: static memory of its library. */
typedef struct novaphy_plugin {
  uint32_t struct_size, abi_major, abi_minor, reserved;
  const char* name;            /* the module's name, as in the manifest */
  const char* version;         /* the plugin's version, as in the manifest */
  const char* cxx_fingerprint; /* "key=value;..." of plugin.hpp; null for a module that passes no C++ types */
  novaphy_status (*load)(const novaphy_host* host, novaphy_error* error);
  novaphy_status (*unload)(const novaphy_host* host, novaphy_error* error); /* may be null */
} novaphy_plugin;

/* The one symbol that the runtime looks up. Returns the same pointer each time and does nothing else. */
__attribute__((visibility("default"))) const novaphy_plugin* novaphy_plugin_entry(void);
typedef const novaphy_plugin* (*novaphy_plugin_entry_function)(void);
#define NOVAPHY_PLUGIN_ENTRY "novaphy_plugin_entry"

#ifdef __cplusplus
}
#endif

#endif
