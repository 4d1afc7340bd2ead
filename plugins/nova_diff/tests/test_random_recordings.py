# SPDX-License-Identifier: Apache-2.0
"""Random programs over the Python API, with views and writes into them, against float64 NumPy with tangents."""
import numpy as np
import pytest

import novaphy
from novaphy import nova


@nova.kernel
def curve(a: nova.rows[float], b: nova.rows[float]):
    return nova.sin(a) * b + a * 0.5


@nova.kernel(vjp=lambda a, b, g: (b * g, a * g))
def product(a: nova.rows[float], b: nova.rows[float]):
    return a * b


@nova.kernel
def gather(i: nova.rows[int], x: nova.rows[nova.vec3], s: nova.uniform[float]):
    return x[i] * s


@nova.kernel
def scatter(i: nova.rows[int], v: nova.rows[nova.vec3], f: nova.scatter[nova.vec3]):
    f[i] += v * nova.dot(v, v)


class Dual:
    """Values (float64) and their tangents along all leaf elements, which stand on one more axis. Views share both."""

    def __init__(self, value, tangent):
        self.value, self.tangent = np.asarray(value), np.asarray(tangent)

    @property
    def shape(self):
        return self.value.shape

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        dots = any(k is ... for k in key)
        return Dual(self.value[key if dots else (*key, ...)], self.tangent[(*key, slice(None)) if dots else (*key, ...)])

    def write(self, source):
        value, tangent = np.array(source.value), np.array(source.tangent)
        self.value[...], self.tangent[...] = value, tangent

    def copy(self):
        return Dual(self.value.copy(), self.tangent.copy())

    def spread(self, shape):
        if self.shape == shape or self.value.size > 1:
            return self
        out = np.broadcast_to(self.tangent.reshape(-1), (*shape, self.tangent.shape[-1]))
        return Dual(np.broadcast_to(self.value.reshape(()), shape), out)


def chain(value, *parts):
    """A value whose derivative by each dual is given."""
    return Dual(value, sum(d.tangent * np.asarray(slope)[..., None] for d, slope in parts))


UNARY = {"sin": (np.sin, np.cos), "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2), "neg": (np.negative, lambda x: -1 + 0 * x)}
BINARY = {
    "add": (np.add, lambda a, b: 1 + 0 * a, lambda a, b: 1 + 0 * b),
    "sub": (np.subtract, lambda a, b: 1 + 0 * a, lambda a, b: -1 + 0 * b),
    "mul": (np.multiply, lambda a, b: b, lambda a, b: a),
    "maximum": (np.maximum, lambda a, b: (a > b) * 1.0, lambda a, b: (a <= b) * 1.0),
}


def twin_binary(name, a, b):
    shape = a.shape if b.value.size == 1 else b.shape
    a, b = a.spread(shape), b.spread(shape)
    f, by_a, by_b = BINARY[name]
    return chain(f(a.value, b.value), (a, by_a(a.value, b.value)), (b, by_b(a.value, b.value)))


class Program:
    """One random program, run by Nova and by its twin side by side; `pairs` holds what it made so far."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.save = bool(self.rng.integers(2))
        shapes = [[(5, 3), (4,), (1,), (2, 3)][k] for k in self.rng.choice(4, 2, replace=False)]
        self.width = sum(int(np.prod(s)) for s in shapes)
        self.leaves, self.pairs, at = [], [], 0
        for shape in shapes:
            values, size = self.rng.uniform(-1, 1, shape).astype(np.float32), int(np.prod(shape))
            self.leaves.append(nova.tensor(values, requires_grad=True))
            tangent = np.eye(self.width)[at : at + size].reshape(*shape, self.width)
            self.pairs.append((self.leaves[-1], Dual(values.astype(np.float64), tangent.copy())))
            at += size
        for shape in ((4,), (3, 3)):
            self.pairs.append((nova.zeros(shape), self.constant(np.zeros(shape))))

    def constant(self, values):
        return Dual(np.array(values, np.float64), np.zeros((*np.shape(values), self.width)))

    def pick(self, wanted=lambda d: True):
        known = [k for k, (_, d) in enumerate(self.pairs) if wanted(d)]
        return self.pairs[self.rng.choice(known)] if known else None

    def key(self, shape):
        def one(n):
            begin, end = (int(v) for v in self.rng.integers(-n - 1, n + 2, 2))
            step = int(self.rng.choice([1, 1, 2, -1]))
            whole = [int(self.rng.integers(-n, n)), slice(None), slice(begin, end, step), slice(None, None, step), ...]
            return whole[self.rng.integers(5)]

        for _ in range(10):
            key = tuple(one(n) for n in shape[: self.rng.integers(1, len(shape) + 1)])
            if sum(k is ... for k in key) <= 1 and len(key) <= len(shape) and np.zeros(shape)[key].size > 0:
                return key
        return (...,)

    def source(self, shape):
        """Something of a shape to write: a value made before, a multiple of one, or numbers."""
        known = self.pick(lambda d: d.shape == shape)
        if known is None or self.rng.integers(4) == 0:
            values = self.rng.uniform(-1, 1, shape).astype(np.float32)
            return nova.tensor(values), self.constant(values)
        return known if self.rng.integers(2) else (known[0] * 0.5, chain(known[1].value * 0.5, (known[1], 0.5 + 0 * known[1].value)))

    def step(self):
        steps = (self.unary, self.binary, self.view, self.view, self.reshape, self.write_part, self.write_part, self.write, self.shift,
                 self.fill, self.sum, self.matmul, self.kernel, self.kernel_into, self.gather, self.scatter, self.cut)  # fmt: skip
        made = steps[self.rng.integers(len(steps))]()
        if made is not None:
            assert tuple(made[0].shape) == made[1].shape
            self.pairs.append(made)

    def unary(self):
        x, d = self.pick()
        name = self.rng.choice(list(UNARY))
        f, slope = UNARY[name]
        return getattr(nova, name)(x), chain(f(d.value), (d, slope(d.value)))

    def binary(self):
        a = self.pick()
        b = self.pick(lambda d: d.shape == a[1].shape or (d.value.size == 1 < a[1].value.size))
        name = self.rng.choice(list(BINARY))
        return getattr(nova, name)(a[0], b[0]), twin_binary(name, a[1], b[1])

    def view(self):
        x, d = self.pick(lambda d: d.value.ndim > 0)
        key = self.key(d.shape)
        part = x[key]
        is_view = x.ptr <= part.ptr < x.ptr + x.nbytes
        return part, d[key] if is_view else d[key].copy()

    def reshape(self):
        x, d = self.pick(lambda d: d.value.flags.c_contiguous and d.tangent.flags.c_contiguous)
        shape = (d.value.size // 3, 3) if d.value.size % 3 == 0 else (d.value.size, 1)
        return x.reshape(shape), Dual(d.value.reshape(shape), d.tangent.reshape(*shape, self.width))

    def write_part(self):
        x, d = self.pick(lambda d: d.value.ndim > 0)
        key = self.key(d.shape)
        source = self.source(d[key].shape)
        x[key] = source[0]
        d[key].write(source[1])

    def write(self):
        x, d = self.pick()
        source = self.source(d.shape)
        x.assign(source[0])
        d.write(source[1])

    def shift(self):
        x, d = self.pick(lambda d: d.value.ndim > 0 and d.shape[0] > 1)
        x[1:] = x[:-1]
        d[1:].write(d[:-1])

    def fill(self):
        x, d = self.pick()
        x.fill_(0.25)
        d.write(self.constant(np.full(d.shape, 0.25)))

    def sum(self):
        x, d = self.pick(lambda d: d.value.ndim > 0)
        axis = int(self.rng.integers(d.value.ndim))
        return nova.sum(x, axis=axis), Dual(d.value.sum(axis), d.tangent.sum(axis))

    def matmul(self):
        a = self.pick(lambda d: d.value.ndim == 2)
        b = a and self.pick(lambda d: d.value.ndim == 2 and d.shape[0] == a[1].shape[1])
        if b is None:
            return None
        by_a = np.einsum("ikn,kj->ijn", a[1].tangent, b[1].value)
        return a[0] @ b[0], Dual(a[1].value @ b[1].value, by_a + np.einsum("ik,kjn->ijn", a[1].value, b[1].tangent))

    def rows(self):
        a = self.pick(lambda d: d.value.ndim == 1)
        b = self.pick(lambda d: d.shape == a[1].shape)
        x, y = a[1].value, b[1].value
        if self.rng.integers(2):
            return product, a, b, chain(x * y, (a[1], y), (b[1], x))
        return curve, a, b, chain(np.sin(x) * y + 0.5 * x, (a[1], np.cos(x) * y + 0.5), (b[1], np.sin(x)))

    def kernel(self):
        kernel, a, b, twin = self.rows()
        return kernel(a[0], b[0]), twin

    def kernel_into(self):
        kernel, a, b, twin = self.rows()
        x, d = self.pick(lambda d: d.shape == twin.shape)
        kernel(a[0], b[0], out=x)
        d.write(twin)

    def gather(self):
        x, d = self.pick(lambda d: d.value.ndim == 2 and d.shape[1] == 3)
        scale = self.pick(lambda d: d.shape == (1,)) or (nova.ones(1), self.constant(np.ones(1)))
        index = self.rng.integers(0, d.shape[0], 4).astype(np.int32)
        twin = twin_binary("mul", Dual(d.value[index], d.tangent[index]), scale[1])
        return gather(nova.tensor(index), x, scale[0]), twin

    def scatter(self):
        v, d = self.pick(lambda d: d.value.ndim == 2 and d.shape[1] == 3)
        f, into = self.pick(lambda d: d.value.ndim == 2 and d.shape[1] == 3)
        index = self.rng.integers(0, into.shape[0], d.shape[0]).astype(np.int32)
        square = (d.value**2).sum(1)[:, None]
        along = 2 * np.einsum("ic,icn->in", d.value, d.tangent)[:, None] * d.value[..., None]
        value, tangent = d.value * square, d.tangent * square[..., None] + along
        scatter(nova.tensor(index), v, out=f)
        np.add.at(into.value, index, value)
        np.add.at(into.tangent, index, tangent)

    def cut(self):
        x, d = self.pick()
        if self.rng.integers(2):
            return nova.detach(x), self.constant(d.value)
        with nova.no_grad():
            return nova.sin(x), self.constant(np.sin(d.value))

    def record(self):
        """Leaves are read before anything is written, so that their gradients are those of the given values."""
        with nova.Tape(on_overwrite="save" if self.save else "error") as tape:
            self.pairs[:2] = [(x.clone() if self.rng.integers(2) else x, d) for x, d in self.pairs[:2]]
            for leaf in self.leaves:
                nova.sum(leaf)
            for _ in range(14):
                self.step()
                if np.abs(self.pairs[-1][1].value).max(initial=0) > 50:
                    break
        return tape


def gradients_agree(seed):
    """Whether backward ran; asserts that what it gave is right, twice."""
    program = Program(seed)
    tape, ran = program.record(), False
    for x, d in program.pairs:
        assert np.allclose(x.numpy(), d.value, rtol=1e-3, atol=1e-4), f"value, seed {seed}"
    for x, d in (program.pairs[-1], program.pairs[program.rng.integers(len(program.pairs))]):
        weights = program.rng.uniform(-1, 1, d.shape).astype(np.float32)
        want = np.tensordot(weights.ravel().astype(np.float64), d.tangent.reshape(-1, program.width), 1)
        tape.zero()
        for times in (1, 2):
            try:
                tape.backward(x, grad=nova.tensor(weights))
            except novaphy.StaleRecordError:
                assert not program.save, f"refused, seed {seed}"
                break
            except novaphy.NovaPhyError as error:
                assert "the loss is not on this tape" in str(error), f"seed {seed}: {error}"
                break
            got = [np.zeros(t.size) if t.grad is None else t.grad.numpy().ravel() for t in program.leaves]
            assert np.allclose(np.concatenate(got), times * want, rtol=4e-3, atol=4e-4 * max(1, np.abs(want).max())), f"seed {seed}"
            ran = True
    return ran


def test_random_recordings_have_the_gradients_of_their_twins_or_are_refused():
    assert sum(gradients_agree(seed) for seed in range(400)) > 200


@pytest.mark.slow
def test_ten_thousand_random_recordings_have_the_gradients_of_their_twins():
    assert sum(gradients_agree(seed) for seed in range(1000, 11_000)) > 5000
