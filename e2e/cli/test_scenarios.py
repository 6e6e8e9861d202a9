"""`terrarium test`: its output, files and exit code. tests/testbed tests the meaning of scenarios."""

import os
import pty
import signal
import subprocess
import time
import xml.etree.ElementTree

from base import BINARY, TIMEOUT_S, ServeCase

PASSES = """scenario: passes
steps:
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - expect: configmap/a
"""
FAILS = """scenario: fails
steps:
  - expect: configmap/a
"""
MANY = """scenario: number ${number}
options: {seeds: [1, 2]}
each: {number: [1, 2, 3]}
steps:
  - advance: 1s
"""


class TestScenarios(ServeCase):
    def write(self, **files):
        for name, text in files.items():
            path = self.folder / (name.replace("__", "/") + ".yaml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def test_all_pass(self):
        self.write(good=PASSES)
        done = self.terrarium("test", "good.yaml")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^PASS good\.yaml: passes \([\d.]+ ms, 0s of virtual time\)$")
        self.assertEqual(lines[-1], "1 passed, 0 failed")

    def test_a_failure_has_its_place_and_a_command_to_repeat_it(self):
        self.write(good=PASSES, bad=FAILS)
        done = self.terrarium("test", "good.yaml", "bad.yaml")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("FAIL bad.yaml: fails", done.stdout)
        self.assertIn("  bad.yaml:3:5: step 1, expect configmap/a\n  configmap default/a: not there\n", done.stdout)
        self.assertIn("  again: terrarium test bad.yaml --filter 'fails' --seed 1\n", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 1 failed")

    def test_a_bad_file_keeps_everything_from_running(self):
        self.write(good=PASSES, bad="scenario: x\nsteps:\n  - avdance: 1s\n")
        done = self.terrarium("test", "good.yaml", "bad.yaml")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(
            done.stderr, 'bad.yaml:3:5: the step has no verb, "avdance" is not one (did you mean advance?)\n'
        )

    def test_bad_usage(self):
        self.write(good=PASSES)
        (self.folder / "empty").mkdir()
        for words, saying in [
            ([], "name scenario files"),
            (["nowhere.yaml"], "nowhere.yaml: no such file"),
            (["empty"], "no .yaml files"),
            (["good.yaml", "--filter", "zzz"], "no scenario is called like zzz"),
            (["good.yaml", "--parallel", "0"], "--parallel"),
            (["good.yaml", "--bogus"], "--bogus"),
            (["good.yaml", "--junit", "no/such/folder/x.xml"], "no/such/folder"),
        ]:
            done = self.terrarium("test", *words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(saying, done.stderr)

    def test_folders_are_searched_in_order_and_seeds_and_parameters_make_runs(self):
        self.write(set__b=PASSES, set__a=MANY)
        done = self.terrarium("test", "set", "--list")
        self.assertEqual(
            done.stdout.splitlines(),
            [f"set/a.yaml: number {n} (seed {s})" for n in (1, 2, 3) for s in (1, 2)] + ["set/b.yaml: passes"],
        )
        for filter_, count in [("number", 6), ("number 2", 2), ("*(seed 2)", 3), ("*1*", 4)]:
            done = self.terrarium("test", "set", "--filter", filter_)
            self.assertEqual(done.stdout.splitlines()[-1], f"{count} passed, 0 failed", filter_)
        done = self.terrarium("test", "set", "--seed", "9", "--list")
        self.assertEqual(len(done.stdout.splitlines()), 4)

    def test_lines_come_in_the_order_of_the_files_however_many_run_in_parallel(self):
        self.write(many=MANY, good=PASSES)
        names = []
        for parallel in ["1", "5"]:
            done = self.terrarium("test", "many.yaml", "good.yaml", "--parallel", parallel)
            names.append([line.split(" (")[0] for line in done.stdout.splitlines() if line.startswith("PASS")])
        self.assertEqual(len(names[0]), 7)
        self.assertEqual(names[0], names[1])

    def test_junit(self):
        self.write(good=PASSES, bad=FAILS)
        self.terrarium("test", ".", "--junit", "out.xml")
        root = xml.etree.ElementTree.parse(self.folder / "out.xml").getroot()
        self.assertEqual((root.get("tests"), root.get("failures")), ("2", "1"))
        failure = root.find("./testsuite[@name='./bad.yaml']/testcase[@name='fails']/failure")
        self.assertEqual(failure.get("message"), "configmap default/a: not there")
        self.assertIn("again: terrarium test", failure.text)

    def test_a_terminal_sees_how_far_it_is(self):
        self.write(many=MANY)
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BINARY, "test", "many.yaml"], cwd=self.folder, stdout=theirs, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:
                break  # the other end is closed
            if not some:
                break
            shown += some
        os.close(ours)
        self.assertEqual(process.wait(TIMEOUT_S), 0)
        self.assertIn(b"/6] 0 failed, many.yaml: number", shown)
        self.assertIn(b"\x1b[32mPASS\x1b[0m many.yaml", shown)
        self.assertTrue(shown.endswith(b"6 passed, 0 failed\r\n"), shown)

    def test_ctrl_c_ends_with_the_summary_so_far(self):
        # Waiting for a condition skips no heartbeat, so that this takes long.
        never = "runUntil: node/node-0\n    for: jsonpath={.metadata.name}=never\n    within: 100000h"
        self.write(a=PASSES, b=f"scenario: long\noptions: {{nodes: 1}}\nsteps:\n  - {never}\n", c=PASSES)
        process = subprocess.Popen(
            [BINARY, "test", "a.yaml", "b.yaml", "c.yaml", "--parallel", "1", "--junit", "out.xml"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.kill)
        self.assertIn("PASS a.yaml", process.stdout.readline())
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130)
        self.assertIn("interrupted: 2 not run\n", out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 0 failed")
        root = xml.etree.ElementTree.parse(self.folder / "out.xml").getroot()
        self.assertEqual((root.get("tests"), root.get("skipped")), ("3", "2"))

    def test_help_and_schema(self):
        done = self.terrarium("test", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ["runUntilIdle", "expectMetric", "Exit codes", "--junit"]:
            self.assertIn(word, done.stdout)
        done = self.terrarium("test", "--schema")
        self.assertEqual(done.returncode, 0)
        self.assertIn('"$schema": "http://json-schema.org/draft-07/schema#"', done.stdout)
