"""kubectl rollout, apply and set image, with the controllers at work behind them."""

from base import IMAGE, REVISION, WorkloadCase, container_image, deployment, names, rolling
from lib.kubectl import since
from pods.base import condition


class Rollout(WorkloadCase):
    def image(self):
        return container_image(self.stored("web", "deployments"))

    def test_status_waits_for_a_created_deployment(self):
        slow = {"name": self.ns, "namespace": self.ns, "selector": "app=web", "script": {"ready-delay": "30s"}}
        self.control("POST", "/pods/rules", slow).expect()
        self.k(f"create deployment web --image={IMAGE}:1 --replicas=3")
        self.settle()
        waiting = self.start("rollout status deployment/web")
        waiting.line_with("0 of 3 updated replicas are available")
        self.advance("29s")
        self.assertFalse(waiting.has_printed())
        self.advance("1s")
        self.assertIn('deployment "web" successfully rolled out', waiting.line_with("successfully"))
        self.assertEqual(waiting.end()[0], 0)

    def test_status_reports_the_way_of_a_rollout(self):
        item = deployment(replicas=4, script={"ready-delay": "10s"}, strategy=rolling(2, 0))
        self.apply(item)
        self.idle()
        item["spec"]["template"]["spec"]["containers"][0]["image"] = f"{IMAGE}:2"
        self.assertEqual(self.apply(item).out, "deployment.apps/web configured\n")
        self.settle()
        waiting = self.start("rollout status deployment/web")
        waiting.line_with("2 out of 4 new replicas have been updated")
        self.advance("10s")
        waiting.line_with("2 old replicas are pending termination")
        self.advance("10s")
        code, printed = waiting.end()
        self.assertEqual((code, "successfully rolled out" in printed), (0, True), printed)
        self.assertEqual({container_image(item) for item in self.pods()}, {f"{IMAGE}:2"})

    def test_applying_the_same_again_changes_nothing(self):
        self.apply(deployment())
        self.idle()
        before = self.stored("web", "deployments")
        self.assertEqual(self.apply(deployment()).out, "deployment.apps/web unchanged\n")
        self.idle()
        self.assertEqual(self.stored("web", "deployments"), before)

    def test_history_and_undo(self):
        self.roll_out(deployment())
        for tag in (2, 3):
            self.k(f"set image deployment/web main={IMAGE}:{tag}")
            self.k(f"annotate deployment web kubernetes.io/change-cause=to-{tag} --overwrite")
            self.idle()
        self.assertEqual(self.history(), {1: "<none>", 2: "to-2", 3: "to-3"})
        self.assertIn(f"{IMAGE}:2", self.k("rollout history deployment/web --revision=2").out)
        self.k_fails("rollout history deployment/web --revision=7", "unable to find the specified revision")

        self.assertEqual(self.k("rollout undo deployment/web").out, "deployment.apps/web rolled back\n")
        self.idle()
        self.assertEqual((self.image(), self.sizes()), (f"{IMAGE}:2", {4: 3}))
        self.assertEqual(self.history(), {1: "<none>", 3: "to-3", 4: "to-2"})

        self.k("rollout undo deployment/web --to-revision=1")
        self.k("rollout status deployment/web")
        self.idle()
        self.assertEqual((self.image(), self.sizes()), (f"{IMAGE}:1", {5: 3}))
        self.assertEqual(sorted(self.history()), [3, 4, 5])
        self.assertEqual({container_image(item) for item in self.pods()}, {f"{IMAGE}:1"})

        set_of_revision_5 = self.revisions()[5]["metadata"]["annotations"]
        self.assertEqual(set_of_revision_5["deployment.kubernetes.io/revision-history"], "1")
        self.assertEqual(self.stored("web", "deployments")["metadata"]["annotations"][REVISION], "5")

    def history(self):
        lines = self.k("rollout history deployment/web").lines
        return {int(number): cause for number, cause in (line.split() for line in lines if line[:1].isdigit())}

    def test_undo_without_an_earlier_revision(self):
        self.roll_out(deployment())
        self.k_fails("rollout undo deployment/web", "no rollout history found for deployment")

    def test_history_is_as_long_as_its_limit(self):
        self.roll_out(deployment(replicas=1, revisionHistoryLimit=1))
        for tag in (2, 3, 4):
            self.k(f"set image deployment/web main={IMAGE}:{tag}")
            self.idle()
        self.assertEqual(sorted(self.history()), [3, 4])

    def test_pause_and_resume(self):
        self.roll_out(deployment())
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.idle()
        self.k("rollout pause deployment/web")
        self.k(f"set image deployment/web main={IMAGE}:3")
        self.idle()
        self.assertEqual(self.sizes(), {2: 3})
        self.assertEqual(condition(self.stored("web", "deployments"), "Progressing")["reason"], "DeploymentPaused")
        self.k_fails("rollout undo deployment/web", "cannot rollback a paused deployment")
        self.k_fails("rollout restart deployment/web", "can't restart paused deployment")

        self.k("scale deployment web --replicas=5")
        self.idle()
        self.assertEqual(self.sizes(), {2: 5})

        self.k("rollout resume deployment/web")
        self.k("rollout status deployment/web")
        self.idle()
        self.assertEqual(self.sizes(), {3: 5})

    def test_restart_replaces_every_pod(self):
        self.roll_out(deployment())
        before = names(self.pods())
        self.k("rollout restart deployment/web")
        self.idle()
        self.assertIn("successfully rolled out", self.k("rollout status deployment/web").out)
        self.assertEqual(len(self.pods()), 3)
        self.assertEqual(set(before) & set(names(self.pods())), set())

    def test_status_fails_at_the_progress_deadline(self):
        self.roll_out(deployment(progressDeadlineSeconds=60))
        never = {"spec": {"template": {"metadata": {"annotations": {"terrarium.dev/never-ready": "true"}}}}}
        self.rest.patch(self.path_of("deployments", "web"), never).expect()
        self.settle()
        waiting = self.start("rollout status deployment/web")
        waiting.line_with("1 out of 3 new replicas have been updated")
        self.advance("59s")
        self.assertFalse(waiting.has_printed())
        self.advance("2s")
        code, printed = waiting.end()
        self.assertEqual(code, 1, printed)
        self.assertIn('deployment "web" exceeded its progress deadline', printed)
        self.assertEqual(len([item for item in self.pods() if condition(item, "Ready")["status"] == "True"]), 3)

        self.k("rollout undo deployment/web")
        self.idle()
        self.assertIn("successfully rolled out", self.k("rollout status deployment/web").out)
        self.assertEqual(self.sizes(), {3: 3})

    def test_recreate_waits_until_all_old_pods_are_gone(self):
        self.roll_out(deployment(script={"stop-after": "20s"}, strategy={"type": "Recreate"}))
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        self.advance("19s")
        self.assertEqual((self.sizes(), self.pods(), len(self.pods(live_only=False))), ({}, [], 3))
        self.advance("1s")
        self.idle()
        self.assertEqual((self.sizes(), len(self.pods(live_only=False))), ({2: 3}, 3))

    @since(1, 23, "wait for a JSONPath")
    def test_wait_for_a_number_of_available_replicas(self):
        self.make(deployment(script={"ready-delay": "30s"}), "deployments")
        waiting = self.start("wait deployment web --for=jsonpath={.status.availableReplicas}=3 --timeout=20s")
        self.advance("30s")
        self.assertEqual(waiting.end(), (0, "deployment.apps/web condition met"))


class AutomaticClock(WorkloadCase):
    """An auto clock: it jumps whenever the cluster is idle, and kubectl only waits."""

    flags = ("--clock=auto",)

    def test_a_slow_rollout_takes_no_real_time(self):
        slow = {"start-delay": "5m", "ready-delay": "5m", "stop-after": "25s"}
        self.apply(deployment(replicas=6, script=slow, progressDeadlineSeconds=3600, minReadySeconds=60))
        self.assertIn("successfully rolled out", self.k("rollout status deployment/web --timeout=30s").out)
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.assertIn("successfully rolled out", self.k("rollout status deployment/web --timeout=30s").out)
        self.assertEqual({container_image(item) for item in self.pods()}, {f"{IMAGE}:2"})
