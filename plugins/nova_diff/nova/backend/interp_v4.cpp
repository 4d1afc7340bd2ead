// SPDX-License-Identifier: Apache-2.0
// The interpreter for x86-64-v4.
#define NOVA_RUN run_v4
#include "nova/backend/interpreter.inc"
