"""The value of a header's Secret reaches the picker and is disclosed nowhere else."""

import base64
import json

from base import PickerCase, chooses_last
from lib.server import Server, binary_from_environment

VALUE = "swordfish-7f3a"


class Secrets(PickerCase):
    """A server with the most verbose log."""

    @classmethod
    def server(cls):
        cls.running = Server(binary_from_environment(), *cls.flags, "--log-level=trace")
        cls.addClassCleanup(cls.running.__exit__, None, None, None)
        cls.url = cls.running.url
        return cls.running.url, cls.running.kubeconfig

    def header(self):
        return {"name": "X-Key", "valueFrom": {"secretKeyRef": {"name": "picker", "key": "key"}}}

    def make_secret(self, value):
        self.make({"metadata": {"name": "picker"}, "stringData": {"key": value}}, "secrets")

    def is_nowhere(self, value):
        """Neither in plain text nor in base64."""
        places = {
            "the log": self.running.log(limit=1 << 30),
            "the events": json.dumps(self.list("events")),
            "the metrics": self.rest.get("/metrics").text,
            "the reasons": self.control("GET", "/why").text,
            "the workload": json.dumps([self.list("deployments"), self.list("replicasets"), self.list("pods")]),
        }
        for place, text in places.items():
            self.assertGreater(len(text), 20, place)
            for spelling in (value, base64.b64encode(value.encode()).decode()):
                self.assertNotIn(spelling, text, place)

    def test_the_picker_gets_it(self):
        picker = self.picker(chooses_last)
        self.make_secret(VALUE)
        self.start_workers(3, picker.at(httpHeaders=[self.header()]))
        self.scale("web", 2)
        self.idle()
        self.assertEqual(picker.headers[0]["X-Key"], VALUE)
        self.is_nowhere(VALUE)

    def test_faults_do_not_disclose_it(self):
        self.make_secret(VALUE)
        answers = [(500, {}, VALUE.encode()), (200, {}, VALUE.encode()), (200, {"X-Key": VALUE}, b"{}" * 600_000)]
        picker = self.picker(lambda request: answers[len(picker.requests) % 3])
        self.start_workers(5, picker.at(httpHeaders=[self.header()]), maxRetries=2)
        self.scale("web", 4)
        self.idle()
        self.assertEqual(len(self.picker_events()), 1)
        self.is_nowhere(VALUE)

    def test_a_value_that_cannot_be_sent(self):
        value = VALUE + "\nX-Other: 1"
        picker = self.picker(chooses_last)
        self.make_secret(value)
        self.start_workers(3, picker.at(httpHeaders=[self.header()]), maxRetries=0)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(picker.requests, [])
        self.assertIn('Secret "picker", key "key"', self.picker_events()[-1])
        self.is_nowhere(VALUE)

    def test_a_secret_that_is_missing(self):
        picker = self.picker(chooses_last)
        self.start_workers(3, picker.at(httpHeaders=[self.header()]), maxRetries=0)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(picker.requests, [])
        self.assertEqual(len(self.pod_names()), 2)
        self.assertIn('Secret "picker" does not exist', self.picker_events()[-1])
