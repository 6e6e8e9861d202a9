"""Scripts about DaemonSets and the nodes they run on."""

import objects
from actions import NAMESPACE, NODE_KEY
from maker import NEVER_READY, PROPAGATIONS, Maker

STRATEGIES = [
    {"type": "OnDelete"},
    {"type": "RollingUpdate"},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "100%"}},
]
NODES_MAX = 5


class DaemonSets(Maker):
    """One DaemonSet on nodes of the script's own, which have a taint that keeps other scripts' pods off."""

    def begin(self):
        self.workloads = ["agent"]
        self._labels = {"app": "agent"}
        # A rollout has stopped. Which nodes it has reached is random in Kubernetes, so no later step is about one node.
        self.is_stuck = False
        self._nodes = 0
        self._add_nodes(self._prng.randint(1, 4))
        self._templates = [self._template()]
        self.create()

    def create(self):
        spec = {"updateStrategy": self._prng.choice(STRATEGIES)}
        if self._prng.random() < 0.3:
            spec["minReadySeconds"] = 2
        if self._prng.random() < 0.4:
            spec["revisionHistoryLimit"] = self._prng.choice([0, 1, 2])
        self.add("create", resource="daemonsets", object=objects.daemon_set("agent", self._templates[-1], **spec))
        self._there = True

    def _template(self, behaviour=None):
        made = self.template(self._labels, behaviour)
        made["spec"]["tolerations"] = [{"key": NODE_KEY, "operator": "Exists"}]
        made["spec"]["nodeSelector"] = {NODE_KEY: NAMESPACE}
        if self._prng.random() < 0.3:
            made["spec"]["tolerations"].append({"key": "example.test/taint", "operator": "Exists"})
        if self._prng.random() < 0.3:
            made["spec"]["nodeSelector"]["example.test/disk"] = "ssd"
        return made

    def choices(self):
        if not self._there:
            return [(self.again, 2), (self.add_node, 1)]
        of_all_nodes = [
            (self.roll, 4),
            (self.roll_stuck, 1),
            (self.undo, 2),
            (self.strategy, 2),
            (self.min_ready, 1),
            (self.history_limit, 1),
            (self.delete, 1),
        ]
        if self.is_stuck:
            return of_all_nodes
        return [
            *of_all_nodes,
            (self.add_node, 3),
            (self.delete_node, 2),
            (self.taint_node, 2),
            (self.label_node, 2),
            (self.cordon_node, 1),
            (self.delete_pod, 2),
            (self.fail_pod, 1),
            (self.release_pod, 1),
        ]

    def add_node(self):
        self._add_nodes(1)

    def _add_nodes(self, count):
        first, self._nodes = self._nodes + 1, min(self._nodes + count, NODES_MAX)
        labels = [{"example.test/disk": "ssd"} if self._prng.random() < 0.7 else {} for _ in range(count)]
        nodes = {f"n{first + number}": labels[number] for number in range(self._nodes + 1 - first)}
        self.add("nodes", nodes=nodes)

    def _node(self, act, **more):
        self.add("node", act=act, name=f"n{self._prng.randint(1, self._nodes)}", **more)

    def delete_node(self):
        """Its pods leave first: those of a node that is gone stay for a minute."""
        name = f"n{self._prng.randint(1, self._nodes)}"
        self.add("node", act="patch", name=name, patch={"metadata": {"labels": {NODE_KEY: "left"}}})
        self.add("node", act="delete", name=name)

    def taint_node(self):
        """Not NoExecute, for which the controller and the eviction of taints race."""
        effect = self._prng.choice(["NoSchedule", "PreferNoSchedule", None])
        self._node("taint", key="example.test/taint", effect=effect)

    def label_node(self):
        self._node("patch", patch={"metadata": {"labels": {"example.test/disk": self._prng.choice(["ssd", "hdd", None])}}})

    def cordon_node(self):
        self._node("patch", patch={"spec": {"unschedulable": self._prng.choice([True, None])}})

    def replace(self, path, value):
        self.add("patch", resource="daemonsets", name="agent", kind="json",
                 patch=[{"op": "add", "path": path, "value": value}])

    def roll(self):
        self._templates.append(self._template())
        self.replace("/spec/template", self._templates[-1])

    def roll_stuck(self):
        self.is_stuck = True
        self._templates.append(self._template(NEVER_READY))
        self.replace("/spec/template", self._templates[-1])

    def undo(self):
        if len(self._templates) > 1:
            self._templates.append(self._prng.choice(self._templates[:-1]))
            self.replace("/spec/template", self._templates[-1])

    def strategy(self):
        self.replace("/spec/updateStrategy", self._prng.choice(STRATEGIES))

    def min_ready(self):
        self.add("patch", resource="daemonsets", name="agent",
                 patch={"spec": {"minReadySeconds": self._prng.choice([0, 1, 3])}})

    def history_limit(self):
        self.add("patch", resource="daemonsets", name="agent",
                 patch={"spec": {"revisionHistoryLimit": self._prng.choice([0, 1, 3])}})

    def delete_pod(self):
        self.add("pods", act="delete", selector="app=agent", count=self._prng.randint(1, 2), by="node")

    def fail_pod(self):
        self.add("pods", act="fail", selector="app=agent", count=1, by="node", body={"exitCode": 3})

    def release_pod(self):
        self.add("pods", act="patch", selector="app=agent", count=1, by="node",
                 patch={"metadata": {"labels": {"app": "other"}}})

    def delete(self):
        self.add("delete", resource="daemonsets", name="agent", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False

    def again(self):
        if self._prng.random() < 0.5:
            self._templates.append(self._template())
        self.create()
