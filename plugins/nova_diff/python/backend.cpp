// SPDX-License-Identifier: Apache-2.0
// Which tier runs kernels, and on how many threads.
#include "bindings.hpp"
#include "novaphy/nova/compiled_kernels.hpp"
#include "novaphy/nova/kernel.hpp"
#include "novaphy/python.hpp"
#include "novaphy/task_pool.hpp"

namespace nova::python {

void bind_backend(py::module_& m) {
  m.def("set_jit_enabled", &set_compiled_kernels, py::arg("enabled"),
        "Asks for compiled kernels where there are any (default: yes); returns whether they are in use.");
  m.def("is_jit_enabled", &compiled_kernels_wanted, "What set_jit_enabled asked for.");
  m.def("jit_available", &has_compiled_kernels,
        "Whether there are compiled kernels: those of stock formulas.");
  m.def("backend", &backend_name,
        "The fastest tier in use: 'aot' (stock formulas compiled ahead of time, the rest interpreted) or "
        "'interpreter'.");
  m.def(
      "set_num_threads",
      [](int count) {
        NOVAPHY_REQUIRE(count >= 1, novaphy::ErrorKind::value,
                        "nova.set_num_threads: wants at least 1 thread, got ", count);
        novaphy::task_pool().set_thread_count(count);
      },
      novaphy::python::integer("count"),
      "Threads that the engine uses from now on, in the whole process. Results do not depend on it. "
      "ValueError below 1.");
}

}  // namespace nova::python
