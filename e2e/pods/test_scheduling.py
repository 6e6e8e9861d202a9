"""Scheduling of pods: cordon, taint, selectors, capacity; and drain with a disruption budget."""

from base import ControlPlaneCase, condition, pod


class Scheduling(ControlPlaneCase):
    flags = ("--clock=virtual", "--nodes=2")

    def tearDown(self):
        self.rest.delete(self.path_of("pods"), {"gracePeriodSeconds": 0}).expect()
        self.settle()

    def is_pending(self, name, message):
        """The pod waits, as its condition and an event state."""
        self.run_until("condition=PodScheduled=False", name, limit="0s")
        item = self.stored(name)
        self.assertEqual(item["status"]["phase"], "Pending")
        self.assertEqual(condition(item, "PodScheduled")["reason"], "Unschedulable")
        self.assertIn(message, condition(item, "PodScheduled")["message"])
        self.assertEqual(self.status_column(name), "Pending")
        shown = self.k(f"describe pod {name}").out
        self.assertRegex(shown, r"Warning\s+FailedScheduling\s+.*default-scheduler\s+0/2 nodes are available: ")
        self.assertIn(message, shown)

    def node_of(self, name):
        self.run_until("condition=Ready", name)
        return self.stored(name)["spec"]["nodeName"]

    def test_cordon_and_uncordon(self):
        self.k("cordon node-0 node-1", namespace=False)
        self.make(pod("web"))
        self.is_pending("web", "2 node(s) were unschedulable")
        self.k("uncordon node-1", namespace=False)
        self.assertEqual(self.node_of("web"), "node-1")
        self.k("uncordon node-0", namespace=False)

    def test_taint_and_toleration(self):
        self.k("taint node node-0 node-1 dedicated=db:NoSchedule", namespace=False)
        self.make(pod("web"))
        self.make(pod("db", tolerations=[{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]))
        self.is_pending("web", "2 node(s) had untolerated taint(s)")
        self.assertIn(self.node_of("db"), ("node-0", "node-1"))
        self.k("taint node node-0 dedicated-", namespace=False)
        self.assertEqual(self.node_of("web"), "node-0")
        self.k("taint node node-1 dedicated-", namespace=False)

    def test_a_taint_that_throws_pods_out(self):
        patience = {"key": "broken", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
        self.running(pod("web", nodeName="node-0"), pod("patient", nodeName="node-0", tolerations=[patience]))
        self.k("taint node node-0 broken:NoExecute", namespace=False)
        self.run_until("delete", "web", limit="1s")
        self.run_until("delete", "patient", limit="59s", outcome="deadline")
        self.run_until("delete", "patient", limit="2s")
        self.k("taint node node-0 broken-", namespace=False)

    def test_node_selector(self):
        self.make(pod("web", nodeSelector={"disk": "ssd"}))
        self.is_pending("web", "2 node(s) didn't match Pod's node affinity/selector")
        self.k("label node node-1 disk=ssd", namespace=False)
        self.assertEqual(self.node_of("web"), "node-1")
        self.k("label node node-1 disk-", namespace=False)

    def test_zone_and_region_of_the_node(self):
        self.k("label node node-1 topology.kubernetes.io/region=north", namespace=False)
        self.make(pod("web", nodeSelector={"topology.kubernetes.io/region": "north"}))
        self.assertEqual(self.node_of("web"), "node-1")
        labels = self.stored("web")["metadata"]["labels"]
        topology = [labels.get(f"topology.kubernetes.io/{name}") for name in ("zone", "region")]
        self.assertEqual(topology, ["zone-b", "north"])
        self.k("label node node-1 topology.kubernetes.io/region-", namespace=False)

    def test_a_pod_that_is_too_big(self):
        self.make(pod("web", resources={"cpu": "1k"}))
        self.is_pending("web", "2 Insufficient cpu")

    def test_room_that_is_freed(self):
        for name in ("one", "two"):
            self.make(pod(name, resources={"cpu": "5"}))
        self.make(pod("three", resources={"cpu": "5"}))
        self.is_pending("three", "2 Insufficient cpu")
        free = self.node_of("one")
        self.k("delete pod one --timeout=20s")
        self.assertEqual(self.node_of("three"), free)

    def test_pods_spread(self):
        self.running(*(pod(f"web-{i}", resources={"cpu": "1"}) for i in range(4)))
        nodes = sorted(self.stored(f"web-{i}")["spec"]["nodeName"] for i in range(4))
        self.assertEqual(nodes, ["node-0", "node-0", "node-1", "node-1"])

    def test_a_pod_that_names_its_node(self):
        self.k("cordon node-1", namespace=False)
        self.running(pod("web", nodeName="node-1"))
        self.assertNotIn("Scheduled", self.k("get events -o jsonpath={.items[*].reason}").out.split())
        self.k("uncordon node-1", namespace=False)

    def test_a_node_made_through_the_api(self):
        node = {"metadata": {"name": "big", "labels": {"size": "big"}}}
        node["status"] = {"capacity": {"cpu": "64", "memory": "1Ti", "pods": "10"}}
        self.rest.post("/api/v1/nodes", node).expect()
        self.run_until("condition=Ready", "big", resource="nodes", limit="1m")
        self.make(pod("web", resources={"cpu": "60"}))
        self.assertEqual(self.node_of("web"), "big")
        self.k("delete node big", namespace=False)
        self.run_until("delete", "web", limit="2m")


class WithoutAScheduler(ControlPlaneCase):
    flags = ("--clock=virtual", "--scheduler=false")

    def test_pods_wait_for_another_scheduler(self):
        self.make(pod("web"))
        self.advance("10m")
        self.assertEqual(self.stored("web")["status"], {"phase": "Pending", "qosClass": "BestEffort"})
        binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-2"}}
        self.rest.post(self.path_of("pods", "web", "binding"), binding).expect()
        self.run_until("condition=Ready", "web")
        self.assertEqual(self.stored("web")["spec"]["nodeName"], "node-2")


class Drain(ControlPlaneCase):
    flags = ("--clock=auto", "--nodes=2")

    def tearDown(self):
        for resource in ("poddisruptionbudgets", "pods"):
            self.rest.delete(self.path_of(resource), {"gracePeriodSeconds": 0}).expect()

    def budget(self, minimum):
        spec = {"minAvailable": minimum, "selector": {"matchLabels": {"app": "shop"}}}
        self.make({"metadata": {"name": "shop"}, "spec": spec}, "poddisruptionbudgets")

    def shop(self, name, node):
        """A pod of the shop on that node, ready."""
        self.make(pod(name, labels={"app": "shop"}, nodeName=node, script={"stop-after": "20s"}))
        self.wait_until(f"{name} is ready", lambda: condition(self.stored(name), "Ready").get("status") == "True")

    def allowed(self):
        """The allowed disruptions, once the controller has counted; a new budget has 0 before that."""
        status = self.stored("shop", "poddisruptionbudgets")["status"]
        return status["disruptionsAllowed"] if status.get("observedGeneration") else None

    def healthy(self):
        return self.stored("shop", "poddisruptionbudgets")["status"].get("currentHealthy")

    def test_a_budget_holds_the_drain_until_there_is_a_replacement(self):
        self.shop("one", "node-0")
        self.shop("two", "node-0")
        self.budget(1)
        self.wait_until("one may go", lambda: self.allowed() == 1)
        draining = self.start("drain node-0 --force --timeout=25s")
        # kubectl tries again after five seconds of its own.
        refused = draining.line_with("will retry after 5s")
        self.assertIn("Cannot evict pod as it would violate the pod's disruption budget.", refused)
        self.shop("three", "node-1")
        code, printed = draining.end()
        self.assertEqual(code, 0, printed)
        for text in ("pod/one evicted", "pod/two evicted"):
            self.assertIn(text, printed)
        self.assertEqual((self.is_gone("one"), self.is_gone("two"), self.is_gone("three")), (True, True, False))
        self.wait_until("the last one must stay", lambda: self.allowed() == 0)
        self.k("uncordon node-0", namespace=False)

    def test_a_refused_eviction_has_a_reason(self):
        self.shop("one", "node-0")
        self.budget(1)
        self.wait_until("it is counted as healthy", lambda: self.healthy() == 1)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one"}}
        answer = self.rest.post(self.path_of("pods", "one", "eviction"), eviction)
        self.assertEqual((answer.code, answer.body["reason"]), (429, "TooManyRequests"))
        (cause,) = answer.body["details"]["causes"]
        self.assertEqual(cause["reason"], "DisruptionBudget")
        self.assertEqual(cause["message"], "The disruption budget shop needs 1 healthy pods and has 1 currently")

    def test_bare_pods_need_force(self):
        self.shop("one", "node-1")
        self.k_fails("drain node-1", "(use --force to override)", namespace=False)
        self.assertFalse(self.is_gone("one"))
        self.k("drain node-1 --force --timeout=25s", namespace=False)
        self.assertTrue(self.is_gone("one"))
        self.k("uncordon node-1", namespace=False)
