"""kuttl with the cases in kuttl/: steps apply, update and delete, and assertions hold or fail as they should."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from lib.rest import Rest
from lib.server import SLOWDOWN, Server, binary_from_environment

CASES = pathlib.Path(__file__).resolve().parent / "kuttl"
TIMEOUT_S = 60 * SLOWDOWN
RESULT = re.compile(r"^ +--- (PASS|FAIL): kuttl/harness/(\w+) ", re.MULTILINE)
STEP = re.compile(r"\| (\w+)/\S+ \| test step (completed|failed) (\S+)")


class Kuttl(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Runs all cases at the same time; the tests look at what became of each."""
        with (
            Server(binary_from_environment(), "--nodes=2", "--log-level=error") as server,
            tempfile.TemporaryDirectory(prefix="terrarium-kuttl-") as folder,
        ):
            # kuttl leaves a kubeconfig in the folder where it runs.
            done = subprocess.run(
                [os.environ["KUTTL"], "test", CASES, "--parallel=3", f"--timeout={TIMEOUT_S:.0f}"],
                cwd=folder,
                env={"HOME": folder, "PATH": os.environ["PATH"], "KUBECONFIG": server.kubeconfig},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=4 * TIMEOUT_S,
            )
            rest = Rest(server.url)
            cls.namespaces = [item["metadata"]["name"] for item in rest.get("/api/v1/namespaces").expect()["items"]]
            rest.close()
        cls.code, cls.out = done.returncode, done.stdout
        cls.results = {name: result for result, name in RESULT.findall(cls.out)}

    def steps(self, case):
        return [(step, result) for name, result, step in STEP.findall(self.out) if name == case]

    def test_an_assertion_that_holds_passes(self):
        self.assertEqual(self.results.get("passes"), "PASS", self.out)
        self.assertEqual(self.steps("passes"), [("0-install", "completed")], self.out)

    def test_an_assertion_that_does_not_hold_fails_and_names_the_field(self):
        self.assertEqual(self.results.get("fails"), "FAIL", self.out)
        self.assertEqual(self.steps("fails"), [("0-install", "failed")], self.out)
        self.assertIn(".spec.replicas: value mismatch, expected: 3 != actual: 2", self.out)
        self.assertEqual(self.code, 1)

    def test_steps_update_and_delete_what_earlier_ones_applied(self):
        self.assertEqual(self.results.get("updates"), "PASS", self.out)
        steps = [("0-install", "completed"), ("1-scale", "completed"), ("2-delete", "completed")]
        self.assertEqual(self.steps("updates"), steps, self.out)

    def test_the_namespaces_of_the_cases_are_gone(self):
        self.assertEqual(len(self.results), 3, self.out)
        self.assertEqual([name for name in self.namespaces if name.startswith("kuttl-")], [])

    def test_the_server_gives_no_warnings(self):
        self.assertEqual([line for line in self.out.splitlines() if "warning" in line.lower()], [])


if __name__ == "__main__":
    unittest.main()
