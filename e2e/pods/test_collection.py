"""Owners and dependents, and the deletion of namespaces."""

from base import ControlPlaneCase, pod


class Owners(ControlPlaneCase):
    """An owner that no controller handles, and pods with a reference to it."""

    def setUp(self):
        super().setUp()
        self.owner = self.make({"metadata": {"name": "web"}}, "configmaps")
        self.owner.update(apiVersion="v1", kind="ConfigMap")
        self.running(*(pod(name, owner=self.owner, script={"stop-after": "10s"}) for name in ("one", "two")))

    def columns(self):
        return [self.status_column(name) for name in ("one", "two")]

    def test_foreground_waits_for_the_dependents(self):
        self.k("delete configmap web --cascade=foreground --wait=false")
        self.settle()
        self.assertEqual(self.columns(), ["Terminating", "Terminating"])
        self.assertEqual(self.stored("web", "configmaps")["metadata"]["finalizers"], ["foregroundDeletion"])
        self.advance("9s")
        self.assertFalse(self.is_gone("web", "configmaps"))
        self.advance("1s")
        self.assertTrue(self.is_gone("one") and self.is_gone("two") and self.is_gone("web", "configmaps"))

    def test_background_does_not(self):
        self.k("delete configmap web --cascade=background --timeout=20s")
        self.assertTrue(self.is_gone("web", "configmaps"))
        self.settle()
        self.assertEqual(self.columns(), ["Terminating", "Terminating"])
        self.advance("10s")
        self.assertTrue(self.is_gone("one") and self.is_gone("two"))

    def test_orphan_lets_them_live(self):
        self.k("delete configmap web --cascade=orphan --timeout=20s")
        self.advance("10m")
        self.assertEqual(self.columns(), ["Running", "Running"])
        for name in ("one", "two"):
            self.assertNotIn("ownerReferences", self.stored(name)["metadata"])

    def test_an_owner_that_never_was(self):
        self.owner["metadata"]["uid"] = "4fc2a1f6-0a5f-4b5c-9c39-0c1a3d9f0001"
        self.make(pod("stray", owner=self.owner))
        self.run_until("delete", "stray", limit="1m")
        self.assertEqual(self.columns(), ["Running", "Running"])

    def test_one_of_two_owners(self):
        other = self.make({"metadata": {"name": "other"}}, "configmaps")
        other.update(apiVersion="v1", kind="ConfigMap")
        reference = pod("x", owner=other)["metadata"]["ownerReferences"][0]
        reference["controller"] = False
        shared = pod("shared", owner=self.owner)
        shared["metadata"]["ownerReferences"].append(reference)
        self.running(shared)
        self.k("delete configmap web --timeout=20s")
        self.settle()
        self.assertEqual([owner["name"] for owner in self.stored("shared")["metadata"]["ownerReferences"]], ["other"])
        self.k("delete configmap other --timeout=20s")
        self.run_until("delete", "shared", limit="1m")


class Namespaces(ControlPlaneCase):
    flags = ("--clock=auto",)

    def test_delete_ends(self):
        item = pod("web", script={"stop-after": "20s"})
        self.make(item)
        self.make({"metadata": {"name": "settings"}}, "configmaps")
        self.wait_until("the pod runs", lambda: self.stored("web")["status"]["phase"] == "Running")
        done = self.k(f"delete namespace {self.ns} --timeout=25s", namespace=False)
        self.assertEqual(done.out, f'namespace "{self.ns}" deleted\n')
        self.assertEqual(self.rest.get(f"/api/v1/namespaces/{self.ns}").code, 404)
        self.assertEqual((self.is_gone("web"), self.is_gone("settings", "configmaps")), (True, True))

    def test_remaining_content_is_reported(self):
        self.make({"metadata": {"name": "settings", "finalizers": ["example.test/keep"]}}, "configmaps")
        self.k(f"delete namespace {self.ns} --wait=false", namespace=False)

        def told():
            status = self.rest.get(f"/api/v1/namespaces/{self.ns}").expect()["status"]
            return {entry["type"]: entry for entry in status.get("conditions", []) if entry["status"] == "True"}

        self.wait_until("the conditions say what remains", lambda: "NamespaceFinalizersRemaining" in told())
        self.assertIn("example.test/keep in 1 resource instances", told()["NamespaceFinalizersRemaining"]["message"])
        self.assertIn("configmaps. has 1 resource instances", told()["NamespaceContentRemaining"]["message"])
        self.assertEqual(self.rest.get(f"/api/v1/namespaces/{self.ns}").expect()["status"]["phase"], "Terminating")
        self.k_fails("create configmap late", "because it is being terminated")
        self.rest.patch(self.path_of("configmaps", "settings"), {"metadata": {"finalizers": None}}).expect()
        self.wait_until("it is gone", lambda: self.rest.get(f"/api/v1/namespaces/{self.ns}").code == 404)
