// SPDX-License-Identifier: Apache-2.0
// The interpreter for x86-64-v4.
#define NOVA_RUN run_v4
#define NOVA_RUN_PATCHES run_patches_v4
#define NOVA_SUM_SHARED sum_shared_v4
#include "nova/backend/interpreter.inc"
#include "nova/backend/patches.inc"
