"""/metrics of a whole cluster: Prometheus text, with workqueues and workloads under Kubernetes' names."""

import re

from base import ControlPlaneCase, pod

SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}


def parse(text):
    """{family: (type, {(sample name, labels): value})}; fails on text that Prometheus would refuse."""
    families, current = {}, None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            if current in families:
                raise AssertionError(f"family {current} is there twice")
            families[current] = (kind, {})
        elif line and not line.startswith("#"):
            match = SAMPLE.match(line)
            if not match:
                raise AssertionError(f"not a sample: {line}")
            name, labels, value = match.groups()
            kind, samples = families[current]
            if name not in [current + suffix for suffix in SUFFIXES.get(kind, ("",))]:
                raise AssertionError(f"{name} does not belong to family {current}")
            key = (name, tuple(sorted(LABEL.findall(labels or ""))))
            if key in samples:
                raise AssertionError(f"sample {key} is there twice")
            samples[key] = float(value)
    return families


class Metrics(ControlPlaneCase):
    def families(self):
        answer = self.rest.get("/metrics")
        self.assertEqual(answer.code, 200)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"), answer.headers["Content-Type"])
        return parse(answer.text)

    def value(self, families, family, sample=None, **labels):
        return families[family][1][(sample or family, tuple(sorted(labels.items())))]

    def work(self):
        """A pod with an owner that is collected: something for the garbage collector's queue."""
        owner = self.make({"metadata": {"name": "owner"}}, "configmaps")
        owner.update(apiVersion="v1", kind="ConfigMap")
        self.running(pod("web", owner=owner))
        self.rest.delete(self.path_of("configmaps", "owner")).expect()
        self.run_until("delete", "web")

    def test_workqueues(self):
        self.work()
        self.settle()
        families = self.families()
        kinds = {
            "workqueue_depth": "gauge",
            "workqueue_adds_total": "counter",
            "workqueue_retries_total": "counter",
            "workqueue_unfinished_work_seconds": "gauge",
            "workqueue_longest_running_processor_seconds": "gauge",
            "workqueue_queue_duration_seconds": "histogram",
            "workqueue_work_duration_seconds": "histogram",
        }
        self.assertEqual({name: families[name][0] for name in kinds}, kinds)
        queue = "garbage_collector_attempt_to_delete"
        self.assertEqual(self.value(families, "workqueue_depth", name=queue), 0)
        adds = self.value(families, "workqueue_adds_total", name=queue)
        self.assertGreater(adds, 0)
        done = "workqueue_work_duration_seconds"
        self.assertEqual(self.value(families, done, f"{done}_count", name=queue), adds)

    def test_every_queue_is_in_every_family(self):
        families = self.families()
        queues = {
            name: {dict(labels)["name"] for _, labels in samples}
            for name, (_, samples) in families.items()
            if name.startswith("workqueue_")
        }
        self.assertEqual(len({frozenset(names) for names in queues.values()}), 1, queues)
        self.assertLessEqual({"disruption", "namespace"}, queues["workqueue_depth"])

    def test_workloads_as_kube_state_metrics_shows_them(self):
        """The names are kube-state-metrics'; a status without terminatingReplicas has no series (KEP-3973)."""
        template = {"metadata": {"labels": {"app": "shop"}}, "spec": pod("shop")["spec"]}
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "shop"}}, "template": template}
        self.make({"metadata": {"name": "shop"}, "spec": spec}, "deployments")
        self.settle()
        families = self.families()
        labels = {"namespace": self.ns, "deployment": "shop"}
        self.assertEqual(families["kube_deployment_spec_replicas"][0], "gauge")
        self.assertEqual(self.value(families, "kube_deployment_spec_replicas", **labels), 2)
        self.assertEqual(self.value(families, "kube_deployment_metadata_generation", **labels), 1)
        self.assertEqual(
            self.value(families, "kube_deployment_spec_strategy_rollingupdate_max_surge", **labels), 1
        )
        terminating = families["kube_deployment_status_replicas_terminating"][1]
        shown = "terminatingReplicas" in self.stored("shop", "deployments")["status"]
        self.assertEqual(len([key for key in terminating if ("namespace", self.ns) in key[1]]), 1 if shown else 0)

    def test_histograms_add_up(self):
        self.work()
        for family, (kind, samples) in self.families().items():
            if kind != "histogram":
                continue
            for (name, labels), value in samples.items():
                if name == f"{family}_bucket" and dict(labels)["le"] == "+Inf":
                    others = tuple(label for label in labels if label[0] != "le")
                    self.assertEqual(samples[(f"{family}_count", others)], value, (family, others))

    def test_the_scheduler_counts(self):
        attempts = "scheduler_schedule_attempts_total"

        def scheduled():
            return self.value(self.families(), attempts, profile="default-scheduler", result="scheduled")

        before = scheduled()
        self.running(pod("one"), pod("two"))
        self.assertEqual(scheduled(), before + 2)
