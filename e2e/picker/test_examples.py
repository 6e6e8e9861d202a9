"""The pickers of docs/examples/pod-picker, started as documented."""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile

from base import EXAMPLES, PickerCase, make_certificate

# {pod: load}, number of deleted pods: chosen, tied.
CHOICES = [
    ({"a": 1, "b": 2, "c": 2, "d": 2}, 2, ["a"], ["b", "c", "d"]),  # the KEP's own example
    ({"a": 1, "b": 2, "c": 3}, 1, ["a"], []),
    ({"a": 3, "b": 2, "c": 1}, 2, ["c", "b"], []),
    ({"a": 0, "b": 0, "c": 5}, 1, [], ["a", "b"]),
    ({"a": 0, "b": 0, "c": 5}, 2, ["a", "b"], []),
    ({"a": 1, "b": 1}, 2, ["a", "b"], []),
    ({"a": 1}, 5, ["a"], []),
]


class Choices(PickerCase):
    def test_in_python(self):
        spec = importlib.util.spec_from_file_location("pod_picker", EXAMPLES / "pod_picker.py")
        pod_picker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(pod_picker)
        for busy, wanted, chosen, tied in CHOICES:
            self.assertEqual(pod_picker.least_busy(busy, wanted), (chosen, tied), (busy, wanted))

    def test_in_javascript(self):
        for busy, wanted, chosen, tied in CHOICES:
            script = f"""
                import {{ leastBusy }} from {json.dumps((EXAMPLES / "pod_picker.mjs").as_uri())};
                const busy = new Map(Object.entries({json.dumps(busy)}));
                console.log(JSON.stringify(leastBusy(busy, {wanted})));
            """
            node = [os.environ["NODE"], "--input-type=module", "--eval", script]
            printed = subprocess.run(node, capture_output=True, text=True, check=True).stdout
            self.assertEqual(json.loads(printed), {"chosen": chosen, "tied": tied}, (busy, wanted))


class LeastBusy(PickerCase):
    """In both languages: over a named port of a Service, with a token from a Secret that the picker requires."""

    PICKERS = ("least-busy.py", "least-busy.mjs")

    def say_how_busy(self, busy):
        (self.folder / "busy.json").write_text(json.dumps(busy))

    def test_the_pods_with_the_least_to_do_go(self):
        for example in self.PICKERS:
            with self.subTest(example):
                self.ns = self.new_namespace()
                self.say_how_busy({})
                self.start_example(example)
                a, b, c, d, e = self.pod_names()
                before = self.calls("success")
                self.say_how_busy({a: 9, b: 1, c: 4, d: 0, e: 2})
                self.scale("worker", 3)
                self.idle()
                self.assertEqual(self.pod_names(), sorted([a, c, e]))
                self.say_how_busy({a: 0, c: 1, e: 1})
                self.scale("worker", 2)
                self.idle()
                self.assertEqual(self.pod_names(), sorted([c, e]))
                self.assertEqual(self.calls("success"), before + 2)
                self.assertEqual(self.picker_events(), [])

    def test_without_the_right_token_it_does_not_choose(self):
        for example in self.PICKERS:
            with self.subTest(example):
                self.ns = self.new_namespace()
                self.start_example(example)
                self.k(["patch", "secret", "picker", "--patch", '{"stringData": {"authorization": "Bearer wrong"}}'])
                self.scale("worker", 4)
                self.idle()
                self.assertEqual(len(self.pod_names()), 4)
                self.assertIn("401", self.picker_events()[-1])


class LeastBusyByHttps(LeastBusy):
    """The same with the workload's scheme changed, and pickers whose certificate is for their Service's name."""

    @classmethod
    def server(cls):
        cls.namespaces = iter(f"secure-{i}" for i in range(9))
        folder = tempfile.mkdtemp(prefix="terrarium-picker-")
        cls.addClassCleanup(shutil.rmtree, folder)
        alternative_names = [f"DNS:picker.secure-{i}.svc.cluster.local" for i in range(9)]
        ca, cls.cert, cls.key = make_certificate(folder, *alternative_names)
        cls.flags = (*PickerCase.flags, f"--pod-picker-ca={ca}")
        return super().server()

    def new_namespace(self):
        name = next(self.namespaces)
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect()
        return name

    def start_example(self, example, *words, **environment):
        workload = (EXAMPLES / "least-busy.yaml").read_text()
        secure = self.folder / "secure.yaml"
        secure.write_text(workload.replace("path: /pick", "path: /pick\n      scheme: HTTPS"))
        return super().start_example(
            example, "--tls-cert", self.cert, "--tls-key", self.key, *words, WORKLOAD=str(secure), **environment
        )


class Start(PickerCase):
    def test_it_states_what_it_needs(self):
        for words, environment in ([[], {"URL": self.url}], [["least-busy.py"], {}]):
            done = subprocess.run(
                [EXAMPLES / "start", *words], env={**self.environment, **environment}, capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("docs/examples/pod-picker/start least-busy.py", done.stdout)

    def test_every_example_has_a_workload_and_is_in_the_readme(self):
        readme = (EXAMPLES / "README.md").read_text()
        pickers = [path for path in EXAMPLES.iterdir() if path.suffix in (".py", ".mjs") and path.stem != "pod_picker"]
        self.assertGreaterEqual(len(pickers), 6)
        for path in pickers:
            self.assertTrue(path.with_suffix(".yaml").exists(), path)
            self.assertIn(path.name, readme)
