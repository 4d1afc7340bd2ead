// SPDX-License-Identifier: Apache-2.0
// Which tier runs kernels, and on how many threads.
#include <atomic>

#include "bindings.hpp"
#include "novaphy/python.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/task_pool.hpp"

namespace nova::python {
namespace {

std::atomic<bool> jit_wanted{false};

}  // namespace

void bind_backend(py::module_& m) {
  m.def(
      "set_jit_enabled",
      [](bool enabled) {
        jit_wanted = enabled;
        return false;
      },
      py::arg("enabled"),
      "Asks for compiled kernels where a backend offers them; returns whether one is in use.");
  m.def(
      "is_jit_enabled", [] { return jit_wanted.load(); }, "What set_jit_enabled asked for.");
  m.def(
      "jit_available", [] { return false; }, "Whether a backend that compiles kernels is present.");
  m.def("backend", &backend_name, "The tier in use.");
  m.def(
      "set_num_threads",
      [](int count) {
        NOVAPHY_REQUIRE(count >= 1, novaphy::ErrorKind::value,
                        "nova.set_num_threads: wants at least 1 thread, got ", count);
        novaphy::task_pool().set_thread_count(count);
      },
      novaphy::python::integer("count"), "Results do not depend on it.");
}

}  // namespace nova::python
