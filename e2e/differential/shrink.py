"""Drops steps of a script while it still differs."""


def shrink(outcome, play, pool):
    """The outcome of the shortest script that was found; all candidates of one length are played in parallel."""
    best = outcome
    while True:
        steps = best.script.steps[: best.step + 1]
        candidates = [best.script.with_steps(steps[:n] + steps[n + 1 :]) for n in range(len(steps) - 1, -1, -1)]
        found = next((each for each in pool.map(play, candidates) if each.differs), None)
        if found is None:
            return best
        best = found
