"""kubectl top, and a HorizontalPodAutoscaler that kubectl autoscale creates, on a virtual clock."""

from base import WorkloadCase, deployment


class Autoscaling(WorkloadCase):
    flags = ("--clock=virtual",)

    def advance(self, duration):
        self.control("POST", "/clock/advance", {"duration": duration}).expect()

    def web(self, **usage):
        item = deployment()
        template = item["spec"]["template"]
        template["metadata"]["annotations"] = {f"terrarium.dev/{key}": value for key, value in usage.items()}
        template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
        return item

    def test_top_shows_what_scripts_declare(self):
        self.roll_out(self.web(cpu="250m", memory="64Mi"))
        self.assertIn("metrics not available", self.try_k("top pods").err)
        self.advance("15s")
        _, rows = self.rows("top pods")
        self.assertEqual([(row["CPU(cores)"], row["MEMORY(bytes)"]) for row in rows], [("250m", "64Mi")] * 3)
        columns, rows = self.rows("top pods --containers")
        self.assertEqual(columns[:2], ["POD", "NAME"])
        self.assertEqual({row["NAME"] for row in rows}, {"main"})
        columns, rows = self.rows("top nodes")
        self.assertEqual(columns[0], "NAME")
        self.assertEqual(len(rows), 3)
        self.assertEqual(self.try_k("top pods -l app=none").out, "")

    def test_an_autoscaler_made_by_kubectl_scales(self):
        self.roll_out(self.web(cpu="100m"))
        self.k("autoscale deployment web --min=2 --max=8 --cpu-percent=50")
        self.idle()
        self.assertEqual(len(self.pods()), 8)
        described = self.k("describe hpa web").out
        self.assertIn("resource cpu on pods", described)
        self.assertIn("100% (100m) / 50%", described)
        self.assertIn("ValidMetricFound", described)
        self.assertIn("TooManyReplicas", described)
        self.assertIn("New size: 6; reason: cpu resource utilization", described)
        row = self.rows("get hpa")[1][0]
        self.assertEqual((row["REFERENCE"], row["REPLICAS"]), ("Deployment/web", "8"))
        [first, *_] = self.why("horizontalpodautoscalers", "web")
        self.assertEqual((first["saw"]["from"], first["saw"]["to"]), (3, 6))
        self.control(
            "POST", "/pods/rules", {"name": self.ns, "namespace": self.ns, "script": {"memory": "100Mi"}}
        ).expect()
        self.assertEqual(self.rows("top pods")[1][0]["MEMORY(bytes)"], "100Mi")

    def test_its_metrics_are_kubernetes(self):
        self.roll_out(self.web(cpu="50m"))
        self.k("autoscale deployment web --min=2 --max=8 --cpu-percent=50")
        self.idle()
        prefix = "horizontal_pod_autoscaler_controller_"
        self.assertEqual(self.metric(f"{prefix}desired_replicas", namespace=self.ns, hpa_name="web"), 3)
        self.assertGreater(self.metric(f"{prefix}reconciliations_total", action="none", error="none"), 0)
