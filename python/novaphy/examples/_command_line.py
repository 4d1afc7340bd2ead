# SPDX-License-Identifier: Apache-2.0
"""What the command lines of all examples share: options, viewer, progress."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import sys
from typing import Any, Callable, Iterator

from .. import Device, NovaPhyError, PluginNotAvailableError, viewer
from .._progress import new_bar


def _count(text: str) -> int:
    """An option's number of at least 0."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"wants a whole number of at least 0, got {text!r}")
    return number


def _output(text: str) -> str:
    """An option's file, refused before hours of work are done for it."""
    folder = os.path.dirname(os.path.abspath(text))
    if not text or os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"wants the name of a file, got {text!r}")
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"the folder {folder} does not exist")
    if not os.access(text if os.path.exists(text) else folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{os.path.abspath(text)} cannot be written")
    return text


def _picture(text: str) -> str:
    """The same for a picture, which also needs matplotlib and a name that it knows."""
    if not can_draw():
        raise argparse.ArgumentTypeError("needs matplotlib: pip install 'novaphy[plot]'")
    from matplotlib.figure import Figure

    kinds = Figure().canvas.get_supported_filetypes()
    kind = os.path.splitext(text)[1].lower().removeprefix(".")
    if kind and kind not in kinds:
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {', '.join(sorted(kinds))}")
    return _output(text)


def _device(text: str) -> Device:
    try:
        return Device(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def can_draw() -> bool:
    """Whether matplotlib, an extra, is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """The options that every example has."""
    out = argparse.ArgumentParser(prog=name, description=description)
    out.add_argument(
        "--headless",
        type=_count,
        metavar="N",
        help="no window: train N iterations (0 = only the initial rollout)",
    )
    out.add_argument("--dump-states", type=_output, metavar="PATH", help="write the trajectory to an NPZ file")
    out.add_argument(
        "--check-grad",
        "--check-gradient",
        action="store_true",
        dest="check_grad",
        help="compare the gradient with finite differences; exit code 1 when they disagree",
    )
    out.add_argument("--plot", type=_picture, metavar="PATH", help="write the picture here")
    out.add_argument("--html", type=_output, metavar="PATH", help="write a page that plays the last rollout")
    out.add_argument("--device", type=_device, help="cpu (default) or cuda:N")
    out.add_argument(
        "--viewer", choices=("gl", "null"), default="gl", help="what to draw with when not headless"
    )
    out.add_argument("--no-jit", action="store_true", help="run generated kernels in the interpreter")
    out.add_argument("--seed", type=_count, metavar="N", help="start from a randomly disturbed guess")
    return out


def reporting(main: Callable[..., int]) -> Callable[..., int]:
    """What the user can mend becomes one line and exit code 1; Ctrl-C ends with the shell's code for it."""

    @functools.wraps(main)
    def run(*arguments: Any, **named: Any) -> int:
        try:
            return main(*arguments, **named)
        except (NovaPhyError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("interrupted; nothing was written", file=sys.stderr)
            return 130

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
    bar = new_bar(what, "iteration", total=count)
    try:
        for i in range(count):
            yield i
            if bar is not None:
                bar.update()
    finally:
        if bar is not None:
            bar.close()


def say(text: str) -> None:
    """A line that does not cut through a progress bar."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None:
        tqdm.tqdm.write(text)
    else:
        print(text, flush=True)
