# SPDX-License-Identifier: Apache-2.0
"""nova.kernel: what is refused, with the sentence and the user's line; numbers from outside are never stale."""
import functools
import importlib.util

import numpy as np
import pytest

import novaphy
from novaphy import nova

HEAD = """import math
import numpy as np
from novaphy import nova
@nova.kernel
def k(x: nova.rows[nova.vec3], a: nova.rows[float], ij: nova.rows[nova.ivec2], t: nova.table[float], f: nova.scatter[float]):
    i, j = ij
    f[i] += a
    {line}
"""
LINES = {
    "if a > 0: a = 2": "'if' needs a number now; use nova.where(cond, a, b)",
    "b = a if a > 0 else 2": "'if' needs a number now; use nova.where(cond, a, b)",
    "while a > 0: a = a - 1": "'while' needs a number now; use nova.loop with a fixed count and nova.where",
    "b = (a > 0) and (a < 1)": "'and' needs a number now; use (a) & (b)",
    "b = (a > 0) or (a < 1)": "'or' needs a number now; use (a) | (b)",
    "b = not a": "'not' needs a number now; use ~(a)",
    "b = 0 < a < 1": "'a < b < c' needs a number now; use (a < b) & (b < c)",
    "assert a > 0": "'assert' needs a number now; check the numbers before the call",
    "b = min(a, 2)": "'min()' needs a number now; use nova.min(a, b)",
    "b = [e for e in (a, a) if e > 0]": "'if' needs a number now; use nova.where(cond, a, b)",
    "b = float(a)": "float() and the functions of math need a number now; use those of nova, such as nova.sqrt",
    "b = math.sqrt(a)": "float() and the functions of math need a number now; use those of nova, such as nova.sqrt",
    "b = int(i)": "int() needs a number now; a traced value stays as it is",
    "b = range(i)": "range() and list[ ] need a number now; use nova.loop or an index argument",
    "b = np.sin(a)": "numpy.sin needs numbers now; use the functions of nova",
    "b = np.linalg.norm(x)": "numpy.norm needs numbers now; use the functions of nova",
    "b = np.asarray(x)": "a NumPy array needs numbers now; use the functions of nova",
    "b = {a: 1}": "a traced value is no key of a dict or set",
    "b = nova.cross(x, a)": "nova.cross takes (vec3, vec3), got (vec3, Float)",
    "b = x + a": "unsupported operand type(s) for +: 'vec3' and 'Float'",
    "b = x * x": "unsupported operand type(s) for *: 'vec3' and 'vec3'",
    "b = x.length": "'vec3' object has no attribute 'length'",
    "b = nova.vec3(1, 2)": "nova.vec3 takes 3 numbers, 2 were given",
    "b = x[3]": "vec3 has 3 components, not 3",
    "b = x[0.5]": "vec3[0.5]: [ ] takes an integer argument or a component of one, which names a row, or the place of a "
                  "component",
    "b = x[i + 1]": "'x' is reached through an integer that is not an argument's own; give an argument nova.rows[int] or "
                    "nova.rows[nova.ivec2], and use it or its components as they are",
    "b = (x * 2)[i]": "[ ] with a traced integer reads another row of an argument nova.rows[T]; this value is not an "
                      "argument as it was given",
    "f[i] = a": "an output nova.scatter is added to: write f[i] += value or f[i] -= value",
    "f[2] += a": "f[i] += value wants an integer argument or a component of one for i, got int",
    "f[i] += x": "f[i] += value wants a Float, got vec3",
    "f += a": "output 'f' is added to both at row e and through an index; use two outputs",
    "b = t[0]": "a table is read with the s of 'for s in nova.domain(table):'",
    "for s in nova.domain(x): pass": "nova.domain takes arguments nova.table[T], got vec3",
    "for s in nova.domain(t): f[j] += t[s]": "output 'f' is written in a domain loop; write it after the loop",
    "for r in range(2): [0 for s in nova.domain(t)]": "a kernel has one domain loop; write a second kernel, or one loop over "
                                                     "both tables",
    "b = nova.total(0.0); b += a": "nova.total is added to inside 'for s in nova.domain(...):'",
    "b = nova.total(0.0).value": "the value of a nova.total is known after the domain loop",
    "nova.loop(3.0, lambda k, c: c * a, a)": "nova.loop: n is 3.0; give how often the body runs, an integer that is known "
                                             "now",
    "nova.loop(np.array([3]), lambda k, c: c * a, a)": "nova.loop: n is array([3]); give how often the body runs, an integer "
                                                       "that is known now",
    "nova.loop(2**70, lambda k, c: c * a, a)": "nova.loop: n is 1180591620717411303424; no kernel holds so many operations",
    "b = a ** 9": "x ** n takes n from 0 to 8 and becomes products, not 9; use nova.pow",
}


def module_of(tmp_path, text):
    path = tmp_path / "forces.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("forces", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("line", LINES)
def test_what_needs_a_number_or_is_wrong_is_told_with_the_users_line(tmp_path, line):
    k = module_of(tmp_path, HEAD.format(line=line)).k
    with pytest.raises((novaphy.TraceError, IndexError)) as raised:
        k(np.zeros((2, 3)), [1.0, 2.0], np.zeros((2, 2), np.int32), [1.0], out=nova.zeros(2))
    assert str(raised.value) == (LINES[line] if line == "b = x[3]" else f"k line 8: {LINES[line]} (forces.py)")


def test_an_error_in_a_function_that_a_kernel_calls_names_that_functions_line(tmp_path):
    module = module_of(tmp_path, "from novaphy import nova\ndef half(a):\n    if a > 0: return a\n    return a / 2\n\n"
                                 "@nova.kernel\ndef k(a: nova.rows[float]):\n    return half(a)\n")
    with pytest.raises(novaphy.TraceError, match=r"^k line 3: 'if' needs a number now; use nova.where\(cond, a, b\) \(forces.py\)$"):
        module.k([1.0])


def test_errors_of_the_users_own_pass_unchanged():
    @nova.kernel
    def k(a: nova.rows[float]):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        k([1.0])


@pytest.mark.parametrize("source, message", {
    "def k(x): return x": "k: parameter 'x' has no annotation; write how its rows are reached, such as "
                          "nova.rows[nova.vec3], nova.uniform[float], nova.scatter[nova.vec3] or nova.table[float]",
    "def k(x: float): return x": "k: parameter 'x' is annotated float; write how its rows are reached, such as "
                                 "nova.rows[nova.vec3], nova.uniform[float], nova.scatter[nova.vec3] or nova.table[float]",
    "def k(x: nova.rows[str]): return x": "k: parameter 'x' has rows of str; known are float, int and nova.vec2, nova.vec3, "
                                          "nova.vec4, nova.quat, nova.transform, nova.spatial, nova.mat22, nova.mat33, "
                                          "nova.ivec2, nova.ivec3, nova.ivec4",
    f"def k({'a' * 64}: nova.rows[float]): return 1.0": f"k: the name '{'a' * 64}' has more than 63 characters; "
                                                        "use a shorter one",
    "def k(*x: nova.rows[float]): return x": "k: parameter 'x' must have a name of its own, without *",
}.items())
def test_a_parameter_says_how_its_rows_are_reached(source, message):
    names = {"nova": nova}
    exec(source, names)
    with pytest.raises(novaphy.TraceError) as raised:
        nova.kernel(names["k"])
    assert str(raised.value) == message


def test_annotations_may_be_texts():
    width = nova.vec3

    @nova.kernel
    def k(x: "nova.rows[width]"):
        return x * 2 + width()

    assert k([[1, 2, 3]]).numpy().tolist() == [[2, 4, 6]]

    def wrong(x: "nova.rows[float]", y: "unknown[float]"):
        return x

    with pytest.raises(novaphy.TraceError) as raised:
        nova.kernel(wrong)
    assert str(raised.value) == "wrong: the annotation 'unknown[float]' of parameter 'y': name 'unknown' is not defined"


@nova.kernel
def pull(x: nova.rows[nova.vec3], ij: nova.rows[nova.ivec2], ke: nova.rows[float], c: nova.uniform[float],
         f: nova.scatter[nova.vec3]):
    i, j = ij
    f[i] -= (x[i] - x[j]) * (ke * c)


def call(**changed):
    given = dict(x=nova.zeros((4, 3)), ij=nova.zeros((2, 2), dtype=nova.DType.I32), ke=nova.ones(2), c=1.0,
                 out=nova.zeros((4, 3)))
    return pull(**{**given, **changed})


@pytest.mark.parametrize("kind, message, changed", [
    (IndexError, "pull: index 'ij' row 1, column 1 is 9, 'x' has 4 rows", dict(ij=[[0, 1], [2, 9]])),
    (IndexError, "pull: index 'ij' row 0, column 0 is 3, 'f' has 3 rows", dict(ij=[[3, 1], [2, 1]], out=nova.zeros((3, 3)))),
    (novaphy.ShapeMismatchError, "pull: input 'ke' has shape (3) and type float32; wanted are 2 rows of 1 float32", dict(ke=nova.ones(3))),
    (novaphy.ShapeMismatchError, "pull: input 'x' has shape (4, 2) and type float32; wanted are rows of 3 float32", dict(x=nova.zeros((4, 2)))),
    (TypeError, "pull: 'ke' wants a tensor, got 3.0; declare it nova.uniform[...] to give a number", dict(ke=3.0)),
    (TypeError, "pull: 'ij' wants integers, got float64", dict(ij=[[0.5, 1], [1, 0]])),
    (ValueError, "pull: output 'f' is written through an index, so how many rows it has is not known; give the tensor with out=", dict(out=None)),
    (TypeError, "pull has no argument 'f'; it is an output, given with out=", dict(f=1)),
    (TypeError, "pull has no argument 'kd'; its arguments are x, ij, ke, c", dict(kd=1)),
    (TypeError, "pull: out= names 'g'; its outputs are f", dict(out={"g": None})),
    (novaphy.ShapeMismatchError, "pull: out= has 2 tensors for the outputs f", dict(out=(None, None))),
])
def test_a_wrong_argument_is_told_with_names_and_values(kind, message, changed):
    with pytest.raises(kind) as raised:
        call(**changed)
    assert str(raised.value) == message


def test_missing_and_surplus_arguments_are_named():
    with pytest.raises(TypeError) as raised:
        pull(nova.zeros((4, 3)), ke=nova.ones(2))
    assert str(raised.value) == "pull: arguments are missing: ij, c"
    with pytest.raises(TypeError) as raised:
        pull(1, 2, 3, 4, 5)
    assert str(raised.value) == "pull takes 4 arguments (x, ij, ke, c), 5 were given; outputs are given with out="
    with pytest.raises(TypeError) as raised:
        pull(1, x=2)
    assert str(raised.value) == "pull: argument 'x' was given twice"


def test_a_kernel_without_an_effect_and_one_without_rows_are_refused():
    @nova.kernel
    def nothing(x: nova.rows[float]):
        pass

    @nova.kernel
    def constant(c: nova.uniform[float]):
        return 2 * c

    with pytest.raises(novaphy.TraceError, match=r"^nothing: it returns nothing and has no argument nova.scatter\[T\], so it has no effect$"):
        nothing([1.0])
    with pytest.raises(ValueError, match="^constant: how many rows it has is not known, since no argument is read at row e; give rows=$"):
        constant(3.0)
    assert constant(3.0, rows=2).numpy().tolist() == [6, 6] == constant(3.0, out=nova.zeros(2)).numpy().tolist()


# Numbers from outside ---------------------------------------------------------------------------------------------------

STIFFNESS = 3.0
SETTINGS = {"ke": [2.0, 3.0]}


class Material:
    ke = 5.0


class Law:
    __slots__ = ("ke",)

    def __init__(self):
        self.ke = 7.0

    def __call__(self, a):
        return a * self.ke

    def force(self, a):
        return a * (self.ke + 1)


def stiffness_of(material):
    return material.ke


def helper(a):
    return a * STIFFNESS


def test_a_changed_number_from_outside_is_seen_by_the_next_call(monkeypatch):
    here = 1.0
    table = np.float32([1, 2])
    material, law, scaled = Material(), Law(), functools.partial(lambda c, a: c[0] * a, [11.0])

    @nova.kernel
    def k(a: nova.rows[float]):
        return (a * STIFFNESS, a * here, a * SETTINGS["ke"][1], a * Material.ke, a * material.ke, helper(a), a * table[1],
                law(a), law.force(a), scaled(a), a * stiffness_of(Material))

    def values():
        return [r.item() for r in k([1.0])]

    assert values() == [3, 1, 3, 5, 5, 3, 2, 7, 8, 11, 5]
    monkeypatch.setitem(globals(), "STIFFNESS", 30.0)
    here = 10.0
    SETTINGS["ke"][1] = 33.0
    monkeypatch.setattr(Material, "ke", 50.0)
    material.ke = 51.0
    table[1] = 20
    law.ke = 70.0
    scaled.args[0][0] = 110.0
    assert values() == [30, 10, 33, 50, 51, 30, 20, 70, 71, 110, 50]
    SETTINGS["ke"][1] = 3.0


def test_the_same_numbers_do_not_trace_again():
    factor = 2.0

    @nova.kernel
    def k(a: nova.rows[float], c: nova.uniform[float]):
        return a * factor + c

    assert [k([1.0], c).item() for c in (1, 2, 3)] == [3, 4, 5] and len(k._programs) == 1
    factor = 3.0
    assert [k([1.0], c).item() for c in (1, 2)] == [4, 5] and len(k._programs) == 2
    factor = 2.0
    assert k([1.0], 1).item() == 3 and len(k._programs) == 2


def test_a_number_that_always_changes_does_not_keep_every_program():
    factor = 0

    @nova.kernel
    def k(a: nova.rows[float]):
        return a * factor

    for factor in range(200):
        assert k([1.0]).item() == factor
    assert len(k._programs) == 64


def test_two_closures_of_one_function_are_two_functions():
    def times(c):
        return lambda a: c * a

    two, three = times(2.0), times(3.0)

    @nova.kernel
    def k(a: nova.rows[float]):
        return two(a), three(a)

    assert [r.item() for r in k([1.0])] == [2, 3]


def test_a_tensor_from_outside_is_refused():
    scale = nova.ones(3)

    @nova.kernel
    def k(a: nova.rows[float]):
        return a * scale

    with pytest.raises(novaphy.TraceError) as raised:
        k([1.0])
    assert str(raised.value) == ("k: 'scale' is a tensor from outside of the kernel, and its values would be frozen; make it an "
                                 "argument")


def test_traced_values_do_not_exist_outside_of_a_kernel():
    with pytest.raises(novaphy.TraceError) as raised:
        nova.vec3(1, 2, 3)
    assert str(raised.value) == ("nova.vec3: traced values exist while a @nova.kernel function runs; outside of it use tensors")
