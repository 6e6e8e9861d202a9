"""kubectl cordon, uncordon, drain and taint, on nodes and pods that the tests create."""

from base import KubectlCase, pod


class Nodes(KubectlCase):
    def setUp(self):
        super().setUp()
        self.node = f"node-{self.ns}"
        self.rest.post("/api/v1/nodes", {"metadata": {"name": self.node}}).expect()
        self.addCleanup(lambda: self.rest.delete(f"/api/v1/nodes/{self.node}").expect())

    def stored(self):
        return self.rest.get(f"/api/v1/nodes/{self.node}").expect()

    def owned_pod(self, name, kind="ReplicaSet", **more):
        item = pod(name, node=self.node, **more)
        item["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": kind,
                "name": "owner",
                "uid": "4fc2a1f6-0a5f-4b5c-9c39-0c1a3d9f0001",
                "controller": True,
            }
        ]
        return item

    def test_cordon_and_uncordon(self):
        self.assertEqual(self.k(f"cordon {self.node}", namespace=False).out, f"node/{self.node} cordoned\n")
        self.assertIs(self.stored()["spec"]["unschedulable"], True)
        self.assertIn("SchedulingDisabled", self.k(f"get node {self.node}", namespace=False).out)
        self.assertIn("already cordoned", self.k(f"cordon {self.node}", namespace=False).out)
        self.k(f"uncordon {self.node}", namespace=False)
        self.assertNotIn("unschedulable", self.stored()["spec"])

    def test_taint(self):
        self.k(f"taint node {self.node} dedicated=db:NoSchedule", namespace=False)
        taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
        self.assertIn(taint, self.stored()["spec"]["taints"])
        self.k(f"taint node {self.node} dedicated-", namespace=False)
        self.assertNotIn(taint, self.stored()["spec"].get("taints", []))

    def test_drain_of_an_empty_node(self):
        self.assertIn("drained", self.k(f"drain {self.node}", namespace=False).out)
        self.assertIs(self.stored()["spec"]["unschedulable"], True)

    def test_drain_evicts_and_waits_for_the_pods(self):
        self.create(self.owned_pod("one"), self.owned_pod("two"))
        draining = self.start(f"drain {self.node} --timeout=25s")
        for name in ("one", "two"):
            self.wait_until(
                f"{name} is evicted",
                lambda: "deletionTimestamp" in self.rest.get(self.path_of("pods", name)).expect()["metadata"],
            )
            # The kubelet's final delete: the containers have ended.
            self.rest.delete(self.path_of("pods", name), {"gracePeriodSeconds": 0}).expect()
        code, printed = draining.end()
        self.assertEqual(code, 0, printed)
        self.assertIn("pod/one evicted", printed)
        self.assertIn("pod/two evicted", printed)

    def test_drain_deletes_when_eviction_is_disabled(self):
        self.create(self.owned_pod("one"))
        draining = self.start(f"drain {self.node} --disable-eviction --timeout=25s")
        self.wait_until(
            "one is deleted",
            lambda: "deletionTimestamp" in self.rest.get(self.path_of("pods", "one")).expect()["metadata"],
        )
        self.rest.delete(self.path_of("pods", "one"), {"gracePeriodSeconds": 0}).expect()
        self.assertEqual(draining.end()[0], 0)

    def test_drain_refuses_pods_without_an_owner(self):
        self.create(pod("alone", node=self.node))
        self.k_fails(f"drain {self.node}", "use --force to override", namespace=False)
        self.assertNotIn("deletionTimestamp", self.get("pod alone")["metadata"])

    def test_drain_with_force_takes_them_along(self):
        self.create(pod("alone", node=self.node))
        draining = self.start(f"drain {self.node} --force --grace-period=0 --timeout=25s")
        code, printed = draining.end()
        self.assertEqual(code, 0, printed)
        self.k_fails("get pod alone", "NotFound")

    def test_drain_stops_at_a_disruption_budget(self):
        self.create(
            self.owned_pod("one", labels={"app": "shop"}),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "shop"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "shop"}}},
            },
        )
        self.set_status("pods", "one", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
        self.set_status(
            "poddisruptionbudgets",
            "shop",
            {
                "observedGeneration": 1,
                "disruptionsAllowed": 0,
                "currentHealthy": 1,
                "desiredHealthy": 1,
                "expectedPods": 1,
            },
        )
        self.k_fails(
            f"drain {self.node} --timeout=1s",
            "Cannot evict pod as it would violate the pod's disruption budget.",
            namespace=False,
        )
        self.assertNotIn("deletionTimestamp", self.get("pod one")["metadata"])

    def test_drain_goes_on_when_the_budget_allows_it(self):
        self.create(
            self.owned_pod("one", labels={"app": "shop"}),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "shop"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "shop"}}},
            },
        )
        self.set_status("pods", "one", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
        self.set_status(
            "poddisruptionbudgets",
            "shop",
            {
                "observedGeneration": 1,
                "disruptionsAllowed": 1,
                "currentHealthy": 2,
                "desiredHealthy": 1,
                "expectedPods": 2,
            },
        )
        code, printed = self.start(f"drain {self.node} --grace-period=0 --force --timeout=25s").end()
        self.assertEqual(code, 0, printed)
        budget = self.get("poddisruptionbudget shop")["status"]
        self.assertEqual((budget["disruptionsAllowed"], list(budget["disruptedPods"])), (0, ["one"]))
