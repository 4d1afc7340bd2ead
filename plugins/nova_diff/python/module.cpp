// SPDX-License-Identifier: Apache-2.0
// Extension _novaphy_nova: what novaphy.nova shows, and the tensor views and the loss of novaphy.diff.
#include "bindings.hpp"
#include "novaphy/python.hpp"
#include "traced.hpp"

NOVAPHY_PYTHON_MODULE(_novaphy_nova, m) {
  m.doc() = "Nova: tensors, tape and generated kernels.";
  nova::python::bind_tensor(m);
  nova::python::bind_factories(m);
  nova::python::bind_interop(m);
  nova::python::bind_tape(m);
  nova::python::bind_derivatives(m);
  nova::python::bind_backend(m);
  nova::python::bind_views(m);
  nova::python::bind_optim(m);
  nova::python::bind_traced(m);
  nova::python::bind_traced_functions(m);
  nova::python::bind_kernel(m);
  nova::python::bind_capture(m);
  nova::python::bind_rollout(m);
}
