"""The base of the workloads suite: a whole cluster for every class, and workloads in it."""

import json
import re

from lib.rest import Rest
from pods.base import ControlPlaneCase, pod

REVISION = "deployment.kubernetes.io/revision"
IMAGE = "example.test/app"
BOTH_GATES = "--feature-gates=DeploymentReplicaSetTerminatingReplicas=true,DeploymentPodReplacementPolicy=true"
BOTH_GATES_OFF = BOTH_GATES.replace("true", "false")


class WorkloadCase(ControlPlaneCase):
    # -- time

    def idle(self, limit="1h"):
        """Advances the clock until the cluster is idle."""
        answer = self.control("POST", "/clock/run-until-idle", {"limit": limit}).expect()
        self.assertEqual(answer["outcome"], "idle", answer)

    # -- held pods

    def hold_terminating(self):
        """From now on the namespace's pods stay terminating when they are deleted, until they are released."""
        rule = {"name": self.ns, "namespace": self.ns, "script": {"hold": "terminating"}}
        self.control("POST", "/pods/rules", rule).expect()

    def terminating_pods(self):
        return [item for item in self.list("pods") if "deletionTimestamp" in item["metadata"]]

    def release_all(self):
        """Releases the held pods, and pods that are held meanwhile."""
        for _ in range(100):
            if not self.terminating_pods():
                return
            self.control("POST", "/pods/release", {"rule": self.ns}).expect()
            self.idle()
        self.fail(f"they do not go: {names(self.terminating_pods())}")

    # -- state

    def apply(self, item, *flags):
        return self.k(["apply", "-f", "-", *flags], stdin=item)

    def roll_out(self, item, resource="deployments"):
        """Creates a workload and waits until it is complete."""
        self.make(item, resource)
        self.idle()

    def list(self, resource, selector=""):
        query = f"?labelSelector={selector}" if selector else ""
        return self.rest.get(self.path_of(resource) + query).expect()["items"]

    def pods(self, selector="", live_only=True):
        return [item for item in self.list("pods", selector) if is_live(item) or not live_only]

    def revisions(self):
        """The namespace's ReplicaSets by revision."""
        return {int(item["metadata"]["annotations"][REVISION]): item for item in self.list("replicasets")}

    def sizes(self):
        """{revision: spec.replicas} of the ReplicaSets that are not at zero."""
        sizes = {revision: item["spec"]["replicas"] for revision, item in self.revisions().items()}
        return {revision: replicas for revision, replicas in sizes.items() if replicas}

    def events(self, name, *reasons):
        """[(reason, message)] of the events about an object, in the order in which they were written."""
        items = [item for item in self.list("events") if item["involvedObject"]["name"] == name]
        items.sort(key=lambda item: int(item["metadata"]["resourceVersion"]))
        return [(item["reason"], item["message"]) for item in items if not reasons or item["reason"] in reasons]

    def rows(self, command):
        """The output of `kubectl get`: (column titles, a dict for each row)."""
        title, *lines = self.k(command).lines
        columns = re.split(r"\s{2,}|\t", title.strip())
        return columns, [dict(zip(columns, re.split(r"\s{2,}", line.strip()))) for line in lines]

    def why(self, resource, name):
        answer = self.control("GET", f"/why?resource={resource}&namespace={self.ns}&name={name}").expect()
        return answer["records"]

    def metric(self, family, **labels):
        """The value of one sample of /metrics, or None when it is not there."""
        for found, value in re.findall(rf"^{family}\{{(.*)\}} (\S+)$", self.rest.get("/metrics").text, re.M):
            if dict(re.findall(r'(\w+)="([^"]*)"', found)) == labels:
                return float(value)
        return None

    def record(self, resource):
        """Records all events of a resource in this namespace from now on."""
        rest = Rest(self.url)
        self.addCleanup(rest.close)
        return Recording(self, resource, rest)


class Recording:
    """A watch that is opened before the changes and read after them."""

    def __init__(self, case, resource, rest):
        self._case, self._resource = case, resource
        path = case.path_of(resource)
        start = rest.get(path).expect()
        self._objects = {item["metadata"]["name"]: item for item in start["items"]}
        version = start["metadata"]["resourceVersion"]
        self._stream = rest.stream("GET", f"{path}?watch=true&resourceVersion={version}&allowWatchBookmarks=false")

    def states(self):
        """Every state since the recording began, up to now: [{name: object}], one for each event."""
        end = self._mark_the_end()
        states = [dict(self._objects)]
        for line in self._stream:
            event = json.loads(line)
            name = event["object"]["metadata"]["name"]
            if name == end:
                return states
            if event["type"] == "DELETED":
                del self._objects[name]
            else:
                self._objects[name] = event["object"]
            states.append(dict(self._objects))
        raise AssertionError("the watch ended before the test did")

    def most_pods(self):
        """The largest number of pods at any time, running or terminating."""
        return max(sum(not has_ended(item) for item in state.values()) for state in self.states())

    def _mark_the_end(self):
        """An unused object whose creation marks the last event of the recording."""
        item = pod("end", nodeName="nowhere") if self._resource == "pods" else replica_set("end", 0)
        self._case.make(item, self._resource)
        return "end"


def names(items):
    return sorted(item["metadata"]["name"] for item in items)


def labels_of(item):
    return item["metadata"].get("labels", {})


def container_image(item):
    """Of a pod, or of the template of anything else."""
    spec = item["spec"].get("template", item)["spec"]
    return spec["containers"][0]["image"]


def is_live(item):
    """Neither ended nor terminating."""
    return "deletionTimestamp" not in item["metadata"] and not has_ended(item)


def has_ended(item):
    return item.get("status", {}).get("phase") in ("Succeeded", "Failed")


def template(name, image, script):
    made = pod(name, script=script)
    made["spec"]["containers"][0]["image"] = image
    return {"metadata": {k: v for k, v in made["metadata"].items() if k != "name"}, "spec": made["spec"]}


def deployment(name="web", replicas=3, image=f"{IMAGE}:1", script=None, **spec):
    """`script` has the keys of its pods' script (docs/pod-scripts.md)."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template(name, image, script),
            **spec,
        },
    }


def replica_set(name="web", replicas=3, image=f"{IMAGE}:1", script=None, **spec):
    return {**deployment(name, replicas, image, script, **spec), "kind": "ReplicaSet"}


def replication_controller(name="web", replicas=3, script=None, **spec):
    made = deployment(name, replicas, script=script, selector={"app": name}, **spec)
    return {**made, "apiVersion": "v1", "kind": "ReplicationController"}


def rolling(surge, unavailable):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
