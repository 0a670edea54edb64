"""Arms named on the command line."""

import pytest

from bda.named_arms import ARM_NAMES
from bda.selection import Tuned
from steelyard.arms import EXAMPLES, named_arm, tunable


def test_the_names_in_the_help_exist():
    assert set(EXAMPLES) <= set(ARM_NAMES)


@pytest.mark.parametrize("name", ARM_NAMES)
def test_a_name_is_an_arm_at_its_defaults(name: str):
    arm = named_arm(name)
    assert arm.get_params() == type(arm)().get_params()


@pytest.mark.parametrize(
    ("text", "settings", "shown"),
    [
        ("one-coin", [], "OneCoin()"),
        ("per-agent:kappa=10,temperature=2", [], "PerAgent(kappa=10.0, temperature=2.0)"),
        ("per-agent: kappa = 10", ["alpha=3"], "PerAgent(alpha=3.0, kappa=10.0)"),
        ("per-agent:kappa=10", ["kappa=5", "kappa=7"], "PerAgent(kappa=7.0)"),
        ("confusion", ["likelihood=marginal", "random_state=3"], "Confusion(likelihood='marginal', random_state=3)"),
        ("one-coin", ['class_prior={"a": 1, "b": 0.5}'], "OneCoin(class_prior={'a': 1, 'b': 0.5})"),
        ("plurality:view=round0", [], "Plurality(view='round0')"),
    ],
)
def test_parameters_are_read_by_their_type(text: str, settings: list[str], shown: str):
    assert repr(named_arm(text, settings)) == shown


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("peragent", [], "arm = 'peragent' is not an arm; did you mean 'per-agent'\\? arms are plurality, best-member"),
        ("per-agent:kapa=3", [], "per-agent: parameter = 'kapa' is not there; did you mean 'kappa'\\? parameters are"),
        ("plurality:zzz=3", [], "parameters are view, random_state"),
        ("per-agent:kappa", [], "setting = 'kappa' is not a setting; write name=value"),
        ("per-agent:", [], "setting = '' is not a setting"),
        ("per-agent", ["kappa=ten"], "kappa = 'ten' is not a number; write --set kappa=20.0"),
        ("per-agent", ["kappa=-1"], "kappa = -1.0 is out of range"),
        ("per-agent", ["kappa=nan"], "kappa = nan is out of range"),
        ("one-coin", ["challenge=loud"], "challenge = 'loud' is not an option; use composite"),
        ("one-coin", ["random_state=1.5"], "random_state = '1.5' is not a whole number"),
        ("one-coin", ["class_prior=a"], "class_prior = 'a' is not a JSON object from class to weight"),
        ("one-coin", ['class_prior={"a": "b"}'], "is not a JSON object"),
    ],
)
def test_a_slip_is_answered_with_what_there_is(text: str, settings: list[str], message: str):
    with pytest.raises(ValueError, match=message):
        named_arm(text, settings)


def test_what_is_set_leaves_the_grid():
    def axes(text: str, *settings: str, challenged: bool = False) -> set:
        found = tunable(text, settings, challenged)
        assert isinstance(found, Tuned)
        return set(found.grid)

    assert axes("per-agent") == {("alpha", "beta"), "kappa", "temperature"}
    assert axes("per-agent:beta=2") == {"kappa", "temperature"}
    assert axes("per-agent", "kappa=2") == {("alpha", "beta"), "temperature"}
    assert axes("per-agent-untempered") == {("alpha", "beta"), "kappa"}
    assert axes("confusion", challenged=True) == {"prior_strength", "prior_accuracy", "challenge", "temperature"}
    assert tunable("per-agent:beta=2").arm.beta == 2


@pytest.mark.parametrize("text", ["plurality", "weighted-vote", "one-coin:alpha=2,temperature=1"])
def test_an_arm_with_nothing_to_pick_is_no_grid(text: str):
    assert repr(tunable(text)) == repr(named_arm(text))
