"""The life of a release: install, upgrade, test, rollback, uninstall."""

from base import HelmCase, container, owned, owners

# The clock reaches the Deployment's deadline for progress immediately. Pods that are only late would be ready soon after
# it, perhaps before a slow Helm sees the failure.
NEVER_READY = """--set-json podAnnotations='{"terrarium.dev/never-ready":"true"}'"""


class Install(HelmCase):
    def test_it_waits_for_the_hook_and_for_the_deployment(self):
        result = self.helm("install shop CHART --wait")
        self.assertIn("STATUS: deployed", result.out)
        self.assertIn("shop serves revision 1 of the shop.", result.out)

        deployment, job = self.get("deployments"), self.get("jobs", "shop-migration")
        self.assertEqual(deployment["status"]["availableReplicas"], 2, deployment["status"])
        self.assertEqual(deployment["status"]["observedGeneration"], deployment["metadata"]["generation"])
        self.assertEqual(job["status"]["succeeded"], 1, job["status"])
        # The hook has run for its 90 s before the Deployment was created.
        self.assertGreaterEqual(deployment["metadata"]["creationTimestamp"], job["status"]["completionTime"])
        self.assertEqual(self.get("configmaps")["data"], {"colour": "green", "size": "large"})
        self.assertTrue(self.get("services")["spec"]["clusterIP"])

    def test_its_objects_are_applied_by_the_manager_helm(self):
        self.helm("install shop CHART --wait")
        config = self.get("configmaps")
        self.assertEqual(owners(config), [("helm", "Apply", "")])
        self.assertEqual(owned(config)["f:data"], {"f:colour": {}, "f:size": {}})
        labels = owned(config)["f:metadata"]["f:labels"]
        self.assertEqual(labels, {"f:app": {}, "f:app.kubernetes.io/managed-by": {}})
        deployment = self.get("deployments")
        self.assertEqual(owners(deployment), [("helm", "Apply", ""), ("kube-controller-manager", "Update", "status")])
        self.assertNotIn("f:status", owned(deployment))
        self.assertIn('k:{"name":"main"}', owned(deployment)["f:spec"]["f:template"]["f:spec"]["f:containers"])
        service = owned(self.get("services"))["f:spec"]
        self.assertIn('k:{"port":80,"protocol":"TCP"}', service["f:ports"])
        self.assertNotIn("f:clusterIP", service)

    def test_a_hook_that_fails_stops_it(self):
        self.helm_fails("install shop CHART --wait --set migration.exitCode=3", "failed pre-install", "shop-migration")
        self.assertEqual(self.history(), [(1, "failed")])
        self.assertEqual(self.get("jobs", "shop-migration")["status"]["failed"], 1)
        self.assertTrue(self.is_gone("deployments"))
        self.assertTrue(self.is_gone("configmaps"))

    def test_a_deployment_that_makes_no_progress_fails(self):
        self.helm_fails(f"install shop CHART --wait {NEVER_READY}", "Deployment", "not ready")
        self.assertEqual(self.history(), [(1, "failed")])

    def test_a_dry_run_on_the_server_writes_nothing(self):
        result = self.helm("install shop CHART --dry-run=server")
        self.assertIn("kind: Deployment", result.out)
        self.assertTrue(self.is_gone("deployments"))
        self.assertEqual([item for item in self.list("secrets") if item["type"].startswith("helm")], [])

    def test_an_object_of_another_owner_is_not_taken(self):
        foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}, "data": {"colour": "red"}}
        self.rest.post(self.path_of("configmaps"), foreign).expect()
        self.helm_fails("install shop CHART", "exists and cannot be imported", "invalid ownership metadata")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "red"})


class Upgrade(HelmCase):
    def test_what_the_chart_no_longer_has_is_removed(self):
        self.helm("install shop CHART --wait --set ports.admin=8080 --set podAnnotations.note=first")
        ports = [port["name"] for port in self.get("services")["spec"]["ports"]]
        self.assertEqual(sorted(ports), ["admin", "http"])
        first = self.get("deployments")

        self.helm("upgrade shop CHART --wait --reset-values --set settings.size=null --set image=example.test/shop:2")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "green"})
        self.assertEqual(owned(self.get("configmaps"))["f:data"], {"f:colour": {}})
        self.assertEqual([port["name"] for port in self.get("services")["spec"]["ports"]], ["http"])
        second = self.get("deployments")
        self.assertNotIn("annotations", second["spec"]["template"]["metadata"])
        self.assertEqual(container(second)["image"], "example.test/shop:2")
        self.assertEqual(second["metadata"]["uid"], first["metadata"]["uid"])
        # --wait waited for the new pods.
        self.assertEqual(second["status"]["updatedReplicas"], 2, second["status"])
        self.assertEqual(second["status"]["availableReplicas"], 2, second["status"])
        self.assertEqual(self.history(), [(1, "superseded"), (2, "deployed")])

    def test_fields_of_other_managers_stay(self):
        self.helm("install shop CHART")
        mine = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}, "data": {"extra": "1"}}
        self.apply_as("operator", "configmaps", mine)
        self.rest.patch(self.path_of("deployments", "shop"), {"metadata": {"annotations": {"team": "blue"}}}).expect()
        self.helm("upgrade shop CHART --set settings.colour=blue")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "blue", "extra": "1", "size": "large"})
        self.assertEqual(self.get("deployments")["metadata"]["annotations"]["team"], "blue")

    def test_the_hook_runs_again(self):
        self.helm("install shop CHART")
        first = self.get("jobs", "shop-migration")["metadata"]["uid"]
        self.helm("upgrade shop CHART")
        second = self.get("jobs", "shop-migration")
        self.assertNotEqual(second["metadata"]["uid"], first)
        self.assertEqual(second["status"]["succeeded"], 1)

    def test_an_object_that_leaves_the_chart_is_deleted(self):
        self.helm("install shop CHART")
        self.helm("install store CHART")
        self.helm("upgrade shop CHART --wait --set ports=null")
        self.assertTrue(self.is_gone("services"))
        self.assertFalse(self.is_gone("services", "store"))
        self.helm("rollback shop 1 --wait")
        self.assertFalse(self.is_gone("services"))

    def test_a_failed_upgrade_is_rolled_back(self):
        self.helm("install shop CHART --wait")
        self.helm_fails(f"upgrade shop CHART --rollback-on-failure --set settings.colour=red {NEVER_READY}", "not ready")
        self.assertEqual(self.history(), [(1, "superseded"), (2, "failed"), (3, "deployed")])
        self.assertEqual(self.get("configmaps")["data"]["colour"], "green")
        deployment = self.get("deployments")
        self.assertNotIn("annotations", deployment["spec"]["template"]["metadata"])
        self.assertEqual(deployment["status"]["availableReplicas"], 2, deployment["status"])


class Test(HelmCase):
    def phase(self):
        return self.get("pods", "shop-test")["status"]["phase"]

    def test_it_waits_until_its_pod_has_ended(self):
        self.helm("install shop CHART --wait")
        self.assertTrue(self.is_gone("pods", "shop-test"))
        result = self.helm("test shop --logs")
        self.assertRegex(result.out, r"TEST SUITE: +shop-test\n")
        self.assertRegex(result.out, r"Phase: +Succeeded\n")
        self.assertIn("POD LOGS: shop-test (main)", result.out)
        self.assertEqual(self.phase(), "Succeeded")
        self.assertEqual(self.history(), [(1, "deployed")])

    def test_it_can_be_repeated(self):
        self.helm("install shop CHART")
        self.helm("test shop")
        first = self.get("pods", "shop-test")["metadata"]["uid"]
        self.helm("test shop")
        self.assertNotEqual(self.get("pods", "shop-test")["metadata"]["uid"], first)

    def test_a_pod_that_fails_fails_it(self):
        self.helm("install shop CHART --set test.exitCode=3")
        result = self.helm_fails("test shop", "shop-test failed")
        self.assertRegex(result.out, r"Phase: +Failed\n")
        self.assertEqual(self.phase(), "Failed")
        self.assertEqual(self.history(), [(1, "deployed")])


class Rollback(HelmCase):
    def test_it_restores_removed_and_changed_fields(self):
        self.helm("install shop CHART --wait")
        before = self.get("configmaps")
        self.helm("upgrade shop CHART --wait --set settings.size=null --set settings.colour=red --set settings.taste=sour")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "red", "taste": "sour"})
        self.helm("rollback shop 1 --wait")
        after = self.get("configmaps")
        self.assertEqual(after["data"], before["data"])
        self.assertEqual(owned(after), owned(before))
        self.assertEqual(after["metadata"]["uid"], before["metadata"]["uid"])
        self.assertEqual(self.history(), [(1, "superseded"), (2, "superseded"), (3, "deployed")])

    def test_the_deployment_returns_to_its_first_replicaset(self):
        self.helm("install shop CHART --wait")
        (first,) = self.list("replicasets")
        self.helm("upgrade shop CHART --wait --set image=example.test/shop:2")
        self.assertEqual(len(self.list("replicasets")), 2)
        self.helm("rollback shop --wait")
        self.assertEqual(container(self.get("deployments"))["image"], "example.test/shop:1")
        sizes = {item["metadata"]["uid"]: item["status"]["replicas"] for item in self.list("replicasets")}
        self.assertEqual(len(sizes), 2)
        self.assertEqual(sizes[first["metadata"]["uid"]], 2)
        self.assertEqual(sum(sizes.values()), 2)


class Uninstall(HelmCase):
    def test_it_waits_until_all_is_gone(self):
        self.helm("install shop CHART --wait")
        self.helm("install store CHART --wait")
        result = self.helm("uninstall shop --wait --cascade foreground")
        self.assertIn('release "shop" uninstalled', result.out)
        for resource in ("deployments", "services", "configmaps"):
            self.assertTrue(self.is_gone(resource), resource)
            self.assertFalse(self.is_gone(resource, "store"), resource)
        # In the foreground the Deployment goes after its pods.
        self.assertEqual({item["metadata"]["labels"]["app"] for item in self.list("replicasets")}, {"store"})
        self.helm_fails("status shop", "release: not found")
        self.assertEqual([item["name"] for item in self.helm("list -o json").json], ["store"])

    def test_its_history_can_be_kept_and_rolled_back_to(self):
        self.helm("install shop CHART")
        self.helm("uninstall shop --keep-history --wait")
        self.assertEqual(self.history(), [(1, "uninstalled")])
        self.assertTrue(self.is_gone("configmaps"))
        self.helm("rollback shop 1")
        self.assertEqual(self.get("configmaps")["data"], {"colour": "green", "size": "large"})
        self.assertEqual(owners(self.get("configmaps")), [("helm", "Apply", "")])
