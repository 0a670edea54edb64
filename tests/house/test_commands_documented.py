"""The page docs/commands.md names every command and every long option."""

import argparse
import re
from importlib import import_module

import pytest

from steelyard.commands import COMMANDS
from tests.house.tree import ROOT, run_python


def documented() -> str:
    return (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def long_options(name: str) -> set[str]:
    parser = argparse.ArgumentParser(add_help=False)
    import_module(COMMANDS[name][0]).add_arguments(parser)
    return {option for action in parser._actions for option in action.option_strings if option.startswith("--")}


def section(page: str, name: str) -> str:
    """Return the part of the page under the heading that names the command."""
    parts = re.split(r"^(#+ .*)$", page, flags=re.MULTILINE)
    named = [body for heading, body in zip(parts[1::2], parts[2::2], strict=True) if name in heading.lower()]
    return "\n".join(named)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_section_with_all_its_options(name: str):
    text = section(documented(), name)
    assert text, f"docs/commands.md has no heading with {name!r}"
    missing = {option for option in long_options(name) if not re.search(rf"{re.escape(option)}(?![\w-])", text)}
    assert missing == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str):
    ran = run_python("-m", "steelyard", name, "--help")
    assert ran.returncode == 0, ran.stderr
    assert f"usage: steelyard {name}" in ran.stdout


def test_the_section_ends_at_the_next_heading():
    assert "--b" not in section("## steelyard fit\n\n--a\n\n## steelyard predict\n\n--b\n", "fit")
