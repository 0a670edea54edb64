"""An independent oracle for the posteriors: exact rationals, loops and dictionaries, no arrays.

    log ev_i(k)      = ln E[ prod over the moves of agent i of P(move | k, theta) ], theta ~ Beta(alpha, beta)
    log p(k | trace) = log pi0(k) + (1/tau) sum_i log ev_i(k) + const

A task is its JSON form. Every number stays a `Fraction` until its logarithm, which is taken with 40 digits.
The quadrature route uses no closed form at all: it integrates the moves' probabilities as the model states.
Source: "Counting Moves, Weighing Voices"; nothing here is shared with the package under test.
"""

import math
from fractions import Fraction

import mpmath

from tests.bda.random_tasks import random_task as random_task
from tests.bda.random_tasks import random_tasks as random_tasks

MP = mpmath.mp.clone()
MP.dps = 40
QUAD = mpmath.mp.clone()  # integrals, far inside the 1e-12 asked of them
QUAD.dps = 20


# Traces


def resolve(task):
    """Give each move, in file order, `kind` (endorse, reject, none), `answer`, `status`, `inconsistent`."""
    moves, standing, resolved = task["moves"], {}, {}
    for r in sorted({move["round"] for move in moves}):
        endorsed = {}  # moves of one round do not see each other
        for position, move in enumerate(moves):
            if move["round"] == r:
                resolved[position] = move | _meaning(move, standing)
                if resolved[position]["kind"] == "endorse":
                    endorsed[move["agent"]] = resolved[position]["answer"]
        standing.update(endorsed)
    return [resolved[position] for position in range(len(moves))]


def _meaning(move, standing):
    stated, held = move.get("answer"), standing.get(move.get("target"))
    status = move.get("status", "ok")
    if move["type"] == "propose" and stated is None and status == "ok":
        status = "unreadable"
    meaning = {"kind": "none", "answer": None, "status": status, "inconsistent": False}
    if status != "ok" or move["type"] == "abstain":
        return meaning
    if move["type"] == "propose":  # whatever its target
        return meaning | {"kind": "endorse", "answer": stated}
    if move["target"] == move["agent"]:
        return meaning
    if move["type"] == "challenge":
        answer = held if stated is None else stated
        return meaning if answer is None else meaning | {"kind": "reject", "answer": answer}
    answer = stated if held is None or (move.get("frozen") and stated is not None) else held
    if answer is None:
        return meaning
    differ = stated is not None and held is not None and stated != held
    return meaning | {"kind": "endorse", "answer": answer, "inconsistent": differ}


def standing_after(task):
    """Last endorsed answer of every agent that endorsed one."""
    votes = {}
    for move in sorted(resolve(task), key=lambda move: move["round"]):  # stable: file order within a round
        if move["kind"] == "endorse":
            votes[move["agent"]] = move["answer"]
    return votes


def informative(task, view="all", challenge="composite"):
    """List the resolved informative moves of a view: all, round0, last_vote, or types joined by +."""
    if view == "last_vote":
        return [
            {"agent": agent, "round": 0, "type": "propose", "kind": "endorse", "answer": answer}
            for agent, answer in standing_after(task).items()
        ]
    return [
        move
        for move in resolve(task)
        if move["kind"] != "none"
        and (view == "all" or (view == "round0" and move["round"] == 0) or move["type"] in view.split("+"))
        and not (move["kind"] == "reject" and challenge == "ignore")
    ]


def agents_of(*tasks):
    """Names of all agents that made a move, sorted."""
    return sorted({move["agent"] for task in tasks for move in task["moves"]})


# Evidence


def counts(task, view="all", challenge="composite"):
    """Per agent with an informative move: endorsements e[l] and rejections x[l] of each candidate."""
    table = {}
    for move in informative(task, view, challenge):
        e, x = table.setdefault(move["agent"], tuple(dict.fromkeys(task["candidates"], 0) for _ in range(2)))
        (e if move["kind"] == "endorse" else x)[move["answer"]] += 1
    return table


def consistent(e, x, truth):
    """n+ and n-: moves consistent and inconsistent with a candidate being true."""
    right = e[truth] + sum(n for answer, n in x.items() if answer != truth)
    return right, sum(e.values()) + sum(x.values()) - right


def _ln(q):
    q = Fraction(q)
    return MP.log(MP.mpf(q.numerator) / q.denominator)


def _rising(a, n):
    """a (a + 1) ... (a + n - 1)."""
    return math.prod((Fraction(a) + j for j in range(n)), start=Fraction(1))


def _beta_mean(alpha, beta, right, wrong):
    """E[theta^right (1 - theta)^wrong] under Beta(alpha, beta)."""
    return _rising(alpha, right) * _rising(beta, wrong) / _rising(Fraction(alpha) + Fraction(beta), right + wrong)


def evidence_of_counts(e, x, truth, alpha, beta, challenge="composite"):
    """E[P(moves | truth, theta)] of one agent: an exact rational."""
    k = len(e)
    right, wrong = consistent(e, x, truth)
    if challenge == "exact":  # a right challenge chose one of k - 1, a wrong one had no choice
        spread = (sum(e.values()) - e[truth]) + (sum(x.values()) - x[truth])
        return _beta_mean(alpha, beta, right, wrong) / (k - 1) ** spread
    if challenge == "set":  # expand (k - 2 + theta)^m
        m = right - e[truth]
        total = sum(
            math.comb(m, j) * (k - 2) ** (m - j) * _beta_mean(alpha, beta, e[truth] + j, wrong) for j in range(m + 1)
        )
        return total / (k - 1) ** (wrong + 2 * m)
    return _beta_mean(alpha, beta, right, wrong) / (k - 1) ** wrong


def per_agent_evidence(task, prior, challenge="composite", view="all"):
    """Log evidence per agent and candidate, prior = {agent: (alpha, beta)}."""
    return {
        agent: [float(_ln(evidence_of_counts(e, x, t, *prior[agent], challenge))) for t in task["candidates"]]
        for agent, (e, x) in counts(task, view, challenge).items()
    }


def one_coin_evidence(task, alpha, beta, challenge="composite", view="all"):
    """Log evidence per agent and candidate under one Beta prior, by exact rational arithmetic."""
    return per_agent_evidence(task, dict.fromkeys(agents_of(task), (alpha, beta)), challenge, view)


def move_probability(kind, answer, truth, theta, wrong, k, challenge="composite"):
    """P(move | truth, theta) with wrong = 1 - theta; not a probability for composite challenges at k > 2."""
    right = (kind == "endorse") == (answer == truth)
    if kind == "endorse" or challenge == "composite":
        return theta if right else wrong / (k - 1)
    if challenge == "exact":
        return theta / (k - 1) if right else wrong
    # set: it holds the truth, or else one of the k - 1 others, and rejects any answer that it does not hold;
    # a false answer is rejected by whoever holds the truth or one of the k - 2 other false ones
    return theta / (k - 1) + wrong / (k - 1) * (k - 2) / (k - 1) if right else wrong / (k - 1)


def one_coin_evidence_quad(task, alpha, beta, challenge="composite", view="all"):
    """`one_coin_evidence` by integrating the product of the moves' probabilities over theta."""
    alpha, beta = (QUAD.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in (alpha, beta))
    k, moves = len(task["candidates"]), informative(task, view, challenge)

    def integral(own, truth):
        def density(theta, wrong):  # both given, so that neither end loses digits
            value = theta ** (alpha - 1) * wrong ** (beta - 1)
            for move in own:
                value *= move_probability(move["kind"], move["answer"], truth, theta, wrong, k, challenge)
            return value

        return QUAD.quad(lambda t: density(t, 1 - t) + density(1 - t, t), [0, QUAD.mpf(1) / 2])

    unit = integral([], None)
    return {
        agent: [
            float(QUAD.log(integral([m for m in moves if m["agent"] == agent], truth) / unit))
            for truth in task["candidates"]
        ]
        for agent in sorted({m["agent"] for m in moves})
    }


def posterior(task, evidence, tau=1, class_prior=None):
    """Probability of each candidate, in the task's order."""
    candidates = task["candidates"]
    prior = {c: Fraction(class_prior[c]) if class_prior else Fraction(1) for c in candidates}
    scores = [sum((MP.mpf(row[k]) for row in evidence.values()), MP.zero) / tau for k in range(len(candidates))]
    top = max(scores)
    weights = [
        MP.mpf(prior[c].numerator) / prior[c].denominator * MP.exp(score - top)
        for c, score in zip(candidates, scores, strict=True)
    ]
    return [float(w / sum(weights)) for w in weights]


# Agents with their own reliability


def labelled(calibration):
    """Keep the tasks with a gold answer."""
    return [task for task in calibration if task.get("gold") is not None]


def right_wrong(calibration, challenge="composite", view="all"):
    """Per agent n+ and n- at gold, pooled over the labelled tasks."""
    table = dict.fromkeys(agents_of(*calibration), (0, 0))
    for task in labelled(calibration):
        for agent, (e, x) in counts(task, view, challenge).items():
            right, wrong = consistent(e, x, task["gold"])
            table[agent] = (table[agent][0] + right, table[agent][1] + wrong)
    return table


def per_agent_prior(calibration, agents, alpha0, beta0, kappa, challenge="composite", view="all"):
    """Per agent (alpha0 + kappa r, beta0 + kappa (1 - r)), exactly."""
    alpha0, beta0, kappa = Fraction(alpha0), Fraction(beta0), Fraction(kappa)
    pooled, prior = right_wrong(calibration, challenge, view), {}
    for agent in agents:
        right, wrong = pooled.get(agent, (0, 0))
        r = Fraction(right, right + wrong) if right + wrong else alpha0 / (alpha0 + beta0)
        prior[agent] = (alpha0 + kappa * r, beta0 + kappa * (1 - r))
    return prior


def beta_cdf(alpha, beta, upper):
    """P(theta < upper) under Beta(alpha, beta), by quadrature."""

    def mass(top):
        return MP.quad(lambda t: t ** (alpha - 1) * (1 - t) ** (beta - 1), [0, top])

    alpha, beta = MP.mpf(float(alpha)), MP.mpf(float(beta))
    return float(mass(MP.mpf(upper)) / mass(MP.one))


def beta_quantile(alpha, beta, level):
    """Solve P(theta < t) = level by bisection on the regularised incomplete beta function."""
    alpha, beta, low, high = float(alpha), float(beta), 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if MP.betainc(alpha, beta, 0, middle, regularized=True) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def weight(alpha, beta, k):
    """Log odds that a single endorsement adds."""
    return float(_ln(Fraction(alpha) * (k - 1) / Fraction(beta)))


def repeated_weight(alpha, beta, k, n):
    """Log odds that n equal endorsements of one agent add."""
    return float(_ln(_rising(alpha, n) * (k - 1) ** n / _rising(beta, n)))


def turning(alpha, beta, k):
    """Smallest n at which n equal endorsements weigh positively though one weighs negatively, else None."""
    alpha, beta, n = Fraction(alpha), Fraction(beta), 1
    odds = alpha * (k - 1) / beta
    if k == 2 or odds >= 1:
        return None
    while odds <= 1:
        odds *= (alpha + n) * (k - 1) / (beta + n)
        n += 1
    return n


def profile(calibration, agent, alpha0, beta0, kappa, k, challenge="composite", view="all"):
    """Describe one agent: reliability from Beta(alpha0 + n+, beta0 + n-), weight at k candidates."""
    right, wrong = right_wrong(calibration, challenge, view).get(agent, (0, 0))
    a, b = Fraction(alpha0) + right, Fraction(beta0) + wrong
    luck = []
    for task in labelled(calibration):
        size = len(task["candidates"])
        for move in informative(task, view, challenge):
            if move["agent"] == agent:
                luck.append(Fraction(1 if move["kind"] == "endorse" else size - 1, size))
    chance = sum(luck) / len(luck) if luck else None
    own = per_agent_prior(calibration, [agent], alpha0, beta0, kappa, challenge, view)[agent]
    return {
        "mean": float(a / (a + b)),
        "interval": (beta_quantile(a, b, 0.025), beta_quantile(a, b, 0.975)),
        "chance": None if chance is None else float(chance),
        "below_chance": None if chance is None else beta_cdf(a, b, float(chance)),
        "weight": weight(*own, k),
        "turning": turning(*own, k),
    }


# Confusion


def confusion_counts(calibration, classes, challenge="composite", view="all"):
    """Per agent C[truth][l]: pseudo-counts c[l] = e[l] + sum_{a != l} x[a]; endorsements only for "set"."""
    table = {a: {t: dict.fromkeys(classes, 0) for t in classes} for a in agents_of(*calibration)}
    for task in labelled(calibration):
        for agent, (e, x) in counts(task, view, challenge).items():
            for answer, n in _pseudo_counts(e, x, challenge).items():
                table[agent][task["gold"]][answer] += n
    return table


def _pseudo_counts(e, x, challenge):
    if challenge == "set":
        return e
    return {answer: n + sum(m for rejected, m in x.items() if rejected != answer) for answer, n in e.items()}


def confusion_concentration(C, candidates, strength, accuracy):
    """a[truth][l] = C[truth][l] + strength base[truth][l] over a task's candidates, exactly."""
    strength, accuracy, k = Fraction(strength), Fraction(accuracy), len(candidates)
    return {
        t: {c: C[t][c] + strength * (accuracy if c == t else (1 - accuracy) / (k - 1)) for c in candidates}
        for t in candidates
    }


def confusion_evidence(
    task,
    calibration,
    classes,
    strength,
    accuracy,
    challenge="composite",
    likelihood="plugin",
    view="all",
    fit_view="all",
):
    """Log evidence per agent and candidate from the agents' confusion matrices."""
    fitted = confusion_counts(calibration, classes, challenge, fit_view)
    unseen = {t: dict.fromkeys(classes, 0) for t in classes}
    evidence = {}
    for agent, (e, x) in counts(task, view, challenge).items():
        a = confusion_concentration(fitted.get(agent, unseen), task["candidates"], strength, accuracy)
        c = _pseudo_counts(e, x, challenge)
        evidence[agent] = []
        for row in (a[t] for t in task["candidates"]):
            total = sum(row.values())
            if likelihood == "plugin":
                value = math.prod((row[answer] / total) ** n for answer, n in c.items())
            else:  # Dirichlet-multinomial, the moves taken in order
                value = math.prod(_rising(row[answer], n) for answer, n in c.items()) / _rising(total, sum(c.values()))
            if challenge == "set":
                value *= math.prod((1 - row[answer] / total) ** n for answer, n in x.items())
            evidence[agent].append(float(_ln(value)))
    return evidence


# Votes


def plurality(task):
    """Shares of the last votes; uniform if there are none."""
    votes = list(standing_after(task).values())
    return [votes.count(c) / len(votes) if votes else 1 / len(task["candidates"]) for c in task["candidates"]]


def reliabilities(calibration, agents, alpha0, beta0, kappa):
    """Per agent theta = (alpha0 + kappa r) / (alpha0 + beta0 + kappa), r over all labelled moves."""
    prior = per_agent_prior(calibration, agents, alpha0, beta0, kappa)
    return {agent: a / (a + b) for agent, (a, b) in prior.items()}


def best_member(task, calibration, alpha0, beta0, kappa):
    """One distribution for each agent tied for the highest theta among voters; uniform if none voted."""
    votes, k = standing_after(task), len(task["candidates"])
    theta = reliabilities(calibration, votes, alpha0, beta0, kappa)
    if not votes:
        return [[1 / k] * k]
    return [
        [float(theta[agent] if c == vote else (1 - theta[agent]) / (k - 1)) for c in task["candidates"]]
        for agent, vote in sorted(votes.items())
        if theta[agent] == max(theta.values())
    ]


def weighted_vote(task, calibration, alpha0, beta0, kappa):
    """Softmax of the sums of ln(theta (K - 1) / (1 - theta)) over last votes."""
    votes, k = standing_after(task), len(task["candidates"])
    theta = reliabilities(calibration, votes, alpha0, beta0, kappa)
    odds = {c: Fraction(1) for c in task["candidates"]}
    for agent, vote in votes.items():
        odds[vote] *= theta[agent] * (k - 1) / (1 - theta[agent])
    return [float(odds[c] / sum(odds.values())) for c in task["candidates"]]
