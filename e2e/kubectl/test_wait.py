"""kubectl wait."""

from base import KubectlCase, config_map, deployment, pod, since

READY = {"type": "Ready", "status": "True"}


class Wait(KubectlCase):
    def test_condition_that_holds_already(self):
        self.create(pod("shop"))
        self.set_status("pods", "shop", {"conditions": [READY]})
        self.assertEqual(self.k("wait pod shop --for=condition=Ready --timeout=10s").out, "pod/shop condition met\n")

    def test_condition_that_comes(self):
        self.create(pod("shop"))
        waiting = self.start("wait pod shop --for=condition=Ready --timeout=20s")
        self.set_status("pods", "shop", {"conditions": [READY]})
        self.assertEqual(waiting.end(), (0, "pod/shop condition met"))

    def test_condition_with_a_value(self):
        self.create(deployment("shop"))
        self.set_status("deployments", "shop", {"conditions": [{"type": "Available", "status": "False"}]})
        self.k("wait deployment/shop --for=condition=Available=False --timeout=10s")

    def test_condition_of_several_by_selector(self):
        self.create(pod("one", labels={"set": "s"}), pod("two", labels={"set": "s"}), pod("three"))
        for name in ("one", "two"):
            self.set_status("pods", name, {"conditions": [READY]})
        self.assertEqual(
            self.k("wait pods -l set=s --for=condition=Ready --timeout=10s").lines,
            ["pod/one condition met", "pod/two condition met"],
        )

    def test_condition_that_does_not_come(self):
        self.create(pod("shop"))
        self.k_fails("wait pod shop --for=condition=Ready --timeout=1s", "timed out waiting for the condition")

    def test_deletion(self):
        self.create(config_map("one"))
        # Its request log shows when it has seen the object. Older versions fail if the object is deleted before that.
        waiting = self.start("wait configmap one --for=delete --timeout=20s -v=6")
        waiting.line_with("configmaps")
        self.rest.delete(self.path_of("configmaps", "one")).expect()
        code, printed = waiting.end()
        self.assertEqual(code, 0, printed)

    @since(1, 23, "--for=jsonpath")
    def test_json_path(self):
        self.create(pod("shop"))
        waiting = self.start("wait pod shop --for=jsonpath={.status.phase}=Running --timeout=20s")
        self.set_status("pods", "shop", {"phase": "Running"})
        self.assertEqual(waiting.end(), (0, "pod/shop condition met"))

    @since(1, 31, "--for=create")
    def test_creation(self):
        waiting = self.start("wait configmap/late --for=create --timeout=20s")
        self.create(config_map("late"))
        self.assertEqual(waiting.end(), (0, "configmap/late condition met"))

    def test_nothing_to_wait_for(self):
        self.k_fails("wait pod nobody --for=condition=Ready --timeout=1s", "NotFound")
