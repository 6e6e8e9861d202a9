"""kubectl describe, events and logs."""

from base import KubectlCase, config_map, deployment, pod, since


class ObserveCase(KubectlCase):
    def event_about(self, kind, name, reason, **more):
        self.create(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{name}.{reason.lower()}"},
                "involvedObject": {"kind": kind, "name": name, "namespace": self.ns, **more},
                "reason": reason,
                "message": f"{reason} happened",
                "type": "Normal",
                "count": 3,
                "firstTimestamp": "2026-01-01T00:00:00Z",
                "lastTimestamp": "2026-01-01T00:00:00Z",
                "source": {"component": "e2e"},
            }
        )


class Describe(ObserveCase):
    def test_pod(self):
        self.create(pod("shop", labels={"app": "shop"}))
        uid = self.get("pod shop")["metadata"]["uid"]
        self.event_about("Pod", "shop", "Noted", uid=uid)
        out = self.k("describe pod shop").out
        for text in (
            "Name:",
            "shop",
            "Labels:",
            "app=shop",
            "Status:",
            "Pending",
            "example.test/app:1",
            "QoS Class:",
            "BestEffort",
            "Noted happened",
        ):
            self.assertIn(text, out)

    def test_deployment(self):
        self.create(deployment("shop"))
        out = self.k("describe deployment shop").out
        self.assertRegex(out, r"Replicas: +3 desired \| 0 updated \| 0 total \| 0 available \| [03] unavailable")
        self.assertRegex(out, r"StrategyType: +RollingUpdate")
        self.assertIn("25% max unavailable, 25% max surge", out)

    def test_other_kinds(self):
        template = deployment("one")["spec"]["template"]
        once = {"metadata": {}, "spec": {**template["spec"], "restartPolicy": "Never"}}
        selector = {"matchLabels": {"app": "one"}}
        self.create(
            config_map("one", key="value"),
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "one"},
                "stringData": {"password": "swordfish"},
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "one"},
                "spec": {"template": once, "completions": 4, "parallelism": 2},
            },
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {"name": "one"},
                "spec": {"selector": selector, "template": template},
            },
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "one"},
                "spec": {"selector": selector, "serviceName": "one", "template": template},
            },
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": {"name": "one"},
                "spec": {"selector": selector, "template": template},
            },
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "one"}},
        )
        table = {
            "configmap": "value",
            "secret": "9 bytes",
            "job": "Completions:",
            "replicaset": "0 current / 1 desired",
            "statefulset": "1 desired | 0 total",
            "daemonset": "Desired Number of Nodes Scheduled: 0",
            "serviceaccount": "Image pull secrets",
        }
        for kind, text in table.items():
            with self.subTest(kind):
                self.assertIn(text, self.k(f"describe {kind} one").out)

    @since(1, 23, "batch/v1 CronJob and policy/v1 PodDisruptionBudget in describe")
    def test_kinds_that_left_beta_late(self):
        once = {"spec": {**deployment("one")["spec"]["template"]["spec"], "restartPolicy": "Never"}}
        self.create(
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "one"},
                "spec": {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": once}}},
            },
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "one"},
                "spec": {"maxUnavailable": "20%", "selector": {"matchLabels": {"app": "one"}}},
            },
        )
        self.assertIn("0 4 * * *", self.k("describe cronjob one").out)
        self.assertIn("20%", self.k("describe poddisruptionbudget one").out)

    def test_node_and_namespace(self):
        self.rest.post("/api/v1/nodes", {"metadata": {"name": self.ns}}).expect()
        self.addCleanup(lambda: self.rest.delete(f"/api/v1/nodes/{self.ns}").expect())
        self.rest.patch(
            f"/api/v1/nodes/{self.ns}/status", {"status": {"capacity": {"cpu": "4", "memory": "8Gi"}}}
        ).expect()
        self.create(pod("guest", node=self.ns))
        out = self.k(f"describe node {self.ns}", namespace=False).out
        self.assertIn("guest", out)
        self.assertRegex(out, r"cpu: +4")
        self.assertRegex(self.k(f"describe namespace {self.ns}", namespace=False).out, r"Status: +Active")

    def test_by_prefix_and_selector(self):
        self.create(config_map("shop-one", labels={"a": "b"}), config_map("shop-two"))
        out = self.k("describe configmap shop-").out
        self.assertIn("shop-one", out)
        self.assertIn("shop-two", out)
        self.assertNotIn("shop-two", self.k("describe configmap -l a=b").out)

    def test_missing_pod(self):
        self.k_fails("describe pod nobody", 'pods "nobody" not found')


class Events(ObserveCase):
    def test_get_shows_object_and_reason(self):
        self.event_about("Pod", "shop", "Noted")
        header, row = self.k("get events").lines
        self.assertEqual(header.split(), ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"])
        self.assertEqual(row.split()[1:], ["Normal", "Noted", "pod/shop", "Noted", "happened"])

    def test_field_selectors(self):
        self.event_about("Pod", "shop", "Noted")
        self.event_about("Deployment", "till", "Seen")
        table = {
            "involvedObject.kind=Pod": "shop.noted",
            "involvedObject.name=till": "till.seen",
            "reason=Seen": "till.seen",
            "reason!=Seen": "shop.noted",
        }
        for selector, name in table.items():
            with self.subTest(selector):
                self.assertEqual(self.k(f"get events -o name --field-selector {selector}").lines, [f"event/{name}"])

    def test_both_groups_show_the_same_objects(self):
        self.event_about("Pod", "shop", "Noted")
        newer = self.k("get events.events.k8s.io shop.noted -o json").json
        self.assertEqual(
            (newer["apiVersion"], newer["regarding"]["name"], newer["note"], newer["deprecatedCount"]),
            ("events.k8s.io/v1", "shop", "Noted happened", 3),
        )

    @since(1, 26, "the events command")
    def test_events_command(self):
        self.event_about("Pod", "shop", "Noted")
        self.event_about("Deployment", "till", "Seen", apiVersion="apps/v1")
        self.assertIn("Noted happened", self.k("events").out)
        out = self.k("events --for deployment/till").out
        self.assertIn("Seen happened", out)
        self.assertNotIn("Noted happened", out)


class Logs(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(pod("shop", node="somewhere", containers=2))

    def test_missing_pod(self):
        self.k_fails("logs nobody", 'pods "nobody" not found')

    def test_container_that_is_not_there(self):
        self.k_fails("logs shop -c nobody", "container nobody is not valid for pod shop")

    def test_a_node_that_is_not_there_cannot_be_asked(self):
        for flags in ("-c main", "-c side-1", "-c main --tail=1", "--all-containers", "-c main --timestamps"):
            with self.subTest(flags):
                self.k_fails(f"logs shop {flags}", 'pods "somewhere" not found')

    def test_a_pod_without_a_node_has_printed_nothing(self):
        self.create(pod("waiting"))
        self.assertEqual(self.k("logs waiting").out, "")
