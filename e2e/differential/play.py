"""Plays a script on both sides and finds the first step after which they differ."""

import dataclasses
import itertools
import time

import actions
import declared
import scripts
import snapshot

# A difference must last this long: a machine under load is late.
PATIENCE_S = 8.0

ANSWER = "the step's answer"

_serial = itertools.count(1)


@dataclasses.dataclass
class Outcome:
    script: object
    step: int | None = None  # after which they differed; None: they never did
    leaves: list = dataclasses.field(default_factory=list)
    met: set = dataclasses.field(default_factory=set)  # names of the declared differences that were met
    states: tuple = ()

    @property
    def differs(self):
        return self.step is not None


def play(script, open_ours, open_theirs):
    """The functions open a side for the script, under an unused name."""
    name = f"s{script.seed}-{next(_serial)}"
    our_side, their_side = open_ours(name), open_theirs(name)
    try:
        return _play(script, our_side, their_side)
    finally:
        our_side.close()
        their_side.close()


def _play(script, our_side, their_side):
    outcome = Outcome(script)
    ignored = scripts.IGNORED.get(script.gates, ())
    names = [snapshot.Names(script.workloads, ignored, script.compares_nodes) for _ in range(2)]
    steps_count = True
    for number, step in enumerate(script.steps):
        if "wait" in step:
            continue
        following = script.steps[number + 1] if number + 1 < len(script.steps) else {}
        steps_count = steps_count and "wait" not in following and not actions.is_race(step)
        answers = actions.perform(our_side, step), actions.perform(their_side, step)
        if answers[0] != answers[1]:
            different = [snapshot.Leaf(ANSWER, "", *answers)]
            outcome.leaves, met = declared.sort_out(different, script)
            outcome.met |= met
            outcome.step = number if outcome.leaves else None
            return outcome  # from here on the two sides differ
        if "wait" in following:
            our_side.pause(following["wait"])
            their_side.pause(following["wait"])
            continue
        their_side.come_to_rest(our_side.come_to_rest())
        if _differs(outcome, our_side, their_side, names, steps_count):
            outcome.step = number
            return outcome
    return outcome


def _differs(outcome, our_side, their_side, names, steps_count):
    ours = snapshot.read(our_side.rest, our_side.namespace, names[0], steps_count)
    give_up = time.monotonic() + PATIENCE_S
    while True:
        theirs = snapshot.read(their_side.rest, their_side.namespace, names[1], steps_count)
        leaves, met = declared.sort_out(snapshot.compare(ours, theirs), outcome.script)
        if not leaves or time.monotonic() > give_up:
            break
        time.sleep(1.0)
    outcome.met |= met
    outcome.leaves, outcome.states = leaves, (ours, theirs)
    return bool(leaves)
