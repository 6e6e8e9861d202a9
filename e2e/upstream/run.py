#!/usr/bin/env python3
"""Runs Kubernetes' own integration tests, their bodies unmodified, against Terrarium.

  run.py --terrarium build/dev/testbed/terrarium            the suites as CI runs them
  run.py --terrarium BINARY job TestSuspendJob              one test; a suite alone means all of its tests
  run.py --kubernetes FOLDER [job ...]                      against the kube-apiserver and etcd in FOLDER, built if missing
  run.py --table                                            the newest results of whole runs as a table

Each test runs in a process of its own, with servers of its own, several side by side: tests mostly wait.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).resolve().parent
README = FOLDER.parents[1] / "README.md"
sys.path.insert(0, str(FOLDER.parent))

from lib import cache, kubernetes  # noqa: E402: found through the line above

import module  # noqa: E402
import results  # noqa: E402
from suites import LACKED_GATE, LONGEST, SUITES  # noqa: E402

TEST_TIMEOUT_S = 280
# Of a test that runs without controllers, and how many of these run at a time beside the others: they only wait.
WITHOUT_CONTROLLERS_TIMEOUT_S = 40
WITHOUT_CONTROLLERS_AT_A_TIME = 3
SHOWN_OUTPUT = 20000


@dataclasses.dataclass
class Run:
    """One test in one process."""

    suite: object
    test: str
    verdict: object = None
    seconds: float = 0.0


class Runner:
    def __init__(self, binaries, sources, servers, listed):
        self._binaries, self._sources, self._servers, self._listed = binaries, sources, servers, listed
        self.logs = pathlib.Path(tempfile.mkdtemp(prefix="upstream-"))

    def tests_of(self, suite):
        command = [self._binaries / f"{suite.name}.test", "-test.list", "^Test"]
        output = subprocess.run(command, capture_output=True, text=True, check=True, env=self._environment(suite, ""))
        return [line for line in output.stdout.split() if line.startswith("Test")]

    def _environment(self, suite, test):
        chosen = {"TERRARIUM_CONTROLLERS": json.dumps(suite.controller_lists()), "TERRARIUM_TEST": test}
        chosen["TERRARIUM_FIRST"] = suite.first.get(test, "")
        chosen["TERRARIUM_MAX_SPEED"] = str(suite.max_speed.get(test, ""))
        chosen["TERRARIUM_LISTED"] = json.dumps(list(self._listed.get(suite.name, {})))
        return {**os.environ, **self._servers, **chosen}

    def execute(self, run, timeout_s=TEST_TIMEOUT_S, **environment):
        """Runs a test; returns its exit code and what it printed."""
        begin = time.monotonic()
        command = [self._binaries / f"{run.suite.name}.test", "-test.v=test2json", "-test.run", f"^{run.test}$"]
        command += ["-test.timeout", f"{timeout_s}s"]
        name = f"{run.suite.name}-{run.test}{'-'.join(environment)}"  # two runs never share a file
        folder = self.logs / f"{name}.tmp"  # a test that is ended leaves its server's files
        folder.mkdir()
        environment["TMPDIR"] = str(folder)
        stdout, stderr = self.logs / f"{name}.out", self.logs / f"{name}.err"
        with open(stdout, "wb") as out, open(stderr, "wb") as err:
            code = subprocess.call(
                list(map(str, command)),
                cwd=self._sources / run.suite.path(),
                env={**self._environment(run.suite, run.test), **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        run.seconds = time.monotonic() - begin
        shutil.rmtree(folder, ignore_errors=True)
        return code, *(file.read_text(errors="replace") for file in (stdout, stderr))

    def judge(self, run):
        code, stdout, stderr = self.execute(run, run.suite.max_seconds.get(run.test, TEST_TIMEOUT_S))
        listed = self._listed.get(run.suite.name, {})
        run.verdict = results.judge(run.test, code, stdout, stderr, listed)
        line = f"{run.verdict.outcome:7} {run.suite.name} {run.test} ({run.seconds:.1f} s)"
        if run.verdict.outcome == results.FAILED:
            line += "".join(f"\n  {reason}" for reason in run.verdict.reasons)
            line += f"\n{stdout[-SHOWN_OUTPUT:]}\n{stderr[-SHOWN_OUTPUT:]}".replace(results.MARK, "")
        print(line, flush=True)
        return run

    def run_without_controllers(self, suite):
        """Runs the suite's test that must fail then, or the suite would show nothing; (run, what came of it)."""
        run = Run(suite, suite.needs_controller)
        return run, self.execute(run, WITHOUT_CONTROLLERS_TIMEOUT_S, TERRARIUM_NO_CONTROLLERS="1")


    def run_unlisted(self, suite, test):
        """Runs a listed test as if it were not; (run, what came of it)."""
        run = Run(suite, test)
        return run, self.execute(run, TERRARIUM_LISTED="[]")


def report_lacked_gate(run, printed, gate):
    """Whether the shim reported the gate that the test switches and Terrarium lacks."""
    reported = results.reports_gate(*printed[1:], gate)
    line = f"{run.suite.name} {run.test} is reported because of the gate {gate} ({run.seconds:.1f} s)"
    print(f"{'passed' if reported else 'failed'}  {line}", flush=True)
    return reported


def report_without_controllers(run, printed, runs):
    """Whether the test failed without controllers, given all runs with them."""
    usual = sum(other.seconds for other in runs if (other.suite, other.test) == (run.suite, run.test))
    why = results.why_not_failed(run.test, *printed, WITHOUT_CONTROLLERS_TIMEOUT_S, usual)
    line = f"{run.suite.name} {run.test} fails without controllers ({run.seconds:.1f} s)"
    print(f"failed  {line}: {why}" if why else f"passed  {line}")
    if why:
        print(*(text[-SHOWN_OUTPUT:].replace(results.MARK, "") for text in printed[1:]), sep="\n", flush=True)
    return not why


def choose(runner, listed, options):
    """The runs that the command line asks for, the longest first; fails for names that no suite has."""
    runs, unknown = [], []
    for suite in SUITES:
        if options.suite not in (None, suite.name):
            continue
        names = runner.tests_of(suite)
        unknown += [f"{suite.name} {test}" for test in listed.get(suite.name, {}) if test.split("/")[0] not in names]
        needed = (suite.needs_controller, *(test for of, test in (LONGEST,) if of == suite.name))
        unknown += [f"{suite.name} {test}" for test in needed if test and test not in names]
        unknown += [f"{suite.name} {test}" for test in options.tests if test not in names]
        runs += [Run(suite, test) for test in names if not options.tests or test in options.tests]
    unknown += [f"{suite} (suite)" for suite in listed if suite not in {one.name for one in SUITES}]
    runs.sort(key=lambda run: ((run.suite.name, run.test) != LONGEST, run.suite.name != "job"))  # Jobs take longest
    return runs, unknown


def summary(runs):
    """{suite: {outcome: number of tests, "seconds": sum of their times}}"""
    table = {}
    for run in runs:
        row = table.setdefault(run.suite.name, {results.PASSED: 0, results.FAILED: 0, results.LISTED: 0, "seconds": 0})
        row[run.verdict.outcome] += 1
        row["seconds"] += run.seconds
    return table


def outdated_rows(runs, listed):
    """What is wrong in the README's table, given the runs of all suites."""
    tests = {}
    for run in runs:
        tests.setdefault(run.suite.name, []).append(run.test)
    return results.table_problems(results.parse_table(README.read_text()), tests, listed)


def list_of(kubernetes):
    """The file of the tests that are known not to pass."""
    return "fails_on_kubernetes.txt" if kubernetes else "not_supported.txt"


def results_file(kubernetes):
    return cache.root() / "upstream" / ("results-kubernetes.json" if kubernetes else "results-terrarium.json")


def format_seconds(seconds):
    return f"{seconds:.1f} s" if seconds < 1 else f"{seconds:.0f} s"


def print_table():
    """The table of the README, from the newest whole runs."""
    ours, real = (json.loads(file.read_text()) if file.exists() else {} for file in map(results_file, (False, True)))
    print("| suite | tests | passed | time here | time upstream |\n|---|---|---|---|---|")
    for suite in (suite.name for suite in SUITES if suite.name in ours):
        row, there = ours[suite], real.get(suite)
        tests = row[results.PASSED] + row[results.FAILED] + row[results.LISTED]
        times = [format_seconds(each["seconds"]) if each else "" for each in (row, there)]
        print(f"| {suite} | {tests} | {row[results.PASSED]} | {' | '.join(times)} |")
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=[suite.name for suite in SUITES])
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--terrarium", type=pathlib.Path)
    parser.add_argument("--kubernetes", type=pathlib.Path, help="the folder of etcd and kube-apiserver")
    parser.add_argument("--prepare", action="store_true", help="only build the test binaries")
    parser.add_argument("--side-by-side", type=int, default=2 * (os.cpu_count() or 2), metavar="N")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not (options.terrarium or options.kubernetes or options.prepare or options.table):
        parser.error("--terrarium or --kubernetes is needed")
    return options


def servers_of(options):
    """The environment by which the shim finds its servers."""
    if not options.kubernetes:
        return {"TERRARIUM_BINARY": str(options.terrarium.resolve())}
    etcd, apiserver = kubernetes.servers(options.kubernetes)
    return {"ETCD": str(etcd), "KUBE_APISERVER": str(apiserver)}


def main():
    options = parse_arguments()
    if options.table:
        return print_table()
    binaries, sources = module.binaries()
    if options.prepare:
        return 0
    checks = unittest.defaultTestLoader.discover(str(FOLDER), pattern="test_*.py")
    if not unittest.TextTestRunner(verbosity=0).run(checks).wasSuccessful():
        return 1
    listed = results.parse_list((FOLDER / list_of(options.kubernetes)).read_text())
    runner = Runner(binaries, sources, servers_of(options), listed)
    whole = not options.suite
    try:
        runs, unknown = choose(runner, listed, options)
        checked = [suite for suite in SUITES if suite.needs_controller] if whole and not options.kubernetes else []
        has_gate_check = not options.kubernetes and not options.tests and options.suite in (None, LACKED_GATE[0])
        with (
            concurrent.futures.ThreadPoolExecutor(options.side_by_side) as pool,
            concurrent.futures.ThreadPoolExecutor(WITHOUT_CONTROLLERS_AT_A_TIME) as waiting,
        ):
            without = waiting.map(runner.run_without_controllers, checked)
            if has_gate_check:
                suite = next(suite for suite in SUITES if suite.name == LACKED_GATE[0])
                unlisted = waiting.submit(runner.run_unlisted, suite, LACKED_GATE[1])
            list(pool.map(runner.judge, runs))
        noticed = all([report_without_controllers(run, printed, runs) for run, printed in without])
        if has_gate_check:
            noticed = report_lacked_gate(*unlisted.result(), LACKED_GATE[2]) and noticed
    finally:
        shutil.rmtree(runner.logs, ignore_errors=True)
    for name in unknown:
        print(f"failed: {name} is listed or asked for, and does not exist")
    outdated = outdated_rows(runs, listed) if whole and not options.kubernetes else []
    for row in outdated:
        print(f"failed: {row}")
    table = summary(runs)
    if whole:
        results_file(options.kubernetes).write_text(json.dumps(table))
    for suite, row in table.items():
        print(f"{suite}: {row['passed']} passed, {row['failed']} failed, {row['listed']} listed")
    failed = any(row["failed"] for row in table.values())
    return 1 if failed or unknown or outdated or not noticed or not runs else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except cache.Missing as missing:
        required = os.environ.get("TERRARIUM_E2E_REQUIRE") == "1"
        print(f"upstream: {'missing, and everything is required here' if required else 'skipped, missing'}: {missing}")
        sys.exit(1 if required else 77)
