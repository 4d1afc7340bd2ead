/* SPDX-License-Identifier: Apache-2.0
 * The release of these headers. A test holds it equal to the project's version. */
#ifndef NOVAPHY_VERSION_H
#define NOVAPHY_VERSION_H

#define NOVAPHY_SDK_VERSION_MAJOR 0
#define NOVAPHY_SDK_VERSION_MINOR 1
#define NOVAPHY_SDK_VERSION_PATCH 0

#endif
