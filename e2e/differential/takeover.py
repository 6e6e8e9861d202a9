"""A downgrade of the controller-manager in the middle of a scale.

Terrarium's controllers scale a Deployment under TerminationComplete as far as terminating pods leave room. Then they
stop, and the real kube-controller-manager, which does not know the policy, finishes the scale.
"""

import time

from lib.rest import Rest
from lib.server import Server

import objects
from actions import path_of
from controller_manager import ControllerManager
from mixed import GATES

TIMEOUT_S = 60.0
DEPLOYMENT = path_of("default", "deployments", "web")

# 13 pods are allowed before the scale and 22 after it. The proportions of the old ReplicaSet's 8 and the new one's 3
# are 14 and 5, and 3 are left over for the larger one. Two terminating pods delay 2 of these 3.
BEFORE, PARTIAL, COMPLETE = (8, 3), (15, 5), (17, 5)


def run(binary, program):
    """(passed, failed); prints what went wrong."""
    try:
        with Server(binary, f"--feature-gates={','.join(f'{gate}=true' for gate in GATES)}") as server:
            _play(server, program)
    except AssertionError as error:
        print(f"\ntakeover: {error}", flush=True)
        return 0, 1
    return 1, 0


def _play(server, program):
    web = _Web(server.url)
    web.create()
    web.wait_until(lambda: web.sizes() == (10, 0) and web.is_settled())
    web.replace("template", objects.template({"app": "web"}, "new", {"never-ready": "true"}))
    web.wait_until(lambda: web.sizes() == BEFORE and web.is_settled())
    web.replace("replicas", 19)
    web.wait_until(lambda: web.sizes() == PARTIAL and web.is_settled())
    web.rest.post("/terrarium/v1/components/controller-manager/stop", {}).expect()
    controllers = ("deployment-controller", "replicaset-controller")
    with ControllerManager(program, server.kubeconfig, controllers) as manager:
        manager.wait_until(lambda: sum(web.sizes()) == 22 and web.is_settled())
    web.expect(web.sizes() == COMPLETE)
    web.expect(web.condition("Available") == "True")


class _Web:
    """A Deployment: pods of its old template do not stop when deleted, those of the new one are never ready."""

    def __init__(self, url):
        self.rest = Rest(url)

    def create(self):
        template = objects.template({"app": "web"}, "old", {"hold": "terminating"})
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
        made = objects.deployment("web", 10, template, strategy=strategy, podReplacementPolicy="TerminationComplete")
        self.rest.post(path_of("default", "deployments"), made).expect()

    def replace(self, field, value):
        self.rest.patch(DEPLOYMENT, [{"op": "replace", "path": f"/spec/{field}", "value": value}], "json").expect()

    def status(self):
        return self.rest.get(DEPLOYMENT).expect().get("status", {})

    def condition(self, kind):
        return next((each["status"] for each in self.status().get("conditions", []) if each["type"] == kind), None)

    def sizes(self):
        """spec.replicas of the old and the new ReplicaSet."""
        sizes = {}
        for item in self.rest.get(path_of("default", "replicasets")).expect()["items"]:
            image = item["spec"]["template"]["spec"]["containers"][0]["image"]
            sizes[image.rpartition(":")[2]] = item["spec"]["replicas"]
        return sizes.get("old", 0), sizes.get("new", 0)

    def is_settled(self):
        """Whether all pods of both sizes have been created, and those of the old template are available."""
        old, new = self.sizes()
        status = self.status()
        return status.get("replicas") == old + new and status.get("availableReplicas") == old

    def wait_until(self, holds):
        give_up = time.monotonic() + TIMEOUT_S
        while not holds():
            self.expect(time.monotonic() < give_up)
            time.sleep(0.05)

    def expect(self, holds):
        if not holds:
            old, new = self.sizes()
            raise AssertionError(f"the ReplicaSets have {old} and {new} replicas, the status is {self.status()}")
