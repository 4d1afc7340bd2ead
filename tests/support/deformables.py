# SPDX-License-Identifier: Apache-2.0
"""Models of particles and elements from stored arrays, and the two solvers by name."""
import numpy as np

BOTH_SOLVERS = ("SolverSemiImplicit", "DiffSemiImplicitSolver")
OUR_NAMES = {"tri_materials": "particle_tri_material", "tri_activations": "particle_tri_activation",
             "tet_materials": "particle_tet_material", "tet_activations": "particle_tet_activation"}


def solver_of(name, model):
    import novaphy.solvers
    return getattr(novaphy.solvers, name)(model)


def model_from_arrays(z, scalars=None, requires_grad=False, **changed):
    """The model whose arrays are the `model_*` of a reference file; `changed` replaces some, `scalars`
    holds the model's contact material. Elements and shapes are added
    one by one in the order of the arrays, then every array is assigned: rest shapes are those of the file."""
    import novaphy
    arrays = {key.removeprefix("model_"): value for key, value in z.items() if key.startswith("model_")} | changed
    rows = lambda name, width: arrays.get(name, np.zeros((0, width), np.int32)).reshape(-1, width)
    builder = novaphy.ModelBuilder()
    builder.add_particles(pos=arrays["particle_q"], vel=arrays["particle_qd"], mass=arrays["particle_mass"].tolist(),
                          radius=arrays["particle_radius"].tolist())
    for i, j in rows("spring_indices", 2):
        builder.add_spring(int(i), int(j), 1.0, 0.0, 0.0)
    for corners in rows("tri_indices", 3):
        builder.add_triangle(*map(int, corners))
    for corners in rows("edge_indices", 4):
        builder.add_edge(*map(int, corners))
    for corners in rows("tet_indices", 4):
        builder.add_tetrahedron(*map(int, corners))
    for kind, pose, scale in zip(arrays.get("shape_type", ()), arrays.get("shape_transform", ()), arrays.get("shape_scale", ())):
        if kind == int(novaphy.GeoType.PLANE):
            builder.add_ground_plane()
        else:
            assert kind == int(novaphy.GeoType.BOX), f"shape of type {kind}"
            builder.add_shape_box(-1, xform=pose.tolist(), hx=float(scale[0]), hy=float(scale[1]), hz=float(scale[2]))
    model = builder.finalize(requires_grad=requires_grad)
    for name, value in arrays.items():
        array = getattr(model, OUR_NAMES.get(name, name), None)
        if array is not None and array.size == value.size and value.size:
            setattr(model, OUR_NAMES.get(name, name), value.reshape(array.shape))
    for name in ("ke", "kd", "kf", "mu") if scalars else ():
        setattr(model, f"soft_contact_{name}", scalars[f"soft_contact_{name}"])
    return model
