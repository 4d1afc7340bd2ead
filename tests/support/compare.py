# SPDX-License-Identifier: Apache-2.0
"""Comparisons whose failure says where the largest differences are."""
import numpy as np

COMPONENTS = "xyz"


def bits(a):
    """The float32 array as unsigned integers: equal exactly when every bit is."""
    a = np.ascontiguousarray(a)
    assert a.dtype == np.float32, f"bits wants float32, got {a.dtype}"
    return a.view(np.uint32)


def largest_differences(got, want, count=4):
    """Text with the `count` largest differences of arrays (substep, particle, component) or (particle, component)."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    difference = np.abs(got - want)
    difference[np.isnan(difference)] = np.inf
    lines = []
    for flat in np.argsort(difference, axis=None)[::-1][:count]:
        at = np.unravel_index(flat, difference.shape)
        names = ("substep", "particle", "component")[3 - len(at):] if len(at) <= 3 else ("",) * len(at)
        place = ", ".join(f"{n} {COMPONENTS[k] if n == 'component' and k < 3 else k}" for n, k in zip(names, at))
        lines.append(f"  {place}: got {float(got[at])!r}, want {float(want[at])!r}, difference {difference[at]:.3e}")
    return "\n".join(lines)


def assert_same_bits(got, want, what):
    """Every bit of two float32 arrays is the same; else the four largest differences with substep and component."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, want {want.shape}"
    differ = bits(got) != bits(want)
    if differ.any():
        first = np.unravel_index(np.argmax(differ), differ.shape)
        raise AssertionError(f"{what}: {int(differ.sum())} of {differ.size} values differ, first at {tuple(map(int, first))}\n"
                             + largest_differences(got, want))


def relative_to_largest(got, want, largest=None):
    """|got - want| divided by the largest |want| (or by `largest`); inf where got is not finite."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"shape {got.shape}, want {want.shape}"
    scale = np.abs(want).max(initial=0.0) if largest is None else largest
    difference = np.abs(got - want)
    difference[~np.isfinite(got)] = np.inf
    return difference / scale if scale > 0 else np.where(difference > 0, np.inf, 0.0)


def assert_close_to_largest(got, want, tolerance, what, largest=None):
    """Differences stay within `tolerance` of the largest entry; else the four largest are listed."""
    relative = relative_to_largest(got, want, largest)
    worst = relative.max(initial=0.0)
    assert worst <= tolerance, (f"{what}: {worst:.3e} of the largest entry, allowed {tolerance:.0e}\n"
                                + largest_differences(got, want))
    return worst
