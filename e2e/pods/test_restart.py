"""A server that is killed with -9 and started again on the same --data file."""

import pathlib
import tempfile

from base import ControlPlaneCase, condition, pod, seconds_between
from lib.rest import Rest
from lib.server import Server, binary_from_environment


class Restart(ControlPlaneCase):
    """Every test has its own server, since it kills it."""

    @classmethod
    def server(cls):
        return "http://127.0.0.1:1", ""  # no server yet: setUp sets the real values

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="terrarium-restart-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.begin()
        super().setUp()

    def begin(self, *flags):
        data = ("--data", self.folder / "cluster.db")
        self.running_server = Server(binary_from_environment(), "--clock=virtual", *data, *flags, folder=self.folder)
        self.addCleanup(self.running_server.kill)
        self.rest = Rest(self.running_server.url)
        self.addCleanup(self.rest.close)
        self.environment = {**self.environment, "KUBECONFIG": self.running_server.kubeconfig}

    def kill_and_begin(self, *flags):
        self.running_server.kill()
        self.begin(*flags)
        self.settle()

    def test_running_pods_go_on(self):
        self.running(pod("web"), pod("often"))
        self.order("crash", "often").expect()
        self.run_until("jsonpath={.status.containerStatuses[0].restartCount}=1", "often")
        self.run_until("condition=Ready", "often")
        before = {name: self.stored(name) for name in ("web", "often")}
        self.kill_and_begin()
        self.assertEqual({name: self.stored(name) for name in before}, before)
        rows = [line.split()[:4] for line in self.k("get pods --no-headers").lines]
        self.assertEqual(rows, [["often", "1/1", "Running", "1"], ["web", "1/1", "Running", "0"]])
        self.advance("10m")
        self.assertEqual(self.stored("web")["status"], before["web"]["status"])
        self.assertEqual(self.k("get nodes --no-headers", namespace=False).out.count(" Ready "), 3)

    def test_scripts_go_on(self):
        self.running(pod("job", script={"run-for": "5m"}, restartPolicy="Never"))
        self.kill_and_begin()
        self.run_until("jsonpath={.status.phase}=Succeeded", "job")
        end = self.stored("job")["status"]["containerStatuses"][0]["state"]["terminated"]
        self.assertEqual(seconds_between(end["startedAt"], end["finishedAt"]), 300)

    def test_terminating_pods_finish(self):
        self.running(pod("web", script={"ignore-sigterm": "true"}, terminationGracePeriodSeconds=120))
        self.k("delete pod web --wait=false")
        deletion = self.stored("web")["metadata"]["deletionTimestamp"]
        self.kill_and_begin()
        self.assertEqual(self.status_column("web"), "Terminating")
        self.run_until("delete", "web", limit="3m")
        self.assertLess(abs(seconds_between(deletion, self.now())), 2)

    def test_pods_that_were_held_are_still_held(self):
        self.running(pod("web", script={"hold": "terminating"}))
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.kill_and_begin()
        self.run_until("delete", "web", limit="10m", outcome="deadline")
        self.order("release", "web").expect()
        self.run_until("delete", "web")

    def test_pending_pods_are_scheduled_when_there_is_room(self):
        self.make(pod("web", nodeSelector={"disk": "ssd"}))
        self.run_until("condition=PodScheduled=False", "web")
        self.kill_and_begin()
        self.k("label node node-1 disk=ssd", namespace=False)
        self.run_until("condition=Ready", "web")

    def test_what_was_deleted_before_the_kill_is_collected_after_it(self):
        owner = self.make({"metadata": {"name": "owner"}}, "configmaps")
        owner.update(apiVersion="v1", kind="ConfigMap")
        self.kill_and_begin("--controllers=*,-garbage-collector-controller")
        self.running(pod("web", owner=owner))
        self.rest.delete(self.path_of("configmaps", "owner")).expect()
        self.advance("1m")
        self.assertFalse(self.is_gone("web"))
        self.kill_and_begin()
        self.run_until("delete", "web", limit="1m")

    def test_addresses_are_not_given_twice(self):
        self.running(*(pod(f"old-{i}", nodeName="node-0") for i in range(3)))
        self.kill_and_begin()
        self.running(*(pod(f"new-{i}", nodeName="node-0") for i in range(3)))
        items = self.rest.get(self.path_of("pods")).expect()["items"]
        self.assertEqual(len({item["status"]["podIP"] for item in items}), 6)
        self.assertEqual({condition(item, "Ready")["status"] for item in items}, {"True"})
