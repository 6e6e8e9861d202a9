"""Helm beside other field managers, and what `helm get` reads back."""

from base import HelmCase, owned, owners


class Conflicts(HelmCase):
    def replicas_of(self, replicas):
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}, "spec": {"replicas": replicas}}

    def test_a_field_of_another_manager_is_a_conflict(self):
        self.helm("install shop CHART --wait")
        self.apply_as("autoscaler", "deployments", self.replicas_of(5), force=True)
        self.helm_fails(
            "upgrade shop CHART --set replicas=3",
            "conflict occurred while applying object",
            'Apply failed with 1 conflict: conflict with "autoscaler": .spec.replicas',
        )
        deployment = self.get("deployments")
        self.assertEqual(deployment["spec"]["replicas"], 5)
        self.assertEqual(owned(deployment, "autoscaler"), {"f:spec": {"f:replicas": {}}})
        self.assertEqual(self.history(), [(1, "deployed"), (2, "failed")])

        self.helm("upgrade shop CHART --set replicas=3 --force-conflicts")
        deployment = self.get("deployments")
        self.assertEqual(deployment["spec"]["replicas"], 3)
        self.assertIsNone(owned(deployment, "autoscaler"))
        self.assertIn("f:replicas", owned(deployment)["f:spec"])

    def test_a_client_that_edits_a_field_conflicts_too(self):
        self.helm("install shop CHART")
        edit = {"data": {"colour": "pink"}}
        headers = {"Content-Type": "application/merge-patch+json"}
        self.rest.request("PATCH", self.path_of("configmaps", "shop") + "?fieldManager=console", edit, headers).expect()
        self.helm_fails(
            "upgrade shop CHART", 'Apply failed with 1 conflict: conflict with "console" using v1: .data.colour'
        )
        self.assertEqual(self.get("configmaps")["data"]["colour"], "pink")

    def test_replicas_that_the_chart_leaves_out_are_the_autoscalers(self):
        self.helm("install shop CHART --wait")
        self.apply_as("autoscaler", "deployments", self.replicas_of(5), force=True)
        self.helm("upgrade shop CHART --wait --set replicas=null")
        deployment = self.get("deployments")
        self.assertEqual(deployment["spec"]["replicas"], 5)
        self.assertEqual(deployment["status"]["availableReplicas"], 5, deployment["status"])
        self.apply_as("autoscaler", "deployments", self.replicas_of(1))
        self.helm("upgrade shop CHART --wait --set replicas=null --set settings.colour=blue")
        self.assertEqual(self.get("deployments")["spec"]["replicas"], 1)

    def test_the_same_value_is_shared(self):
        self.helm("install shop CHART")
        self.apply_as("autoscaler", "deployments", self.replicas_of(2))
        self.helm("upgrade shop CHART")
        deployment = self.get("deployments")
        self.assertEqual(owned(deployment, "autoscaler"), {"f:spec": {"f:replicas": {}}})
        self.assertIn("f:replicas", owned(deployment)["f:spec"])


class ClientSide(HelmCase):
    def test_a_release_moves_to_server_side_apply(self):
        self.helm("install shop CHART --server-side=false")
        self.assertEqual(owners(self.get("configmaps")), [("helm", "Update", "")])
        self.helm("upgrade shop CHART --server-side=true --set settings.size=null --set settings.colour=red")
        config = self.get("configmaps")
        self.assertEqual(config["data"], {"colour": "red"})
        self.assertEqual(owners(config), [("helm", "Apply", "")])
        self.assertEqual(owned(config)["f:data"], {"f:colour": {}})

    def test_a_release_stays_client_side(self):
        self.helm("install shop CHART --server-side=false")
        self.helm("upgrade shop CHART --set settings.size=null --set image=example.test/shop:2")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "green"})
        self.assertEqual(owners(self.get("configmaps")), [("helm", "Update", "")])


class Get(HelmCase):
    def test_it_reads_the_release_back(self):
        self.helm("install shop CHART --set replicas=1 --description 'the first one'")
        self.assertEqual(self.helm("get values shop -o json").json, {"replicas": 1})
        everything = self.helm("get values shop --all -o json").json
        self.assertEqual((everything["replicas"], everything["image"]), (1, "example.test/shop:1"))
        manifest = self.helm("get manifest shop").out
        self.assertEqual(manifest.count("\nkind: "), 3, manifest)
        self.assertIn("replicas: 1", manifest)
        self.assertIn("kind: Job", self.helm("get hooks shop").out)
        self.assertIn("shop serves revision 1", self.helm("get notes shop").out)
        metadata = self.helm("get metadata shop -o json").json
        self.assertEqual((metadata["chart"], metadata["version"], metadata["status"]), ("shop", "1.0.0", "deployed"))

    def test_its_revisions_are_secrets(self):
        self.helm("install shop CHART")
        self.helm("upgrade shop CHART --set replicas=1")
        secrets = {item["metadata"]["name"]: item for item in self.list("secrets")}
        self.assertEqual(sorted(secrets), ["sh.helm.release.v1.shop.v1", "sh.helm.release.v1.shop.v2"])
        newest = secrets["sh.helm.release.v1.shop.v2"]
        self.assertEqual(newest["type"], "helm.sh/release.v1")
        self.assertEqual(newest["metadata"]["labels"]["status"], "deployed")
        self.assertEqual(self.helm("get values shop --revision 1 -o json").json, None)
        status = self.helm("status shop -o json").json
        self.assertEqual((status["version"], status["info"]["status"]), (2, "deployed"))
