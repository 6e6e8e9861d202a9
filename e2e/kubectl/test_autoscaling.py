"""kubectl top without metrics, and kubectl autoscale."""

from base import KubectlCase, deployment


class Autoscaling(KubectlCase):
    def test_top_of_a_pod_that_does_not_exist(self):
        self.k_fails("top pod absent", 'pods "absent" not found')

    def test_top_without_pods(self):
        self.assertIn("No resources found", self.k("top pods").err)

    def test_autoscale(self):
        self.create(deployment("web"))
        out = self.k("autoscale deployment web --min=2 --max=5 --cpu-percent=70").out
        self.assertEqual(out, "horizontalpodautoscaler.autoscaling/web autoscaled\n")
        self.assertIn("70%", self.k("get hpa web").out)
        self.assertIn("70%", self.k("get hpa.v1.autoscaling web").out)
        described = self.k("describe hpa web").out
        self.assertRegex(described, r"Reference: +Deployment/web")
        self.assertRegex(described, r"Min replicas: +2")
        self.assertRegex(described, r"Max replicas: +5")
        one = self.rest.get(f"/apis/autoscaling/v1/namespaces/{self.ns}/horizontalpodautoscalers/web").expect()
        self.assertEqual(one["spec"]["targetCPUUtilizationPercentage"], 70)
