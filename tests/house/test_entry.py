"""The entry point: exit codes, what goes to which stream, and the files it refuses to replace."""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from steelyard import commands
from steelyard.commands import check_output, emit, main, write_output
from tests.house.tree import ROOT, run_python


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a command named `fake` into the table, with a given `run`."""

    def plant(run: Callable[..., int]) -> None:
        module = ModuleType("steelyard.fake", "Do what the test says.")
        module.__dict__.update(add_arguments=lambda parser: parser.add_argument("--json"), run=run)
        monkeypatch.setitem(sys.modules, "steelyard.fake", module)
        monkeypatch.setitem(commands.COMMANDS, "fake", ("steelyard.fake", "a fake"))
        monkeypatch.setattr(commands, "_turn_on_compilation_cache", lambda environ: None)

    return plant


def raising(code: str, module: str) -> Callable[..., int]:
    """Return a `run` whose one line of code stands in the named module."""
    scope: dict[str, object] = {"__name__": module}
    exec(f"def run(args):\n    {code}\n    return 0", scope)
    return scope["run"]  # type: ignore[return-value]


def test_the_exit_code_of_a_command_is_returned(command):
    command(lambda args: 1)
    assert main(["fake"]) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "raise ValueError('votes[17, 3] is 5 but there are 4 classes')",
            "votes[17, 3] is 5 but there are 4 classes",
        ),
        ("raise ImportError('Parquet needs pyarrow')", "Parquet needs pyarrow"),
        ("open('no-such-file')", "no-such-file: No such file or directory"),
        ("raise FileExistsError('out.html exists')", "out.html exists"),
    ],
)
def test_bad_input_gets_one_line_and_exit_code_2(command, capsys, code: str, message: str):
    command(raising(code, "bda.traces"))
    assert main(["fake"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"steelyard: {message}\n")


@pytest.mark.parametrize(
    ("code", "module", "error"),
    [
        ("raise ValueError('shapes do not match')", "numpy.linalg", ValueError),
        ("raise KeyError('gold')", "bda.traces", KeyError),
        ("import no_such_module", "bda.traces", ModuleNotFoundError),
        ("1 / 0", "bda.traces", ZeroDivisionError),
    ],
)
def test_a_mistake_of_ours_keeps_its_traceback(command, code: str, module: str, error: type[Exception]):
    command(raising(code, module))
    with pytest.raises(error):
        main(["fake"])


def test_an_interrupt(command, capsys):
    command(raising("raise KeyboardInterrupt", "bda.traces"))
    assert main(["fake"]) == 130
    assert capsys.readouterr().err == "steelyard: interrupted\n"


def test_a_warning_is_one_line_on_stderr(command, capsys):
    def run(args):
        warnings.simplefilter("always")
        warnings.warn("2 moves were set aside", UserWarning, stacklevel=1)
        return 0

    command(run)
    assert main(["fake"]) == 0
    assert capsys.readouterr().err == "steelyard: warning: 2 moves were set aside\n"


@pytest.mark.parametrize("words", [[], ["evalute"], ["doctor", "--jso"], ["--verbose"]], ids=str)
def test_bad_usage_is_2_and_leaves_stdout_alone(capsys, words: list[str]):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "usage: steelyard" in err


def test_a_command_whose_module_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(commands.COMMANDS, "later", ("steelyard.no_such_module", "comes later"))
    assert main(["--help"]) == 0
    assert "comes later" in capsys.readouterr().out
    assert main(["later"]) == 2
    assert capsys.readouterr().err == "steelyard: the command 'later' is not part of this release\n"


def test_the_version():
    ran = run_python("-m", "steelyard", "--version")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"steelyard {commands.version_of('steelyard')}\n"


def test_a_reader_that_goes_away_is_no_error():
    code = "import sys; from steelyard.commands import main; sys.exit(main(['doctor', '--json']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), err) == (141, "")


def test_json_holds_arrays_and_null_for_what_json_lacks(capsys):
    data = {"p": np.array([0.25, np.nan]), "n": np.int64(3), 1: (float("inf"), True, None), "ü": "ö"}
    emit(data, as_json=True)
    out = capsys.readouterr().out
    assert json.loads(out) == {"p": [0.25, None], "n": 3, "1": [None, True, None], "ü": "ö"}


def test_text_is_printed_as_it_is(capsys):
    emit("a table", as_json=False)
    assert capsys.readouterr().out == "a table\n"


def test_a_file_is_written_once(tmp_path: Path):
    path = tmp_path / "report.html"
    write_output(path, "é\n", overwrite=False)
    with pytest.raises(FileExistsError, match=r"report\.html exists; give --overwrite"):
        write_output(path, "second", overwrite=False)
    assert path.read_bytes() == "é\n".encode()
    write_output(str(path), "third", overwrite=True)
    assert path.read_text() == "third"


def test_what_cannot_be_written_is_said_beforehand(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_output(tmp_path / "absent" / "report.html", overwrite=True)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_output(tmp_path, overwrite=True)
    check_output(tmp_path / "new.html", overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_the_compilation_cache_has_jax_and_processor_in_its_name(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    commands._turn_on_compilation_cache(environ)
    folder = Path(environ["JAX_COMPILATION_CACHE_DIR"])
    assert folder.is_dir()
    assert folder.parent == tmp_path / "steelyard"
    assert folder.name.startswith(f"jax-{commands.version_of('jax')}-")
    assert environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] == "0"


@pytest.mark.parametrize("chosen", ["", "mine"])
def test_a_cache_that_the_user_chose_stands(chosen: str):
    environ = {"JAX_COMPILATION_CACHE_DIR": chosen}
    commands._turn_on_compilation_cache(environ)
    assert environ == {"JAX_COMPILATION_CACHE_DIR": chosen}


def test_without_a_place_for_it_there_is_no_cache(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "steelyard").touch()  # a file where the folder should be
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    commands._turn_on_compilation_cache(environ)
    assert "JAX_COMPILATION_CACHE_DIR" not in environ
