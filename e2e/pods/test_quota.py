"""ResourceQuotas in a whole cluster: admission, refusal, and the release of usage."""

from base import ControlPlaneCase, pod


class Quota(ControlPlaneCase):
    def used(self, resource="pods"):
        return self.stored("small", "resourcequotas")["status"]["used"][resource]

    def quota(self, **hard):
        self.make({"metadata": {"name": "small"}, "spec": {"hard": hard}}, "resourcequotas")
        self.settle()

    def test_a_place_comes_free_when_the_old_pod_has_gone(self):
        """kubernetes#98656, with 90 s of grace: the rollout does not wait for terminating pods."""
        self.quota(pods="2")
        slow = {"ignore-sigterm": "true"}
        self.running(pod("one", slow, terminationGracePeriodSeconds=90), pod("two"))
        self.k("delete pod one --wait=false")
        self.advance("80s")
        self.k_fails(
            "run three --image=example.test/app:1",
            'Error from server (Forbidden): pods "three" is forbidden: exceeded quota: small, '
            "requested: pods=1, used: pods=2, limited: pods=2",
        )
        self.run_until("delete", "one")
        self.settle()
        self.assertEqual(self.used(), "1")
        self.k("run three --image=example.test/app:1")
        self.assertEqual(self.used(), "2")
        self.assertIn("pods: 2/2", self.k("get quota small").out)

    def test_pods_that_have_ended_are_not_used(self):
        self.quota(pods="1")
        self.make(pod("one", {"run-for": "10s"}, restartPolicy="Never"))
        self.advance("1m")
        self.assertEqual(self.used(), "0")
        self.running(pod("two"))

    def test_a_namespace_goes_with_its_quotas(self):
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": "short-lived"}}).expect()
        path = "/api/v1/namespaces/short-lived/resourcequotas"
        self.rest.post(path, {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "0"}}}).expect()
        self.rest.delete("/api/v1/namespaces/short-lived").expect()
        self.run_until("delete", "short-lived", "namespaces")
        self.assertEqual(self.rest.get(f"{path}/small").code, 404)
