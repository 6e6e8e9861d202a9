"""StatefulSets with kubectl: rollout status, history, undo and restart, scale and delete."""

from base import IMAGE, WorkloadCase, container_image, deployment, names


def stateful_set(name="db", replicas=3, script=None, **spec):
    made = deployment(name, replicas, script=script, serviceName=name, **spec)
    made["kind"] = "StatefulSet"
    return made


class StatefulSets(WorkloadCase):
    def images(self):
        return [container_image(item).rpartition(":")[2] for item in sorted(self.pods(), key=_ordinal)]

    def history(self):
        lines = self.k("rollout history statefulset/db").lines
        return [int(line.split()[0]) for line in lines if line[:1].isdigit()]

    def test_status_waits_for_a_rollout(self):
        self.roll_out(stateful_set(script={"ready-delay": "10s"}), "statefulsets")
        self.assertEqual(names(self.pods()), ["db-0", "db-1", "db-2"])
        self.k(f"set image statefulset/db main={IMAGE}:2")
        self.settle()
        waiting = self.start("rollout status statefulset/db")
        waiting.line_with("Waiting for")
        self.advance("40s")
        code, printed = waiting.end()
        self.assertEqual((code, "roll" in printed), (0, True), printed)
        self.assertEqual(self.images(), ["2", "2", "2"])

    def test_status_of_a_partition(self):
        partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
        self.roll_out(stateful_set(updateStrategy=partition), "statefulsets")
        self.k(f"set image statefulset/db main={IMAGE}:2")
        self.idle()
        self.assertEqual(self.images(), ["1", "1", "2"])
        self.assertIn("partitioned roll out complete: 1 new pods have been updated",
                      self.k("rollout status statefulset/db").out)

    def test_history_and_undo(self):
        self.roll_out(stateful_set(), "statefulsets")
        for tag in (2, 3):
            self.k(f"set image statefulset/db main={IMAGE}:{tag}")
            self.idle()
        self.assertEqual(self.history(), [1, 2, 3])
        self.assertIn(f"{IMAGE}:2", self.k("rollout history statefulset/db --revision=2").out)
        self.assertEqual(self.k("rollout undo statefulset/db").out, "statefulset.apps/db rolled back\n")
        self.idle()
        self.assertEqual((self.images(), self.history()), (["2", "2", "2"], [1, 3, 4]))
        self.k("rollout undo statefulset/db --to-revision=1")
        self.idle()
        self.assertEqual((self.images(), self.history()), (["1", "1", "1"], [3, 4, 5]))

    def test_restart(self):
        self.roll_out(stateful_set(replicas=2), "statefulsets")
        before = {item["metadata"]["uid"] for item in self.pods()}
        self.k("rollout restart statefulset/db")
        self.idle()
        self.assertEqual(names(self.pods()), ["db-0", "db-1"])
        self.assertFalse(before & {item["metadata"]["uid"] for item in self.pods()})

    def test_scale_and_delete(self):
        self.roll_out(stateful_set(), "statefulsets")
        self.k("scale statefulset/db --replicas=1")
        self.idle()
        self.assertEqual(names(self.pods()), ["db-0"])
        deleted = [message for reason, message in self.events("db", "SuccessfulDelete")]
        self.assertEqual(deleted, ["Delete Pod db-2 in StatefulSet db successful",
                                   "Delete Pod db-1 in StatefulSet db successful"])
        rules = {record["name"]: record["rule"] for record in self.why("statefulsets", "db")
                 if record["action"] == "delete"}
        self.assertEqual(rules["db-2"], "the pod's ordinal is not one of the set's: 0 to 0")
        self.assertIn("1/1", self.k("get statefulset db").out)
        self.k("delete statefulset db --wait=false")
        self.idle()
        self.assertEqual(self.list("pods"), [])
        self.assertEqual(self.k("get controllerrevisions -o name").out, "")


def _ordinal(item):
    return int(item["metadata"]["name"].rpartition("-")[2])
