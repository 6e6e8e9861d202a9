"""Typed objects: create to delete, patches, subresources, errors."""

import datetime

from kubernetes import client

from base import ClientCase, config_map, deployment, job, pod


class Deployments(ClientCase):
    def test_life(self):
        made = self.apps.create_namespaced_deployment(self.ns, deployment("shop"))
        self.assertEqual(
            (made.metadata.generation, made.spec.progress_deadline_seconds, made.spec.strategy.type),
            (1, 600, "RollingUpdate"),
        )
        self.assertIsInstance(made.metadata.creation_timestamp, datetime.datetime)

        made.spec.replicas = 5
        changed = self.apps.replace_namespaced_deployment("shop", self.ns, made)
        self.assertEqual((changed.metadata.generation, changed.spec.replicas), (2, 5))

        changed.status.observed_generation, changed.status.replicas, changed.spec.replicas = 2, 5, 9
        with_status = self.apps.replace_namespaced_deployment_status("shop", self.ns, changed)
        self.assertEqual((with_status.spec.replicas, with_status.status.replicas), (5, 5))
        self.assertEqual(self.apps.read_namespaced_deployment("shop", self.ns), with_status)

        answer = self.apps.delete_namespaced_deployment("shop", self.ns)
        self.assertEqual((answer["status"], answer["details"]["name"]), ("Success", "shop"))
        self.fails(404, "NotFound", self.apps.read_namespaced_deployment, "shop", self.ns)

    def test_scale(self):
        self.apps.create_namespaced_deployment(self.ns, deployment("shop"))
        scale = self.apps.read_namespaced_deployment_scale("shop", self.ns)
        self.assertEqual((scale.spec.replicas, scale.status.selector), (3, "app=shop"))
        self.apps.patch_namespaced_deployment_scale("shop", self.ns, {"spec": {"replicas": 8}})
        self.assertEqual(self.apps.read_namespaced_deployment("shop", self.ns).spec.replicas, 8)

    def test_dictionary_bodies(self):
        body = self.api_client.sanitize_for_serialization(deployment("shop"))
        made = self.apps.create_namespaced_deployment(self.ns, body)
        self.assertEqual(made.metadata.name, "shop")


class Jobs(ClientCase):
    def test_life(self):
        made = self.batch.create_namespaced_job(self.ns, job("once", completions=3, parallelism=2))
        self.assertEqual((made.spec.backoff_limit, made.spec.completion_mode), (6, "NonIndexed"))
        self.assertEqual(made.spec.selector.match_labels, {"batch.kubernetes.io/controller-uid": made.metadata.uid})
        self.batch.patch_namespaced_job("once", self.ns, {"spec": {"parallelism": 1}})
        now = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        self.batch.patch_namespaced_job_status("once", self.ns, {"status": {"active": 1, "startTime": now}})
        stored = self.batch.read_namespaced_job("once", self.ns)
        self.assertEqual((stored.spec.parallelism, stored.status.active, stored.status.start_time), (1, 1, now))

    def test_immutable_template(self):
        made = self.batch.create_namespaced_job(self.ns, job("once"))
        made.spec.template.spec.containers[0].image = "example.test/app:2"
        body = self.fails(422, "Invalid", self.batch.replace_namespaced_job, "once", self.ns, made)
        self.assertIn("field is immutable", body["message"])

    def test_cron_job(self):
        spec = client.V1CronJobSpec(schedule="*/5 * * * *", job_template=client.V1JobTemplateSpec(spec=job("x").spec))
        made = self.batch.create_namespaced_cron_job(
            self.ns, client.V1CronJob(metadata=client.V1ObjectMeta(name="tick"), spec=spec)
        )
        self.assertEqual(
            (made.spec.concurrency_policy, made.spec.suspend, made.spec.successful_jobs_history_limit),
            ("Allow", False, 3),
        )


class Pods(ClientCase):
    def test_life(self):
        made = self.core.create_namespaced_pod(self.ns, pod("one", node="somewhere"))
        self.assertEqual(
            (made.status.phase, made.status.qos_class, made.spec.restart_policy), ("Pending", "BestEffort", "Always")
        )
        self.core.delete_namespaced_pod("one", self.ns, grace_period_seconds=7)
        dying = self.core.read_namespaced_pod("one", self.ns)
        self.assertEqual(dying.metadata.deletion_grace_period_seconds, 7)
        self.core.delete_namespaced_pod("one", self.ns, body=client.V1DeleteOptions(grace_period_seconds=0))
        self.fails(404, "NotFound", self.core.read_namespaced_pod, "one", self.ns)

    def test_binding_and_eviction(self):
        self.core.create_namespaced_pod(self.ns, pod("one"))
        self.core.create_namespaced_pod_binding(
            "one",
            self.ns,
            client.V1Binding(
                metadata=client.V1ObjectMeta(name="one"), target=client.V1ObjectReference(kind="Node", name="n1")
            ),
            _preload_content=False,
        )
        self.assertEqual(self.core.read_namespaced_pod("one", self.ns).spec.node_name, "n1")
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="one", namespace=self.ns))
        self.core.create_namespaced_pod_eviction("one", self.ns, eviction)
        self.assertIsNotNone(self.core.read_namespaced_pod("one", self.ns).metadata.deletion_timestamp)

    def test_lists(self):
        for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
            self.core.create_namespaced_pod(self.ns, pod(name, colour=colour))
        names = [
            item.metadata.name for item in self.core.list_namespaced_pod(self.ns, label_selector="colour=red").items
        ]
        self.assertEqual(names, ["a", "c"])
        names = [
            item.metadata.name
            for item in self.core.list_namespaced_pod(self.ns, field_selector="metadata.name!=a").items
        ]
        self.assertEqual(names, ["b", "c"])
        self.core.delete_collection_namespaced_pod(self.ns, label_selector="colour=red")
        self.assertEqual([item.metadata.name for item in self.core.list_namespaced_pod(self.ns).items], ["b"])

    def test_pages(self):
        for number in range(7):
            self.core.create_namespaced_config_map(self.ns, config_map(f"cm-{number}"))
        names, token = [], None
        while token != "":
            page = self.core.list_namespaced_config_map(self.ns, limit=3, **({"_continue": token} if token else {}))
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue or ""
        self.assertEqual(names, [f"cm-{number}" for number in range(7)])


class Patches(ClientCase):
    def setUp(self):
        super().setUp()
        self.apps.create_namespaced_deployment(self.ns, deployment("shop"))

    def patch(self, body, content_type=None):
        options = {"_content_type": content_type} if content_type else {}
        return self.apps.patch_namespaced_deployment("shop", self.ns, body, **options)

    def test_a_dictionary_is_a_strategic_merge(self):
        made = self.patch({"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}})
        self.assertEqual([c.name for c in made.spec.template.spec.containers], ["proxy", "main"])

    def test_a_list_is_a_json_patch(self):
        made = self.patch([{"op": "replace", "path": "/spec/replicas", "value": 6}])
        self.assertEqual(made.spec.replicas, 6)

    def test_merge(self):
        made = self.patch(
            {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}},
            "application/merge-patch+json",
        )
        self.assertEqual([c.name for c in made.spec.template.spec.containers], ["proxy"])


class Errors(ClientCase):
    def test_bodies_are_statuses(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        body = self.fails(409, "AlreadyExists", self.core.create_namespaced_config_map, self.ns, config_map("one"))
        self.assertEqual(body["details"], {"name": "one", "kind": "configmaps"})
        body = self.fails(404, "NotFound", self.core.read_namespaced_config_map, "nobody", self.ns)
        self.assertEqual(body["message"], 'configmaps "nobody" not found')
        body = self.fails(
            422, "Invalid", self.apps.create_namespaced_deployment, self.ns, deployment("shop", replicas=-1)
        )
        self.assertEqual(
            [(cause["field"], cause["reason"]) for cause in body["details"]["causes"]],
            [("spec.replicas", "FieldValueInvalid")],
        )
        self.fails(400, "BadRequest", self.core.list_namespaced_pod, self.ns, field_selector="spec.hostname=x")

    def test_conflict(self):
        stale = self.core.create_namespaced_config_map(self.ns, config_map("one", a="1"))
        self.core.patch_namespaced_config_map("one", self.ns, {"data": {"a": "2"}})
        body = self.fails(409, "Conflict", self.core.replace_namespaced_config_map, "one", self.ns, stale)
        self.assertIn("the object has been modified; please apply your changes to the latest version", body["message"])

    def test_dry_run(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("one"), dry_run="All")
        self.assertTrue(made.metadata.uid)
        self.fails(404, "NotFound", self.core.read_namespaced_config_map, "one", self.ns)
