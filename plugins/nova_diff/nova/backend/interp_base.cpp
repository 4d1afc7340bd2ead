// SPDX-License-Identifier: Apache-2.0
// The interpreter for every processor.
#define NOVA_RUN run_base
#include "nova/backend/interpreter.inc"
