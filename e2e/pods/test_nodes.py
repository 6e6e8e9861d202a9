"""Nodes that fail, recover, or are deleted, and their pods."""

from base import ControlPlaneCase, condition, pod, seconds_between

GRACE_S = 50  # of the node controller, before a node without heartbeats is NotReady
TOLERATION_S = 300


class Nodes(ControlPlaneCase):
    def setUp(self):
        super().setUp()
        self.settle()

    def take_away(self, node):
        self.control("POST", f"/nodes/{node}/fail").expect()
        self.addCleanup(self.bring_back, node)

    def bring_back(self, node):
        self.control("POST", f"/nodes/{node}/recover").expect()
        self.run_until("condition=Ready", node, resource="nodes")

    def nodes(self):
        """{name: STATUS}, as kubectl shows them."""
        rows = (line.split() for line in self.k("get nodes --no-headers", namespace=False).lines)
        return {row[0]: row[1] for row in rows}

    def taints(self, node):
        return {(taint["key"], taint["effect"]) for taint in self.node(node)["spec"].get("taints", [])}

    def silent(self, node):
        """Fails the node and advances the clock until the controller has detected it."""
        self.take_away(node)
        self.run_until("condition=Ready=Unknown", node, resource="nodes", limit=f"{2 * GRACE_S}s")

    def test_they_are_ready_and_have_room(self):
        self.assertEqual(self.nodes(), {f"node-{i}": "Ready" for i in range(3)})
        status = self.node("node-0")["status"]
        self.assertGreater(int(status["allocatable"]["pods"]), 0)
        self.assertEqual(status["allocatable"], status["capacity"])
        leases = self.rest.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases").expect()["items"]
        self.assertEqual([lease["spec"]["holderIdentity"] for lease in leases], ["node-0", "node-1", "node-2"])

    def test_heartbeats_go_on(self):
        self.advance("1h")
        self.assertEqual(set(self.nodes().values()), {"Ready"})
        lease = self.rest.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1").expect()
        self.assertLess(seconds_between(lease["spec"]["renewTime"], self.now()), 20)

    def test_a_silent_node_is_not_ready(self):
        self.running(pod("web", nodeName="node-1"))
        self.take_away("node-1")
        began = self.now()
        self.assertEqual(self.nodes()["node-1"], "Ready")
        self.run_until("condition=Ready=Unknown", "node-1", resource="nodes", limit="5m")
        # Its last heartbeat was some seconds ago, and the controller checks every few seconds.
        self.assertTrue(GRACE_S - 15 <= seconds_between(began, self.now()) <= GRACE_S + 10, self.now())
        self.assertEqual(self.nodes(), {"node-0": "Ready", "node-1": "NotReady", "node-2": "Ready"})
        self.settle()
        unreachable = "node.kubernetes.io/unreachable"
        self.assertEqual(self.taints("node-1"), {(unreachable, "NoExecute"), (unreachable, "NoSchedule")})
        self.assertEqual(condition(self.stored("web"), "Ready")["status"], "False")
        self.assertEqual(self.status_column("web"), "Running")

    def test_its_pods_are_evicted_and_stay_terminating(self):
        self.running(pod("web", nodeName="node-1"), pod("near", nodeName="node-0"))
        self.silent("node-1")
        self.settle()
        began = self.now()
        self.run_until("jsonpath={.metadata.deletionTimestamp}", "web")
        self.assertAlmostEqual(seconds_between(began, self.now()), TOLERATION_S, delta=10)
        # There is no kubelet to stop the containers.
        self.advance("10m")
        self.assertEqual((self.status_column("web"), self.status_column("near")), ("Terminating", "Running"))
        target = condition(self.stored("web"), "DisruptionTarget")
        self.assertEqual((target["status"], target["reason"]), ("True", "DeletionByTaintManager"))

    def test_a_node_that_comes_back_finishes_them(self):
        self.running(pod("web", nodeName="node-1"), pod("other", nodeName="node-1"))
        self.silent("node-1")
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.advance("2m")
        self.assertEqual(self.status_column("web"), "Terminating")
        self.control("POST", "/nodes/node-1/recover").expect()
        self.run_until("condition=Ready", "node-1", resource="nodes", limit="1m")
        self.run_until("delete", "web", limit="1m")
        self.assertEqual(self.nodes()["node-1"], "Ready")
        # The other one outlived it: its toleration was longer.
        self.run_until("condition=Ready", "other", limit="1m")
        self.advance("10m")
        self.assertEqual((self.status_column("other"), self.taints("node-1")), ("Running", set()))

    def test_a_pod_without_toleration_time_stays(self):
        forever = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        self.running(pod("web", nodeName="node-1", tolerations=[forever]))
        self.silent("node-1")
        self.advance("1h")
        self.assertNotIn("deletionTimestamp", self.stored("web")["metadata"])

    def test_new_pods_go_elsewhere(self):
        self.silent("node-1")
        self.settle()
        self.running(*(pod(f"web-{i}") for i in range(4)))
        self.assertNotIn("node-1", {self.stored(f"web-{i}")["spec"]["nodeName"] for i in range(4)})


class DeletedNodes(ControlPlaneCase):
    def test_pod_garbage_collection_removes_their_pods(self):
        watch = self.watch_pods()
        self.running(pod("web", nodeName="node-2"))
        self.assertEqual(self.k("delete node node-2", namespace=False).out, 'node "node-2" deleted\n')
        self.run_until("delete", "web", limit="2m")
        events = watch.until_deleted("web")
        last = events[-1]["object"]
        self.assertEqual(last["status"]["phase"], "Failed")
        target = condition(last, "DisruptionTarget")
        self.assertEqual((target["status"], target["reason"]), ("True", "DeletionByPodGC"))
        self.assertEqual(target["message"], "PodGC: node no longer exists")


class WithoutDisruptionConditions(ControlPlaneCase):
    flags = ("--clock=virtual", "--feature-gates=PodDisruptionConditions=false")

    def test_pod_garbage_collection_sets_no_condition(self):
        watch = self.watch_pods()
        self.running(pod("web", nodeName="node-2"))
        self.k("delete node node-2", namespace=False)
        self.run_until("delete", "web", limit="2m")
        for event in watch.until_deleted("web"):
            self.assertEqual(condition(event["object"], "DisruptionTarget"), {})


class WithoutPodGarbageCollection(ControlPlaneCase):
    flags = ("--clock=virtual", "--controllers=*,-pod-garbage-collector-controller")

    def test_pods_of_a_deleted_node_stay(self):
        self.running(pod("web", nodeName="node-2"))
        self.k("delete node node-2", namespace=False)
        self.run_until("delete", "web", limit="10m", outcome="deadline")
