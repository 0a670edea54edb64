"""Views: what they keep, that they never resolve again, and that their order does not matter where it should not."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import TraceError, Traces
from tests.bda import oracle
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import assert_same, meanings, move, traces

TALK = traces(
    "ada 0 propose A",
    "bo 0 propose B",
    "ada 1 concede bo",
    "cy 1 challenge ada",
    "bo 2 propose -",
    move("cy 2 concede ada C", frozen=True),
    "dee 3 abstain",
)


def test_round0():
    assert meanings(TALK.round0()) == [("endorse", "A"), ("endorse", "B")]


def test_moves_by_type():
    assert meanings(TALK.moves("concede")) == [("endorse", "B"), ("endorse", "C")]
    assert meanings(TALK.moves(["challenge", "abstain"])) == [("reject", "A"), ("none", None)]
    assert len(TALK.moves(iter(("propose", "propose"))).moves_table) == 3
    assert len(TALK.moves([]).moves_table) == 0
    for wrong in ("Propose", "vote", ["propose", None], [0]):
        with pytest.raises(
            TraceError, match=r"types = .* is not a move type; use propose, concede, challenge, abstain"
        ):
            TALK.moves(wrong)


def test_agents_by_name():
    assert meanings(TALK.agents("cy")) == [("reject", "A"), ("endorse", "C")]
    assert TALK.agents(["dee", "ada"]).agent_names == ("ada", "dee")
    assert meanings(TALK.agents(["dee", "ada"])) == [("endorse", "A"), ("endorse", "B"), ("none", None)]
    assert TALK.agents(["ada", "ada", "a*"]).agent_names == ("ada",)
    assert TALK.agents([]).agent_names == ()
    assert TALK.agents(TALK.agent_names).agent_names == TALK.agent_names


def test_agents_by_pattern():
    judges = Traces.from_votes([[0, 1, 0, 1]], agents=["gpt/ab", "gpt/ba", "palm/ab", "a*b"])
    assert judges.agents("gpt/*").agent_names == ("gpt/ab", "gpt/ba")
    assert judges.agents("*/ab").agent_names == ("gpt/ab", "palm/ab")
    assert judges.agents("gpt/[ab]a").agent_names == ("gpt/ba",)
    assert judges.agents("*").agent_names == judges.agent_names
    assert judges.agents("a*b").agent_names == ("a*b",)  # a name goes before a pattern
    assert judges.agents(["palm/ab", "gpt/b?"]).agent_names == ("gpt/ba", "palm/ab")
    with pytest.raises(TraceError, match=r"agents = 'GPT/\*' matches no agent; agents are 'a\*b', 'gpt/ab', 'gpt/ba'"):
        judges.agents(["gpt/ab", "GPT/*"])


def test_agents_that_are_numbers():
    numbered = Traces.from_votes([[0, 1, 0]], agents=[1, 10, 2])
    assert numbered.agents(10).agent_names == numbered.agents(np.int64(10)).agent_names == (10,)
    assert numbered.agents(np.array([2, 1])).agent_names == (1, 2)
    assert numbered.agents("1*").agent_names == (1, 10)
    for wrong in (3, "3", [None], [1.5]):
        with pytest.raises(TraceError, match="agents = "):
            numbered.agents(wrong)


def test_a_message_lists_eight_agents_at_most():
    many = Traces.from_votes([[0, 1] * 6])
    with pytest.raises(TraceError, match=r"agents are 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.$"):
        many.agents("x")


def test_last_vote():
    last = TALK.last_vote()
    assert meanings(last) == [("endorse", "B"), ("endorse", "B"), ("endorse", "C")]
    table = last.moves_table
    assert [last.agent_names[a] for a in table.agent] == ["ada", "bo", "cy"]
    assert last.agent_names == TALK.agent_names
    for column in ("round", "type", "status", "irregular", "frozen"):
        assert not getattr(table, column).any()
    assert (table.target == -1).all()
    assert (table.answer == table.resolved).all()
    assert_same(last.last_vote(), last)


def test_last_vote_keeps_the_confidence_of_its_move():
    found = traces(move("ada 0 propose A", confidence=0.9), move("ada 1 propose B", confidence=0.2), "ada 2 propose -")
    assert found.last_vote().moves_table.confidence.tolist() == [0.2]


def test_a_view_never_resolves_again():
    only_cy = TALK.agents("cy")
    assert meanings(only_cy.moves("challenge")) == [("reject", "A")]
    assert meanings(TALK.moves(["challenge", "concede"])) == [("endorse", "B"), ("reject", "A"), ("endorse", "C")]
    assert (only_cy.moves_table.target == -1).all()
    without_round_0 = TALK.agents("ada").moves("concede")
    assert meanings(without_round_0.last_vote()) == [("endorse", "B")]
    assert meanings(TALK.round0().last_vote()) == [("endorse", "A"), ("endorse", "B")]


def test_every_view_is_marked_and_new():
    before = meanings(TALK), TALK.agent_names
    for view in (TALK.round0(), TALK.moves("propose"), TALK.agents("ada"), TALK.last_vote(), TALK[[0]].round0()):
        assert view.is_view
        assert view[[0]].is_view
        assert view is not TALK
    assert not TALK.is_view
    assert not TALK[[0]].is_view
    assert (meanings(TALK), TALK.agent_names) == before


@given(st.integers(0, 10**9))
def test_views_against_the_oracle(seed):
    rng = random.Random(seed)
    tasks = messier_tasks(rng, 6)
    found = Traces.from_records(tasks)
    resolved = [(m, (m["kind"], m["answer"])) for one in tasks for m in oracle.resolve(one)]
    kinds = rng.sample(["propose", "concede", "challenge", "abstain"], 2)
    names = rng.sample(found.agent_names, min(2, len(found.agent_names)))
    assert meanings(found.round0()) == [said for m, said in resolved if m["round"] == 0]
    assert meanings(found.moves(kinds)) == [said for m, said in resolved if m["type"] in kinds]
    assert meanings(found.agents(names)) == [said for m, said in resolved if m["agent"] in names]
    both = [said for m, said in resolved if m["agent"] in names and m["type"] in kinds]
    assert meanings(found.agents(names).moves(kinds)) == meanings(found.moves(kinds).agents(names)) == both


@given(st.integers(0, 10**9))
def test_picking_tasks_and_taking_views_go_in_either_order(seed):
    rng = random.Random(seed)
    found = Traces.from_records(messier_tasks(rng, 6))
    index = [rng.randrange(6) for _ in range(4)]
    for view in (
        lambda t: t.round0(),
        lambda t: t.last_vote(),
        lambda t: t.moves("challenge"),
        lambda t: t.agents(found.agent_names[0]),
    ):
        assert_same(view(found)[index], view(found[index]))
