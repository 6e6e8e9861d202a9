"""kubectl rollout. There is no deployment controller here: the tests write ReplicaSets and statuses in its place."""

import copy

from base import KubectlCase, deployment, since

REVISION = "deployment.kubernetes.io/revision"


class Rollout(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(deployment("shop"))

    def write_replica_set(self, revision, image, cause=None):
        """A ReplicaSet as the controller makes it for one revision of the template."""
        owner = self.get("deployment shop")
        labels = {"app": "shop", "pod-template-hash": f"hash{revision}"}
        template = copy.deepcopy(owner["spec"]["template"])
        template["metadata"]["labels"] = labels
        template["spec"]["containers"][0]["image"] = image
        annotations = {REVISION: str(revision), **({"kubernetes.io/change-cause": cause} if cause else {})}
        self.create(
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": f"shop-hash{revision}",
                    "labels": labels,
                    "annotations": annotations,
                    "ownerReferences": [
                        {
                            "apiVersion": "apps/v1",
                            "kind": "Deployment",
                            "name": "shop",
                            "uid": owner["metadata"]["uid"],
                            "controller": True,
                        }
                    ],
                },
                "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
            }
        )

    def write_status(self, updated, total, available, generation=None):
        generation = generation or self.get("deployment shop")["metadata"]["generation"]
        self.set_status(
            "deployments",
            "shop",
            {
                "observedGeneration": generation,
                "replicas": total,
                "updatedReplicas": updated,
                "readyReplicas": available,
                "availableReplicas": available,
            },
        )

    def test_status_succeeds_when_all_are_available(self):
        self.write_status(updated=3, total=3, available=3)
        self.assertEqual(self.k("rollout status deployment/shop").out, 'deployment "shop" successfully rolled out\n')

    def test_status_waits_and_reports_the_way(self):
        waiting = self.start("rollout status deployment/shop")
        waiting.line_with("Waiting for deployment spec update to be observed")
        self.write_status(updated=1, total=3, available=3)
        waiting.line_with("1 out of 3 new replicas have been updated")
        self.write_status(updated=3, total=4, available=3)
        waiting.line_with("1 old replicas are pending termination")
        self.write_status(updated=3, total=3, available=2)
        waiting.line_with("2 of 3 updated replicas are available")
        self.write_status(updated=3, total=3, available=3)
        code, printed = waiting.end()
        self.assertEqual(code, 0, printed)
        self.assertIn("successfully rolled out", printed)

    def test_status_fails_when_the_deadline_was_exceeded(self):
        self.set_status(
            "deployments",
            "shop",
            {
                "observedGeneration": 1,
                "replicas": 3,
                "updatedReplicas": 1,
                "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}],
            },
        )
        self.k_fails("rollout status deployment/shop", 'deployment "shop" exceeded its progress deadline')

    def test_status_has_a_timeout(self):
        self.k_fails("rollout status deployment/shop --timeout=1s", "timed out waiting")

    def test_status_without_watching(self):
        self.write_status(updated=1, total=3, available=3)
        self.assertIn("1 out of 3 new replicas", self.k("rollout status deployment/shop --watch=false").out)

    def test_status_of_a_daemon_set_and_a_stateful_set(self):
        template = deployment("shop")["spec"]["template"]
        selector = {"matchLabels": {"app": "shop"}}
        self.create(
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": {"name": "shop"},
                "spec": {"selector": selector, "template": template},
            },
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "shop"},
                "spec": {"replicas": 1, "selector": selector, "serviceName": "s", "template": template},
            },
        )
        self.set_status(
            "daemonsets",
            "shop",
            {
                "observedGeneration": 1,
                "currentNumberScheduled": 2,
                "numberMisscheduled": 0,
                "desiredNumberScheduled": 2,
                "numberReady": 2,
                "updatedNumberScheduled": 2,
                "numberAvailable": 2,
            },
        )
        self.assertIn("successfully rolled out", self.k("rollout status daemonset/shop").out)
        self.set_status(
            "statefulsets",
            "shop",
            {
                "observedGeneration": 1,
                "replicas": 1,
                "readyReplicas": 1,
                "updatedReplicas": 1,
                "currentReplicas": 1,
                "availableReplicas": 1,
                "currentRevision": "shop-1",
                "updateRevision": "shop-1",
            },
        )
        self.assertIn("roll out complete", self.k("rollout status statefulset/shop").out)

    def test_history_lists_revisions(self):
        self.write_replica_set(1, "example.test/app:1", cause="first try")
        self.write_replica_set(2, "example.test/app:2")
        rows = [line.split(None, 1) for line in self.k("rollout history deployment/shop").lines if line[:1].isdigit()]
        self.assertEqual([(row[0], row[1].strip()) for row in rows], [("1", "first try"), ("2", "<none>")])

    def test_history_of_one_revision_shows_the_template(self):
        self.write_replica_set(2, "example.test/app:2")
        self.assertIn("example.test/app:2", self.k("rollout history deployment/shop --revision=2").out)
        self.k_fails("rollout history deployment/shop --revision=7", "unable to find the specified revision")

    def test_undo_goes_back_to_the_template_before(self):
        self.write_replica_set(1, "example.test/app:0")
        self.write_replica_set(2, "example.test/app:1")
        self.k(f"annotate deployment shop {REVISION}=2")
        self.assertEqual(self.k("rollout undo deployment/shop").out, "deployment.apps/shop rolled back\n")
        stored = self.get("deployment shop")
        self.assertEqual(stored["spec"]["template"]["spec"]["containers"][0]["image"], "example.test/app:0")
        # The annotation counted as well: of all kinds, only a Deployment's generation follows its annotations.
        self.assertEqual(stored["metadata"]["generation"], 3)

    def test_undo_to_a_revision(self):
        for revision in (1, 2, 3):
            self.write_replica_set(revision, f"example.test/app:{revision}")
        self.k("rollout undo deployment/shop --to-revision=2")
        image = self.get("deployment shop")["spec"]["template"]["spec"]["containers"][0]["image"]
        self.assertEqual(image, "example.test/app:2")

    def test_pause_and_resume(self):
        self.assertEqual(self.k("rollout pause deployment/shop").out, "deployment.apps/shop paused\n")
        self.assertIs(self.get("deployment shop")["spec"]["paused"], True)
        self.k_fails("rollout pause deployment/shop", "is already paused")
        self.k_fails("rollout restart deployment/shop", "can't restart paused deployment")
        self.k("rollout resume deployment/shop")
        self.assertNotIn("paused", self.get("deployment shop")["spec"])

    def test_restart_stamps_the_template(self):
        self.assertEqual(self.k("rollout restart deployment/shop").out, "deployment.apps/shop restarted\n")
        stored = self.get("deployment shop")
        self.assertIn("kubectl.kubernetes.io/restartedAt", stored["spec"]["template"]["metadata"]["annotations"])
        self.assertEqual(stored["metadata"]["generation"], 2)

    @since(1, 30, "rollout by selector")
    def test_restart_by_selector(self):
        self.create(deployment("till"))
        self.assertEqual(self.k("rollout restart deployment -l app=shop").out, "deployment.apps/shop restarted\n")
