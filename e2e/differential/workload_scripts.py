"""Scripts about Deployments, ReplicaSets, ReplicationControllers, budgets and quotas."""

import objects
from maker import NEVER_READY, PROPAGATIONS, Maker

STRATEGIES = [
    {"type": "Recreate"},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "25%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}},
    {"type": "RollingUpdate"},
]


class Deployments(Maker):
    """One Deployment and the actions of its users."""

    def begin(self):
        self.workloads = ["web"]
        self._labels = {"app": "web"}
        self._replicas = self._prng.randint(0, 5)
        spec = {"strategy": self._prng.choice(STRATEGIES), "progressDeadlineSeconds": self._prng.choice([6, 11, 600])}
        if self._prng.random() < 0.25:
            spec["minReadySeconds"] = 2
            spec["progressDeadlineSeconds"] = 11
        if self._prng.random() < 0.5:
            spec["revisionHistoryLimit"] = self._prng.choice([0, 1, 2])
        self._templates = [self.template(self._labels)]
        self.add("create", resource="deployments", object=self._deployment(spec))
        self._paused, self._there = False, True

    def _deployment(self, spec):
        made = objects.deployment("web", self._replicas, self._templates[-1], **spec)
        if self._prng.random() < 0.3:
            made["metadata"]["annotations"] = {"example.test/note": "one"}
        return made

    def choices(self):
        if not self._there:
            return [(self.again, 1)]
        return [
            (self.scale, 4),
            (self.roll, 4),
            (self.roll_stuck, 1),
            (self.undo, 2),
            (self.pause, 2),
            (self.strategy, 1),
            (self.min_ready, 1),
            (self.note, 1),
            (self.history_limit, 1),
            (self.rollback_annotation, 1),
            (self.delete_pod, 1),
            (self.fail_pod, 1),
            (self.release_pod, 1),
            (self.cost, 1),
            (self.set_by_hand, 1),
            (self.delete, 1),
        ]

    def patch(self, spec):
        self.add("patch", resource="deployments", name="web", patch={"spec": spec})

    def scale(self):
        self._replicas = self._prng.randint(0, 7)
        if self._prng.random() < 0.5:
            self.add("patch", resource="deployments", name="web", subresource="scale", kind="merge",
                     patch={"spec": {"replicas": self._replicas}})
        else:
            self.patch({"replicas": self._replicas})

    def _put_template(self, template):
        # A JSON patch replaces the template as a whole; a strategic one would merge the annotations of two scripts.
        self.add("patch", resource="deployments", name="web", kind="json",
                 patch=[{"op": "replace", "path": "/spec/template", "value": template}])

    def roll(self):
        self._templates.append(self.template(self._labels))
        self._put_template(self._templates[-1])

    def roll_stuck(self):
        self.patch({"progressDeadlineSeconds": 6, "minReadySeconds": 0})
        self._templates.append(self.template(self._labels, NEVER_READY))
        self._put_template(self._templates[-1])

    def undo(self):
        if len(self._templates) > 1:
            self._templates.append(self._prng.choice(self._templates[:-1]))
            self._put_template(self._templates[-1])

    def pause(self):
        self._paused = not self._paused
        self.patch({"paused": self._paused})

    def strategy(self):
        chosen = self._prng.choice(STRATEGIES)
        self.add("patch", resource="deployments", name="web", kind="json",
                 patch=[{"op": "replace", "path": "/spec/strategy", "value": chosen}])

    def min_ready(self):
        self.patch({"minReadySeconds": self._prng.choice([0, 1, 3]), "progressDeadlineSeconds": 11})

    def note(self):
        self.add("patch", resource="deployments", name="web", kind="merge",
                 patch={"metadata": {"annotations": {"example.test/note": self._prng.choice(["two", "three", None])}}})

    def history_limit(self):
        self.patch({"revisionHistoryLimit": self._prng.choice([0, 1, 3])})

    def rollback_annotation(self):
        revision = str(self._prng.choice([0, 1, 2, 9]))
        self.add("patch", resource="deployments", name="web", kind="merge",
                 patch={"metadata": {"annotations": {"deprecated.deployment.rollback.to": revision}}})

    def delete_pod(self):
        self.add("pods", act="delete", selector="app=web", count=self._prng.randint(1, 2))

    def fail_pod(self):
        self.add("pods", act="fail", selector="app=web", count=1, body={"exitCode": 3})

    def release_pod(self):
        self.add("pods", act="patch", selector="app=web", count=1, patch={"metadata": {"labels": {"app": "other"}}})

    def cost(self):
        self.add("pods", act="patch", selector="app=web", count=1,
                 patch={"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}})
        self._replicas = max(0, self._replicas - 1)
        self.patch({"replicas": self._replicas})

    def set_by_hand(self):
        tag = self._prng.choice(self._templates)["spec"]["containers"][0]["image"].rpartition(":")[2]
        if self._prng.random() < 0.5:
            self.add("replica-set", owner="web", tag=tag, patch={"spec": {"replicas": self._prng.randint(0, 4)}})
        else:
            self.add("replica-set", owner="web", tag=tag, propagation=self._prng.choice(PROPAGATIONS))

    def delete(self):
        self.add("delete", resource="deployments", name="web", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False

    def again(self):
        if self._prng.random() < 0.5:
            self._templates.append(self.template(self._labels))
        self.add("create", resource="deployments", object=self._deployment({"progressDeadlineSeconds": 11}))
        self._there, self._paused = True, False


class Replicas(Maker):
    """ReplicaSets and ReplicationControllers, with pods that are adopted, released and orphaned."""

    def begin(self):
        self._resource = self._prng.choice(["replicasets", "replicationcontrollers"])
        self.workloads = ["set"]
        self._labels, self._there = {"app": "set"}, False
        self._bare = 0
        if self._prng.random() < 0.4:
            self.bare_pod()
        self.create()

    def create(self):
        template = self.template({**self._labels, "extra": self._prng.choice(["a", "b"])}, self.behaviour([NEVER_READY]))
        make = objects.replica_set if self._resource == "replicasets" else objects.replication_controller
        spec = {"minReadySeconds": 2} if self._prng.random() < 0.3 else {}
        self.add("create", resource=self._resource, object=make("set", self._prng.randint(0, 5), template, **spec))
        self._there = True

    def choices(self):
        if not self._there:
            return [(self.create, 3), (self.bare_pod, 1)]
        return [
            (self.scale, 4),
            (self.bare_pod, 2),
            (self.delete_pod, 2),
            (self.fail_pod, 2),
            (self.release_pod, 2),
            (self.adopt_again, 1),
            (self.cost, 2),
            (self.change_template, 1),
            (self.min_ready, 1),
            (self.delete, 2),
        ]

    def scale(self):
        self.add("patch", resource=self._resource, name="set", patch={"spec": {"replicas": self._prng.randint(0, 6)}})

    def bare_pod(self):
        self._bare += 1
        labels = dict(self._labels) if self._prng.random() < 0.8 else {"app": "stranger"}
        # It starts slowly, so that its new owner finds it pending, however fast the scheduler is.
        made = objects.pod(f"bare-{self._bare}", labels, script={"start-delay": "2s"})
        self.add("create", resource="pods", object=made)

    def delete_pod(self):
        step = {"grace": 0} if self._prng.random() < 0.3 else {}
        self.add("pods", act="delete", selector="app=set", count=self._prng.randint(1, 2), **step)

    def fail_pod(self):
        self.add("pods", act="fail", selector="app=set", count=1, body={"exitCode": 1})

    def release_pod(self):
        self.add("pods", act="patch", selector="app=set", patch={"metadata": {"labels": {"app": "free"}}})

    def adopt_again(self):
        self.add("pods", act="patch", selector="app=free", patch={"metadata": {"labels": {"app": "set"}}})

    def cost(self):
        for value in ("-3", "7"):
            self.add("pods", act="patch", selector="app=set",
                     patch={"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": value}}})
        self.scale()

    def change_template(self):
        template = self.template({**self._labels, "extra": "c"})
        self.add("patch", resource=self._resource, name="set", kind="json",
                 patch=[{"op": "replace", "path": "/spec/template", "value": template}])

    def min_ready(self):
        self.add("patch", resource=self._resource, name="set",
                 patch={"spec": {"minReadySeconds": self._prng.choice([0, 1, 3])}})

    def delete(self):
        self.add("delete", resource=self._resource, name="set", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False


class Budgets(Deployments):
    """A Deployment beside a PodDisruptionBudget and a ResourceQuota."""

    def begin(self):
        limits = self._prng.choice([{"minAvailable": 2}, {"maxUnavailable": 1}, {"minAvailable": "50%"}])
        self.add("create", resource="poddisruptionbudgets", object=objects.budget("budget", {"app": "web"}, **limits))
        if self._prng.random() < 0.5:
            hard = self._prng.choice([{"pods": "4"}, {"count/replicasets.apps": "3"}, {"pods": "6", "count/jobs.batch": "1"}])
            self.add("create", resource="resourcequotas", object=objects.quota("quota", **hard))
        super().begin()

    def choices(self):
        return [*super().choices(), *([(self.evict, 6), (self.budget, 2)] if self._there else [])]

    def evict(self):
        self.add("pods", act="evict", selector="app=web", count=self._prng.randint(1, 3))

    def budget(self):
        self.add("patch", resource="poddisruptionbudgets", name="budget", kind="merge",
                 patch={"spec": {"minAvailable": self._prng.choice([0, 1, 3]), "maxUnavailable": None}})
