// SPDX-License-Identifier: Apache-2.0
// The interpreter for every processor.
#define NOVA_RUN run_base
#define NOVA_RUN_PATCHES run_patches_base
#define NOVA_SUM_SHARED sum_shared_base
#include "nova/backend/interpreter.inc"
#include "nova/backend/patches.inc"
