# SPDX-License-Identifier: Apache-2.0
"""novaphy.diff.Rollout: many steps of a solver, differentiated within a memory budget."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, Iterator

from ._progress import new_bar
from ._lazy import extension
from ._process_bound import ProcessBound

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def _bytes_of(budget: int | str | None) -> int:
    """Bytes of 1000000, "256 MB" or "1.5 GiB"; 0 for None."""
    if budget is None:
        return 0
    given = budget
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", budget)
        if match is None or match[2].upper() not in _UNITS:
            raise ValueError(
                f"Rollout: memory_budget is {given!r}; give bytes, or a text such as '256 MB' or '1.5 GiB'"
            )
        budget = int(float(match[1]) * _UNITS[match[2].upper()])
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise TypeError(
            f"Rollout: memory_budget is a {type(given).__name__}; give bytes, or a text such as '256 MB'"
        )
    if budget < 1:
        raise ValueError(f"Rollout: memory_budget is {given!r}; give at least one byte, or None for no limit")
    return min(budget, 2**62)


class Rollout(ProcessBound):
    """`substeps` steps of `solver` from a state, a loss, and its gradient, in bounded memory.

        roll = novaphy.diff.Rollout(solver, control, contacts, dt, substeps=288, memory_budget="256 MB")
        loss = roll(state0, lambda state: ndiff.particle_point_loss_generated(
            ndiff.state_particle_q_tensor(state), 0, 0.0, -2.0, 1.5))
        roll.backward()

    Loss and gradient have the bits of one nova.Tape over all steps, whatever the budget: where the states do
    not all fit, some are kept and steps between them run again in backward. A step that then gives another
    state raises StaleRecordError with its number.

    solver, control, contacts, dt [s]: as for solver.step; control and contacts may be None. Forces of a state
    are cleared before each step.
    memory_budget: bytes, or a text such as "256 MB"; None keeps all states. Covers states, recording and
    cotangents; the start state and the last one come on top. ValueError names the least that is needed.
    loss: loss_fn of every call that gives none. loss(state) -> tensor of one element, of the last state.
    loss_each: loss_each(step, state) -> such a tensor or None, after each step; `step` steps have been made.
    before_step: before_step(step, state, control, contacts), steps from 0, for forces, controls, collision.
    Callbacks may be called several times for a step, and must do the same each time. All losses are added in
    order.

    Gradients reach the start state, the parameters of the model and every tensor that requires them. The
    states between are the rollout's own and keep none. Not inside an open tape or a capture.
    """

    def __init__(
        self,
        solver: Any,
        control: Any,
        contacts: Any,
        dt: float,
        substeps: int,
        *,
        memory_budget: int | str | None = None,
        loss: Callable[[Any], Any] | None = None,
        loss_each: Callable[[int, Any], Any] | None = None,
        before_step: Callable[[int, Any, Any, Any], Any] | None = None,
    ) -> None:
        if isinstance(substeps, bool) or not hasattr(substeps, "__index__"):
            raise TypeError(f"Rollout: substeps is a {type(substeps).__name__}; give an integer of at least 1")
        if substeps < 1:
            raise ValueError(f"Rollout: substeps is {substeps}; give at least 1")
        if not hasattr(solver, "model") or not hasattr(solver, "step"):
            raise TypeError(f"Rollout: solver is a {type(solver).__name__}; give a solver such as DiffSemiImplicitSolver")
        if isinstance(dt, bool) or not hasattr(dt, "__float__"):
            raise TypeError(f"Rollout: dt is a {type(dt).__name__}; give seconds as a number")
        self._loss, self._loss_each, self._loss_fn, self._before_step = loss, loss_each, loss, before_step
        self._substeps = substeps
        self._bar: Any = None
        self._core = extension("nova").RolloutCore(
            solver.model, substeps, solver, control, contacts, dt, _bytes_of(memory_budget)
        )

    def __call__(self, state0: Any, loss_fn: Callable[[Any], Any] | None = None) -> Any:
        """Runs all steps from `state0`, which must keep its values until backward(). The loss, a tensor of
        one element, or None when there is no loss. Under nova.no_grad() there is no backward()."""
        self._loss_fn = self._loss if loss_fn is None else loss_fn
        with self._bar_shown():
            return self._core.roll(state0, self._before_step, self._losses, self._progress)

    def backward(self) -> None:
        """Adds the gradient of the loss to everything that requires it. Once after each call."""
        with self._bar_shown():
            self._core.backward(self._before_step, self._losses, self._progress)

    @property
    def states(self) -> list[Any]:
        """The states that are kept now: the start, checkpoints or all, the last (steps: `state_steps`)."""
        return [state for _, state in self._core.states()]

    @property
    def state_steps(self) -> list[int]:
        """How many steps were made before each of `states`."""
        return [step for step, _ in self._core.states()]

    @property
    def memory_bytes(self) -> int:
        """Bytes of states, recording and cotangents that are held now, the start state not counted."""
        return self._core.memory_bytes()

    @property
    def estimate(self) -> str:
        """What a call and its backward keep and run again. With a budget this tries the first two steps,
        once."""
        return self._core.estimate(self._before_step, self._losses)

    def release(self) -> None:
        """Gives all memory back. backward() then needs another call."""
        self._core.release()

    def __repr__(self) -> str:
        return f"Rollout({self._substeps} steps, {self.memory_bytes} bytes held)"

    def _losses(self, step: int, state: Any) -> list[Any]:
        losses = []
        if self._loss_each is not None:
            losses.append(("loss_each", self._loss_each(step, state)))
        if step == self._substeps and self._loss_fn is not None:
            losses.append(("loss_fn", self._loss_fn(state)))
        tensor = extension("nova").Tensor
        for name, value in losses:
            if not isinstance(value, tensor) and not (value is None and name == "loss_each"):
                raise TypeError(
                    f"Rollout: {name} returned {type(value).__name__}, a nova.Tensor of one element is wanted"
                )
        return [value for _, value in losses if value is not None]

    def _progress(self, done: int, total: int) -> None:
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    @contextlib.contextmanager
    def _bar_shown(self) -> Iterator[None]:
        self._bar = new_bar("rollout", "step", delay=1.0)
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.close()
            self._bar = None
