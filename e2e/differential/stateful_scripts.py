"""Scripts about StatefulSets."""

import objects
from maker import NEVER_READY, PROPAGATIONS, Maker

RETENTION = ["Retain", "Delete"]


class StatefulSets(Maker):
    """One StatefulSet, its pods and claims, and the actions of its users."""

    def begin(self):
        self.workloads = ["store"]
        self._labels = {"app": "store"}
        self._there = False
        self._templates = [self.template(self._labels)]
        if self._prng.random() < 0.2:
            # It may be adopted; it starts slowly, so that its owner finds it pending.
            self.add("create", resource="pods", object=objects.pod(f"store-{self._prng.randint(0, 3)}", self._labels,
                                                                   script={"start-delay": "2s"}))
        self.create()

    def create(self):
        prng = self._prng
        spec = {"replicas": prng.randint(0, 4), "updateStrategy": self._strategy(), "serviceName": "store"}
        if prng.random() < 0.5:
            spec["podManagementPolicy"] = "Parallel"
        if prng.random() < 0.25:
            spec["minReadySeconds"] = 2
        if prng.random() < 0.25:
            spec["ordinals"] = {"start": prng.randint(1, 3)}
        if prng.random() < 0.4:
            spec["revisionHistoryLimit"] = prng.choice([0, 1, 2])
        if prng.random() < 0.5:
            spec["volumeClaimTemplates"] = [objects.claim("data")]
            if prng.random() < 0.7:
                spec["persistentVolumeClaimRetentionPolicy"] = self._retention()
        self.add("create", resource="statefulsets", object=objects.stateful_set("store", self._templates[-1], **spec))
        self._there = True

    def _strategy(self):
        kind = self._prng.choice(["RollingUpdate", "RollingUpdate", "RollingUpdate", "OnDelete"])
        if kind == "OnDelete" or self._prng.random() < 0.5:
            return {"type": kind}
        return {"type": kind, "rollingUpdate": {"partition": self._prng.randint(0, 3)}}

    def _retention(self):
        return {"whenScaled": self._prng.choice(RETENTION), "whenDeleted": self._prng.choice(RETENTION)}

    def choices(self):
        if not self._there:
            return [(self.again, 1)]
        return [
            (self.scale, 5),
            (self.roll, 4),
            (self.roll_stuck, 1),
            (self.undo, 2),
            (self.strategy, 2),
            (self.min_ready, 1),
            (self.start, 1),
            (self.retention, 1),
            (self.history_limit, 1),
            (self.delete_pod, 2),
            (self.fail_pod, 2),
            (self.lose_identity, 1),
            (self.release_pod, 1),
            (self.delete, 1),
        ]

    def patch(self, spec):
        self.add("patch", resource="statefulsets", name="store", patch={"spec": spec})

    def replace(self, path, value):
        # A strategic patch would merge the annotations of two scripts.
        self.add("patch", resource="statefulsets", name="store", kind="json",
                 patch=[{"op": "add", "path": path, "value": value}])

    def scale(self):
        self.add("patch", resource="statefulsets", name="store", subresource="scale", kind="merge",
                 patch={"spec": {"replicas": self._prng.randint(0, 5)}})

    def roll(self):
        self._templates.append(self.template(self._labels))
        self.replace("/spec/template", self._templates[-1])

    def roll_stuck(self):
        """The pod that never gets ready stops an ordered StatefulSet until it is deleted."""
        self._templates.append(self.template(self._labels, NEVER_READY))
        self.replace("/spec/template", self._templates[-1])

    def undo(self):
        if len(self._templates) > 1:
            self._templates.append(self._prng.choice(self._templates[:-1]))
            self.replace("/spec/template", self._templates[-1])

    def strategy(self):
        self.replace("/spec/updateStrategy", self._strategy())

    def min_ready(self):
        self.patch({"minReadySeconds": self._prng.choice([0, 1, 3])})

    def start(self):
        self.patch({"ordinals": {"start": self._prng.randint(0, 2)}})

    def retention(self):
        self.patch({"persistentVolumeClaimRetentionPolicy": self._retention()})

    def history_limit(self):
        self.patch({"revisionHistoryLimit": self._prng.choice([0, 1, 3])})

    def delete_pod(self):
        self.add("pods", act="delete", selector="app=store", count=self._prng.randint(1, 2), by="name")

    def fail_pod(self):
        self.add("pods", act="fail", selector="app=store", count=1, by="name", body={"exitCode": 3})

    def lose_identity(self):
        label = "statefulset.kubernetes.io/pod-name"
        self.add("pods", act="patch", selector="app=store", count=1, by="name",
                 patch={"metadata": {"labels": {label: None}}})

    def release_pod(self):
        self.add("pods", act="patch", selector="app=store", count=1, by="name",
                 patch={"metadata": {"labels": {"app": "other"}}})

    def delete(self):
        self.add("delete", resource="statefulsets", name="store", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False

    def again(self):
        if self._prng.random() < 0.5:
            self._templates.append(self.template(self._labels))
        self.create()
