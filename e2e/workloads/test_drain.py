"""kubectl drain of a node whose pods belong to a Deployment with a disruption budget."""

import re

from base import WorkloadCase, deployment


class Drain(WorkloadCase):
    flags = ("--clock=virtual", "--nodes=2")

    def on_node(self, node):
        return [item for item in self.pods() if item["spec"].get("nodeName") == node]

    def test_pods_leave_one_after_the_other_as_the_budget_allows(self):
        self.roll_out(deployment(replicas=3, script={"ready-delay": "10s"}))
        budget = {"metadata": {"name": "web"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}}
        self.make(budget, "poddisruptionbudgets")
        self.run_until("jsonpath={.status.disruptionsAllowed}=1", "web", "poddisruptionbudgets")
        node = max(("node-0", "node-1"), key=lambda node: len(self.on_node(node)))
        leaving = len(self.on_node(node))
        self.assertGreaterEqual(leaving, 2)

        draining = self.start(f"drain {node} --timeout=30s")
        draining.line_with("Cannot evict pod as it would violate the pod's disruption budget")
        for left in range(leaving - 1, 0, -1):
            # One pod has been evicted, and no other may be until its replacement is ready.
            self.wait_until("one more is evicted", lambda: len(self.on_node(node)) == left)
            self.settle()
            status = self.stored("web", "poddisruptionbudgets")["status"]
            self.assertEqual((status["currentHealthy"], status["disruptionsAllowed"]), (2, 0))
            self.advance("10s")  # now the next retry of kubectl succeeds: every five seconds of its own time
        code, printed = draining.end()
        self.assertEqual((code, len(re.findall(r"pod/\S+ evicted", printed))), (0, leaving), printed)
        self.advance("10s")
        other = "node-1" if node == "node-0" else "node-0"
        self.assertEqual(len(self.on_node(other)), 3)
        self.assertEqual(self.stored("web", "deployments")["status"]["availableReplicas"], 3)
