"""The table of commands, the entry point, and what all commands share.

A command is a module with `add_arguments(parser)` and `run(args) -> int`. Only the module of the command
that was asked for is imported, and it imports what is heavy inside `run`, so that `steelyard --help` is
quick. Data goes to stdout, words to stderr; 0 is fine, 1 a check that failed, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

__all__ = ["COMMANDS", "PACKAGES", "check_output", "emit", "main", "version_of", "write_output"]

COMMANDS = {
    "evaluate": ("steelyard.evaluate", "compare aggregators on traces with known answers"),
    "inspect": ("steelyard.inspect", "say what a file of traces holds"),
    "convert": ("steelyard.convert", "write traces in another form"),
    "fit": ("steelyard.fit", "fit an aggregator on labelled traces and save it"),
    "predict": ("steelyard.predict", "apply a saved aggregator to new traces"),
    "explain": ("steelyard.explain", "show how one task's verdict comes about"),
    "doctor": ("steelyard.doctor", "check that this installation is sound"),
}

PACKAGES = ("bda", "calibration", "causal", "cbs_math", "council_sim", "steelyard")
_FAILED_USAGE, _INTERRUPTED, _PIPE_CLOSED = 2, 130, 141


class _Command(Protocol):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after `steelyard`; those of this process by default.

    Returns
    -------
    int
        0 fine, 1 a check failed, 2 bad usage or input, 130 interrupted, 141 the reader of stdout went away.

    Examples
    --------
    >>> from steelyard.commands import main
    >>> main(["--version"])
    steelyard ...
    0
    """
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: 0 after --help, 2 after bad usage
        return stop.code if isinstance(stop.code, int) else _FAILED_USAGE
    except BrokenPipeError:
        # Python flushes stdout once more as it exits; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        _say("interrupted")
        return _INTERRUPTED
    except (ValueError, OSError, ImportError) as fault:
        if not _is_expected(fault):
            raise
        _say(_message(fault))
        return _FAILED_USAGE


def emit(data: object, as_json: bool) -> None:
    """Print a command's result on stdout.

    Parameters
    ----------
    data : object
        Text, or with `as_json` anything made of mappings, sequences, arrays, numbers and text.
    as_json : bool
        Print JSON. A number that JSON lacks (nan, inf) becomes null.

    Examples
    --------
    >>> from steelyard.commands import emit
    >>> emit({"accuracy": 0.75, "width": float("nan")}, as_json=True)
    {
      "accuracy": 0.75,
      "width": null
    }
    """
    print(json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) if as_json else data)


def check_output(path: str | Path, overwrite: bool) -> None:
    """Refuse a path that `write_output` would refuse; call it before a long computation.

    Parameters
    ----------
    path : str or path
        The file to be written.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    FileExistsError
        The file exists and `overwrite` is false.
    FileNotFoundError
        The folder that should hold the file does not exist.

    Examples
    --------
    >>> from steelyard.commands import check_output
    >>> check_output("a-new-file.html", overwrite=False)
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; give --overwrite to replace it, or another name")


def write_output(path: str | Path, text: str, overwrite: bool) -> None:
    """Write a text file, and never over an existing one unless told to.

    Parameters
    ----------
    path : str or path
        The file to write.
    text : str
        What to write, as UTF-8.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    FileExistsError
        The file exists and `overwrite` is false.

    Examples
    --------
    >>> from steelyard.commands import write_output
    >>> write_output("verdict.txt", "B", overwrite=False)
    >>> write_output("verdict.txt", "C", overwrite=False)
    Traceback (most recent call last):
    FileExistsError: verdict.txt exists; give --overwrite to replace it, or another name
    """
    check_output(path, overwrite)
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def version_of(distribution: str) -> str | None:
    """Return the installed version of a distribution.

    Parameters
    ----------
    distribution : str
        The name that pip knows it by.

    Returns
    -------
    str or None
        None where it is not installed.

    Examples
    --------
    >>> from steelyard.commands import version_of
    >>> version_of("no-such-distribution")
    """
    from importlib import metadata  # 20 ms that --help need not pay

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _run(argv: list[str]) -> int:
    # Before the command's name only --help and --version can stand, and neither takes a value.
    chosen = next((word for word in argv if not word.startswith("-")), None)
    command = _load(chosen) if chosen in COMMANDS else None
    parser = _parser(chosen, command)
    args = parser.parse_args(argv)
    args.words = argv  # so that a report can say how it was made
    if args.version:
        emit(f"steelyard {version_of('steelyard') or '(not installed)'}", as_json=False)
        return 0
    if command is None:
        parser.print_help(sys.stderr)
        return _FAILED_USAGE
    _turn_on_compilation_cache(os.environ)
    with warnings.catch_warnings():
        warnings.showwarning = _say_warning
        return command.run(args)


def _parser(chosen: str | None, command: _Command | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="steelyard",
        description="Weigh voices: calibrated probabilities and agent reliabilities from council traces.",
        epilog="steelyard COMMAND --help says more about one command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (_, line) in COMMANDS.items():
        if name != chosen or command is None:
            commands.add_parser(name, help=line, add_help=False)
            continue
        own = commands.add_parser(
            name,
            help=line,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(own)
    return parser


def _load(name: str) -> _Command:
    home = COMMANDS[name][0]
    try:
        return cast(_Command, import_module(home))
    except ModuleNotFoundError as fault:
        if fault.name != home:
            raise
        raise ImportError(f"the command {name!r} is not part of this release") from None


def _turn_on_compilation_cache(environ: Any) -> None:
    """Let jax keep compiled functions between runs, without importing it; what the user has set stands.

    Compiled code fits one jax and one processor, so the folder's name holds both.
    """
    jax = version_of("jax")
    if "JAX_COMPILATION_CACHE_DIR" in environ or jax is None:
        return
    try:
        folder = _user_cache(environ) / "steelyard" / f"jax-{jax}-{_processor()}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, or one that cannot be written to: run without the cache
        return
    environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    # jax's own threshold of a second would skip exactly our small functions.
    environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def _user_cache(environ: Any) -> Path:
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _processor() -> str:
    """Eight hexadecimal digits that name this machine's processor model and its instruction sets."""
    import hashlib
    import platform

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        words = sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})
    except OSError:  # not Linux
        words = [platform.processor()]
    return hashlib.sha256("\n".join([platform.machine(), *words]).encode()).hexdigest()[:8]


def _is_expected(fault: BaseException) -> bool:
    """Tell bad input, which gets one line, from a mistake of ours, which keeps its traceback."""
    if isinstance(fault, OSError) and fault.filename is not None:
        return True
    if isinstance(fault, ImportError) and fault.name is not None:
        return False  # an import that failed, not one of our refusals
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return raised_in.partition(".")[0] in PACKAGES


def _message(fault: BaseException) -> str:
    if isinstance(fault, OSError) and fault.filename is not None and fault.strerror:
        return f"{fault.filename}: {fault.strerror}"
    return str(fault)


def _say(words: str) -> None:
    print(f"steelyard: {words}", file=sys.stderr)


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}")


def _plain(value: Any) -> Any:
    """Arrays and their numbers as Python's own, and null for numbers that JSON lacks."""
    to_list: Callable[[], Any] | None = getattr(value, "tolist", None)
    if to_list is not None:
        value = to_list()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
