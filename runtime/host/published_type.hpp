// SPDX-License-Identifier: Apache-2.0
// Which class an object of another library has, asked of the object itself.
#pragma once

#include <string>
#include <typeinfo>

namespace novaphy::host {

/// Whether `object` points to a part of type `wanted` of its whole object: what a caller assumes who casts
/// the pointer to that interface. Empty, or what it is instead. The object must have virtual functions; one
/// without them ends the process.
std::string why_not_a(const std::type_info& wanted, void* object);

}  // namespace novaphy::host
