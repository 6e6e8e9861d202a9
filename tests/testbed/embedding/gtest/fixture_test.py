#!/usr/bin/env python3
"""The output of the fixture TestbedTest when a test fails, and that there is none when no test fails.

    tests/testbed/embedding/gtest/fixture_test.py build/dev/tests/testbed/gtest/fixture_probe
"""

import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROBE = ""


class Fixture(unittest.TestCase):
    def run_probe(self, test):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.xml")
            done = subprocess.run([PROBE, f"--gtest_filter=Probe.{test}", f"--gtest_output=xml:{report}"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.xml = xml.etree.ElementTree.parse(report).getroot()
        return done

    def test_a_test_that_passes_is_silent(self):
        done = self.run_probe("Passes")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("Timeline", done.stdout)

    def test_a_failure_shows_the_timeline_once(self):
        done = self.run_probe("FailsTwice")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout.count("Timeline of Probe.FailsTwice (seed 77, now 2026-01-01T00:00:02.000000Z)"), 1,
                         done.stdout)
        self.assertRegex(done.stdout, r"1s +\d+ +test +update +configmaps default/c +data.k first -> second")
        timelines = [p.get("value") for p in self.xml.iter("property") if p.get("name") == "timeline"]
        self.assertEqual(len(timelines), 1)
        self.assertIn("data.k first -> second", timelines[0])

    def test_each_cluster_of_a_test_shows_its_own_failures(self):
        done = self.run_probe("FailsInTheFirstOfTwoClusters")
        self.assertEqual(done.stdout.count("Timeline of"), 1, done.stdout)
        self.assertIn("seed 77", done.stdout)

    def test_a_failure_without_a_cluster_has_none(self):
        done = self.run_probe("FailsWithoutACluster")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("Timeline", done.stdout)

    def test_a_broken_invariant_fails_the_test_with_its_reasons(self):
        done = self.run_probe("BreaksAnInvariantAndGoesOn")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("invariant broken: unchanged-write", done.stdout)
        self.assertIn("because of the moon", done.stdout)
        self.assertIn("and goes on", done.stdout)
        self.assertEqual(done.stdout.count("Timeline of"), 1, done.stdout)


if __name__ == "__main__":
    PROBE = sys.argv.pop(1)
    unittest.main()
