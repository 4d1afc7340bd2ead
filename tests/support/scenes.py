# SPDX-License-Identifier: Apache-2.0
"""Scenes of particles and static shapes: described once, built in the engine and read as plain arrays for the twin."""
from dataclasses import dataclass, field, replace

import numpy as np

from twin_contact import Arrays
from twin_shapes import BOX, CAPSULE, PLANE, SPHERE, generate

KINDS = {"plane": PLANE, "box": BOX, "sphere": SPHERE, "capsule": CAPSULE}
IDENTITY = (0.0, 0.0, 0.0, 1.0)


@dataclass
class Shape:
    """One static shape. `size`: plane (width, length), 0 = infinite; box half extents; sphere (radius); capsule
    (radius, half height)."""
    kind: str
    size: tuple
    position: tuple = (0.0, 0.0, 0.0)
    rotation: tuple = IDENTITY
    ke: float = 1e4
    kd: float = 10.0
    kf: float = 50.0
    mu: float = 0.3
    world: int = -1
    collides: bool = True
    margin: float = 0.0  # m, adds to the distance within which contacts are generated


@dataclass
class Scene:
    """Particles, shapes and how to step them. Particles and shapes are ordered by world, those of all worlds first."""
    q: np.ndarray
    qd: np.ndarray
    mass: np.ndarray
    radius: np.ndarray
    active: np.ndarray
    world: np.ndarray
    shapes: list
    soft: tuple = (8e3, 12.0, 40.0, 0.4)  # the model's ke, kd, kf, mu
    worlds: int = 0
    gravity: tuple = ((0.0, 0.0, -9.81),)  # one row a world, one row where there are none
    adhesion: float = 0.0
    max_velocity: float = 1e5
    margin: float = 10.0
    steps: int = 200
    dt: float = 1 / 480

    def build(self, requires_grad=True):
        """The engine's model of this scene."""
        import novaphy
        root = novaphy.ModelBuilder()
        self.fill(root, -1)
        for w in range(self.worlds):
            part = novaphy.ModelBuilder()
            self.fill(part, w)
            root.add_world(part)
        model = root.finalize(requires_grad=requires_grad)
        model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_kf, model.soft_contact_mu = self.soft
        model.particle_max_velocity = self.max_velocity
        model.particle_adhesion = self.adhesion
        for w, g in enumerate(self.gravity):
            model.set_gravity(g, world=w)
        return model

    def fill(self, builder, world):
        from novaphy import ModelBuilder, ParticleFlags
        for i in np.nonzero(self.world == world)[0]:
            builder.add_particle(pos=self.q[i].tolist(), vel=self.qd[i].tolist(), mass=float(self.mass[i]),
                                 radius=float(self.radius[i]), flags=int(ParticleFlags.ACTIVE) if self.active[i] else 0)
        for s in self.shapes:
            if s.world != world:
                continue
            cfg = ModelBuilder.ShapeConfig(ke=s.ke, kd=s.kd, kf=s.kf, mu=s.mu, margin=s.margin,
                                           has_particle_collision=s.collides)
            xform = (s.position, s.rotation)
            if s.kind == "plane":
                builder.add_shape_plane(xform=xform, width=s.size[0], length=s.size[1], body=-1, cfg=cfg)
            elif s.kind == "box":
                builder.add_shape_box(body=-1, xform=xform, hx=s.size[0], hy=s.size[1], hz=s.size[2], cfg=cfg)
            elif s.kind == "sphere":
                builder.add_shape_sphere(body=-1, xform=xform, radius=s.size[0], cfg=cfg)
            else:
                builder.add_shape_capsule(body=-1, xform=xform, radius=s.size[0], half_height=s.size[1], cfg=cfg)

    def arrays(self):
        """The same as float32 arrays, without the engine."""
        f = np.float32
        shape = lambda get, width=(): np.array([get(s) for s in self.shapes], f).reshape(len(self.shapes), *width)
        with np.errstate(divide="ignore"):
            inverse = np.where(self.mass > 0, f(1) / self.mass.astype(f), f(0)).astype(f)
        return Arrays(
            self.q.astype(f), self.qd.astype(f), inverse, self.radius.astype(f), self.active.astype(np.int32),
            self.world.astype(np.int32), np.array([KINDS[s.kind] for s in self.shapes], np.int32),
            shape(lambda s: (*s.position, *s.rotation), (7,)), shape(lambda s: (tuple(s.size) + (0, 0))[:3], (3,)),
            np.array([4 if s.collides else 0 for s in self.shapes], np.int32), shape(lambda s: s.margin),
            np.array([s.world for s in self.shapes], np.int32), shape(lambda s: s.ke), shape(lambda s: s.kd),
            shape(lambda s: s.kf), shape(lambda s: s.mu), np.array(self.soft, f), np.array(self.gravity, f),
            f(self.adhesion), f(self.max_velocity))


def read_arrays(model):
    """What the particle step reads of an engine's model."""
    numbers = ("particle_adhesion", "particle_max_velocity")
    names = [n for n in Arrays.__dataclass_fields__ if n not in ("soft_contact_material", *numbers)]
    read = {n: np.array(getattr(model, n).numpy()) for n in names}
    soft = np.array([model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_kf, model.soft_contact_mu], np.float32)
    return Arrays(soft_contact_material=soft, **{n: np.float32(getattr(model, n)) for n in numbers}, **read)


def scene_of(q, qd, shapes, mass=1.0, radius=0.1, active=True, world=-1, **options):
    """A Scene whose per-particle values may be single numbers."""
    q = np.asarray(q, np.float32).reshape(-1, 3)
    n = len(q)
    per_particle = lambda value, dtype: np.broadcast_to(np.asarray(value, dtype), (n,)).copy()
    qd = np.broadcast_to(np.asarray(qd, np.float32), (n, 3)).copy()
    return Scene(q, qd, per_particle(mass, np.float32), per_particle(radius, np.float32), per_particle(active, bool),
                 per_particle(world, np.int32), shapes, **options)


def random_rotation(rng):
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def rotation_to(normal):
    """A unit quaternion that turns +z to `normal`, which is not -z."""
    q = np.array([-normal[1], normal[0], 0.0, 1.0 + normal[2]])
    return tuple((q / np.linalg.norm(q)).tolist())


def random_shapes(rng, count=12, room=2.0):
    """All four kinds in turn, turned at random, with unlike materials. Planes are walls about a ball of radius `room`."""
    out = []
    for k in range(count):
        kind = ("plane", "box", "sphere", "capsule")[k % 4]
        material = dict(ke=rng.uniform(2e3, 2e4), kd=rng.uniform(1, 30), kf=rng.uniform(0, 100), mu=rng.uniform(0, 0.8))
        if k % 8 == 5:
            material["mu"] = 0.0
        place = rng.uniform(-0.6, 0.6, 3) * room
        if kind == "plane":
            inward = np.array([0.0, 0.0, 1.0]) if k == 0 else rng.normal(size=3)
            inward /= np.linalg.norm(inward)
            place = -inward * room
            out.append(Shape(kind, (0.0, 0.0), tuple(place), rotation_to(inward), **material))
        elif kind == "box":
            out.append(Shape(kind, tuple(rng.uniform(0.1, 0.5, 3)), tuple(place), random_rotation(rng), **material))
        elif kind == "sphere":
            out.append(Shape(kind, (rng.uniform(0.15, 0.5),), tuple(place), random_rotation(rng), **material))
        else:
            out.append(Shape(kind, (rng.uniform(0.08, 0.3), rng.uniform(0.1, 0.6)), tuple(place), random_rotation(rng),
                             **material))
    return out


def random_scene(seed, particles=2000, shapes=12, **options):
    """Random particles among random shapes. Some start inside the contact zone, none deeper than 5 cm."""
    rng = np.random.default_rng(seed)
    made = random_shapes(rng, shapes)
    candidates = scene_of(rng.uniform(-1.9, 1.9, (particles * 8, 3)), (0, 0, 0), made,
                          radius=rng.uniform(0.01, 0.1, particles * 8))
    depth = -smallest_gap(candidates.arrays())
    touching = np.nonzero((depth > 0) & (depth < 0.05))[0][: particles // 8]
    free = np.nonzero(depth < 0)[0][: particles - len(touching)]
    chosen = rng.permutation(np.concatenate([touching, free]))
    n = len(chosen)
    assert n == particles, f"seed {seed}: only {n} of {particles} particles found a place"
    return scene_of(candidates.q[chosen], rng.normal(0, 3, (n, 3)), made, radius=candidates.radius[chosen],
                    mass=rng.uniform(0.5, 2.0, n), **options)


def mixed_scene(seed):
    """Everything at once, of random size: worlds with their own gravity, finite planes, shapes that particles pass,
    margins, particles of mass 0 and inactive ones, a speed limit, ties and rest."""
    rng = np.random.default_rng(10_000 + seed)
    worlds = int(rng.integers(0, 4))
    made = random_shapes(rng, int(rng.integers(0, 30)), room=rng.uniform(0.5, 2.0))
    for s in made:
        s.world = int(rng.integers(-1, worlds)) if worlds else -1
        s.collides = bool(rng.random() > 0.1)
        s.margin = float(rng.choice([0.0, 0.0, 0.03]))
        if s.kind == "plane" and rng.random() < 0.5:
            s.size = tuple(rng.uniform(0.3, 2.0, 2))
    made.sort(key=lambda s: s.world)
    n = int(rng.choice([1, 3, 64, 333]))
    qd = rng.normal(0, rng.choice([0.0, 0.5, 4.0]), (n, 3)) * (rng.random((n, 1)) > 0.1)
    world = np.sort(rng.integers(-1, worlds, n)) if worlds else np.full(n, -1)
    return scene_of(
        rng.uniform(-1, 1, (n, 3)), qd, made, mass=rng.uniform(2.0, 8.0, n) * (rng.random(n) > 0.1),
        radius=rng.uniform(0.0, 0.15, n), active=rng.random(n) > 0.1, world=world,
        worlds=worlds, steps=int(rng.integers(1, 80)),
        soft=(rng.uniform(0, 1e3), rng.uniform(0, 10), rng.uniform(0, 50), rng.uniform(0, 1)),
        gravity=tuple(map(tuple, rng.normal(0, 5, (max(worlds, 1), 3)))), max_velocity=float(rng.choice([2.0, 20.0, 1e5])),
        adhesion=float(rng.choice([0.0, 0.0, 0.02])), margin=float(rng.choice([0.02, 0.5, 10.0])))


def smallest_gap(model):
    """For each particle the smallest distance of its surface from the true shapes; a large number when there are none."""
    smallest = np.full(model.particle_count, 1e3, np.float32)
    for particles, points, normals in generate(model, model.particle_q, 1e3).by_shape:
        gap = ((model.particle_q[particles] - points) * normals).sum(1) - model.particle_radius[particles]
        smallest[particles] = np.minimum(smallest[particles], gap)
    return smallest


def ball_scene():
    """The thrown ball of the reference: a wall box, then the ground."""
    material = dict(ke=1e4, kd=10.0, kf=0.0, mu=0.2)
    shapes = [Shape("box", (1.0, 0.25, 1.0), (0.0, 2.0, 1.0), **material), Shape("plane", (0.0, 0.0), **material)]
    return scene_of((0, -0.5, 1), (0, 5, -5), shapes, soft=(1e4, 10.0, 0.0, 0.2), steps=288)
