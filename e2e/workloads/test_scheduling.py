"""What kubectl shows of pods that wait for a node, preempt others or wait for a volume."""

from base import WorkloadCase
from pods.base import pod


class Scheduling(WorkloadCase):
    flags = ("--clock=virtual", "--nodes=2")

    def describe(self, name):
        return self.k(f"describe pod {name}").out

    def test_preemption_is_explained_to_both_pods(self):
        high = {"metadata": {"name": "urgent"}, "value": 1000}
        self.rest.post("/apis/scheduling.k8s.io/v1/priorityclasses", high).expect()
        self.addCleanup(self.rest.delete, "/apis/scheduling.k8s.io/v1/priorityclasses/urgent")
        for name in ("low-0", "low-1"):
            self.make(pod(name, script={"stop-after": "20s"}, resources={"cpu": "8"}))
        self.advance("1s")
        self.make(pod("stuck", resources={"cpu": "8"}))
        self.make(pod("high", resources={"cpu": "8"}, priorityClassName="urgent"))
        self.advance("1s")
        self.assertRegex(
            self.describe("stuck"),
            r"FailedScheduling .*0/2 nodes are available: 2 Insufficient cpu\. no new claims to deallocate, preemption: "
            r"0/2 nodes are available: 2 No preemption victims found for incoming pod\.",
        )
        told = self.describe("high")
        self.assertRegex(told, r"NominatedNodeName: +node-[01]")
        self.assertRegex(told, r"FailedScheduling .*0/2 nodes are available: 2 Insufficient cpu\.\n")
        _, rows = self.rows("get pods -o wide")
        node = next(row["NOMINATED NODE"] for row in rows if row["NAME"] == "high")
        (victim,) = [row["NAME"] for row in rows if row["STATUS"] == "Terminating"]
        told = self.describe(victim)
        uid = self.stored("high", "pods")["metadata"]["uid"]
        self.assertRegex(told, rf"Preempted .*Preempted by pod {uid} on node {node}")
        self.assertRegex(told, r"DisruptionTarget +True")
        self.advance("30s")
        self.assertEqual(self.stored("high", "pods")["spec"]["nodeName"], node)

    def test_a_missing_claim_and_a_missing_zone_are_named(self):
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "absent"}}
        self.make(pod("claim", volumes=[volume]))
        constraint = {
            "topologyKey": "example.com/rack",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        self.make(pod("rack", topologySpreadConstraints=[constraint]))
        self.advance("1s")
        self.assertIn('persistentvolumeclaim "absent" not found. not found', self.describe("claim"))
        self.assertIn(
            "2 node(s) didn't match pod topology spread constraints (missing required label).", self.describe("rack")
        )
