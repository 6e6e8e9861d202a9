"""kubectl delete in its variants. No component collects dependants or stops pods here: the tests do."""

from base import KubectlCase, config_map, deployment, pod


class DeleteObjects(KubectlCase):
    def names(self, resource="configmaps"):
        return [name.split("/")[1] for name in self.k(f"get {resource} -o name").lines]

    def test_by_name_file_selector_and_all(self):
        self.create(*(config_map(name, labels={"set": name[0]}) for name in ("a1", "a2", "b1", "c1", "c2")))
        self.assertEqual(self.k("delete configmap b1").out.split(" deleted")[0], 'configmap "b1"')
        self.assertEqual(self.names(), ["a1", "a2", "c1", "c2"])
        self.k("delete configmap -l set=a")
        self.assertEqual(self.names(), ["c1", "c2"])
        self.k("delete -f -", stdin=config_map("c1"))
        self.assertEqual(self.names(), ["c2"])
        self.k("delete configmaps --all")
        self.assertEqual(self.names(), [])

    def test_by_field_selector(self):
        self.create(config_map("one"), config_map("two"))
        self.k("delete configmaps --field-selector metadata.name=one")
        self.assertEqual(self.names(), ["two"])

    def test_nothing_there(self):
        self.k_fails("delete configmap nobody", 'configmaps "nobody" not found')
        self.k("delete configmap nobody --ignore-not-found")

    def test_several_kinds_by_name(self):
        self.create(config_map("one"), deployment("one"))
        self.k("delete configmap/one deployment/one")
        self.assertEqual(self.k("get configmaps,deployments -o name").out, "")

    def test_finalizer_holds_the_object(self):
        item = config_map("held")
        item["metadata"]["finalizers"] = ["example.test/hold"]
        self.create(item)
        self.k("delete configmap held --wait=false")
        self.assertIn("deletionTimestamp", self.get("configmap held")["metadata"])
        self.k(["patch", "configmap", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'])
        self.k_fails("get configmap held", "NotFound")

    def test_delete_waits_for_the_finalizer(self):
        item = config_map("held")
        item["metadata"]["finalizers"] = ["example.test/hold"]
        self.create(item)
        deleting = self.start("delete configmap held")
        deleting.line_with("deleted")
        self.rest.patch(self.path_of("configmaps", "held"), {"metadata": {"finalizers": None}}).expect()
        self.assertEqual(deleting.end()[0], 0)

    def test_namespace_stays_until_it_is_finalized(self):
        self.k(f"delete namespace {self.ns} --wait=false", namespace=False)
        stored = self.k(f"get namespace {self.ns} -o json", namespace=False).json
        self.assertEqual(stored["status"]["phase"], "Terminating")
        self.k_fails("create configmap late", "because it is being terminated")
        stored["spec"]["finalizers"] = []
        self.rest.put(f"/api/v1/namespaces/{self.ns}/finalize", stored).expect()
        self.k_fails(f"get namespace {self.ns}", "NotFound", namespace=False)


class Cascade(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(deployment("shop"))

    def finalizers(self):
        return self.get("deployment shop")["metadata"].get("finalizers")

    def test_background_is_deleted_immediately(self):
        self.k("delete deployment shop --cascade=background")
        self.k_fails("get deployment shop", "NotFound")

    def test_orphan_waits_for_the_collector(self):
        self.k("delete deployment shop --cascade=orphan --wait=false")
        self.assertEqual(self.finalizers(), ["orphan"])
        self.k(["patch", "deployment", "shop", "--type=json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]'])
        self.k_fails("get deployment shop", "NotFound")

    def test_foreground_waits_for_the_collector(self):
        self.k("delete deployment shop --cascade=foreground --wait=false")
        self.assertEqual(self.finalizers(), ["foregroundDeletion"])
        self.k(["patch", "deployment", "shop", "--type=json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]'])
        self.k_fails("get deployment shop", "NotFound")


class DeletePods(KubectlCase):
    def metadata(self):
        return self.get("pod shop")["metadata"]

    def test_an_unscheduled_pod_is_deleted_immediately(self):
        self.create(pod("shop"))
        self.k("delete pod shop")
        self.k_fails("get pod shop", "NotFound")

    def test_a_scheduled_pod_has_its_grace_period(self):
        self.create(pod("shop", node="somewhere", terminationGracePeriodSeconds=17))
        self.k("delete pod shop --wait=false")
        self.assertEqual(self.metadata()["deletionGracePeriodSeconds"], 17)

    def test_grace_period_on_the_command_line(self):
        self.create(pod("shop", node="somewhere"))
        self.k("delete pod shop --grace-period=5 --wait=false")
        self.assertEqual(self.metadata()["deletionGracePeriodSeconds"], 5)

    def test_grace_period_can_only_be_shortened(self):
        self.create(pod("shop", node="somewhere"))
        self.k("delete pod shop --grace-period=5 --wait=false")
        self.k("delete pod shop --grace-period=50 --wait=false")
        self.assertEqual(self.metadata()["deletionGracePeriodSeconds"], 5)
        self.k("delete pod shop --grace-period=2 --wait=false")
        self.assertEqual(self.metadata()["deletionGracePeriodSeconds"], 2)

    def test_now_is_one_second(self):
        self.create(pod("shop", node="somewhere"))
        self.k("delete pod shop --now --wait=false")
        self.assertEqual(self.metadata()["deletionGracePeriodSeconds"], 1)

    def test_force_deletes_immediately(self):
        self.create(pod("shop", node="somewhere"))
        result = self.k("delete pod shop --force --grace-period=0")
        self.assertIn("Immediate deletion does not wait", result.err)
        self.k_fails("get pod shop", "NotFound")

    def test_delete_waits_for_the_kubelet(self):
        self.create(pod("shop", node="somewhere"))
        deleting = self.start("delete pod shop")
        deleting.line_with("deleted")
        # The kubelet's final delete: the containers have ended.
        self.rest.delete(self.path_of("pods", "shop"), {"gracePeriodSeconds": 0}).expect()
        self.assertEqual(deleting.end()[0], 0)

    def test_a_terminating_pod_is_shown_as_terminating(self):
        self.create(pod("shop", node="somewhere"))
        self.k("delete pod shop --wait=false")
        self.assertEqual(self.k("get pod shop").lines[1].split()[2], "Terminating")
