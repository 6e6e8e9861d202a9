"""Server-side apply: typed calls, the dynamic client, create_from_yaml, and the owners of other writes."""

from kubernetes import dynamic, utils

from base import ClientCase, config_map, deployment

APPLY = "application/apply-patch+yaml"
CONTAINER = {".": {}, "f:image": {}, "f:name": {}}


def manifest(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def owners(item):
    """The sets of an object by (manager, operation, subresource)."""
    return {
        (entry.manager, entry.operation, entry.subresource): entry.fields_v1
        for entry in item.metadata.managed_fields or []
    }


class ApplyCase(ClientCase):
    def apply(self, body, manager="me", name="settings", **options):
        return self.core.patch_namespaced_config_map(
            name, self.ns, body, _content_type=APPLY, field_manager=manager, **options
        )

    def stored(self):
        return self.core.read_namespaced_config_map("settings", self.ns)


class Typed(ApplyCase):
    def test_create_change_and_leave_out(self):
        made = self.apply(manifest("settings", a="1", b="2"))
        self.assertEqual(owners(made), {("me", "Apply", None): {"f:data": {"f:a": {}, "f:b": {}}}})
        again = self.apply(manifest("settings", a="1", b="2"))
        self.assertEqual(again, made)
        self.assertEqual(self.apply(manifest("settings", b="3")).data, {"b": "3"})
        self.assertEqual(self.stored().data, {"b": "3"})

    def test_models_and_yaml_are_bodies_too(self):
        body = config_map("settings", a="1")
        body.api_version, body.kind = "v1", "ConfigMap"
        self.assertEqual(self.apply(body).data, {"a": "1"})
        # The typed call takes no text; curl users send what is in their file.
        text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: # in blocks\n  b: |\n    two\n    lines\n"
        path = f"/api/v1/namespaces/{self.ns}/configmaps/settings?fieldManager=me"
        self.rest.request("PATCH", path, text, {"Content-Type": APPLY}).expect(200)
        self.assertEqual(self.stored().data, {"b": "two\nlines\n"})

    def test_conflict_and_force(self):
        self.apply(manifest("settings", a="1", b="1"), "one")
        self.core.patch_namespaced_config_map("settings", self.ns, {"data": {"c": "1"}}, field_manager="two")
        body = self.fails(409, "Conflict", self.apply, manifest("settings", a="2", c="2"), "three")
        self.assertEqual(
            body["message"],
            'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two" using v1:\n- .data.c',
        )
        self.assertCountEqual(
            body["details"]["causes"],
            [
                {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"},
                {"reason": "FieldManagerConflict", "message": 'conflict with "two" using v1', "field": ".data.c"},
            ],
        )
        forced = self.apply(manifest("settings", a="2", c="2"), "three", force=True)
        self.assertEqual(forced.data, {"a": "2", "b": "1", "c": "2"})
        self.assertEqual(
            owners(forced),
            {
                ("one", "Apply", None): {"f:data": {"f:b": {}}},
                ("three", "Apply", None): {"f:data": {"f:a": {}, "f:c": {}}},
            },
        )

    def test_dry_run(self):
        self.assertEqual(self.apply(manifest("settings", a="1"), dry_run="All").data, {"a": "1"})
        self.fails(404, "NotFound", self.stored)

    def test_status_and_scale(self):
        self.apps.create_namespaced_deployment(self.ns, deployment("shop"), field_manager="maker")
        head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}}
        made = self.apps.patch_namespaced_deployment_status(
            "shop", self.ns, {**head, "status": {"replicas": 2}}, _content_type=APPLY, field_manager="keeper"
        )
        self.assertEqual((made.spec.replicas, made.status.replicas), (3, 2))
        scale = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": "shop"},
            "spec": {"replicas": 8},
        }
        options = {"_content_type": APPLY, "field_manager": "scaler"}
        body = self.fails(
            409, "Conflict", self.apps.patch_namespaced_deployment_scale, "shop", self.ns, scale, **options
        )
        self.assertEqual(
            body["message"],
            'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
        )
        self.apps.patch_namespaced_deployment_scale("shop", self.ns, scale, force=True, **options)
        stored = self.apps.read_namespaced_deployment("shop", self.ns)
        self.assertEqual(stored.spec.replicas, 8)
        sets = owners(stored)
        self.assertEqual(sets["scaler", "Apply", "scale"], {"f:spec": {"f:replicas": {}}})
        self.assertEqual(sets["keeper", "Apply", "status"], {"f:status": {"f:replicas": {}}})
        self.assertNotIn("f:replicas", sets["maker", "Update", None]["f:spec"])

    def test_refused(self):
        body = self.fails(422, "Invalid", self.apply, manifest("settings"), None)
        self.assertEqual(
            body["message"],
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        )
        body = self.fails(400, "BadRequest", self.apply, manifest("other"))
        self.assertEqual(
            body["message"], "the name of the object (other) does not match the name on the URL (settings)"
        )
        made = self.apply(manifest("settings", a="1"))
        made.api_version, made.kind = "v1", "ConfigMap"
        body = self.fails(400, "BadRequest", self.apply, made)
        self.assertEqual(body["message"], "metadata.managedFields must be nil")


class OtherWrites(ApplyCase):
    def test_the_manager_of_an_update_is_the_user_agent(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("settings", a="1"))
        self.assertEqual(owners(made), {("OpenAPI-Generator", "Update", None): {"f:data": {".": {}, "f:a": {}}}})
        self.core.patch_namespaced_config_map("settings", self.ns, {"data": {"b": "2"}}, field_manager="other")
        self.assertEqual(owners(self.stored())["other", "Update", None], {"f:data": {"f:b": {}}})

    def test_a_read_object_can_be_written_back(self):
        self.apply(manifest("settings", a="1"))
        item = self.stored()
        before = owners(item)
        item.data["b"] = "2"
        changed = self.core.replace_namespaced_config_map("settings", self.ns, item, field_manager="other")
        self.assertEqual(owners(changed), {**before, ("other", "Update", None): {"f:data": {"f:b": {}}}})


class Dynamic(ApplyCase):
    def setUp(self):
        super().setUp()
        self.maps = dynamic.DynamicClient(self.api_client).resources.get(api_version="v1", kind="ConfigMap")

    def test_server_side_apply(self):
        self.maps.server_side_apply(manifest("settings", a="1", b="2"), namespace=self.ns, field_manager="one")
        with self.assertRaises(dynamic.exceptions.ConflictError) as caught:
            self.maps.server_side_apply(manifest("settings", a="2"), namespace=self.ns, field_manager="two")
        self.assertEqual(caught.exception.summary(), 'Apply failed with 1 conflict: conflict with "one": .data.a')
        forced = self.maps.server_side_apply(
            manifest("settings", a="2"), namespace=self.ns, field_manager="two", force_conflicts=True
        )
        self.assertEqual(forced.data.to_dict(), {"a": "2", "b": "2"})
        self.maps.server_side_apply(manifest("settings"), namespace=self.ns, field_manager="one")
        self.assertEqual(self.stored().data, {"a": "2"})


class Yaml(ApplyCase):
    def test_create_from_yaml_can_apply(self):
        head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}}
        shop = {**head, "spec": self.api_client.sanitize_for_serialization(deployment("shop").spec)}
        for replicas in (3, 5):
            shop["spec"]["replicas"] = replicas
            for item in (manifest("settings", a="1"), shop):
                utils.create_from_dict(self.api_client, item, namespace=self.ns, apply=True)
            stored = self.apps.read_namespaced_deployment("shop", self.ns)
            self.assertEqual(stored.spec.replicas, replicas)
        containers = owners(stored)["python-client", "Apply", None]["f:spec"]["f:template"]["f:spec"]["f:containers"]
        self.assertEqual(containers, {'k:{"name":"main"}': CONTAINER})
        self.assertEqual(self.stored().data, {"a": "1"})
