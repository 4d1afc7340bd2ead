// SPDX-License-Identifier: Apache-2.0
// Symbol visibility of public classes and functions.
#pragma once

/// Marks a class or function that other libraries use. Everything else is hidden.
#define NOVAPHY_API __attribute__((visibility("default")))
