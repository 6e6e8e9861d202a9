"""kubectl apply, diff, replace and the dry runs."""

import json

from base import VERSION, KubectlCase, config_map, deployment, manifest_file, service, since

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Apply(KubectlCase):
    def apply(self, item, flags=""):
        return self.k(f"apply {flags} -f -", stdin=item)

    def test_create_then_unchanged_then_configured(self):
        item = deployment("shop")
        self.assertEqual(self.apply(item).out, "deployment.apps/shop created\n")
        self.assertEqual(self.apply(item).out, "deployment.apps/shop unchanged\n")
        item["spec"]["replicas"] = 5
        self.assertEqual(self.apply(item).out, "deployment.apps/shop configured\n")
        stored = self.get("deployment shop")
        self.assertEqual((stored["spec"]["replicas"], stored["metadata"]["generation"]), (5, 2))
        self.assertIn('"replicas":5', stored["metadata"]["annotations"][LAST_APPLIED])

    def test_unchanged_writes_nothing(self):
        item = deployment("shop")
        self.apply(item)
        before = self.get("deployment shop")["metadata"]["resourceVersion"]
        self.apply(item)
        self.assertEqual(self.get("deployment shop")["metadata"]["resourceVersion"], before)

    def test_three_way_merge_keeps_what_others_set(self):
        item = deployment("shop")
        self.apply(item)
        self.k("scale deployment shop --replicas=7")
        self.k("label deployment shop owner=somebody")
        del item["spec"]["replicas"]
        item["metadata"]["labels"]["tier"] = "front"
        self.apply(item)
        stored = self.get("deployment shop")
        self.assertEqual(stored["metadata"]["labels"], {"app": "shop", "owner": "somebody", "tier": "front"})

    def test_a_field_taken_out_of_the_manifest_is_pruned(self):
        item = deployment("shop", minReadySeconds=10)
        item["spec"]["template"]["spec"]["containers"][0]["env"] = [
            {"name": "A", "value": "1"},
            {"name": "B", "value": "2"},
        ]
        self.apply(item)
        del item["spec"]["minReadySeconds"]
        item["spec"]["template"]["spec"]["containers"][0]["env"].pop(0)
        self.apply(item)
        stored = self.get("deployment shop")
        self.assertNotIn("minReadySeconds", stored["spec"])
        self.assertEqual(stored["spec"]["template"]["spec"]["containers"][0]["env"], [{"name": "B", "value": "2"}])

    def test_lists_merge_by_their_key(self):
        item = deployment("shop")
        self.apply(item)
        sidecar = [
            {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "proxy", "image": "p:1"}}
        ]
        self.rest.patch(self.path_of("deployments", "shop"), sidecar, "json").expect()
        item["spec"]["template"]["spec"]["containers"][0]["image"] = "example.test/app:2"
        self.apply(item)
        images = [c["image"] for c in self.get("deployment shop")["spec"]["template"]["spec"]["containers"]]
        self.assertCountEqual(images, ["example.test/app:2", "p:1"])

    @manifest_file
    def test_a_folder_and_several_documents(self, folder):
        (folder / "one.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: '1'}\n---\n"
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n"
        )
        (folder / "three.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: three}\n")
        out = self.k(["apply", "-f", str(folder)]).lines
        self.assertEqual(sorted(out), ["configmap/one created", "configmap/three created", "configmap/two created"])

    def test_a_list_object(self):
        out = self.apply(
            {"apiVersion": "v1", "kind": "List", "items": [config_map("one", a="1"), config_map("two")]}
        ).lines
        self.assertEqual(out, ["configmap/one created", "configmap/two created"])

    @manifest_file
    def test_prune_deletes_what_left_the_folder(self, folder):
        for name in ("one", "two"):
            (folder / f"{name}.yaml").write_text(
                f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {{set: s}}}}\n"
            )
        # The list of kinds that an old kubectl has by itself has versions that Kubernetes no longer serves.
        kinds = ["--prune-whitelist", "core/v1/ConfigMap"] if VERSION < (1, 26) else []
        self.k(["apply", "--prune", "-l", "set=s", *kinds, "-f", str(folder)])
        (folder / "one.yaml").unlink()
        out = self.k(["apply", "--prune", "-l", "set=s", *kinds, "-f", str(folder)]).lines
        self.assertEqual(sorted(out), ["configmap/one pruned", "configmap/two unchanged"])
        self.assertNotIn("configmap/one", self.k("get configmaps -o name").lines)

    @manifest_file
    def test_prune_deletes_deployments_and_services_of_its_set_alone(self, folder):
        kinds = "--prune-whitelist" if VERSION < (1, 26) else "--prune-allowlist"
        kinds = [kinds, "apps/v1/Deployment", kinds, "core/v1/Service"]
        for name in ("cart", "shop"):
            item = {"apiVersion": "v1", "kind": "List", "items": [deployment(name), service(name)]}
            for one in item["items"]:
                one["metadata"]["labels"] = {"set": "s"}
            (folder / f"{name}.json").write_text(json.dumps(item))
        self.k(["apply", "-f", str(folder)])
        other = service("other")
        other["metadata"]["labels"] = {"set": "another"}
        self.apply(other)
        self.k("create service clusterip by-hand --tcp=80")  # never applied
        self.k("label service by-hand set=s")
        (folder / "cart.json").unlink()

        command = ["apply", "--prune", "-l", "set=s", *kinds, "-f", str(folder)]
        left = ["deployment.apps/shop", "service/by-hand", "service/other", "service/shop"]
        unchanged = ["deployment.apps/shop unchanged", "service/shop unchanged"]
        dry_run = self.k([*command, "--dry-run=server"]).lines
        pruned = [f"{kind}/cart pruned (server dry run)" for kind in ("deployment.apps", "service")]
        self.assertEqual(sorted(dry_run), sorted([*pruned, *(f"{line} (server dry run)" for line in unchanged)]))
        self.assertIn("deployment.apps/cart", self.k("get deployments -o name").lines)
        out = self.k(command).lines
        self.assertEqual(sorted(out), sorted(["deployment.apps/cart pruned", "service/cart pruned", *unchanged]))
        self.assertEqual(sorted(self.k("get deployments,services -o name").lines), left)
        self.assertEqual(sorted(self.k(command).lines), unchanged)

    def test_view_and_set_last_applied(self):
        self.apply(config_map("settings", a="1"))
        self.assertIn('a: "1"', self.k("apply view-last-applied configmap settings").out)
        self.k("create -f -", stdin=config_map("other", a="1"))
        self.k("apply set-last-applied --create-annotation -f -", stdin=config_map("other", a="1"))
        self.assertIn(LAST_APPLIED, self.get("configmap other")["metadata"]["annotations"])

    def test_immutable_field_is_refused_with_its_path(self):
        item = deployment("shop")
        self.apply(item)
        item["spec"]["selector"]["matchLabels"] = {"app": "other"}
        item["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        result = self.k_fails("apply -f -", "spec.selector: Invalid value", "field is immutable", stdin=item)
        self.assertIn('The Deployment "shop" is invalid', result.err)

    def test_invalid_object_names_every_field(self):
        item = deployment("shop", replicas=-1)
        item["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        self.k_fails(
            "apply -f -",
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.template.metadata.labels",
            "`selector` does not match template `labels`",
            stdin=item,
        )

    def test_unknown_field_is_an_error(self):
        item = deployment("shop", replica=2)
        result = self.k_fails("apply -f -", stdin=item)
        self.assertRegex(result.err, r'unknown field "(spec\.)?replica"')
        self.assertEqual(self.k("get deployments -o name").out, "")

    def test_unknown_field_passes_without_validation(self):
        self.k("apply --validate=false -f -", stdin=deployment("shop", replica=2))
        self.assertNotIn("replica", self.get("deployment shop")["spec"])

    @since(1, 25, "--validate=warn")
    def test_unknown_field_can_be_a_warning(self):
        result = self.k("apply --validate=warn -f -", stdin=deployment("shop", replica=2))
        self.assertIn('Warning: unknown field "spec.replica"', result.err)

    def test_mistyped_field_is_an_error(self):
        item = deployment("shop")
        item["spec"]["replicas"] = "three"
        self.k_fails("apply -f -", "replicas", stdin=item)

    def test_missing_namespace(self):
        item = config_map("settings")
        item["metadata"]["namespace"] = "nowhere"
        self.k_fails("apply -f -", 'namespaces "nowhere" not found', stdin=item, namespace=False)

    def test_unknown_kind(self):
        self.k_fails(
            "apply -f -",
            'no matches for kind "Gadget" in version "v1"',
            stdin={"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "x"}},
        )


class DryRun(KubectlCase):
    def test_server_dry_run_answers_and_stores_nothing(self):
        out = self.k("apply --dry-run=server -f -", stdin=deployment("shop")).out
        self.assertEqual(out, "deployment.apps/shop created (server dry run)\n")
        self.assertEqual(self.k("get deployments -o name").out, "")

    def test_server_dry_run_gives_defaults(self):
        result = self.k("create --dry-run=server -o json -f -", stdin=deployment("shop")).json
        self.assertEqual(result["spec"]["progressDeadlineSeconds"], 600)
        self.assertTrue(result["metadata"]["uid"])

    def test_server_dry_run_validates(self):
        self.k_fails(
            "apply --dry-run=server -f -", "must be greater than or equal to 0", stdin=deployment("shop", replicas=-1)
        )

    def test_server_dry_run_of_a_change(self):
        self.create(deployment("shop"))
        self.k("label deployment shop x=y --dry-run=server")
        self.k("delete deployment shop --dry-run=server")
        self.assertEqual(self.get("deployment shop")["metadata"]["labels"], {"app": "shop"})

    def test_client_dry_run_prints_the_manifest(self):
        result = self.k("create deployment shop --image=a:1 --dry-run=client -o json").json
        self.assertEqual(result["kind"], "Deployment")
        self.assertEqual(self.k("get deployments -o name").out, "")


class Diff(KubectlCase):
    def diff(self, item):
        return self.try_k("diff -f -", stdin=self._text(item))

    def test_no_difference(self):
        item = deployment("shop")
        self.k("apply -f -", stdin=item)
        result = self.diff(item)
        self.assertEqual((result.code, result.out), (0, ""), str(result))

    def test_a_change_shows_old_and_new(self):
        item = deployment("shop")
        self.k("apply -f -", stdin=item)
        item["spec"]["replicas"] = 5
        result = self.diff(item)
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("-  replicas: 3\n+  replicas: 5\n", result.out)
        self.assertEqual(self.get("deployment shop")["spec"]["replicas"], 3)

    def test_an_object_that_is_not_there_is_all_new(self):
        result = self.diff(config_map("settings", a="1"))
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("+kind: ConfigMap\n", result.out)


class Replace(KubectlCase):
    def test_replace_takes_away_what_is_not_named(self):
        self.create(config_map("settings", labels={"x": "y"}, a="1", b="2"))
        self.assertEqual(
            self.k("replace -f -", stdin=config_map("settings", b="3")).out, "configmap/settings replaced\n"
        )
        stored = self.get("configmap settings")
        self.assertEqual(stored["data"], {"b": "3"})
        self.assertNotIn("labels", stored["metadata"])

    def test_replace_with_an_old_resource_version_is_a_conflict(self):
        self.create(config_map("settings", a="1"))
        old = self.get("configmap settings")
        self.k("label configmap settings x=y")
        self.k_fails(
            "replace -f -", "the object has been modified; please apply your changes to the latest version", stdin=old
        )

    def test_replace_of_nothing(self):
        self.k_fails("replace -f -", "NotFound", stdin=config_map("settings"))

    @manifest_file
    def test_forced_replace_makes_a_new_object(self, folder):
        self.create(config_map("settings", a="1"))
        before = self.get("configmap settings")["metadata"]["uid"]
        (folder / "settings.json").write_text(self._text(config_map("settings", a="2")))
        self.k(["replace", "--force", "-f", str(folder / "settings.json")])
        after = self.get("configmap settings")
        self.assertNotEqual(after["metadata"]["uid"], before)
        self.assertEqual(after["data"], {"a": "2"})
