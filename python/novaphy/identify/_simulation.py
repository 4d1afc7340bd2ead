# SPDX-License-Identifier: Apache-2.0
"""Simulator: windows run with the solver, their residuals, and the residuals' derivatives by the unknowns."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .. import diff as ndiff
from .. import nova
from .._core import DomainCheckError
from .._lazy import extension
from ._observed import Observed
from ._prediction import Prediction
from ._unknowns import Unknowns
from ._windows import Window

#: Steps recorded at once in forward mode: the tangents of positions and velocities are handed from one such
#: stretch to the next, so memory does not grow with the window.
_STRETCH = 32


#: Positions beyond so many times the size of the model, measured from the origin, have flown apart.
_FLOWN_APART = 1e4


class Diverged(Exception):
    """The simulation gave a value that is not finite, or flew apart."""


@contextmanager
def _diverging() -> Iterator[None]:
    """A solver that refuses a value which is not finite has met a trial that cannot be simulated, not a user's mistake."""
    try:
        yield
    except DomainCheckError as error:
        raise Diverged(str(error)) from error


class Simulator:
    """Runs windows of an observed motion for given numbers of the unknowns.

    A residual is predicted minus observed, float32, in the observation's unit, window after window and stop after stop.
    """

    def __init__(self, unknowns: Unknowns, observed: Observed, solver: Any, dt: float, *, collide: Callable[[Any], Any] | None,
                 contacts: Any, control: Any, before_step: Callable[..., Any] | None, memory_budget: Any) -> None:
        self.unknowns, self.observed, self.solver, self.dt = unknowns, observed, solver, dt
        self._collide, self.contacts, self.control = collide, contacts, control
        self._own_before_step, self._memory_budget = before_step, memory_budget
        model = unknowns.model
        self.predict = Prediction(observed, model)
        self._states = [model.state() for _ in range(_STRETCH + 1)]
        self._start = model.state()
        self._arrays = {name: nova.as_tensor(getattr(model, name)) for name in unknowns.read_arrays()}
        self._farthest = _FLOWN_APART * (float(np.abs(model.particle_q.numpy()).max()) + float(np.abs(observed.data).max()))

    def _before_step(self, step: int, state: Any, control: Any, contacts: Any) -> None:
        if self._own_before_step is not None:
            self._own_before_step(step, state, control, contacts)
        if self._collide is not None:
            self._collide(state, contacts)

    def _put_start(self, window: Window, state: Any) -> None:
        state.assign(self._start)
        if self.observed.has_states:
            state.particle_q, state.particle_qd = self.observed.start(window.start, self.dt)

    def _first_step(self, window: Window) -> int:
        return round((self.observed.times[window.start] - self.observed.times[0]) / self.dt)

    def _stretches(self, window: Window) -> Iterator[tuple[int, int, int | None]]:
        """(first step, last step, index of the observed time at the last step or None), one after the other."""
        at = 0
        for index, stop in window.stops:
            while at < stop:
                end = min(at + _STRETCH, stop)
                yield at, end, index if end == stop else None
                at = end

    def _roll(self, first: int, steps: int) -> None:
        with _diverging():
            for step, (state, after) in enumerate(zip(self._states[:steps], self._states[1:])):
                state.clear_forces()
                self._before_step(first + step, state, self.control, self.contacts)
                self.solver.step(state, after, self.control, self.contacts, self.dt)
        far = np.abs(self._states[steps].particle_q.numpy()).max(axis=1)
        if not np.all(far < self._farthest):  # nor where it is no number
            raise Diverged(f"particle {int(np.argmin(far < self._farthest))} has flown apart by step {first + steps}")

    def residuals(self, numbers: Sequence[float], windows: Sequence[Window]) -> Iterator[tuple[int, np.ndarray]]:
        """(index of the observed time, residual) for each stop. Diverged."""
        self.unknowns.write(numbers)
        with nova.no_grad():
            for window in windows:
                self._put_start(window, self._states[0])
                first = self._first_step(window)
                for at, end, index in self._stretches(window):
                    self._roll(first + at, end - at)
                    if index is not None:
                        yield index, self._residual(self.predict(self._states[end - at]), index)
                    self._states[0].assign(self._states[end - at])

    def _residual(self, predicted: Any, index: int) -> np.ndarray:
        return (predicted.numpy() - self.observed.data[index]).ravel()

    def sensitivities(self, numbers: Sequence[float], windows: Sequence[Window]) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(index, residual (n), its derivatives (n, count)) for each stop, by forward mode. Diverged."""
        self.unknowns.write(numbers)
        changes = [self.unknowns.tangent(numbers, k) for k in range(self.unknowns.count)]
        parameter_tangents = [[nova.tensor(change.get(name, np.zeros(array.shape, np.float32))) for name, array in
                               self._arrays.items()] for change in changes]
        for window in windows:
            self._put_start(window, self._states[0])
            first = self._first_step(window)
            zero = nova.zeros(self._states[0].particle_q.shape)
            carried = [(zero, zero) for _ in changes]
            for at, end, index in self._stretches(window):
                carried, rows = self._stretch(first + at, end - at, index, carried, parameter_tangents)
                if index is not None:
                    residual, derivatives = rows
                    yield index, residual, derivatives
                self._states[0].assign(self._states[end - at])

    def _stretch(self, first: int, steps: int, index: int | None, carried: list[Any], parameter_tangents: list[Any]) -> Any:
        """Tangents of the last state, and (residual, derivatives) when it is compared, for each unknown."""
        start, last = self._states[0], self._states[steps]
        with nova.Tape(keep_values=True) as tape:
            for array in self._arrays.values():
                array.clone()  # so that every array is read, contact or not
            self._roll(first, steps)
            predicted = self.predict(last) if index is not None else None
        inputs = [ndiff.state_particle_q_tensor(start), ndiff.state_particle_qd_tensor(start), *self._arrays.values()]
        outputs = [ndiff.state_particle_q_tensor(last), ndiff.state_particle_qd_tensor(last)]
        if predicted is not None:
            outputs.append(predicted)
        results = [extension("nova")._jvp(tape, inputs, [*state, *own], outputs) for state, own in zip(carried, parameter_tangents)]
        rows = None
        if predicted is not None:
            rows = self._residual(predicted, index), np.stack([r[2].numpy().ravel() for r in results], axis=1)
            if not np.isfinite(rows[1]).all():
                raise Diverged(f"derivatives are not finite after step {first + steps}")
        return [(r[0], r[1]) for r in results], rows

    def gradient(self, numbers: Sequence[float], windows: Sequence[Window]) -> tuple[float, list[float]]:
        """The sum of all squared residuals and its gradient by the numbers, by the adjoint within the memory budget."""
        self.unknowns.write(numbers)
        total, gradients = 0.0, {name: np.zeros(array.shape, np.float32) for name, array in self._arrays.items()}
        for array in self._arrays.values():
            array.requires_grad = True
        try:
            for window in windows:
                total += self._window_gradient(window, gradients)
        finally:
            for array in self._arrays.values():
                array.requires_grad = False
        return total, self.unknowns.pull_back(numbers, gradients)

    def _window_gradient(self, window: Window, gradients: dict[str, np.ndarray]) -> float:
        stops = {substeps: index for index, substeps in window.stops}
        first = self._first_step(window)

        def loss_each(step: int, state: Any) -> Any:
            return self.predict.squared(state, stops[step]) if step in stops else None

        roll = ndiff.Rollout(self.solver, self.control, self.contacts, self.dt, window.substeps, loss_each=loss_each,
                             memory_budget=self._memory_budget,
                             before_step=lambda step, *given: self._before_step(first + step, *given))
        self._put_start(window, self._states[0])
        with _diverging():
            loss = roll(self._states[0]).item()
        if not np.isfinite(loss):
            raise Diverged("the squared residual is not finite")
        roll.backward()
        for name, array in self._arrays.items():
            if array.grad is not None:
                gradients[name] += array.grad.numpy()
            array.zero_grad()
        return loss
