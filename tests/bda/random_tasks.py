"""Messy valid tasks in JSON form: every move type, state and irregularity comes up."""


def random_task(
    rng,
    name="t0",
    classes="ABCDEFGH",
    agents=("ada", "bayes", "cox", "dawid", "skene"),
    candidates=None,
    labelled=0.85,
):
    """Draw a messy valid task from a `random.Random`; labelled = chance that gold is known."""
    candidates = list(candidates or rng.sample(list(classes), rng.randint(2, 6)))
    truth = rng.choice(candidates)
    asked = rng.sample(list(agents), rng.randint(1, min(5, len(agents))))
    moves = []
    if rng.random() > 0.05:
        for r in range(rng.randint(1, 4)):
            for agent in rng.sample(asked, len(asked)):
                for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 2, 3))):
                    moves.append(_random_move(rng, agent, r, candidates, truth, agents))
    if rng.random() < 0.3:
        rng.shuffle(moves)  # rounds, and an agent's own moves within one, in any file order
    gold = truth if rng.random() < labelled else None
    meta = {"group": name.split("/")[0], "seed": rng.randint(0, 3)}
    return {"task": name, "candidates": candidates, "gold": gold, "meta": meta, "moves": moves}


def _random_move(rng, agent, r, candidates, truth, agents):
    def answer():
        return truth if rng.random() < 0.4 else rng.choice(candidates)

    move = {"agent": agent, "round": r}
    move["type"] = rng.choice(("propose", "propose", "concede", "challenge", "challenge", "abstain"))
    if move["type"] == "propose":
        move["answer"] = None if rng.random() < 0.08 else answer()
        if rng.random() < 0.08:
            move["target"] = rng.choice(agents)  # ignored
    elif move["type"] != "abstain":
        move["target"] = rng.choice(agents)  # perhaps itself, perhaps an agent that never spoke
        if rng.random() < 0.4:
            move["answer"] = answer() if rng.random() < 0.9 else None
        if move["type"] == "concede" and rng.random() < 0.3:
            move["frozen"] = rng.random() < 0.8
    if rng.random() < 0.12:
        move["status"] = rng.choice(("ok", "failed", "truncated", "unreadable"))
        if move["type"] == "propose" and move["status"] != "ok" and rng.random() < 0.7:
            move["answer"] = None
    if rng.random() < 0.2:
        move["confidence"] = round(rng.random(), 3)
    return move


def random_tasks(rng, n, **options):
    """Draw n tasks named t0, t1, ..."""
    return [random_task(rng, f"t{i}", **options) for i in range(n)]


def messier_tasks(rng, n, **options):
    """Draw tasks some of whose moves, besides, lack a target or abstain with an answer."""
    tasks = random_tasks(rng, n, **options)
    for task in tasks:
        for move in task["moves"]:
            if "target" in move and move["type"] != "propose" and rng.random() < 0.1:
                move["target"] = None
            if move["type"] == "abstain" and rng.random() < 0.3:
                move["answer"] = rng.choice(task["candidates"])
    return tasks
