"""Workloads in kubectl get and kubectl describe."""

from base import IMAGE, WorkloadCase, deployment, names, replica_set, replication_controller, rolling

SIZES = ["DESIRED", "CURRENT", "READY"]
WIDE = ["CONTAINERS", "IMAGES", "SELECTOR"]


class Get(WorkloadCase):
    def test_deployments(self):
        self.roll_out(deployment())
        columns, (row,) = self.rows("get deploy -o wide")
        self.assertEqual(columns, ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", *WIDE])
        self.assertEqual(
            [row[column] for column in ("NAME", "READY", "UP-TO-DATE", "AVAILABLE", *WIDE)],
            ["web", "3/3", "3", "3", "main", f"{IMAGE}:1", "app=web"],
        )

    def test_a_deployment_in_mid_rollout(self):
        self.roll_out(deployment(replicas=4, script={"ready-delay": "1m"}, strategy=rolling(1, 1)))
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        _, (row,) = self.rows("get deploy")
        self.assertEqual((row["READY"], row["UP-TO-DATE"], row["AVAILABLE"]), ("3/4", "2", "3"))
        _, rows = self.rows("get rs")
        self.assertEqual(sorted([row[column] for column in SIZES] for row in rows), [["2", "2", "0"], ["3", "3", "3"]])

    def test_replica_sets(self):
        self.roll_out(replica_set(script={"never-ready": "true"}), "replicasets")
        columns, (row,) = self.rows("get rs -o wide")
        self.assertEqual(columns, ["NAME", *SIZES, "AGE", *WIDE])
        shown = [row[column] for column in ("NAME", *SIZES, *WIDE)]
        self.assertEqual(shown, ["web", "3", "3", "0", "main", f"{IMAGE}:1", "app=web"])

    def test_replication_controllers(self):
        self.roll_out(replication_controller(), "replicationcontrollers")
        columns, (row,) = self.rows("get rc -o wide")
        self.assertEqual(columns, ["NAME", *SIZES, "AGE", *WIDE])
        shown = [row[column] for column in ("NAME", *SIZES, *WIDE)]
        self.assertEqual(shown, ["web", "3", "3", "3", "main", f"{IMAGE}:1", "app=web"])

    def test_watching_a_deployment_come_up(self):
        self.make(deployment(replicas=2, script={"ready-delay": "10s"}), "deployments")
        self.settle()
        before = self.open_watches()
        watching = self.start("get deploy -w --no-headers")
        self.assertEqual(watching.line_with("web").split()[1:4], ["0/2", "2", "0"])
        self.wait_until("kubectl watches", lambda: self.open_watches() > before)
        self.advance("10s")
        self.assertEqual(watching.line_with("2/2").split()[1:3], ["2/2", "2"])


class Describe(WorkloadCase):
    def described(self, what):
        """The lines of a description that begin in the first column: {title: rest of the line}, and its whole text."""
        text = self.k(f"describe {what}").out
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line and not line.startswith(" "))
        return {title: value.strip() for title, value in fields.items()}, text

    def conditions(self, text):
        lines = text[text.index("Conditions:") :].splitlines()[3:]
        return [tuple(line.split()) for line in lines[: next(i for i, line in enumerate(lines) if line[0] != " ")]]

    def test_a_complete_deployment(self):
        self.roll_out(deployment())
        fields, text = self.described("deployment web")
        (owned,) = names(self.list("replicasets"))
        self.assertEqual(fields["Replicas"], "3 desired | 3 updated | 3 total | 3 available | 0 unavailable")
        self.assertEqual(fields["OldReplicaSets"], "<none>")
        self.assertEqual(fields["NewReplicaSet"], f"{owned} (3/3 replicas created)")
        self.assertEqual(
            self.conditions(text),
            [("Available", "True", "MinimumReplicasAvailable"), ("Progressing", "True", "NewReplicaSetAvailable")],
        )
        self.assertRegex(
            text, rf"Normal +ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set {owned} from 0 to 3"
        )

    def test_a_deployment_in_mid_rollout(self):
        self.roll_out(deployment(replicas=4, script={"ready-delay": "1m"}, strategy=rolling(1, 1)))
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        old, new = (self.revisions()[revision]["metadata"]["name"] for revision in (1, 2))
        fields, text = self.described("deployment web")
        self.assertEqual(fields["Replicas"], "4 desired | 2 updated | 5 total | 3 available | 2 unavailable")
        self.assertEqual(fields["OldReplicaSets"], f"{old} (3/3 replicas created)")
        self.assertEqual(fields["NewReplicaSet"], f"{new} (2/2 replicas created)")
        self.assertIn(("Progressing", "True", "ReplicaSetUpdated"), self.conditions(text))
        self.assertEqual(
            self.events("web", "ScalingReplicaSet"),
            [
                ("ScalingReplicaSet", f"Scaled up replica set {old} from 0 to 4"),
                ("ScalingReplicaSet", f"Scaled up replica set {new} from 0 to 1"),
                ("ScalingReplicaSet", f"Scaled down replica set {old} from 4 to 3"),
                ("ScalingReplicaSet", f"Scaled up replica set {new} from 1 to 2"),
            ],
        )

    def test_a_replica_set_whose_pods_are_refused(self):
        quota = {"metadata": {"name": "two"}, "spec": {"hard": {"pods": "2"}}}
        self.make(quota, "resourcequotas")
        self.run_until("jsonpath={.status.hard.pods}=2", "two", "resourcequotas")
        self.make(deployment(), "deployments")
        self.settle()
        (owned,) = names(self.list("replicasets"))
        fields, text = self.described(f"rs {owned}")
        self.assertEqual(fields["Replicas"], "2 current / 3 desired")
        self.assertEqual(self.conditions(text), [("ReplicaFailure", "True", "FailedCreate")])
        self.assertRegex(text, r"Warning +FailedCreate .*Error creating: pods \S+ is forbidden: exceeded quota: two")
        _, text = self.described("deployment web")
        self.assertIn(("ReplicaFailure", "True", "FailedCreate"), self.conditions(text))

    def test_a_replica_set_and_a_replication_controller(self):
        self.roll_out(replica_set("s"), "replicasets")
        self.roll_out(replication_controller("c"), "replicationcontrollers")
        for what, source in (("rs s", "replicaset-controller"), ("rc c", "replication-controller")):
            with self.subTest(what):
                fields, text = self.described(what)
                self.assertEqual(fields["Replicas"], "3 current / 3 desired")
                self.assertEqual(fields["Pods Status"], "3 Running / 0 Waiting / 0 Succeeded / 0 Failed")
                self.assertRegex(text, rf"Normal +SuccessfulCreate +\S+ +{source} +Created pod: ")
