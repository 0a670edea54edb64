"""Arms on disk: applied by a Python without jax, scipy, sklearn, pandas or matplotlib; faults named; nothing run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, TraceError, Traces, WeightedVote, load_arm
from bda.storage import ARM_HOME
from tests.bda.cases import CLASSES, messy
from tests.bda.test_batched import Shouting

PRIOR = dict(zip(CLASSES, (1, 2, 3, 4, 5, 6, 7, 8), strict=True))
ARMS = [
    Plurality(random_state=3),
    BestMember(3.0, 2.0, 5.0),
    WeightedVote(view="round0"),
    *(OneCoin(2.5, 1.0, 2.0, challenge, PRIOR) for challenge in ("composite", "set", "exact", "ignore")),
    PerAgent(3.0, 1.0, kappa=7.0, temperature=1.5, challenge="set", fit_view="last_vote"),
    Confusion(3.0, 0.7, 2.0, "set", "marginal", PRIOR),
    Confusion(view="last_vote"),
]

APPLY = """
import json, sys, warnings

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"jax", "jaxlib", "scipy", "sklearn", "pandas", "matplotlib", "numpyro", "dowhy"}:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
warnings.simplefilter("ignore")
from bda import Traces, load_arm
traces = Traces.read_jsonl(sys.argv[1])
found = []
for path in sys.argv[2:]:
    arm = load_arm(path)
    parts = [[part.difference for part in arm.explain(traces, task).parts] for task in traces.task_ids[:5]]
    found.append([arm.predict_proba(traces).tolist(), arm.predict(traces).tolist(), parts])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def council():
    calibration, tasks = messy(17, n=40, n_labelled=25)
    return Traces.from_records(calibration), Traces.from_records(tasks)


@pytest.fixture(scope="module")
def applied(council, tmp_path_factory):
    """Every arm, fitted and saved; what another process without heavy imports made of it."""
    folder = tmp_path_factory.mktemp("arms")
    known, asked = council
    asked.write_jsonl(folder / "asked.jsonl")
    paths = []
    for n, arm in enumerate(ARMS):
        paths.append(folder / f"{n}.json")
        arm.fit(known).to_json(paths[-1])
    ran = subprocess.run(
        [sys.executable, "-c", APPLY, folder / "asked.jsonl", *paths],
        capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


ignored = pytest.mark.filterwarnings("ignore::bda.EvidenceWarning")


@ignored
@pytest.mark.parametrize("n", range(len(ARMS)), ids=lambda n: f"{type(ARMS[n]).__name__}-{n}")
def test_a_saved_arm_needs_numpy_alone_and_gives_the_same(n, applied, council):
    proba, labels, parts = applied[n]
    np.testing.assert_allclose(proba, ARMS[n].predict_proba(council[1]), rtol=0, atol=1e-12)
    assert labels == ARMS[n].predict(council[1]).tolist()
    expected = [[p.difference for p in ARMS[n].explain(council[1], t).parts] for t in council[1].task_ids[:5]]
    for found, own in zip(parts, expected, strict=True):
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-12)


def test_every_arm_that_can_be_saved_is_among_them():
    assert {type(arm).__name__ for arm in ARMS} == set(ARM_HOME)


@ignored
def test_a_loaded_arm_is_the_same_arm(council, tmp_path):
    known, asked = council
    for arm in ARMS:
        loaded = load_arm(_saved(arm.fit(known), tmp_path))
        assert type(loaded) is type(arm)
        assert loaded.get_params() == arm.get_params()
        assert loaded.agents_ == arm.agents_
        assert loaded.n_labels_ == arm.n_labels_
        assert loaded.classes_.dtype == arm.classes_.dtype
        assert (loaded.log_proba(asked) == arm.log_proba(asked)).all()
        assert loaded.to_json() == arm.to_json()
        if hasattr(arm, "profile_"):
            assert loaded.profile_.equals(arm.profile_)


def test_an_unfitted_arm_is_saved_unfitted(tmp_path):
    loaded = load_arm(_saved(PerAgent(kappa=3.0), tmp_path))
    assert (loaded.kappa, loaded.is_fitted) == (3.0, False)
    with pytest.raises(ValueError, match="not fitted"):
        loaded.predict([[0, 1]])


@pytest.mark.parametrize(
    "names",
    [["a", "b", "ä ↦ 猫"], [0, 1, 2], [False, True], [-5, 10**25], ["1", 1, "x"], ["a\0", "a"], ["\ud83d", "x"]],
    ids=["text", "integers", "booleans", "large", "mixed", "nul", "surrogate"],
)
def test_names_keep_their_type(names, tmp_path):
    records = [
        {"task": n, "candidates": names, "gold": name, "moves": [
            {"agent": a, "round": 0, "type": "propose", "answer": name} for a in ("x", "y")]}
        for n, name in enumerate(names)
    ]  # fmt: skip
    traces = Traces.from_records(records)
    for arm in (PerAgent(class_prior=dict.fromkeys(names, 2)), Confusion(), Plurality()):
        loaded = load_arm(_saved(arm.fit(traces), tmp_path))
        for classes in (arm.classes_.tolist(), loaded.classes_.tolist()):
            assert [(type(c), c) for c in classes] == [(type(c), c) for c in traces.classes]
        predicted = loaded.predict(traces).tolist()
        assert [(type(p), p) for p in predicted] == [(type(name), name) for name in names]
        assert loaded.get_params() == arm.get_params()


def test_numpy_parameters_are_saved_as_numbers(tmp_path):
    loaded = load_arm(_saved(OneCoin(np.float64(3), np.int64(2), random_state=np.int32(4)), tmp_path))
    assert (loaded.alpha, loaded.beta, loaded.random_state) == (3.0, 2, 4)
    assert type(loaded.beta) is int


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    path = tmp_path / "arm.json"
    with pytest.raises(TraceError, match=r"arm = 'Shouting' cannot be saved.*PerAgent"):
        Shouting().to_json(path)
    with pytest.raises(TraceError, match="alpha = nan is out of range"):
        OneCoin(alpha=float("nan")).to_json(path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "arm.json"
    OneCoin(alpha=5.0).to_json(path)

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("bda.storage.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        OneCoin(alpha=6.0).to_json(path)
    assert load_arm(path).alpha == 5.0
    assert [p.name for p in tmp_path.iterdir()] == ["arm.json"]


# Damaged files


def _saved(arm, folder):
    path = folder / "arm.json"
    arm.to_json(path)
    return path


@pytest.fixture(scope="module")
def sound(council, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    known, _ = council
    return {kind.__name__: json.loads(kind().fit(known).to_json()) for kind in (Confusion, PerAgent, Plurality)} | {
        "folder": folder
    }


def change(content, path, value):
    content = json.loads(json.dumps(content))
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


DAMAGE = [
    ("PerAgent", ["format"], "other", "is not a saved arm"),
    ("PerAgent", ["schema"], 2, "schema = 2 is not a known schema; this version reads schema 1"),
    ("PerAgent", ["schema"], KeyError, "schema = None is not a known schema"),
    ("PerAgent", ["arm"], "Arm", "arm = 'Arm' is not an arm; arms are BestMember"),
    ("PerAgent", ["arm"], "os.system", "arm = 'os.system' is not an arm"),
    ("PerAgent", ["arm"], ["PerAgent"], "arm = .* is not an arm"),
    ("PerAgent", ["params"], KeyError, "params = None is missing"),
    ("PerAgent", ["params", "kappa"], KeyError, "params = .* are not the arm's"),
    ("PerAgent", ["params", "shout"], 1, "params = .* are not the arm's"),
    ("PerAgent", ["params", "kappa"], -1, "kappa = -1 is out of range"),
    ("PerAgent", ["params", "alpha"], "2", "alpha = '2' is not a number"),
    ("PerAgent", ["params", "class_prior"], {"a": 1}, "class_prior = .* is not a list of pairs"),
    ("PerAgent", ["fitted"], KeyError, "fitted = None is missing"),
    ("PerAgent", ["fitted"], 3, "fitted = 3 is not a dict"),
    ("PerAgent", ["fitted", "classes"], KeyError, "classes = None is missing"),
    ("PerAgent", ["fitted", "classes"], ["a", None], "classes = .* holds something that is no name"),
    ("PerAgent", ["fitted", "classes"], ["a", "a"], "classes = .* or a name twice"),
    ("PerAgent", ["fitted", "agents"], ["ada"], "chance = .* is not a chance in 0..1 for each agent"),
    ("PerAgent", ["fitted", "n_labels"], -3, "n_labels = .* is not 1 counts"),
    ("PerAgent", ["fitted", "reliability"], KeyError, "reliability = None is missing"),
    ("PerAgent", ["fitted", "reliability", "right"], [1.5] * 5, "right = .* is not 5 counts"),
    ("PerAgent", ["fitted", "reliability", "wrong"], [1], "wrong = .* is not 5 counts"),
    ("PerAgent", ["fitted", "reliability", "chance", 0], 1.7, "chance = .* is not a chance"),
    ("PerAgent", ["fitted", "reliability", "n_candidates"], 1, "n_candidates = 1 is below 2"),
    ("Confusion", ["fitted", "counts_"], KeyError, "counts_ = None is missing"),
    ("Confusion", ["fitted", "counts_", "shape", 0], 4, "counts_ = .* does not hold the .* numbers of its shape"),
    ("Confusion", ["fitted", "counts_", "values", 0], None, "counts_ = .* does not hold"),
    ("Confusion", ["fitted", "counts_", "values", 0], -1, "counts_ = -1.0 holds a negative count"),
    (
        "Confusion",
        ["fitted", "gold_classes_", "values", 0],
        99,
        "gold_classes_ = .* are not codes of the arm's classes",
    ),
    ("Confusion", ["fitted", "gold_classes_"], {"shape": [1], "values": [0]}, "counts_ = .* has another shape"),
]


@pytest.mark.parametrize(("arm", "path", "value", "message"), DAMAGE, ids=lambda v: str(v)[:40])
def test_a_damaged_arm_is_named(arm, path, value, message, sound):
    file = sound["folder"] / "damaged.json"
    file.write_text(json.dumps(change(sound[arm], path, value)))
    with pytest.raises(TraceError, match=rf"damaged\.json: {message}") as caught:
        load_arm(file)
    assert (
        "to_json wrote" in str(caught.value)
        or "arms are" in str(caught.value)
        or "save the arm again" in str(caught.value)
    )


@pytest.mark.parametrize("arm", ["Confusion", "PerAgent", "Plurality"])
def test_every_truncation_is_an_error(arm, sound):
    text = json.dumps(sound[arm])
    file = sound["folder"] / "cut.json"
    for end in {0, 1, len(text) // 3, len(text) // 2, len(text) - 1}:
        file.write_text(text[:end])
        with pytest.raises(TraceError, match=r"cut\.json: is not JSON"):
            load_arm(file)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_are_refused(token, sound):
    file = sound["folder"] / "nan.json"
    for key in ("counts_", "gold_classes_"):
        content = json.dumps(change(sound["Confusion"], ["fitted", key, "values", 0], "HERE"))
        file.write_text(content.replace('"HERE"', token))
        with pytest.raises(TraceError, match=f"is not JSON: it holds {token}, which no saved arm does"):
            load_arm(file)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"3", b"null", b'{"format": "steelyard.arm"}', b"\xff\xfe", b"[" * 100_000]
)
def test_any_other_file_is_an_error(content, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=r"x\.json: "):
        load_arm(path)


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_arm(tmp_path / "none.json")
