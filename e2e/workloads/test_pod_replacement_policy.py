"""Deployments that wait for pods to terminate (KEP-3973, KEP-5882), over HTTP."""

from base import (
    BOTH_GATES,
    BOTH_GATES_OFF,
    IMAGE,
    WorkloadCase,
    container_image,
    deployment,
    replication_controller,
    rolling,
)
from pods.base import condition

SLOW = {"ready-delay": "5s", "stop-after": "25s"}


class PodReplacementPolicy(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES)

    def roll(self, policy, strategy):
        """A rollout of four slowly stopping pods, five seconds at a time; returns the largest number of pods."""
        self.roll_out(deployment(replicas=4, script=SLOW, strategy=strategy, podReplacementPolicy=policy))
        recording = self.record("pods")
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        for _ in range(40):
            self.advance("5s")
        self.assertEqual((self.sizes(), len(self.pods(live_only=False))), ({2: 4}, 4))
        self.assertEqual({container_image(item) for item in self.pods()}, {f"{IMAGE}:2"})
        return recording.most_pods()

    def test_termination_complete_never_has_more_pods_than_surge_allows(self):
        """KEP-3973, e2e: RollingUpdate with TerminationComplete does not exceed replicas + maxSurge in a rollout."""
        self.assertEqual(self.roll("TerminationComplete", rolling(1, 1)), 5)

    def test_termination_started_has(self):
        self.assertGreater(self.roll("TerminationStarted", rolling(1, 1)), 5)

    def test_without_surge_a_pod_goes_before_the_next_comes(self):
        self.assertEqual(self.roll("TerminationComplete", rolling(0, 1)), 4)

    def test_recreate_with_termination_started_does_not_wait(self):
        self.assertEqual(self.roll("TerminationStarted", {"type": "Recreate"}), 8)

    def test_recreate_with_termination_complete_waits(self):
        self.assertEqual(self.roll("TerminationComplete", {"type": "Recreate"}), 4)

    def test_scaling_up_waits_for_terminating_pods(self):
        """KEP-3973, e2e: RollingUpdate with TerminationComplete does not exceed replicas + maxSurge when scaled."""
        item = deployment(replicas=4, script=SLOW, strategy=rolling(0, 1), podReplacementPolicy="TerminationComplete")
        self.roll_out(item)
        recording = self.record("pods")
        self.k("scale deployment web --replicas=1")
        self.settle()
        self.k("scale deployment web --replicas=5")
        self.settle()
        self.assertEqual((self.sizes(), self.terminating()), ({1: 2}, (3, 3)))
        self.idle()
        self.assertEqual((self.sizes(), self.terminating()), ({1: 5}, (0, 0)))
        self.assertEqual(recording.most_pods(), 5)

    def terminating(self):
        """status.terminatingReplicas of the Deployment, and those of its ReplicaSets together."""
        sets = (item["status"]["terminatingReplicas"] for item in self.list("replicasets"))
        return self.stored("web", "deployments")["status"]["terminatingReplicas"], sum(sets)

    def test_status_counts_terminating_pods(self):
        """KEP-3973, e2e: status.terminatingReplicas of ReplicaSets and Deployments."""
        self.roll_out(deployment(replicas=4, script=SLOW))
        self.assertEqual(self.terminating(), (0, 0))
        self.k("scale deployment web --replicas=1")
        self.settle()
        self.assertEqual(self.terminating(), (3, 3))
        status = self.stored("web", "deployments")["status"]
        self.assertEqual((status["replicas"], status["availableReplicas"]), (1, 1))
        self.advance("24s")
        self.assertEqual(self.terminating(), (3, 3))
        self.advance("1s")
        self.assertEqual(self.terminating(), (0, 0))

    def test_a_replication_controller_is_left_alone(self):
        """It has no such counter and is not written when terminating pods go (kubernetes#131821)."""
        self.roll_out(replication_controller(replicas=4, script=SLOW), "replicationcontrollers")
        self.k("scale rc web --replicas=1")
        self.settle()
        before = self.stored("web", "replicationcontrollers")
        self.assertNotIn("terminatingReplicas", before["status"])
        self.assertEqual((before["status"]["replicas"], len(self.terminating_pods())), (1, 3))
        self.advance("25s")
        self.assertEqual(len(self.terminating_pods()), 0)
        self.assertEqual(self.stored("web", "replicationcontrollers"), before)

    def test_completion_waits_for_the_last_terminating_pod(self):
        item = deployment(replicas=2, script=SLOW, strategy=rolling(2, 0), podReplacementPolicy="TerminationComplete")
        self.roll_out(item)
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        self.advance("5s")
        # For a kubectl that does not know terminating pods the rollout is complete here.
        self.assertIn("successfully rolled out", self.k("rollout status deployment/web").out)
        self.assertEqual((self.reason(), self.terminating()), ("ReplicaSetUpdated", (2, 2)))
        self.advance("25s")
        self.assertEqual((self.reason(), self.terminating()), ("NewReplicaSetAvailable", (0, 0)))

    def reason(self):
        return condition(self.stored("web", "deployments"), "Progressing")["reason"]

    def test_the_policy_is_kept_changed_and_taken_away(self):
        for policy in ("TerminationStarted", "TerminationComplete"):
            item = deployment(podReplacementPolicy=policy)
            # kubectl checks fields by the server's OpenAPI document, which has it.
            self.apply(item)
            self.assertEqual(self.get("deployment web")["spec"]["podReplacementPolicy"], policy)
        self.apply(deployment())
        self.assertNotIn("podReplacementPolicy", self.get("deployment web")["spec"])

    def test_another_value_is_refused(self):
        message = (
            'spec.podReplacementPolicy: Unsupported value: "Never": '
            'supported values: "TerminationComplete", "TerminationStarted"'
        )
        self.k_fails("apply -f -", message, stdin=deployment(podReplacementPolicy="Never"))
        answer = self.rest.post(self.path_of("deployments"), deployment(podReplacementPolicy="Never"))
        self.assertEqual((answer.code, answer.body["reason"]), (422, "Invalid"))
        (cause,) = answer.body["details"]["causes"]
        self.assertEqual((cause["reason"], cause["field"]), ("FieldValueNotSupported", "spec.podReplacementPolicy"))


class ScalingInMidRollout(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES)

    def three_revisions(self):
        """5, 3 and 3 replicas of three revisions, and two pods that terminate: all of the 13 that there may be."""
        self.hold_terminating()
        slow = {"ready-delay": "10s"}
        policy = "TerminationComplete"
        self.roll_out(deployment(replicas=10, script=slow, strategy=rolling(3, 2), podReplacementPolicy=policy))
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.advance("10s")
        self.k(f"set image deployment/web main={IMAGE}:3")
        self.settle()
        self.release(3)
        self.assertEqual((self.sizes(), len(self.terminating_pods())), ({1: 5, 2: 3, 3: 3}, 2))

    def release(self, count):
        for item in self.terminating_pods()[:count]:
            self.order("release", item["metadata"]["name"]).expect()
        self.settle()

    def test_all_revisions_grow_in_proportion_as_pods_go(self):
        """KEP-3973, e2e: more than two revisions, scaled in a succession when the previous scale is not completed."""
        self.three_revisions()
        recording = self.record("pods")
        # Of 18: 7, 4 and 4, and 3 more for the largest; there is room for 5.
        self.k("scale deployment web --replicas=15")
        self.settle()
        self.assertEqual(self.sizes(), {1: 8, 2: 4, 3: 4})
        # Of 23: 5 * 23/13 = 9, 4 * 23/18 = 5 and 5, and 4 more for the largest; there is room for 5.
        self.k("scale deployment web --replicas=20")
        self.settle()
        self.assertEqual(self.sizes(), {1: 11, 2: 5, 3: 5})
        self.release(1)
        self.assertEqual(self.sizes(), {1: 12, 2: 5, 3: 5})
        self.release(1)
        self.assertEqual(self.sizes(), {1: 13, 2: 5, 3: 5})
        self.idle()
        self.release_all()
        self.assertEqual(self.sizes(), {3: 20})
        self.assertEqual(recording.most_pods(), 23)


class GatesOff(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES_OFF)

    def test_the_policy_is_dropped_and_nothing_terminating_is_counted(self):
        """KEP-3973, enablement: with the gates off the fields are absent."""
        item = deployment(replicas=3, script=SLOW, podReplacementPolicy="TerminationComplete")
        made = self.make(item, "deployments")
        self.assertNotIn("podReplacementPolicy", made["spec"])
        self.idle()
        self.k("scale deployment web --replicas=1")
        self.settle()
        self.assertEqual(len(self.pods(live_only=False)), 3)
        for stored in (self.stored("web", "deployments"), *self.list("replicasets")):
            self.assertNotIn("terminatingReplicas", stored["status"])

    def test_a_bad_value_is_dropped_too(self):
        made = self.make(deployment(podReplacementPolicy="Never"), "deployments")
        self.assertNotIn("podReplacementPolicy", made["spec"])


class CountersWithoutPolicy(WorkloadCase):
    """Only the counters' gate is on: the policy is dropped, the counters are present."""

    flags = ("--clock=virtual", BOTH_GATES.replace("Policy=true", "Policy=false"))

    def test_terminating_pods_are_counted(self):
        item = deployment(replicas=3, script=SLOW, podReplacementPolicy="TerminationComplete")
        self.assertNotIn("podReplacementPolicy", self.make(item, "deployments")["spec"])
        self.idle()
        self.k("scale deployment web --replicas=1")
        self.settle()
        self.assertEqual(self.stored("web", "deployments")["status"]["terminatingReplicas"], 2)
