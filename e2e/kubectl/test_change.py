"""The commands that change an object in place: patch, edit, label, annotate, scale, set, taint."""

import json

from base import KubectlCase, config_map, deployment, pod, since


class Patch(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(deployment("shop"))

    def patch(self, kind, body, target="deployment shop"):
        return self.k(["patch", *target.split(), "--type", kind, "-p", json.dumps(body)])

    def containers(self):
        return self.get("deployment shop")["spec"]["template"]["spec"]["containers"]

    def test_strategic_merges_containers_by_name(self):
        out = self.patch(
            "strategic", {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}}
        )
        self.assertEqual(out.out, "deployment.apps/shop patched\n")
        self.assertEqual([c["name"] for c in self.containers()], ["proxy", "main"])

    def test_strategic_deletes_by_directive(self):
        self.patch("strategic", {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}})
        self.patch(
            "strategic", {"spec": {"template": {"spec": {"containers": [{"name": "main", "$patch": "delete"}]}}}}
        )
        self.assertEqual([c["name"] for c in self.containers()], ["proxy"])

    def test_merge_replaces_lists(self):
        self.patch("merge", {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}})
        self.assertEqual([c["name"] for c in self.containers()], ["proxy"])

    def test_merge_null_removes(self):
        self.patch("merge", {"metadata": {"labels": {"app": None, "x": "y"}}})
        self.assertEqual(self.get("deployment shop")["metadata"]["labels"], {"x": "y"})

    def test_json_operations(self):
        self.patch(
            "json",
            [
                {"op": "test", "path": "/spec/replicas", "value": 3},
                {"op": "replace", "path": "/spec/replicas", "value": 4},
                {"op": "add", "path": "/metadata/labels/a~1b", "value": "c"},
                {"op": "remove", "path": "/metadata/labels/app"},
            ],
        )
        stored = self.get("deployment shop")
        self.assertEqual((stored["spec"]["replicas"], stored["metadata"]["labels"]), (4, {"a/b": "c"}))

    def test_json_test_that_does_not_hold(self):
        self.k_fails(
            [
                "patch",
                "deployment",
                "shop",
                "--type",
                "json",
                "-p",
                '[{"op":"test","path":"/spec/replicas","value":9},{"op":"remove","path":"/spec/replicas"}]',
            ]
        )
        self.assertEqual(self.get("deployment shop")["spec"]["replicas"], 3)

    def test_without_a_change(self):
        before = self.get("deployment shop")["metadata"]["resourceVersion"]
        self.assertEqual(
            self.patch("merge", {"spec": {"replicas": 3}}).out, "deployment.apps/shop patched (no change)\n"
        )
        self.assertEqual(self.get("deployment shop")["metadata"]["resourceVersion"], before)

    def test_invalid_outcome_is_refused(self):
        self.k_fails(
            ["patch", "deployment", "shop", "-p", '{"spec":{"replicas":-1}}'], "must be greater than or equal to 0"
        )

    @since(1, 24, "--subresource")
    def test_status_alone(self):
        self.k(
            [
                "patch",
                "deployment",
                "shop",
                "--subresource=status",
                "--type=merge",
                "-p",
                '{"spec":{"replicas":9},"status":{"replicas":2}}',
            ]
        )
        stored = self.get("deployment shop")
        self.assertEqual(
            (stored["spec"]["replicas"], stored["status"]["replicas"], stored["metadata"]["generation"]), (3, 2, 1)
        )


class Edit(KubectlCase):
    def test_edit_writes_what_the_editor_left(self):
        self.create(deployment("shop"))
        result = self.edit_with("edit deployment shop", "s/replicas: 3/replicas: 6/")
        self.assertEqual((result.code, result.out), (0, "deployment.apps/shop edited\n"), str(result))
        self.assertEqual(self.get("deployment shop")["spec"]["replicas"], 6)

    def test_edit_without_a_change(self):
        self.create(deployment("shop"))
        result = self.edit_with("edit deployment shop", "")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("no changes made", result.out + result.err)

    def test_edit_that_the_server_refuses(self):
        self.create(deployment("shop"))
        result = self.edit_with("edit deployment shop", "s/replicas: 3/replicas: -3/")
        self.assertNotEqual(result.code, 0, str(result))
        self.assertIn('deployments.apps "shop" is invalid', result.out + result.err)
        self.assertEqual(self.get("deployment shop")["spec"]["replicas"], 3)

    @since(1, 24, "--subresource")
    def test_edit_of_the_status(self):
        self.create(deployment("shop"))
        self.set_status("deployments", "shop", {"replicas": 3, "observedGeneration": 1})
        result = self.edit_with("edit deployment shop --subresource=status", "/^status:/,$s/replicas: 3/replicas: 2/")
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.get("deployment shop")["status"]["replicas"], 2)


class Labels(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(config_map("one", labels={"set": "s"}), config_map("two", labels={"set": "s"}))

    def labels(self, name):
        return self.get(f"configmap {name}")["metadata"].get("labels")

    def test_add_change_and_remove(self):
        self.assertEqual(self.k("label configmap one x=y").out, "configmap/one labeled\n")
        self.k_fails("label configmap one x=z", "already has a value (y), and --overwrite is false")
        self.k("label configmap one x=z --overwrite")
        self.assertEqual(self.labels("one"), {"set": "s", "x": "z"})
        self.k("label configmap one x-")
        self.assertEqual(self.labels("one"), {"set": "s"})

    def test_by_selector_and_all(self):
        self.k("label configmaps -l set=s a=1")
        self.k("label configmaps --all b=2")
        self.assertEqual(self.labels("two"), {"set": "s", "a": "1", "b": "2"})

    def test_resource_version_precondition(self):
        old = self.get("configmap one")["metadata"]["resourceVersion"]
        self.k("label configmap one x=y")
        self.k_fails(f"label configmap one --resource-version={old} --overwrite x=z", "the object has been modified")

    def test_invalid_label(self):
        self.k_fails(["label", "configmap", "one", "x=not valid"], "a valid label must be")

    def test_annotate(self):
        self.assertEqual(self.k("annotate configmap one note='some words'").out, "configmap/one annotated\n")
        self.assertEqual(self.get("configmap one")["metadata"]["annotations"], {"note": "some words"})
        self.k("annotate configmap one note-")
        self.assertNotIn("annotations", self.get("configmap one")["metadata"])


class Scale(KubectlCase):
    def test_every_kind_that_scales(self):
        template = deployment("shop")["spec"]["template"]
        selector = {"matchLabels": {"app": "shop"}}
        self.create(
            deployment("shop"),
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {"name": "shop"},
                "spec": {"selector": selector, "template": template},
            },
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "shop"},
                "spec": {"selector": selector, "serviceName": "s", "template": template},
            },
            {
                "apiVersion": "v1",
                "kind": "ReplicationController",
                "metadata": {"name": "shop"},
                "spec": {"selector": {"app": "shop"}, "template": template},
            },
        )
        for kind in ("deployment.apps", "replicaset.apps", "statefulset.apps", "replicationcontroller"):
            with self.subTest(kind):
                self.assertEqual(self.k(f"scale {kind}/shop --replicas=5").out, f"{kind}/shop scaled\n")
                self.assertEqual(self.get(f"{kind}/shop")["spec"]["replicas"], 5)

    def test_current_replicas_is_a_precondition(self):
        self.create(deployment("shop"))
        self.k_fails("scale deployment shop --current-replicas=2 --replicas=5", "Expected replicas to be 2, was 3")
        self.k("scale deployment shop --current-replicas=3 --replicas=5")

    def test_nothing_to_scale(self):
        self.k_fails("scale deployment nobody --replicas=1", "NotFound")
        self.create(pod("one"))
        self.k_fails("scale pod one --replicas=1")


class SetCommands(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(deployment("shop"))

    def container(self):
        return self.get("deployment shop")["spec"]["template"]["spec"]["containers"][0]

    def test_image(self):
        self.assertEqual(
            self.k("set image deployment/shop main=example.test/app:2").out, "deployment.apps/shop image updated\n"
        )
        stored = self.get("deployment shop")
        self.assertEqual(self.container()["image"], "example.test/app:2")
        self.assertEqual(stored["metadata"]["generation"], 2)

    def test_image_of_a_container_that_is_not_there(self):
        self.k_fails("set image deployment/shop nobody=a:1", 'unable to find container named "nobody"')

    def test_env_resources_and_service_account(self):
        self.k("set env deployment/shop A=1")
        self.k("set resources deployment/shop --limits=cpu=200m,memory=512Mi")
        self.k("set serviceaccount deployment/shop builder")
        self.assertEqual(self.container()["env"], [{"name": "A", "value": "1"}])
        self.assertEqual(self.container()["resources"], {"limits": {"cpu": "200m", "memory": "512Mi"}})
        self.assertEqual(self.get("deployment shop")["spec"]["template"]["spec"]["serviceAccountName"], "builder")

    def test_selector_of_a_service(self):
        self.k("create service clusterip shop --tcp=80")
        self.k("set selector service shop app=till")
        self.assertEqual(self.get("service shop")["spec"]["selector"], {"app": "till"})
