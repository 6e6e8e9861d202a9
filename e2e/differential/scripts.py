"""Random scripts. A seed always gives the same one; all choices of steps are made before anything is played."""

import random

from cron_scripts import CronJobs
from daemon_scripts import DaemonSets
from job_scripts import Jobs, Replacements
from stateful_scripts import StatefulSets
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

    def __init__(self, seed, family, gates, maker, steps):
        self.seed, self.family, self.gates, self.steps = seed, family, gates, steps
        self._maker = maker
        self.workloads = maker.workloads
        # Which nodes a rollout has reached that has stopped is random in Kubernetes.
        self.compares_nodes = not getattr(maker, "is_stuck", False)

    def with_steps(self, steps):
        return Script(self.seed, self.family, self.gates, self._maker, steps)


FAMILIES = {
    "deployments": (Deployments, 35),
    "replicas": (Replicas, 20),
    "budgets": (Budgets, 10),
    "jobs": (Jobs, 25),
    "replacements": (Replacements, 10),
}
# Of the seeds from this one on. They have families of their own, with the default gates: another family among those above
# would give every older seed another script.
SETS_FROM = 10_000
SET_FAMILIES = {
    "stateful-sets": (StatefulSets, 40),
    "daemon-sets": (DaemonSets, 40),
    "cron-jobs": (CronJobs, 20),
}


def script(seed):
    prng = random.Random(f"differential {seed}")
    families = SET_FAMILIES if seed >= SETS_FROM else FAMILIES
    family = prng.choices(list(families), [weight for _, weight in families.values()])[0]
    gates = "default" if seed >= SETS_FROM else prng.choices(list(GATES), [6, 2, 2])[0]
    maker = families[family][0](prng)
    steps = maker.make()
    if prng.random() < 0.1:
        steps.append({"do": "delete-namespace"})
    return Script(seed, family, gates, maker, steps)
