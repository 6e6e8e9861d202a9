"""Shared by the makers of scripts: behaviour of pods, the steps so far, unique tags."""

import objects

# How pods behave: (script of the template, grace period). Durations are whole seconds, waits of scripts are halves, so
# that nothing is due when a side is read.
QUICK = ({}, None)
BEHAVIOURS = [
    ({"ready-delay": "2s"}, None),
    ({"start-delay": "1s"}, None),
    ({"stop-after": "3s"}, 10),
    ({"ready-delay": "1s", "stop-after": "2s"}, 10),
    ({"ignore-sigterm": "true"}, 3),
    ({"stop-after": "3s", "stop-exit-code": "1"}, 10),
]
NEVER_READY = ({"never-ready": "true"}, None)

PROPAGATIONS = ["Background", "Foreground", "Orphan"]


class Maker:
    """Draws the steps of one script. A maker has `begin` and `choices`, the steps with their weights."""

    def __init__(self, prng):
        self._prng, self._tags = prng, 0
        self.workloads, self._steps = [], []

    def make(self):
        self.begin()
        for _ in range(self._prng.randint(3, 6)):
            prng_step = self._prng.choices([step for step, _ in self.choices()], [w for _, w in self.choices()])[0]
            prng_step()
            if self._steps and "wait" not in self._steps[-1] and self._prng.random() < 0.15:
                self._steps.append({"wait": self._prng.choice([0.5, 1.5, 2.5])})
        return self._steps

    def add(self, do, **step):
        self._steps.append({"do": do, **step})

    def tag(self):
        self._tags += 1
        return f"t{self._tags}"

    def behaviour(self, also=()):
        if self._prng.random() < 0.5:
            return QUICK
        return self._prng.choice(BEHAVIOURS + list(also))

    def template(self, labels, behaviour=None):
        behaviour_script, grace = behaviour or self.behaviour()
        return objects.template(labels, self.tag(), behaviour_script, grace)
