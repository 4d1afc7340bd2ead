# SPDX-License-Identifier: Apache-2.0
"""What a kernel reads from outside, however it is reached: a change is seen by the next call, or refused."""
import collections
import functools
import gc
import sys
import types

import pytest

import novaphy
from novaphy import nova


def times(factor):
    return lambda a: a * factor[0]


def scaled(a, factor=[2.0]):  # noqa: B006 - the default is what is tested
    return a * factor[0]


class Spring:
    ke = 2.0

    def __init__(self):
        self.own = [2.0]

    def __call__(self, a):
        return a * self.own[0]

    @property
    def stiffness(self):
        return self.own[0]


class Slots:
    __slots__ = ("ke",)


def cases():
    """name -> (a kernel that multiplies by 2, what makes it multiply by 5)"""
    module = types.ModuleType("novaphy_test_numbers")
    module.ke = 2.0
    sys.modules[module.__name__] = module
    spring, slots, lookup, queue = Spring(), Slots(), {"ke": 2.0}, collections.deque([2.0])
    slots.ke = 2.0
    deep = {"a": {"b": {"c": {"d": {"e": [2.0]}}}}}
    first, second = times([2.0]), [2.0]
    other = times(second)
    bound = functools.partial(lambda k, a: k[0] * a, second)

    def of_class(a: nova.rows[float]):
        kind = Spring
        return a * kind.ke

    def of_module(a: nova.rows[float]):
        numbers = module
        return a * numbers.ke

    def of_import(a: nova.rows[float]):
        import novaphy_test_numbers
        return a * novaphy_test_numbers.ke

    return {
        "an object that is called": (lambda a: spring(a), lambda: spring.own.__setitem__(0, 5.0)),
        "a property": (lambda a: a * spring.stiffness, lambda: spring.own.__setitem__(0, 5.0)),
        "slots": (lambda a: a * getattr(slots, "ke"), lambda: setattr(slots, "ke", 5.0)),
        "a class by another name": (of_class, lambda: setattr(Spring, "ke", 5.0)),
        "a module by another name": (of_module, lambda: setattr(module, "ke", 5.0)),
        "an import inside": (of_import, lambda: setattr(module, "ke", 5.0)),
        "a method of a dictionary": (lambda a: a * lookup.get("ke"), lambda: lookup.update(ke=5.0)),
        "a deep structure": (lambda a: a * [deep][0]["a"]["b"]["c"]["d"]["e"][0],
                             lambda: deep["a"]["b"]["c"]["d"]["e"].__setitem__(0, 5.0)),
        "an object that hides its content": (lambda a: a * next(iter(queue)), lambda: queue.__setitem__(0, 5.0)),
        "the second of two functions with one code": (lambda a: first(a) + other(a) - 2 * a,
                                                      lambda: second.__setitem__(0, 5.0)),
        "a bound argument": (lambda a: bound(a), lambda: second.__setitem__(0, 5.0)),
        "a default that changes": (lambda a: scaled(a), lambda: scaled.__defaults__[0].__setitem__(0, 5.0)),
    }


@pytest.mark.parametrize("name", cases())
def test_a_changed_number_is_seen_however_it_is_reached(name):
    Spring.ke = scaled.__defaults__[0][0] = 2.0
    function, change = cases()[name]
    function.__annotations__ = {"a": nova.rows[float]}
    kernel = nova.kernel(function)
    assert kernel([1.0]).item() == kernel([1.0]).item() == 2
    change()
    x = nova.tensor([1.0], requires_grad=True)
    with nova.Tape() as tape:
        loss = kernel(x)
    tape.backward(loss)
    assert loss.item() == 5 == x.grad.item()


def test_a_new_function_at_the_address_of_an_old_one_is_another():
    factor = times([0.0])

    @nova.kernel
    def k(a: nova.rows[float]):
        return factor(a)

    for value in range(1, 20):
        factor = None
        gc.collect()
        factor = times([float(value)])
        assert k([1.0]).item() == value


def test_the_values_of_a_tensor_are_not_read_while_a_kernel_is_traced():
    held = [nova.ones(1)]

    @nova.kernel
    def k(a: nova.rows[float]):
        return a * held[0].item()

    with pytest.raises(novaphy.TraceError, match=r"^k: 'held\[0\].item.__self__' is a tensor from outside of the kernel"):
        k([1.0])


def test_a_kernel_that_calls_itself_is_refused():
    @nova.kernel
    def k(a: nova.rows[float]):
        return k(a)

    with pytest.raises(novaphy.TraceError, match="k: 'a' is a traced value; inside a kernel call a plain Python function"):
        k([1.0])
