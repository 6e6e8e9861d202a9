"""Random scripts. A seed always gives the same one; all choices of steps are made before anything is played."""

import random

from job_scripts import Jobs, Replacements
from workload_scripts import Budgets, Deployments, Replicas

# Gates that both know and that kube-controller-manager does not refuse to change. Some are locked in its own version:
# it then plays an older one.
GATES = {
    "default": ({}, ()),
    "counts-off": ({"DeploymentReplicaSetTerminatingReplicas": False, "PodDeletionCost": False}, ()),
    "jobs-off": (
        {"JobPodReplacementPolicy": False, "JobManagedBy": False, "DeploymentReplicaSetTerminatingReplicas": False},
        ("--emulated-version=1.33",),
    ),
}

# Fields that are not compared. With the gate off the cost does not affect the order of deletion, so pods with and
# without one are equal. kube-controller-manager 1.33 has no gate MutableSchedulingDirectivesForSuspendedJobs, by which
# a Job that is suspended loses its startTime.
IGNORED = {"counts-off": ("controller.kubernetes.io/pod-deletion-cost",), "jobs-off": ("startTime",)}


class Script:
    """`steps` in order. A step with `wait` advances the time; after all others the sides become idle and are compared."""

    def __init__(self, seed, family, gates, workloads, steps):
        self.seed, self.family, self.gates, self.workloads, self.steps = seed, family, gates, workloads, steps

    def with_steps(self, steps):
        return Script(self.seed, self.family, self.gates, self.workloads, steps)


FAMILIES = {
    "deployments": (Deployments, 35),
    "replicas": (Replicas, 20),
    "budgets": (Budgets, 10),
    "jobs": (Jobs, 25),
    "replacements": (Replacements, 10),
}


def script(seed):
    prng = random.Random(f"differential {seed}")
    family = prng.choices(list(FAMILIES), [weight for _, weight in FAMILIES.values()])[0]
    gates = prng.choices(list(GATES), [6, 2, 2])[0]
    maker = FAMILIES[family][0](prng)
    steps = maker.make()
    if prng.random() < 0.1:
        steps.append({"do": "delete-namespace"})
    return Script(seed, family, gates, maker.workloads, steps)
