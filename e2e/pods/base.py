"""The test case of the pods suite: a whole cluster with a virtual clock for every class."""

import contextlib
import datetime
import json
import re

from lib.kubectl import KubectlCase
from lib.server import Server, binary_from_environment


class ControlPlaneCase(KubectlCase):
    """`flags` are those of the class's server, which must exit with 0 after the last test."""

    flags = ("--clock=virtual",)

    @classmethod
    def server(cls):
        stack = contextlib.ExitStack()
        server = stack.enter_context(Server(binary_from_environment(), *cls.flags))
        cls.addClassCleanup(stack.close)
        cls.url, cls.pid = server.url, server.pid
        return server.url, server.kubeconfig

    # -- the control API

    def control(self, method, path, body=None):
        return self.rest.request(method, f"/terrarium/v1{path}", body)

    def clock(self):
        return self.control("GET", "/clock").expect()

    def now(self):
        return parse_time(self.clock()["now"])

    def advance(self, duration):
        answer = self.control("POST", "/clock/advance", {"duration": duration}).expect()
        self.assertEqual(answer["outcome"], "done")
        return answer

    def settle(self):
        """Waits until the cluster has processed everything that is due now."""
        self.advance("0s")

    def run_until(self, condition, name, resource="pods", limit="10m", outcome="done"):
        body = {"resource": resource, "namespace": self.ns, "name": name, "for": condition, "limit": limit}
        if resource in ("nodes", "namespaces"):
            del body["namespace"]
        answer = self.control("POST", "/clock/run-until", body).expect()
        self.assertEqual(answer["outcome"], outcome, answer)
        return answer

    def order(self, path, name, **more):
        """An order to one pod: POST pods/{path}."""
        return self.control("POST", f"/pods/{path}", {"namespace": self.ns, "pod": name, **more})

    # -- objects, without kubectl

    def make(self, item, resource="pods"):
        return self.rest.post(self.path_of(resource), item).expect()

    def running(self, *items):
        """Creates pods and waits until they are Ready."""
        for item in items:
            self.make(item)
        for item in items:
            self.run_until("condition=Ready", item["metadata"]["name"])

    def stored(self, name, resource="pods"):
        return self.rest.get(self.path_of(resource, name)).expect()

    def is_gone(self, name, resource="pods"):
        return self.rest.get(self.path_of(resource, name)).code == 404

    def node(self, name):
        return self.rest.get(f"/api/v1/nodes/{name}").expect()

    def status_column(self, name):
        """What `kubectl get pod` shows in the column STATUS."""
        return self.k(f"get pod {name} --no-headers").out.split()[2]

    def open_watches(self):
        open_ones = r'^apiserver_longrunning_requests{[^}]*verb="WATCH"[^}]*} (\d+)$'
        return sum(map(int, re.findall(open_ones, self.rest.get("/metrics").text, re.M)))

    def watch_pods(self):
        """A `kubectl get pods -w` that sees every event from now on."""
        before = self.open_watches()
        watch = PodWatch(self.start("get pods -w -o json --output-watch-events"))
        self.wait_until("kubectl watches", lambda: self.open_watches() > before)
        return watch


class PodWatch:
    """The events that a `kubectl get pods -w -o json --output-watch-events` prints."""

    def __init__(self, running):
        self._running = running

    def next(self):
        return json.loads(self._running.line_with("{"))

    def until_deleted(self, name):
        """The events of that pod, the last of which is DELETED."""
        events = []
        while not events or events[-1]["type"] != "DELETED":
            event = self.next()
            if event["object"]["metadata"]["name"] == name:
                events.append(event)
        return events


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds_between(earlier, later):
    """The seconds between two timestamps or parsed times."""
    first, second = (parse_time(time) if isinstance(time, str) else time for time in (earlier, later))
    return (second - first).total_seconds()


def condition(item, kind):
    """The object's condition of that type, or an empty one."""
    return next((c for c in item["status"].get("conditions", []) if c["type"] == kind), {})


def pod(name, script=None, labels=None, owner=None, resources=None, **spec):
    """A pod with one container `main`; `script` has the keys of its annotations without terrarium.dev/."""
    container = {"name": "main", "image": "example.test/app:1"}
    if resources:
        container["resources"] = {"requests": resources}
    metadata = {"name": name, "labels": labels or {"app": name}}
    if script:
        metadata["annotations"] = {f"terrarium.dev/{key}": value for key, value in script.items()}
    if owner:
        metadata["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}
