# SPDX-License-Identifier: Apache-2.0
"""Parameter: which constant of a model is wanted, in which space it is moved, and where it may lie."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Numbers of a model that are elements of one array, in its order.
_IN_ARRAYS = {
    "soft_contact_material": ("ke", "kd", "kf", "mu", "restitution"),
    "particle_contact_material": ("ke", "kd", "kf", "mu", "cohesion", "adhesion"),
}
_PREFIX = {"soft_contact_material": "soft_contact_", "particle_contact_material": "particle_"}
_OTHER_NAMES = {
    "particle_tet_material": "tet_materials", "particle_tet_activation": "tet_activations",
    "particle_tri_material": "tri_materials", "particle_tri_activation": "tri_activations",
}
_PAIR = ("E", "nu")
_NU_BOUNDS = (-0.999, 0.499)
_SPACES, _PERS = ("log", "linear", "bounded"), ("global", "region", "element")


@dataclass(frozen=True)
class Parameter:
    """A constant to be found.

    target: an array of the model and a column, "tet_materials[:,0]" (k_mu, [:,1] k_lambda, [:,2] k_damp), an array
    without columns ("particle_mass"), a number ("soft_contact_mu"), or "E" or "nu": the Young's modulus [Pa] and
    Poisson's ratio that the tetrahedra have at small strain (see true_moduli). Of that pair, one that is not a
    parameter keeps the model's value.
    space: what the optimiser moves. "log" for positive numbers of unknown size, "linear", or "bounded", strictly
    between `bounds`. None: "log", for "nu" "bounded" between -0.999 and 0.499.
    initial: the first guess in the target's unit, a number or one for each region or element; None: the model's.
    bounds: (lowest, highest) in the target's unit, or None.
    per: one number for all ("global"), one for each of `regions`, or one for each element.
    regions: for per="region" the region of each row of the array, integers from 0; -1 leaves a row as it is.
    prior: how far the value is believed to lie from `initial`, as a standard deviation in its space (in "log" 0.5
    means about 50 %); smooth: the same for the difference of tetrahedra that share a face, for per="element".
    Both need fit(noise=), which says how much the motion is believed.
    """

    target: str
    space: str | None = None
    initial: Any = None
    bounds: tuple[float, float] | None = None
    per: str = "global"
    regions: Any = None
    prior: float | None = None
    smooth: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, str):
            raise TypeError(f"Parameter: target is a {type(self.target).__name__}; give a text such as 'tet_materials[:,0]'")
        if self.space is None:
            object.__setattr__(self, "space", "bounded" if self.target == "nu" else "log")
        for name, value, known in (("space", self.space, _SPACES), ("per", self.per, _PERS)):
            if value not in known:
                raise ValueError(f"Parameter {self.target!r}: {name} is {value!r}; give {_or(known)}")
        if self.target == "nu" and self.bounds is None and self.space == "bounded":
            object.__setattr__(self, "bounds", _NU_BOUNDS)
        if self.bounds is not None:
            low, high = self.bounds
            if not low < high:
                raise ValueError(f"Parameter {self.target!r}: bounds are {self.bounds}; give (lowest, highest)")
        if self.space == "bounded" and (self.bounds is None or not all(map(math.isfinite, self.bounds))):
            raise ValueError(f"Parameter {self.target!r}: space 'bounded' needs two finite bounds; give bounds=(lowest, highest)")
        if (self.per == "region") != (self.regions is not None):
            raise ValueError(
                f"Parameter {self.target!r}: per is {self.per!r} and regions is {'given' if self.regions is not None else 'None'}; "
                "regions, the region of each row, belongs to per='region'"
            )
        for name in ("prior", "smooth"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"Parameter {self.target!r}: {name} is {value}; give a positive standard deviation or None")
        if self.smooth is not None and self.per != "element":
            raise ValueError(f"Parameter {self.target!r}: smooth compares neighbouring elements; it belongs to per='element'")

    def to_space(self, value: float) -> float:
        """The optimiser's number for a value in the target's unit."""
        if self.space == "log":
            return math.log(value)
        if self.space == "bounded":
            low, high = self.bounds
            return math.log((value - low) / (high - value))
        return value

    def from_space(self, number: float) -> float:
        """The value in the target's unit; undoes to_space."""
        if self.space == "log":
            return math.exp(min(number, 80.0))
        if self.space == "bounded":
            low, high = self.bounds
            return low + (high - low) / (1.0 + math.exp(-min(max(number, -36.0), 36.0)))
        return number

    def slope(self, number: float) -> float:
        """d from_space(number) / d number."""
        value = self.from_space(number)
        if self.space == "log":
            return value
        if self.space == "bounded":
            low, high = self.bounds
            return (value - low) * (high - value) / (high - low)
        return 1.0


def _or(words: Any) -> str:
    *first, last = [repr(word) for word in words]
    return f"{', '.join(first)} or {last}"


@dataclass(frozen=True)
class Place:
    """Where a target's numbers lie: a float32 array of the model, and a column of its rows (None: rows are numbers),
    or one element of an array that holds different numbers."""

    array: str
    column: int | None = None
    element: int | None = None

    def read(self, model: Any) -> np.ndarray:
        values = getattr(model, self.array).numpy()
        if self.element is not None:
            return values[self.element : self.element + 1]
        return values if self.column is None else values[:, self.column]


def place_of(model: Any, parameter: Parameter) -> Place | None:
    """The place of a target; None for "E" and "nu". ValueError for what the model does not have."""
    who = f"Parameter {parameter.target!r}"
    if parameter.target in _PAIR:
        if model.tet_count == 0:
            raise ValueError(f"{who}: the model has no tetrahedra, so it has no {parameter.target}")
        return None
    match = re.fullmatch(r"\s*(\w+)\s*(?:\[\s*:\s*,\s*(\d+)\s*\])?\s*", parameter.target)
    if match is None:
        raise ValueError(f"{who}: give the name of an array and a column, such as 'tet_materials[:,0]'")
    name, column = _OTHER_NAMES.get(match[1], match[1]), None if match[2] is None else int(match[2])
    for array, numbers in _IN_ARRAYS.items():
        short = name.removeprefix(_PREFIX[array])
        if name.startswith(_PREFIX[array]) and short in numbers and column is None:
            return Place(array, element=numbers.index(short))
    held = getattr(model, name, None) if not name.startswith("_") else None
    if held is None or not hasattr(held, "numpy"):
        arrays = [n for n in dir(type(model)) if not n.startswith("_") and "joint_target" not in n]
        near = difflib.get_close_matches(name, [*arrays, *_PAIR], 1)
        raise ValueError(f"{who}: the model has no array {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    values = held.numpy()
    if str(values.dtype) != "float32":
        raise ValueError(f"{who}: {name} holds {values.dtype}; only float32 numbers can be found")
    if values.shape[0] == 0:
        raise ValueError(f"{who}: {name} of this model has no rows")
    columns = values.shape[1] if values.ndim == 2 else None
    if values.ndim > 2 or (column is None) != (columns is None) or (column is not None and column >= columns):
        raise ValueError(
            f"{who}: {name} has shape {values.shape}; " + (f"give a column from 0 to {columns - 1}, such as '{name}[:,0]'"
            if columns else "its rows are single numbers, so give it without a column" if values.ndim == 1
            else "columns of matrices cannot be parameters")
        )
    return Place(name, column)
