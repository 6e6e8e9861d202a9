"""kubectl commands that wait for pods, and commands that need endpoints that are not supported."""

from base import ControlPlaneCase, pod


class Waiting(ControlPlaneCase):
    def test_wait_for_ready(self):
        self.make(pod("web", script={"ready-delay": "90s"}))
        waiting = self.start("wait pod web --for=condition=Ready --timeout=20s")
        self.advance("89s")
        self.assertFalse(waiting.has_printed())
        self.advance("1s")
        self.assertEqual(waiting.end(), (0, "pod/web condition met"))

    def test_delete_waits_until_the_pod_is_gone(self):
        self.running(pod("web", script={"stop-after": "20s"}))
        deleting = self.start("delete pod web --timeout=20s")
        self.wait_until("it is being deleted", lambda: "deletionTimestamp" in self.stored("web")["metadata"])
        self.advance("20s")
        code, printed = deleting.end()
        self.assertEqual(code, 0, printed)

    def test_delete_with_force(self):
        self.running(pod("web", script={"ignore-sigterm": "true"}))
        self.k("delete pod web --force --grace-period=0 --timeout=20s")
        self.assertTrue(self.is_gone("web"))

    def test_run(self):
        self.k("run web --image=example.test/web:1 --annotations=terrarium.dev/run-for=1m --restart=Never")
        self.run_until("jsonpath={.status.phase}=Succeeded", "web")
        self.assertEqual(self.status_column("web"), "Completed")

    def test_the_life_of_a_pod_in_events(self):
        self.running(pod("web"))
        self.k("delete pod web --timeout=20s")
        self.settle()
        reasons = self.k("get events --sort-by=.metadata.resourceVersion -o jsonpath={.items[*].reason}").out.split()
        self.assertEqual(sorted(reasons), sorted(["Scheduled", "Pulled", "Created", "Started", "Killing"]))


class NotServed(ControlPlaneCase):
    def setUp(self):
        super().setUp()
        self.running(pod("web"))

    def test_exec_attach_and_port_forward(self):
        for command in ("exec web -- true", "attach web", "port-forward pod/web :80"):
            self.k_fails(command, "is not supported: Terrarium simulates pods and runs no containers")
