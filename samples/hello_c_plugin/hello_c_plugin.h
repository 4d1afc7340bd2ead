/* SPDX-License-Identifier: Apache-2.0
 * The interface that hello_c_plugin publishes: whoever uses it includes this file. */
#ifndef NOVAPHY_HELLO_C_PLUGIN_H
#define NOVAPHY_HELLO_C_PLUGIN_H

#include <stdint.h>

#define ACME_FALL_V1 "acme.Fall/1"

/* Grows at its end alone; struct_size says how much of it is there. */
typedef struct acme_fall_v1 {
  uint32_t struct_size;
  double (*fall)(double time); /* the distance fallen after `time` s, m */
} acme_fall_v1;

#endif
