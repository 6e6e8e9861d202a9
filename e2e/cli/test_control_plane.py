"""The flags of `terrarium serve` for the components beside the apiserver, and for the clock."""

import http.client
import queue
import threading
import time

from base import BINARY, TIMEOUT_S, ServeCase
from lib.server import Server


class ControlPlane(ServeCase):
    POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]}}

    def cluster(self, *flags):
        return Server(BINARY, *flags, folder=self.folder)

    def phase_after(self, rest, duration="0s"):
        """The pod's phase when that much virtual time has passed."""
        rest.post("/terrarium/v1/clock/advance", {"duration": duration}).expect()
        return rest.get("/api/v1/namespaces/default/pods/web").expect()["status"]["phase"]

    def make_pod(self, server):
        rest = self.rest(server.url)
        rest.post("/api/v1/namespaces/default/pods", self.POD).expect()
        return rest

    def gates(self, rest, component):
        return rest.get(f"/terrarium/v1/components/{component}/feature-gates").expect()

    def test_without_flags_it_is_a_whole_cluster_in_real_time(self):
        with self.cluster() as server:
            rest = self.make_pod(server)
            nodes = rest.get("/api/v1/nodes").expect()["items"]
            self.assertEqual([node["metadata"]["name"] for node in nodes], ["node-0", "node-1", "node-2"])
            self.assertEqual(rest.get("/terrarium/v1/clock").expect()["mode"], "real")
            give_up = time.monotonic() + TIMEOUT_S
            path = "/api/v1/namespaces/default/pods/web"
            while rest.get(path).expect()["status"]["phase"] != "Running":
                self.assertLess(time.monotonic(), give_up)
                time.sleep(0.01)

    def test_ready_means_that_a_pod_needs_no_time_to_run(self):
        for _ in range(10):
            with self.cluster("--clock=virtual") as server:
                self.assertEqual(self.phase_after(self.make_pod(server)), "Running")

    def test_bare(self):
        with self.server("--clock=virtual") as server:
            rest = self.make_pod(server)
            self.assertEqual(rest.get("/api/v1/nodes").expect()["items"], [])
            self.assertEqual(self.phase_after(rest, "1h"), "Pending")
            self.assertEqual(rest.get("/terrarium/v1/components/kubelet/feature-gates").code, 404)

    def test_without_a_kubelet(self):
        with self.cluster("--clock=virtual", "--kubelet=false") as server:
            self.assertEqual(self.phase_after(self.make_pod(server), "10m"), "Pending")

    def test_without_a_scheduler(self):
        with self.cluster("--clock=virtual", "--scheduler=false") as server:
            self.assertEqual(self.phase_after(self.make_pod(server), "10m"), "Pending")

    def test_nodes(self):
        with self.cluster("--clock=virtual", "--nodes=25") as server:
            nodes = self.rest(server.url).get("/api/v1/nodes").expect()["items"]
            self.assertEqual({node["metadata"]["name"] for node in nodes}, {f"node-{i}" for i in range(25)})

    def test_nodes_are_not_made_twice(self):
        flags = ("--clock=virtual", "--data", self.folder / "cluster.db")
        uids = []
        for _ in range(2):
            with self.cluster(*flags) as server:
                nodes = self.rest(server.url).get("/api/v1/nodes").expect()["items"]
                uids.append([node["metadata"]["uid"] for node in nodes])
        self.assertEqual((len(uids[0]), uids[0]), (3, uids[1]))

    def test_clock(self):
        for mode in ("real", "scaled=100", "virtual", "auto"):
            with self.subTest(mode), self.cluster("--clock", mode) as server:
                self.assertEqual(self.rest(server.url).get("/terrarium/v1/clock").expect()["mode"], mode)

    def test_pod_defaults(self):
        with self.cluster("--clock=virtual", "--pod-defaults=start-delay=90s,stop-after=5s") as server:
            rest = self.make_pod(server)
            self.assertEqual(self.phase_after(rest, "89s"), "Pending")
            self.assertEqual(self.phase_after(rest, "1s"), "Running")
            rest.delete("/api/v1/namespaces/default/pods/web").expect()
            self.assertEqual(self.phase_after(rest, "4s"), "Running")
            rest.post("/terrarium/v1/clock/advance", {"duration": "1s"}).expect()
            self.assertEqual(rest.get("/api/v1/namespaces/default/pods/web").code, 404)

    def test_event_ttl(self):
        event = {
            "metadata": {"name": "e", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
        }
        with self.cluster("--clock=virtual", "--event-ttl=10m") as server:
            rest = self.rest(server.url)
            rest.post("/api/v1/namespaces/default/events", event).expect()
            for advance, code in (("10m", 200), ("30s", 404)):
                rest.post("/terrarium/v1/clock/advance", {"duration": advance}).expect()
                self.assertEqual(rest.get("/api/v1/namespaces/default/events/e").code, code)

    def test_admission_plugins(self):
        table = {
            (): "default",
            ("--disable-admission-plugins=ServiceAccount",): None,
            ("--controllers=-*",): None,
            ("--controllers=-*", "--enable-admission-plugins=ServiceAccount"): "default",
        }
        for flags, account in table.items():
            with self.subTest(flags), self.cluster("--clock=virtual", *flags) as server:
                pod = self.make_pod(server).get("/api/v1/namespaces/default/pods/web").expect()
                self.assertEqual(pod["spec"].get("serviceAccountName"), account)
                self.assertEqual(bool(pod["spec"].get("volumes")), account is not None)

    def test_controllers(self):
        """Pods of a node that is gone are collected, unless that controller is left out, by either of its names."""
        table = {
            "*": 404,
            "*,-pod-garbage-collector-controller": 200,
            "*,-podgc": 200,
            "podgc": 404,
            "namespace-controller": 200,
            "-*": 200,
        }
        for controllers, code in table.items():
            with self.subTest(controllers), self.cluster("--clock=virtual", f"--controllers={controllers}") as server:
                rest = self.rest(server.url)
                pod = {**self.POD, "spec": {**self.POD["spec"], "nodeName": "node-0"}}
                rest.post("/api/v1/namespaces/default/pods", pod).expect()
                rest.delete("/api/v1/nodes/node-0").expect()
                rest.post("/terrarium/v1/clock/advance", {"duration": "3m"}).expect()
                self.assertEqual(rest.get("/api/v1/namespaces/default/pods/web").code, code)

    def test_gates_of_one_component(self):
        flags = (
            "--feature-gates=PodDeletionCost=false",
            "--controller-manager-feature-gates=PodDeletionCost=true",
            "--kubelet-feature-gates=PodDisruptionConditions=false",
        )
        with self.cluster("--clock=virtual", *flags) as server:
            rest = self.rest(server.url)
            components = ("apiserver", "controller-manager", "scheduler", "kubelet")
            gates = {name: self.gates(rest, name) for name in components}
        cost = {name: values["PodDeletionCost"] for name, values in gates.items()}
        self.assertEqual(cost, {"apiserver": False, "controller-manager": True, "scheduler": False, "kubelet": False})
        conditions = {name for name, values in gates.items() if not values["PodDisruptionConditions"]}
        self.assertEqual(conditions, {"kubelet"})

    def test_a_component_keeps_its_own_gates(self):
        """The kubelet evicts: its gate decides about the condition, whatever gates the others have."""
        for value, expected in (("true", True), ("false", False)):
            flags = ("--clock=virtual", f"--kubelet-feature-gates=PodDisruptionConditions={value}")
            with self.subTest(value), self.cluster(*flags) as server:
                rest = self.make_pod(server)
                self.phase_after(rest)
                rest.post("/terrarium/v1/pods/evict", {"namespace": "default", "pod": "web"}).expect()
                self.assertEqual(self.phase_after(rest, "1m"), "Failed")
                conditions = rest.get("/api/v1/namespaces/default/pods/web").expect()["status"]["conditions"]
                self.assertEqual("DisruptionTarget" in [entry["type"] for entry in conditions], expected)

    def test_a_move_of_the_clock_does_not_hold_the_end(self):
        server = self.cluster("--clock=virtual")
        self.addCleanup(server.kill)
        answers = queue.Queue()

        def advance():
            answers.put(self.rest(server.url).post("/terrarium/v1/clock/advance", {"duration": "87600h"}).expect())

        before = self.rest(server.url).get("/terrarium/v1/clock").expect()["now"]
        mover = threading.Thread(target=advance)
        mover.start()
        give_up = time.monotonic() + TIMEOUT_S
        while self.rest(server.url).get("/terrarium/v1/clock").expect()["now"] == before:
            self.assertLess(time.monotonic(), give_up)
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 3)
        mover.join()
        self.assertEqual(answers.get(timeout=TIMEOUT_S)["outcome"], "busy")

    def test_a_move_ends_with_its_client(self):
        with self.cluster("--clock=virtual") as server:
            rest = self.rest(server.url)
            before = rest.get("/terrarium/v1/clock").expect()["now"]
            mover = http.client.HTTPConnection(server.url.removeprefix("http://"))
            self.addCleanup(mover.close)
            headers = {"Content-Type": "application/json"}
            mover.request("POST", "/terrarium/v1/clock/advance", '{"duration": "1000000h"}', headers)
            give_up = time.monotonic() + TIMEOUT_S
            while rest.get("/terrarium/v1/clock").expect()["now"] == before:
                self.assertLess(time.monotonic(), give_up)
            mover.close()
            answer = rest.post("/terrarium/v1/clock/advance", {"duration": "1s"}).expect()
            self.assertEqual((answer["outcome"], answer["advanced"]), ("done", "1s"))

    def test_a_cluster_that_never_rests_does_not_hold_the_end(self):
        """A ReplicaSet puts its pods on a node whose taint evicts them immediately."""
        server = self.cluster("--clock=virtual", "--nodes=1")
        self.addCleanup(server.kill)
        rest = self.rest(server.url)
        taints = [{"key": "k", "effect": "NoExecute"}]
        rest.patch("/api/v1/nodes/node-0", {"spec": {"taints": taints}}).expect()
        pod = {**self.POD["spec"], "nodeName": "node-0", "terminationGracePeriodSeconds": 0}
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": pod}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        rest.post("/apis/apps/v1/namespaces/default/replicasets", {"metadata": {"name": "web"}, "spec": spec}).expect()
        answers = queue.Queue()

        def advance():
            answers.put(self.rest(server.url).post("/terrarium/v1/clock/advance", {"duration": "1s"}).expect())

        mover = threading.Thread(target=advance)
        mover.start()
        time.sleep(0.2)  # so that the move is usually in progress; the test also passes if it is not
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 5)
        mover.join()
        self.assertEqual(answers.get(timeout=TIMEOUT_S)["outcome"], "busy")

    def test_a_seed_fixes_what_is_drawn(self):
        def first_names(*flags):
            with self.server(*flags) as server:
                made = self.rest(server.url).post("/api/v1/namespaces", {"metadata": {"generateName": "x-"}}).expect()
                return made["metadata"]["name"], made["metadata"]["uid"]

        self.assertEqual(first_names("--seed=7"), first_names("--seed=7"))
        self.assertEqual(first_names("--seed=0"), first_names("--seed=0"))
        self.assertNotEqual(first_names("--seed=7"), first_names("--seed=8"))
        self.assertNotEqual(first_names(), first_names())
