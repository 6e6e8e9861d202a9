"""kubectl apply --server-side, diff --server-side, apply sets, and who owns what after each command."""

import base64
import hashlib
import json

from base import VERSION, KubectlCase, config_map, deployment, manifest_file, pod, since

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# The end of kubectl's own text depends on its version.
ADVICE = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
"""


class OwnersCase(KubectlCase):
    def apply(self, item, flags="", **options):
        return self.k(f"apply --server-side {flags} -f -", stdin=item, **options)

    def conflict(self, item, flags=""):
        """The server's message; the text that kubectl adds is checked here."""
        result = self.k_fails(f"apply --server-side {flags} -f -", stdin=item)
        message, found, _ = result.err.partition(ADVICE)
        self.assertTrue(found, str(result))
        return message

    def stored(self, resource, name):
        """The object over HTTP: old versions of kubectl show managedFields, newer ones do not."""
        return self.rest.get(self.path_of(resource, name)).expect()

    def owners(self, resource, name):
        """The sets by (manager, operation), and with the subresource if there is one."""
        sets = {}
        for entry in self.stored(resource, name)["metadata"]["managedFields"]:
            self.assertEqual(entry["fieldsType"], "FieldsV1")
            # As in Kubernetes, the entry of an apply that changed nothing else has no time.
            self.assertRegex(entry.get("time", "2026-01-01T00:00:00Z"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            key = tuple(entry[part] for part in ("manager", "operation", "subresource") if part in entry)
            self.assertNotIn(key, sets)
            sets[key] = entry["fieldsV1"]
        return sets


class ServerSideApply(OwnersCase):
    def test_create_change_and_apply_again(self):
        item = deployment("shop")
        for replicas, generation in ((3, 1), (5, 2), (5, 2)):
            item["spec"]["replicas"] = replicas
            self.assertEqual(self.apply(item).out, "deployment.apps/shop serverside-applied\n")
            stored = self.stored("deployments", "shop")
            self.assertEqual((stored["spec"]["replicas"], stored["metadata"]["generation"]), (replicas, generation))
        self.assertNotIn("annotations", stored["metadata"])

    def test_the_same_again_writes_nothing(self):
        self.apply(deployment("shop"))
        before = self.stored("deployments", "shop")
        self.apply(deployment("shop"))
        self.assertEqual(self.stored("deployments", "shop"), before)

    def test_kubectl_owns_what_the_manifest_lists(self):
        self.apply(deployment("shop"))
        container = {".": {}, "f:image": {}, "f:name": {}}
        self.assertEqual(
            self.owners("deployments", "shop"),
            {
                ("kubectl", "Apply"): {
                    "f:metadata": {"f:labels": {"f:app": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:selector": {},
                        "f:template": {
                            "f:metadata": {"f:labels": {"f:app": {}}},
                            "f:spec": {"f:containers": {'k:{"name":"main"}': container}},
                        },
                    },
                }
            },
        )

    def test_a_field_taken_out_of_the_manifest_is_removed(self):
        item = deployment("shop", minReadySeconds=10)
        main = item["spec"]["template"]["spec"]["containers"][0]
        main["env"] = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
        self.apply(item)
        del item["spec"]["minReadySeconds"]
        main["env"].pop(0)
        self.apply(item)
        stored = self.stored("deployments", "shop")
        self.assertNotIn("minReadySeconds", stored["spec"])
        self.assertEqual(stored["spec"]["template"]["spec"]["containers"][0]["env"], [{"name": "B", "value": "2"}])

    def test_what_others_set_stays(self):
        item = deployment("shop")
        self.apply(item)
        self.k("label deployment shop owner=team")
        sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}}}}
        self.k(["patch", "deployment", "shop", "-p", json.dumps(sidecar)])
        item["spec"]["template"]["spec"]["containers"][0]["image"] = "example.test/app:2"
        self.apply(item)
        stored = self.stored("deployments", "shop")
        self.assertEqual(stored["metadata"]["labels"], {"app": "shop", "owner": "team"})
        images = {c["name"]: c["image"] for c in stored["spec"]["template"]["spec"]["containers"]}
        self.assertEqual(images, {"main": "example.test/app:2", "proxy": "p:1"})

    def test_two_managers_share_a_field_until_both_leave_it_out(self):
        both = config_map("settings", labels={"x": "y"}, a="1", b="2")
        self.apply(both, "--field-manager=one")
        self.apply(both, "--field-manager=two")
        fields = {"f:data": {"f:a": {}, "f:b": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}
        self.assertEqual(
            self.owners("configmaps", "settings"), {("one", "Apply"): fields, ("two", "Apply"): fields}
        )
        fewer = config_map("settings", labels={"x": "y"}, a="1")
        self.apply(fewer, "--field-manager=one")
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "1", "b": "2"})
        self.apply(fewer, "--field-manager=two")
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "1"})

    def test_dry_run_answers_and_stores_nothing(self):
        out = self.apply(config_map("settings", a="1"), "--dry-run=server").out
        self.assertEqual(out, "configmap/settings serverside-applied (server dry run)\n")
        self.assertEqual(self.k("get configmaps -o name").out.count("settings"), 0)
        self.apply(config_map("settings", a="1"))
        before = self.stored("configmaps", "settings")
        shown = self.apply(config_map("settings", a="2"), "--dry-run=server -o json").json
        self.assertEqual(shown["data"], {"a": "2"})
        self.assertEqual(self.stored("configmaps", "settings"), before)

    def test_a_list_object(self):
        items = [config_map("one", a="1"), config_map("two")]
        out = self.apply({"apiVersion": "v1", "kind": "List", "items": items}).lines
        self.assertEqual(out, ["configmap/one serverside-applied", "configmap/two serverside-applied"])

    @since(1, 32, "--subresource of apply")
    def test_status(self):
        self.create(deployment("shop"))
        status = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "shop"},
            "status": {"replicas": 2, "conditions": [{"type": "Available", "status": "True"}]},
        }
        self.apply(status, "--subresource=status --field-manager=keeper")
        stored = self.stored("deployments", "shop")
        self.assertEqual((stored["spec"]["replicas"], stored["status"]["replicas"]), (3, 2))
        self.assertEqual(
            self.owners("deployments", "shop")["keeper", "Apply", "status"],
            {
                "f:status": {
                    "f:conditions": {'k:{"type":"Available"}': {".": {}, "f:status": {}, "f:type": {}}},
                    "f:replicas": {},
                }
            },
        )


class Conflicts(OwnersCase):
    def test_with_another_applier(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="1", b="2"), "--field-manager=one")
        self.assertEqual(
            self.conflict(config_map("settings", labels={"x": "y"}, a="2"), "--field-manager=two"),
            'error: Apply failed with 1 conflict: conflict with "one": .data.a',
        )
        self.assertEqual(
            self.conflict(config_map("settings", labels={"x": "z"}, a="2", b="3"), "--field-manager=two"),
            'error: Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\n- .metadata.labels.x',
        )
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "1", "b": "2"})

    def test_with_several_managers(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="1"), "--field-manager=one")
        self.apply({**config_map("settings", b="1"), "metadata": {"name": "settings"}}, "--field-manager=two")
        self.rest.patch(self.path_of("configmaps", "settings") + "?fieldManager=three", {"data": {"c": "1"}}).expect()
        self.assertEqual(
            self.conflict({**config_map("settings", a="2", b="2", c="2"), "metadata": {"name": "settings"}}),
            'error: Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n'
            'conflicts with "three" using v1:\n- .data.c\nconflicts with "two":\n- .data.b',
        )

    def test_with_kubectl_scale(self):
        item = deployment("shop")
        self.apply(item)
        self.k("scale deployment shop --replicas=7")
        self.assertEqual(
            self.conflict(item),
            'error: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: '
            ".spec.replicas",
        )
        # As the advice suggests: the manifest that does not mention the field leaves it to the other manager.
        del item["spec"]["replicas"]
        self.apply(item)
        self.assertEqual(self.stored("deployments", "shop")["spec"]["replicas"], 7)
        self.assertEqual(
            self.owners("deployments", "shop")["kubectl", "Update", "scale"], {"f:spec": {"f:replicas": {}}}
        )

    def test_of_an_item_of_a_list(self):
        self.apply(deployment("shop"), "--field-manager=one")
        self.assertEqual(
            self.conflict(deployment("shop", image="example.test/app:2"), "--field-manager=two"),
            'error: Apply failed with 1 conflict: conflict with "one": '
            '.spec.template.spec.containers[name="main"].image',
        )

    def test_of_an_empty_map(self):
        # The stored object does not have it, so applying it again is a change of what the other manager owns.
        self.apply(config_map("settings", a="1"), "--field-manager=one")
        self.assertEqual(
            self.conflict(config_map("settings", a="1"), "--field-manager=two"),
            'error: Apply failed with 1 conflict: conflict with "one": .metadata.labels',
        )

    def test_force_takes_the_fields(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="1", b="2"), "--field-manager=one")
        out = self.apply(
            config_map("settings", labels={"x": "y"}, a="2"), "--field-manager=two --force-conflicts"
        ).out
        self.assertEqual(out, "configmap/settings serverside-applied\n")
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "2", "b": "2"})
        label = {"f:labels": {"f:x": {}}}
        self.assertEqual(
            self.owners("configmaps", "settings"),
            {
                ("one", "Apply"): {"f:data": {"f:b": {}}, "f:metadata": label},
                ("two", "Apply"): {"f:data": {"f:a": {}}, "f:metadata": label},
            },
        )

    def test_nothing_is_a_conflict_with_the_same_value(self):
        self.apply(deployment("shop"), "--field-manager=one")
        self.apply(deployment("shop"), "--field-manager=two")
        self.assertEqual(len(self.owners("deployments", "shop")), 2)


class Refused(OwnersCase):
    def test_unknown_field(self):
        item = config_map("settings")
        item["bogus"] = "x"
        self.k_fails(
            "apply --server-side --validate=false -f -",
            f"Error from server: failed to create typed patch object ({self.ns}/settings; /v1, Kind=ConfigMap): "
            ".bogus: field not declared in schema",
            stdin=item,
        )

    def test_mistyped_field(self):
        item = deployment("shop", replicas="three")
        self.k_fails(
            "apply --server-side --validate=false -f -",
            f"failed to create typed patch object ({self.ns}/shop; apps/v1, Kind=Deployment): "
            ".spec.replicas: expected numeric (int or float), got string",
            stdin=item,
        )

    def test_invalid_object(self):
        result = self.k_fails("apply --server-side -f -", stdin=deployment("shop", replicas=-1))
        self.assertEqual(
            result.err,
            'The Deployment "shop" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n',
        )
        self.assertEqual(self.k("get deployments -o name").out, "")

    def test_an_object_that_lists_its_owners(self):
        self.apply(config_map("settings", a="1"))
        stored = self.stored("configmaps", "settings")
        result = self.k_fails("apply --server-side -f -", stdin=stored)
        self.assertEqual(result.err, "Error from server (BadRequest): metadata.managedFields must be nil\n")

    def test_missing_namespace(self):
        item = config_map("settings")
        item["metadata"]["namespace"] = "nowhere"
        result = self.k_fails("apply --server-side -f -", stdin=item, namespace=False)
        self.assertEqual(result.err, 'Error from server (NotFound): namespaces "nowhere" not found\n')


class FromClientSideApply(OwnersCase):
    def setUp(self):
        super().setUp()
        self.k("apply -f -", stdin=config_map("settings", labels={"x": "y"}, a="1", b="2"))

    def test_client_side_apply_is_an_update(self):
        self.assertEqual(
            self.owners("configmaps", "settings"),
            {
                ("kubectl-client-side-apply", "Update"): {
                    "f:data": {".": {}, "f:a": {}, "f:b": {}},
                    "f:metadata": {
                        "f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}},
                        "f:labels": {".": {}, "f:x": {}},
                    },
                }
            },
        )

    def test_what_was_applied_does_not_conflict(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="2", b="2"))
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "2", "b": "2"})

    def test_what_another_manager_changed_since_is_one(self):
        self.rest.patch(self.path_of("configmaps", "settings") + "?fieldManager=three", {"data": {"b": "3"}}).expect()
        self.assertEqual(
            self.conflict(config_map("settings", labels={"x": "y"}, a="2", b="2")),
            'error: Apply failed with 1 conflict: conflict with "three" using v1: .data.b',
        )

    def test_it_is_a_conflict_for_other_managers(self):
        self.assertEqual(
            self.conflict(config_map("settings", labels={"x": "y"}, a="2"), "--field-manager=one"),
            'error: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a',
        )

    @since(1, 26, "the owners of client-side apply become those of server-side apply")
    def test_kubectl_rewrites_the_owners(self):
        result = self.apply(config_map("settings", labels={"x": "y"}, a="2"))
        self.assertEqual((result.out, result.err), ("configmap/settings serverside-applied\n", ""))
        self.assertEqual(
            self.owners("configmaps", "settings"),
            {
                ("kubectl", "Apply"): {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:x": {}}}},
                ("kubectl-last-applied", "Apply"): {"f:metadata": {"f:annotations": {f"f:{LAST_APPLIED}": {}}}},
            },
        )
        # The field that the manifest does not list any more was client-side apply's alone.
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"a": "2"})

    @since(1, 26, "the annotation stays when the owners are rewritten")
    def test_the_annotation_follows_and_the_way_back_works(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="2"))
        self.apply(config_map("settings", labels={"x": "y"}, a="3", c="4"))
        annotation = self.stored("configmaps", "settings")["metadata"]["annotations"][LAST_APPLIED]
        self.assertEqual(json.loads(annotation)["data"], {"a": "3", "c": "4"})
        self.k("apply -f -", stdin=config_map("settings", labels={"x": "y"}, c="4"))
        self.assertEqual(self.stored("configmaps", "settings")["data"], {"c": "4"})


class Owners(OwnersCase):
    @since(1, 21, "--field-manager of all commands, --show-managed-fields")
    def test_each_command_has_its_name(self):
        self.create(deployment("shop"))
        commands = {
            "label deployment shop a=b": ("kubectl-label", "Update"),
            "annotate deployment shop a=b": ("kubectl-annotate", "Update"),
            "set image deployment shop main=example.test/app:3": ("kubectl-set", "Update"),
            "rollout pause deployment shop": ("kubectl-rollout", "Update"),
            "scale deployment shop --replicas=9": ("kubectl", "Update", "scale"),
            """patch deployment shop -p '{"spec":{"minReadySeconds":3}}'""": ("kubectl-patch", "Update"),
            "label deployment shop c=d --field-manager=me": ("me", "Update"),
        }
        expected = {("kubectl-create", "Update")}
        for command, owner in commands.items():
            with self.subTest(command):
                self.k(command)
                expected.add(owner)
                self.assertEqual(set(self.owners("deployments", "shop")), expected)
        self.assertEqual(self.owners("deployments", "shop")["me", "Update"], {"f:metadata": {"f:labels": {"f:c": {}}}})

    def test_a_field_goes_to_the_command_that_changed_it(self):
        self.create(config_map("settings", labels={"x": "y"}, a="1"))
        self.k("label configmap settings --overwrite x=z --field-manager=me" if VERSION >= (1, 21) else "version")
        if VERSION < (1, 21):
            self.rest.patch(
                self.path_of("configmaps", "settings") + "?fieldManager=me", {"metadata": {"labels": {"x": "z"}}}
            ).expect()
        self.assertEqual(
            self.owners("configmaps", "settings"),
            {
                ("kubectl-create", "Update"): {
                    "f:data": {".": {}, "f:a": {}},
                    "f:metadata": {"f:labels": {}},
                },
                ("me", "Update"): {"f:metadata": {"f:labels": {"f:x": {}}}},
            },
        )

    @since(1, 21, "--show-managed-fields")
    def test_they_are_shown_on_demand(self):
        self.create(pod("one"))
        for form in ("json", "yaml"):
            self.assertNotIn("managedFields", self.k(f"get pod one -o {form}").out)
            self.assertIn("managedFields", self.k(f"get pod one -o {form} --show-managed-fields").out)
        shown = self.k("get pod one -o json --show-managed-fields").json["metadata"]["managedFields"]
        self.assertEqual(shown, self.stored("pods", "one")["metadata"]["managedFields"])
        self.assertEqual(
            [(entry["manager"], entry["operation"], entry["apiVersion"]) for entry in shown],
            [("kubectl-create", "Update", "v1")],
        )


class Diff(OwnersCase):
    def diff(self, item, flags=""):
        return self.try_k(f"diff --server-side {flags} -f -", stdin=json.dumps(item))

    def test_no_difference(self):
        self.apply(deployment("shop"))
        result = self.diff(deployment("shop"))
        self.assertEqual((result.code, result.out), (0, ""), str(result))

    def test_a_change_shows_old_and_new(self):
        self.apply(deployment("shop"))
        result = self.diff(deployment("shop", replicas=5))
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("-  replicas: 3\n+  replicas: 5\n", result.out)
        self.assertEqual(self.stored("deployments", "shop")["spec"]["replicas"], 3)

    def test_a_field_taken_out_of_the_manifest(self):
        self.apply(config_map("settings", a="1", b="2"))
        result = self.diff(config_map("settings", a="1"))
        self.assertEqual(result.code, 1, str(result))
        self.assertIn('   a: "1"\n-  b: "2"\n', result.out)

    def test_an_object_that_is_not_there_is_all_new(self):
        result = self.diff(config_map("settings", a="1"))
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("+kind: ConfigMap\n", result.out)
        self.assertEqual(self.rest.get(self.path_of("configmaps", "settings")).code, 404)

    def test_a_conflict_is_an_error_unless_it_is_forced(self):
        self.apply(config_map("settings", labels={"x": "y"}, a="1"), "--field-manager=one")
        result = self.diff(config_map("settings", labels={"x": "y"}, a="2"))
        self.assertGreater(result.code, 1, str(result))
        self.assertIn('Apply failed with 1 conflict: conflict with "one": .data.a', result.err)
        result = self.diff(config_map("settings", labels={"x": "y"}, a="2"), "--force-conflicts")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn('-  a: "1"\n+  a: "2"\n', result.out)


@since(1, 27, "apply sets")
class ApplySets(OwnersCase):
    PARENT = "configmap/parent"
    KIND = "ConfigMap"

    def apply_set(self, folder, flags="--server-side"):
        return self.k(
            ["apply", "--prune", f"--applyset={self.PARENT}", *flags.split(), "-f", str(folder)],
            environment={"KUBECTL_APPLYSET": "true"},
        )

    def identity(self):
        digest = hashlib.sha256(f"parent.{self.ns}.{self.KIND}.".encode()).digest()
        return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"

    def parent(self):
        return self.stored(f"{self.KIND.lower()}s", "parent")["metadata"]

    def write(self, folder, *names):
        for path in folder.iterdir():
            path.unlink()
        for name in names:
            (folder / f"{name}.json").write_text(json.dumps(config_map(name, labels={"x": "y"}, a="1")))

    @manifest_file
    def test_prune_deletes_what_left_the_set(self, folder):
        self.write(folder, "one", "two")
        out = self.apply_set(folder).lines
        self.assertEqual(sorted(out), ["configmap/one serverside-applied", "configmap/two serverside-applied"])
        self.assertEqual(
            self.stored("configmaps", "one")["metadata"]["labels"],
            {"applyset.kubernetes.io/part-of": self.identity(), "x": "y"},
        )
        self.create(config_map("stranger"))
        self.write(folder, "two")
        out = self.apply_set(folder).lines
        self.assertEqual(sorted(out), ["configmap/one pruned", "configmap/two serverside-applied"])
        names = self.k("get configmaps -o name").lines
        self.assertNotIn("configmap/one", names)
        self.assertLessEqual({"configmap/two", "configmap/stranger"}, set(names))

    @manifest_file
    def test_the_parent(self, folder):
        self.write(folder, "one")
        (folder / "shop.json").write_text(json.dumps(deployment("shop")))
        self.apply_set(folder)
        parent = self.parent()
        self.assertEqual(parent["labels"], {"applyset.kubernetes.io/id": self.identity()})
        annotations = dict(parent["annotations"])
        self.assertRegex(annotations.pop("applyset.kubernetes.io/tooling"), r"^kubectl/v1\.\d+")
        self.assertEqual(
            annotations,
            {
                "applyset.kubernetes.io/additional-namespaces": "",
                "applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps",
            },
        )
        self.assertEqual(
            self.owners(f"{self.KIND.lower()}s", "parent"),
            {
                ("kubectl-applyset", "Apply"): {
                    "f:metadata": {
                        "f:annotations": {
                            "f:applyset.kubernetes.io/additional-namespaces": {},
                            "f:applyset.kubernetes.io/contains-group-kinds": {},
                            "f:applyset.kubernetes.io/tooling": {},
                        },
                        "f:labels": {"f:applyset.kubernetes.io/id": {}},
                    }
                }
            },
        )
        (folder / "shop.json").unlink()
        self.assertIn("deployment.apps/shop pruned", self.apply_set(folder).lines)
        self.assertEqual(self.parent()["annotations"]["applyset.kubernetes.io/contains-group-kinds"], "ConfigMap")

    @manifest_file
    def test_client_side_apply_keeps_a_set_too(self, folder):
        self.write(folder, "one", "two")
        self.apply_set(folder, "")
        self.write(folder, "two")
        self.assertEqual(sorted(self.apply_set(folder, "").lines), ["configmap/one pruned", "configmap/two unchanged"])

    @manifest_file
    def test_kubectl_takes_its_annotations_back(self, folder):
        self.write(folder, "one")
        self.apply_set(folder)
        kinds = {"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Secret"}
        path = self.path_of(f"{self.KIND.lower()}s", "parent") + "?fieldManager=stranger"
        self.rest.patch(path, {"metadata": {"annotations": kinds}}).expect()
        result = self.apply_set(folder)
        self.assertEqual(result.out, "configmap/one serverside-applied\n")
        self.assertEqual(self.parent()["annotations"]["applyset.kubernetes.io/contains-group-kinds"], "ConfigMap")
        self.assertIn(
            'Apply failed with 1 conflict: conflict with "stranger" using v1: '
            ".metadata.annotations.applyset.kubernetes.io/contains-group-kinds",
            result.err,
        )


@since(1, 27, "apply sets")
class ApplySetsOfSecrets(ApplySets):
    """A Secret is the parent if no kind is given."""

    PARENT = "parent"
    KIND = "Secret"
