# SPDX-License-Identifier: Apache-2.0
"""Unknowns: the vector that an optimiser moves, written into a model's arrays, with the chain rule both ways."""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from ._moduli import bulk_stiffness, tet_material_slopes, tet_materials_of, true_moduli
from ._parameters import Parameter, Place, place_of

_MU, _LAMBDA = Place("tet_materials", 0), Place("tet_materials", 1)


class Unknowns:
    """All numbers of all parameters, one after the other, as a list of Python numbers in the parameters' spaces.

    Rows of an array share a number by an index: all 0 for "global", the region, or the row itself.
    """

    def __init__(self, model: Any, parameters: Sequence[Parameter]) -> None:
        if not parameters:
            raise ValueError("fit: no parameters were given")
        self.model, self.parameters = model, list(parameters)
        self.places = [place_of(model, parameter) for parameter in parameters]
        targets = [place or parameter.target for place, parameter in zip(self.places, parameters)]
        if len(set(targets)) < len(targets):
            raise ValueError(f"fit: the targets are {', '.join(p.target for p in parameters)}; give each once")
        materials = [place for place in self.places if place in (_MU, _LAMBDA)]
        self.has_pair, self.moves_tets = None in self.places, None in self.places or bool(materials)
        if self.has_pair and materials:
            raise ValueError("fit: 'E' or 'nu' together with k_mu or k_lambda is one constant twice; give one pair")
        self.indices = [self._index(p, place) for p, place in zip(parameters, self.places)]
        self.sizes = [int(index.max()) + 1 for index in self.indices]
        self.offsets = np.cumsum([0, *self.sizes]).tolist()
        self.count = self.offsets[-1]
        self._before = {name: getattr(model, name).numpy().copy() for name in self._written()}
        self._pair_before = true_moduli(*self._tets_before()) if self.has_pair else None
        self.initial = self._initial()

    def _index(self, parameter: Parameter, place: Place | None) -> np.ndarray:
        rows = self.model.tet_count if place is None else place.read(self.model).shape[0]
        if parameter.per == "global":
            return np.zeros(rows, np.int32)
        if parameter.per == "element":
            return np.arange(rows, dtype=np.int32)
        regions = np.asarray(parameter.regions)
        if regions.shape != (rows,) or regions.dtype.kind not in "iu" or regions.min() < -1 or regions.max() < 0:
            raise ValueError(
                f"Parameter {parameter.target!r}: regions has shape {regions.shape} and type {regions.dtype}; "
                f"give an integer of at least -1 for each of {rows} rows, and one of at least 0"
            )
        missing = sorted(set(range(int(regions.max()) + 1)) - set(regions.tolist()))
        if missing:
            raise ValueError(f"Parameter {parameter.target!r}: no row is in region {missing[0]} of {int(regions.max()) + 1}")
        return regions.astype(np.int32)

    def _written(self) -> list[str]:
        names = ["tet_materials" if place is None else place.array for place in self.places]
        if "particle_mass" in names:
            names.append("particle_inv_mass")
        return sorted(set(names))

    def _tets_before(self) -> tuple[np.ndarray, np.ndarray]:
        material = self._before["tet_materials"]
        return material[:, 0], material[:, 1]

    def _initial(self) -> list[float]:
        numbers: list[float] = []
        for parameter, place, index, size in zip(self.parameters, self.places, self.indices, self.sizes):
            given = parameter.initial
            if given is None:
                held = getattr(self._pair_before, parameter.target) if place is None else place.read(self.model)
                known = np.bincount(index[index >= 0], minlength=size)
                given = np.bincount(index[index >= 0], held[index >= 0], minlength=size) / known
            values = np.asarray(given).ravel()
            if values.size not in (1, size):
                raise ValueError(f"Parameter {parameter.target!r}: initial has {values.size} numbers; give 1 or {size}")
            for value in np.broadcast_to(values, size).tolist():
                numbers.append(self._checked(parameter, float(value)))
        return numbers

    @staticmethod
    def _checked(parameter: Parameter, value: float) -> float:
        low, high = parameter.bounds or (-math.inf, math.inf)
        inside = low < value < high if parameter.space == "bounded" else low <= value <= high
        if not inside or not math.isfinite(value):
            raise ValueError(
                f"Parameter {parameter.target!r}: bounds ({low:g}, {high:g}) exclude initial = {value:g}; give a first guess "
                + ("strictly " if parameter.space == "bounded" else "") + "between them"
            )
        if parameter.space == "log" and value <= 0:
            raise ValueError(
                f"Parameter {parameter.target!r}: initial is {value:g}, and space 'log' holds positive numbers; "
                "give a positive one, or space='linear'"
            )
        return parameter.to_space(value)

    def names(self) -> list[str]:
        """A name for each number."""
        out = []
        for parameter, size in zip(self.parameters, self.sizes):
            out += [parameter.target if parameter.per == "global" else f"{parameter.target} {parameter.per} {i}"
                    for i in range(size)]
        return out

    def parameter_of(self) -> list[Parameter]:
        """The parameter of each number."""
        return [p for p, size in zip(self.parameters, self.sizes) for _ in range(size)]

    def limits(self) -> tuple[list[float], list[float]]:
        """The lowest and highest of each number."""
        low, high = [], []
        for parameter in self.parameter_of():
            if parameter.bounds is None or parameter.space == "bounded":
                bounds = (-math.inf, math.inf)
            elif parameter.space == "log":
                bounds = tuple(math.log(b) if b > 0 else -math.inf for b in parameter.bounds)
            else:
                bounds = parameter.bounds
            low.append(bounds[0]), high.append(bounds[1])
        return low, high

    def scales(self) -> list[float]:
        """A change of each number that means something: 1 in "log" and "bounded", the size of the first guess in "linear"."""
        out = []
        for parameter, number in zip(self.parameter_of(), self.initial):
            width = math.inf if parameter.bounds is None else parameter.bounds[1] - parameter.bounds[0]
            out.append(1.0 if parameter.space != "linear" else abs(number) or (width if math.isfinite(width) else 1.0))
        return out

    def halved(self, numbers: Sequence[float]) -> list[float]:
        """The numbers with half of each stiffness that is moved as a logarithm; masses stay."""
        return [x - math.log(2) if p.space == "log" and p.target != "particle_mass" else x
                for x, p in zip(numbers, self.parameter_of())]

    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of tetrahedra that share a face."""
        faces: dict[tuple[int, ...], int] = {}
        pairs = []
        for tet, corners in enumerate(self.model.tet_indices.numpy().reshape(-1, 4).tolist()):
            for left_out in range(4):
                face = tuple(sorted(corners[:left_out] + corners[left_out + 1 :]))
                if face in faces:
                    pairs.append((faces.pop(face), tet))
                else:
                    faces[face] = tet
        return pairs

    def values(self, numbers: Sequence[float]) -> list[np.ndarray]:
        """The values of each parameter, float32 and in its unit: of shape () for "global", else one a region or element."""
        flat = [p.from_space(x) for p, x in zip(self.parameter_of(), numbers)]
        return [np.array(flat[a:b], np.float32) if parameter.per != "global" else np.array(flat[a], np.float32)
                for parameter, a, b in zip(self.parameters, self.offsets, self.offsets[1:])]

    def _rows(self, numbers: Sequence[float], which: int) -> np.ndarray:
        """The value of a parameter in each row, the model's own where its index is -1."""
        parameter, index, place = self.parameters[which], self.indices[which], self.places[which]
        values = np.array([parameter.from_space(x) for x in numbers[self.offsets[which] : self.offsets[which + 1]]])
        if place is None:
            old = getattr(self._pair_before, parameter.target)
        else:
            before = self._before[place.array]
            old = before if place.column is None else before[:, place.column]
            old = old[place.element : place.element + 1] if place.element is not None else old
        return np.where(index >= 0, values[np.maximum(index, 0)], old)

    def _pair_rows(self, numbers: Sequence[float]) -> tuple[Any, Any]:
        pair = {"E": self._pair_before.E, "nu": self._pair_before.nu}
        for which, place in enumerate(self.places):
            if place is None:
                pair[self.parameters[which].target] = self._rows(numbers, which)
        return pair["E"], pair["nu"]

    def arrays(self, numbers: Sequence[float]) -> dict[str, np.ndarray]:
        """What the model's arrays hold for these numbers, float32."""
        out = {name: array.copy() for name, array in self._before.items()}
        if self.has_pair:
            out["tet_materials"][:, 0], out["tet_materials"][:, 1] = tet_materials_of(*self._pair_rows(numbers))
        for which, place in enumerate(self.places):
            if place is None:
                continue
            rows = self._rows(numbers, which)
            if place.element is not None:
                out[place.array][place.element] = rows[0]
            elif place.column is not None:
                out[place.array][:, place.column] = rows
            else:
                out[place.array][:] = rows
            if place.array == "particle_mass":
                moved = self._before["particle_inv_mass"] > 0
                out["particle_inv_mass"][moved] = 1 / rows[moved]
        return out

    def write(self, numbers: Sequence[float]) -> None:
        """Puts them into the model."""
        for name, array in self.arrays(numbers).items():
            getattr(self.model, name).assign(array)

    def restore(self) -> None:
        """Puts back what the model held when this was made."""
        for name, array in self._before.items():
            getattr(self.model, name).assign(array)

    def read_arrays(self) -> list[str]:
        """The arrays that a solver reads and whose derivatives are needed."""
        return sorted({"particle_inv_mass" if n == "particle_mass" else n for n in self._written()})

    def _slopes(self, numbers: Sequence[float], which: int) -> list[tuple[str, int | None, int | None, np.ndarray]]:
        """(array, column, element, d row of the array / d value of the parameter in that row) for a parameter."""
        place = self.places[which]
        if place is None:
            mu_e, mu_nu, lambda_e, lambda_nu = tet_material_slopes(*self._pair_rows(numbers))
            of_e = self.parameters[which].target == "E"
            return [("tet_materials", 0, None, mu_e if of_e else mu_nu),
                    ("tet_materials", 1, None, lambda_e if of_e else lambda_nu)]
        rows = self._rows(numbers, which)
        if place.array == "particle_mass":
            moved = self._before["particle_inv_mass"] > 0
            return [("particle_inv_mass", None, None, np.where(moved, -1 / np.where(moved, rows, 1) ** 2, 0))]
        return [(place.array, place.column, place.element, np.ones(rows.shape[0], np.float32))]

    def tangent(self, numbers: Sequence[float], k: int) -> dict[str, np.ndarray]:
        """How the arrays that the solver reads change with number k, float32."""
        which = next(w for w in range(len(self.sizes)) if k < self.offsets[w + 1])
        hit = (self.indices[which] == k - self.offsets[which]) * self.parameters[which].slope(numbers[k])
        out = {}
        for array, column, element, slope in self._slopes(numbers, which):
            change = out.setdefault(array, np.zeros_like(self._before[array]))
            if element is not None:
                change[element] = (slope * hit)[0]
            elif column is not None:
                change[:, column] = slope * hit
            else:
                change[:] = slope * hit
        return out

    def pull_back(self, numbers: Sequence[float], gradients: dict[str, np.ndarray]) -> list[float]:
        """The gradient by the numbers from that by the arrays that the solver reads."""
        out: list[float] = []
        for which, (index, size) in enumerate(zip(self.indices, self.sizes)):
            rows = 0
            for array, column, element, slope in self._slopes(numbers, which):
                gradient = gradients[array]
                part = gradient[element : element + 1] if element is not None else gradient if column is None else gradient[:, column]
                rows = rows + part * slope
            kept = index >= 0
            total = np.bincount(index[kept], rows[kept], minlength=size)
            parameter, offset = self.parameters[which], self.offsets[which]
            out += [float(total[j]) * parameter.slope(numbers[offset + j]) for j in range(size)]
        return out

    def collapses(self, numbers: Sequence[float]) -> str:
        """Why a body with these constants cannot stand, or "": the bulk stiffness of some tetrahedron is not positive."""
        if not self.moves_tets:
            return ""
        material = self.arrays(numbers)["tet_materials"]
        stiffness = bulk_stiffness(material[:, 0], material[:, 1])
        worst = int(np.argmin(np.where(np.isfinite(stiffness), stiffness, -np.inf)))
        if stiffness[worst] > 0 or (material[worst, 0] == 0 and material[worst, 1] == 0):
            return ""
        return (f"tetrahedron {worst} has k_mu = {material[worst, 0]:g} and k_lambda = {material[worst, 1]:g}, "
                "and without k_mu < 8 k_lambda its rest shape is not stable at any time step")
