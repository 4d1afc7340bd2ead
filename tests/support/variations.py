# SPDX-License-Identifier: Apache-2.0
"""Small scenes, each about one special case of particles against static shapes. Every function returns a Scene."""
import numpy as np

from scenes import Shape, ball_scene, random_rotation, random_scene, random_shapes, scene_of

GROUND = Shape("plane", (0.0, 0.0))


def without_contact():
    """All particles far from every shape."""
    rng = np.random.default_rng(1)
    return scene_of(rng.uniform(5, 6, (40, 3)), rng.normal(size=(40, 3)), [GROUND], steps=60, margin=20.0)


def zero_mass():
    """Particles of mass 0 feel no force and no gravity, but move; others are among them."""
    rng = np.random.default_rng(2)
    q = rng.uniform(-1, 1, (40, 3)) * (1, 1, 0.05) + (0, 0, 0.1)
    return scene_of(q, rng.normal(size=(40, 3)), [GROUND], mass=np.where(np.arange(40) % 3, 1.0, 0.0), steps=60)


def inactive_particles():
    """Inactive particles inside the contact zone stay where they are."""
    rng = np.random.default_rng(3)
    q = rng.uniform(-1, 1, (40, 3)) * (1, 1, 0.05) + (0, 0, 0.08)
    return scene_of(q, rng.normal(size=(40, 3)), [GROUND], active=np.arange(40) % 4 != 1, steps=60)


def two_worlds():
    """Two worlds with their own gravity and shapes over a floor of all worlds, and particles of all worlds."""
    rng = np.random.default_rng(4)
    q = rng.uniform(-0.6, 0.6, (60, 3)) + (0, 0, 0.65)
    shapes = [GROUND, Shape("sphere", (0.4,), (0, 0, 0.5), ke=3e3, world=0), Shape("box", (0.3, 0.4, 0.2), (0, 0, 0.5),
              random_rotation(rng), kd=30.0, world=1)]
    return scene_of(q, rng.normal(size=(60, 3)), shapes, world=np.repeat([-1, 0, 1], 20), radius=0.05, steps=100,
                    worlds=2, gravity=((0, 0, -9.81), (1.5, 0.0, -1.62)))


def finite_planes():
    """Sheets of given width and length: particles above, below and beside them."""
    rng = np.random.default_rng(5)
    q = rng.uniform(-1.2, 1.2, (80, 3)) * (1, 1, 0.3)
    shapes = [Shape("plane", (1.0, 1.6)), Shape("plane", (0.8, 0.8), (0.2, 0.1, -0.2), random_rotation(rng), ke=4e3),
              Shape("plane", (1.0, 0.0), (0, 0, -0.6))]
    return scene_of(q, rng.normal(size=(80, 3)), shapes, radius=0.06, steps=80)


def straight_fall():
    """No tangential speed at all, with friction damping: the friction direction is 0."""
    q = np.stack([np.linspace(-1, 1, 20), np.zeros(20), np.linspace(0.05, 0.4, 20)], 1)
    return scene_of(q, (0, 0, -3), [GROUND], steps=100)


def at_rest():
    """Speed exactly 0 and no gravity, some particles inside the contact zone."""
    q = np.stack([np.linspace(-1, 1, 20), np.zeros(20), np.linspace(0.05, 0.15, 20)], 1)
    return scene_of(q, (0, 0, 0), [GROUND, Shape("sphere", (0.3,), (0, 0.39, 0.1))], gravity=((0, 0, 0),), steps=60)


def speed_limit():
    """Start speeds above the limit, and particles that reach it."""
    rng = np.random.default_rng(6)
    q = rng.uniform(-1, 1, (60, 3)) + (0, 0, 1.1)
    return scene_of(q, rng.normal(0, 3, (60, 3)), [GROUND], max_velocity=3.0, steps=100)


def capsule_ends():
    """Round ends, the seams between ends and barrel, and points on the axis, of an upright and a turned capsule."""
    z = np.array([-1.02, -0.8, -0.5, -0.2, 0.0, 0.5, 0.7, 1.03])
    on_axis = np.stack([np.zeros(8), np.zeros(8), z], 1)
    beside = np.stack([np.full(8, 0.27), np.full(8, 0.13), z], 1)
    turned = np.stack([z, np.full(8, 3.29), np.full(8, 0.02)], 1)
    half_turn = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    shapes = [Shape("capsule", (0.25, 0.5), ke=600.0), Shape("capsule", (0.25, 0.5), (0, 3, 0), half_turn, ke=600.0)]
    return scene_of(np.concatenate([on_axis, beside, turned]), (0.3, -0.2, 0.1), shapes, soft=(500, 5, 20, 0.3), steps=80)


def sphere_centre():
    """One particle exactly at a sphere's centre: the normal is +z. Others near it."""
    q = [(0, 0, 1), (1e-9, 0, 1), (0, 1e-5, 1), (0.1, 0, 1), (0, 0, 1.45)]
    shapes = [Shape("sphere", (0.4,), (0, 0, 1), ke=200.0, kf=5.0)]
    return scene_of(q, (0, 0, 0), shapes, soft=(300.0, 4.0, 5.0, 0.2), steps=60)


def box_inside_edges_corners():
    """Inside (ties of the nearest face, the centre), on faces, over edges and corners; straight and turned boxes."""
    rng = np.random.default_rng(7)
    half = np.array([0.5, 0.25, 0.75])
    inside = [(0, 0, 0), (0.25, 0, 0.5), (0.1, 0.05, 0.2), (-0.45, 0.2, 0.7), (0.3, -0.24, 0)]
    surface = [(0.5, 0, 0), (0, 0.25, 0), (0, 0, -0.75), (0.5, 0.25, 0), (0.5, 0.25, 0.75)]
    outside = [(s * half + s * d).tolist() for s in np.array([(1, 1, 0), (-1, 1, 1), (1, -1, -1), (0, 1, -1)])
               for d in (0.01, 0.04, 0.2)]
    q = np.array(inside + surface + outside)
    shapes = [Shape("box", tuple(half), ke=300.0, kf=5.0), Shape("box", (0.4, 0.3, 0.5), (0.2, 0.4, 0.3),
              random_rotation(rng), ke=400.0, kd=3.0)]
    return scene_of(q, rng.normal(0, 0.5, q.shape), shapes, soft=(300.0, 2.0, 10.0, 0.3), radius=0.05, steps=80)


def many_shapes():
    """Forty shapes of all kinds."""
    return random_scene(8, particles=100, shapes=40, steps=60)


def one_particle():
    """One particle against one box."""
    return scene_of((0.05, 0.1, 0.9), (0.5, -0.2, -4), [Shape("box", (0.5, 0.5, 0.5))], steps=80)


def without_shapes():
    """Free flight."""
    rng = np.random.default_rng(9)
    return scene_of(rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), [], steps=60)


def ignored_shapes():
    """A shape that does not collide with particles, between two that do."""
    rng = np.random.default_rng(10)
    shapes = [GROUND, Shape("sphere", (0.5,), (0, 0, 0.5), collides=False), Shape("box", (0.3, 0.3, 0.3))]
    return scene_of(rng.uniform(-0.5, 0.5, (40, 3)) + (0, 0, 0.8), rng.normal(size=(40, 3)), shapes, steps=80)


def shape_margins():
    """Shapes with a margin: records come earlier, the force stays the same."""
    rng = np.random.default_rng(15)
    shapes = [Shape("plane", (0.0, 0.0), margin=0.1), Shape("box", (0.3, 0.3, 0.3), (0.2, 0, 0.3), margin=0.05)]
    return scene_of(rng.uniform(-0.5, 0.5, (40, 3)) + (0, 0, 1.1), rng.normal(size=(40, 3)), shapes, steps=120)


def adhesion():
    """Contacts act up to a gap of 3 cm, where they pull."""
    rng = np.random.default_rng(16)
    shapes = [GROUND, Shape("sphere", (0.5,), (0, 0, 0.3))]
    return scene_of(rng.uniform(-0.7, 0.7, (40, 3)) + (0, 0, 0.8), rng.normal(size=(40, 3)), shapes, adhesion=0.03, steps=100)


def without_friction():
    """Friction coefficient 0 on both sides, and friction damping 0 with a coefficient."""
    rng = np.random.default_rng(11)
    shapes = [Shape("plane", (0.0, 0.0), mu=0.0, kf=40.0), Shape("sphere", (0.5,), (0, 0, 0.3), kf=0.0, mu=0.0)]
    return scene_of(rng.uniform(-0.7, 0.7, (40, 3)) + (0, 0, 0.8), rng.normal(size=(40, 3)), shapes,
                    soft=(8e3, 10.0, 0.0, 0.0), steps=80)


def without_stiffness():
    """Stiffness 0: damping alone acts, and the friction cap is 0."""
    rng = np.random.default_rng(12)
    shapes = [Shape("plane", (0.0, 0.0), ke=0.0)]
    return scene_of(rng.uniform(-0.7, 0.7, (20, 3)) + (0, 0, 0.7), (1, 0, -2), shapes, soft=(0.0, 10.0, 30.0, 0.3), steps=80)


def resting():
    """Particles that slide and come to rest under friction."""
    rng = np.random.default_rng(13)
    q = rng.uniform(-1, 1, (30, 3)) * (1, 1, 0) + (0, 0, 0.099)
    return scene_of(q, rng.normal(size=(30, 3)) * (1, 1, 0), [Shape("plane", (0.0, 0.0), kf=500.0, mu=0.9)],
                    soft=(1e4, 50.0, 500.0, 0.9), steps=200)


def crowded():
    """Overlapping shapes: most particles touch several at once."""
    rng = np.random.default_rng(14)
    shapes = random_shapes(rng, 16, room=0.5)
    return scene_of(rng.uniform(-0.4, 0.4, (100, 3)), rng.normal(size=(100, 3)), shapes, mass=4.0, steps=60,
                    soft=(500.0, 5.0, 20.0, 0.3))


VARIATIONS = {f.__name__: f for f in (
    without_contact, zero_mass, inactive_particles, two_worlds, finite_planes, straight_fall, at_rest, speed_limit,
    capsule_ends, sphere_centre, box_inside_edges_corners, many_shapes, one_particle, without_shapes, ignored_shapes, shape_margins, adhesion,
    without_friction, without_stiffness, resting, crowded, ball_scene)}
