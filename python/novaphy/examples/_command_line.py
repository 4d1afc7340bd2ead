# SPDX-License-Identifier: Apache-2.0
"""What the command lines of all examples share: options, viewer, progress."""

from __future__ import annotations

import argparse
import functools
import sys
from typing import Any, Callable, Iterator

from .. import NovaPhyError, PluginNotAvailableError, config, viewer


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """The options that every example has."""
    out = argparse.ArgumentParser(prog=name, description=description)
    out.add_argument(
        "--headless",
        type=int,
        metavar="N",
        help="no window: train N iterations (0 = only the initial rollout)",
    )
    out.add_argument("--dump-states", metavar="PATH", help="write the trajectory to an NPZ file")
    out.add_argument(
        "--check-grad",
        "--check-gradient",
        action="store_true",
        dest="check_grad",
        help="compare the gradient with finite differences; exit code 1 when they disagree",
    )
    out.add_argument("--plot", metavar="PATH", help="write the picture here")
    out.add_argument("--device", help="cpu (default) or cuda:N")
    out.add_argument(
        "--viewer", choices=("gl", "null"), default="gl", help="what to draw with when not headless"
    )
    out.add_argument("--no-jit", action="store_true", help="run generated kernels in the interpreter")
    out.add_argument("--seed", type=int, help="start from a randomly disturbed guess")
    return out


def reporting(main: Callable[..., int]) -> Callable[..., int]:
    """An error of NovaPhy becomes one line and exit code 1."""

    @functools.wraps(main)
    def run(argv: list[str] | None = None) -> int:
        try:
            return main(argv)
        except NovaPhyError as error:
            print(error, file=sys.stderr)
            return 1

    return run


def open_viewer(options: argparse.Namespace) -> Any:
    """The viewer that was asked for, or None with one line that says why there is none."""
    if options.headless is not None or options.check_grad:
        return None
    try:
        return viewer.create(options.viewer)
    except (PluginNotAvailableError, RuntimeError) as error:
        reason = str(error).partition(";")[0]
        print(f"No window ({reason}); training without one.")
        return None


def iterations(count: int, what: str) -> Iterator[int]:
    """range(count) behind a progress bar, where one can be shown."""
    if config.progress == "off" or (config.progress == "auto" and not sys.stderr.isatty()):
        return iter(range(count))
    try:
        from tqdm import tqdm
    except ImportError:  # an extra: without it the losses are printed all the same
        return iter(range(count))
    return iter(tqdm(range(count), desc=what, unit="iteration", leave=False))


def say(text: str) -> None:
    """A line that does not cut through a progress bar."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None:
        tqdm.tqdm.write(text)
    else:
        print(text, flush=True)
