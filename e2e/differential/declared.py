"""The intended differences, each with its reason. Any other difference is a failure.

A declaration that no seed of CI meets is a failure too: the list may only become shorter.
"""

import dataclasses
import re
import typing


@dataclasses.dataclass
class Declared:
    name: str
    reason: str
    key: str  # of the object, a regular expression
    path: str  # of the field, a regular expression
    when: typing.Callable = lambda leaf, script: True


DECLARED = [
    Declared(
        name="budget-of-a-relabelled-pod",
        reason="Kubernetes syncs the budgets that select a pod as it is now, so a budget whose pod was relabelled keeps"
        " an old count until another of its pods changes. We recount.",
        key=r"poddisruptionbudgets/.*|the step's answer",  # of an eviction, which goes by the count
        path=r"(\.status\..*)?",
        when=lambda leaf, script: any(
            "labels" in step.get("patch", {}).get("metadata", {}) for step in script.steps if step.get("do") == "pods"
        ),
    ),
]


def sort_out(leaves, script):
    """(those that are not declared, names of the declarations that were met)."""
    left, met = [], set()
    for leaf in leaves:
        match = next((each for each in DECLARED if _covers(each, leaf, script)), None)
        if match:
            met.add(match.name)
        else:
            left.append(leaf)
    return left, met


def _covers(each, leaf, script):
    return re.fullmatch(each.key, leaf.key) and re.fullmatch(each.path, leaf.path) and each.when(leaf, script)
