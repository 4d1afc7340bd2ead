# SPDX-License-Identifier: Apache-2.0
"""Twenty elements of each kind, each with particles, a rest shape, a material and an activation of its own."""
from dataclasses import dataclass, field

import numpy as np

from twin_elements import bending_forces, spring_forces, tetrahedron_forces, triangle_forces

COUNT = 20
CORNERS = {"springs": 2, "triangles": 3, "bending": 4, "tetrahedra": 4}
#: The numbers of a kind besides positions, velocities and forces: arrays of the model that a recorded step reads.
PARAMETERS = {
    "springs": {"ke": "spring_stiffness", "kd": "spring_damping", "rest_length": "spring_rest_length"},
    "triangles": {"rest": "tri_poses", "activation": "particle_tri_activation", "material": "particle_tri_material"},
    "bending": {"material": "edge_bending_properties", "rest_angle": "edge_rest_angle"},
    "tetrahedra": {"rest": "tet_poses", "activation": "particle_tet_activation", "material": "particle_tet_material"},
}
LAWS = {"springs": spring_forces, "triangles": triangle_forces, "bending": bending_forces, "tetrahedra": tetrahedron_forces}


@dataclass
class ElementCase:
    kind: str
    model: object
    indices: np.ndarray
    values: dict = field(default_factory=dict)  # x, v, f and the parameters, float32

    def law(self, dtype=np.float64, **changed):
        """particle_f plus the forces of the law over `dtype`, from the case's numbers with some changed."""
        return LAWS[self.kind](*(np.asarray(a, dtype) if a is not self.indices else a
                                 for a in self.arguments({**self.values, **changed})))

    def arguments(self, values):
        return [values["x"], values["v"], values["f"], self.indices, *(values[name] for name in PARAMETERS[self.kind])]

    def forces(self, **tensors):
        """The generated operator on tensors; what is not given is the model's or the case's."""
        import novaphy.diff as ndiff
        from novaphy import nova
        t = {name: tensors.get(name, nova.tensor(value)) for name, value in self.values.items()}
        motion = (self.model, t["x"], t["v"], t["f"])
        if self.kind == "springs":
            return ndiff.eval_spring_forces_generated(*motion, t["ke"], t["kd"], t["rest_length"])
        if self.kind == "bending":
            return ndiff.eval_bending_forces_generated(*motion, t["material"], t["rest_angle"])
        if self.kind == "triangles":
            return ndiff.eval_triangle_forces_generated(*motion, t["activation"], t["material"])
        return ndiff.eval_tetrahedra_forces_generated(*motion, t["activation"], t["material"])


def unit_rest(kind, rng):
    """Corners of one element at rest."""
    shapes = {"springs": [[0, 0, 0], [1, 0, 0]], "triangles": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
              "bending": [[0.4, 1, 0], [0.6, -1, 0], [0, 0, 0], [1, 0, 0]],
              "tetrahedra": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    return np.array(shapes[kind], float) + rng.uniform(-0.1, 0.1, (CORNERS[kind], 3))


def element_case(kind, seed=0, requires_grad=False):
    """Twenty random elements that are well away from the places without a derivative."""
    import novaphy
    rng = np.random.default_rng(seed)
    corners = CORNERS[kind]
    builder = novaphy.ModelBuilder()
    for element in range(COUNT):
        builder.add_particles(pos=unit_rest(kind, rng) + [3.0 * element, 0, 0], vel=np.zeros((corners, 3)), mass=[1.0] * corners)
        at = [corners * element + k for k in range(corners)]
        if kind == "springs":
            builder.add_spring(*at, 1.0, 0.0, 0.0)
        elif kind == "triangles":
            builder.add_triangle(*at)
        elif kind == "bending":
            builder.add_edge(*at)
        else:
            builder.add_tetrahedron(*at)
    model = builder.finalize(requires_grad=requires_grad)
    cast = lambda a: np.asarray(a, np.float32)
    n = corners * COUNT
    values = {"x": cast(model.particle_q.numpy() + rng.uniform(-0.15, 0.15, (n, 3))), "v": cast(rng.normal(size=(n, 3))),
              "f": cast(rng.normal(size=(n, 3)))}
    drawn = {"ke": (COUNT,), "kd": (COUNT,), "activation": (COUNT,), "rest_angle": (COUNT,),
             "material": {"triangles": (COUNT, 5), "bending": (COUNT, 2), "tetrahedra": (COUNT, 3)}.get(kind)}
    for name, array in PARAMETERS[kind].items():
        if name in ("rest", "rest_length"):
            shape = {"triangles": (COUNT, 2, 2), "tetrahedra": (COUNT, 3, 3)}.get(kind, (COUNT,))
            values[name] = cast(getattr(model, array).numpy().reshape(shape))
        elif name in ("activation", "rest_angle"):
            values[name] = cast(rng.uniform(-0.3, 0.3, COUNT))
        else:
            values[name] = cast(rng.uniform(0.5, 5.0, drawn[name]))
        setattr(model, array, values[name].reshape(getattr(model, array).shape))
    return ElementCase(kind, model, np.arange(n).reshape(COUNT, corners), values)


def differences(case, name, weights, eps=1e-6):
    """d(sum(weights * forces)) / d values[name] by central differences in float64, all elements at once: their forces do
    not depend on each other's numbers."""
    start = case.values[name].astype(np.float64)
    rows = CORNERS[case.kind] if name in ("x", "v", "f") else 1
    shaped = start.reshape(COUNT, rows, -1)
    out = np.zeros_like(shaped)
    weighted = lambda value: (weights * case.law(**{name: value.reshape(start.shape)})).reshape(COUNT, -1).sum(1)
    for row in range(rows):
        for column in range(shaped.shape[2]):
            ends = []
            for sign in (1, -1):
                moved = shaped.copy()
                moved[:, row, column] += sign * eps
                ends.append(weighted(moved))
            out[:, row, column] = (ends[0] - ends[1]) / (2 * eps)
    return out.reshape(start.shape)
