"""Unreachable, slow and faulty pickers: the scale-down still happens, and an event and a metric state the fault."""

import threading

from base import Picker, PickerCase, Stopwatch, chooses, chooses_last
from lib.server import Server, binary_from_environment
from workloads.base import deployment


class Faults(PickerCase):
    def scale_down(self, http, outcome, *texts, retries=1):
        """A scale-down that succeeds without the picker."""
        before, failed = self.calls(outcome), self.failures(outcome)
        self.start_workers(4, http, maxRetries=retries)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        (event,) = self.picker_events()
        for text in texts:
            self.assertIn(text, event)
        self.assertEqual(self.calls(outcome), before + 1 + retries)
        self.assertEqual(self.failures(outcome), failed + 1)

    def test_a_picker_that_was_killed(self):
        picker = Picker(chooses_last)
        picker.stop()
        self.scale_down(picker.at(), "connection_failed", "Connection refused")

    def test_a_picker_that_is_killed_between_two_scale_downs(self):
        picker = Picker(chooses_last)
        pods = self.start_workers(4, picker.at(), maxRetries=0)
        self.scale("web", 3)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:3])
        self.assertEqual(self.picker_events(), [])
        picker.stop()
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        self.assertEqual(len(self.picker_events()), 1)

    def test_a_picker_that_takes_too_long(self):
        end = threading.Event()
        self.addCleanup(end.set)
        picker = self.picker(lambda request: end.wait(60) and {})
        self.scale_down(picker.at(), "timeout", "after 1s", retries=0)

    def test_a_picker_that_lies_about_the_candidates(self):
        picker = self.picker(chooses("somebody-else"))
        self.scale_down(picker.at(), "malformed")
        self.assertEqual(len(picker.requests), 2)

    def test_a_picker_that_speaks_nonsense(self):
        picker = self.picker(lambda request: (200, {}, b"<html>"))
        self.scale_down(picker.at(), "malformed")

    def test_a_picker_whose_answer_is_too_large(self):
        picker = self.picker(lambda request: (200, {}, b"[" + b" " * (1 << 20)))
        self.scale_down(picker.at(), "too_large", "1048576")

    def test_a_picker_that_sends_us_elsewhere(self):
        other = self.picker(chooses_last)
        picker = self.picker(lambda request: (307, {"Location": f"http://127.0.0.1:{other.port}/pick"}, b""))
        self.scale_down(picker.at(), "redirect", "307")
        self.assertEqual(other.requests, [])

    def test_a_picker_that_recovers_is_believed(self):
        answers = iter([(500, {}, b"{}"), (200, {}, b"{")])
        picker = self.picker(lambda request: next(answers, None) or chooses_last(request))
        pods = self.start_workers(4, picker.at())
        self.scale("web", 2)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:2])
        self.assertEqual(self.picker_events(), [])
        self.assertEqual(len(picker.requests), 3)


class Slowness(PickerCase):
    def setUp(self):
        super().setUp()
        self.go_on = threading.Event()
        self.addCleanup(self.go_on.set)
        self.asked = threading.Event()

    def slow(self, request):
        self.asked.set()
        self.go_on.wait(60)
        return chooses_last(request)

    def test_run_until_idle_waits_while_virtual_time_stands(self):
        picker = self.picker(self.slow)
        pods = self.start_workers(3, picker.at(), timeoutSeconds=30)
        before = self.now()
        self.scale("web", 2)
        self.assertTrue(self.asked.wait(30))
        self.assertFalse(self.clock()["idle"])
        self.assertEqual(self.now(), before)
        threading.Timer(0.5, self.go_on.set).start()
        with Stopwatch() as real:
            self.settle()
        self.assertGreater(real.seconds, 0.4)
        self.assertEqual(self.now(), before)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:2])

    def test_another_deployment_is_not_held_up(self):
        picker = self.picker(self.slow)
        self.start_workers(3, picker.at(), timeoutSeconds=30)
        self.roll_out(deployment("other", 3))
        self.scale("web", 2)
        self.assertTrue(self.asked.wait(30))
        self.scale("other", 1)
        self.wait_until("the other's pods go", lambda: len(self.pods("app=other")) == 1)
        self.assertEqual(len(self.pods("app=web")), 3)
        self.go_on.set()
        self.idle()
        self.assertEqual(len(self.pod_names()), 3)

    def test_a_scale_up_meanwhile_makes_the_answer_void(self):
        picker = self.picker(self.slow)
        pods = self.start_workers(3, picker.at(), timeoutSeconds=30)
        self.scale("web", 1)
        self.assertTrue(self.asked.wait(30))
        self.scale("web", 3)
        self.go_on.set()
        self.idle()
        self.assertEqual(self.pod_names(), pods)

    def test_the_server_ends_well_with_a_call_under_way(self):
        picker = self.picker(self.slow)
        with Server(binary_from_environment(), *self.flags) as server, Stopwatch() as real:
            self.rest = type(self.rest)(server.url)
            self.addCleanup(self.rest.close)
            self.rest.post("/api/v1/namespaces", {"metadata": {"name": self.ns}}).expect()
            self.start_workers(3, picker.at(), timeoutSeconds=30)
            self.rest.patch(self.path_of("deployments", "web"), {"spec": {"replicas": 2}}).expect()
            self.assertTrue(self.asked.wait(30))
        self.assertLess(real.seconds, 30)
