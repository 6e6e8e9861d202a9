"""Reads the output of a test binary and judges it by the list of tests that are known not to pass."""

import dataclasses
import re

# -test.v=test2json marks results with this character: a test may print something before them on the same line.
MARK = "\x16"
RESULT = re.compile(MARK + r"--- (PASS|FAIL|SKIP): (\S+) \(")
TIMED_OUT = re.compile(r"^panic: test timed out after ", re.MULTILINE)
PROBLEM = re.compile(r"^.*UPSTREAM PROBLEM: (.*)$", re.MULTILINE)

PASSED, FAILED, LISTED = "passed", "failed", "listed"


@dataclasses.dataclass
class Verdict:
    outcome: str
    reasons: list


def parse_list(text):
    """{suite: {test: reason}} from lines `SUITE TEST REASON`; an empty line or one that starts with # says nothing."""
    listed = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(maxsplit=2)
        if len(parts) != 3:
            raise ValueError(f"line {number}: a suite, a test and a reason are needed: {line!r}")
        suite, test, reason = parts
        if test in listed.setdefault(suite, {}):
            raise ValueError(f"line {number}: {suite} {test} is listed twice")
        listed[suite][test] = reason
    return listed


def parse_table(text):
    """{suites of a row, separated by ", ": (tests, passed)} of the README's table."""
    rows = re.findall(r"^\| ([a-z, ]+) \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    return {suites: (int(tests), int(passed)) for suites, tests, passed in rows}


def table_problems(table, tests, listed):
    """How the README's table differs from the suites: {suite: names of its tests} and {suite: {listed test: reason}}."""
    found = []
    for suites, row in table.items():
        names = suites.split(", ")
        if unknown := [name for name in names if name not in tests]:
            found.append(f"README.md: there is no suite {unknown[0]}")
            continue
        total = sum(len(tests[name]) for name in names)
        passed = total - sum(len({test.split("/")[0] for test in listed.get(name, {})}) for name in names)
        if row != (total, passed):
            found.append(f"README.md: {suites}: {passed} of {total} tests pass, and the table has {row[1]} of {row[0]}")
    there = [name for suites in table for name in suites.split(", ")]
    return found + [f"README.md: no row has the suite {name}" for name in tests if there.count(name) != 1]


def problems(stdout, stderr):
    """What the shim reported. It writes to stderr, which Go's testing package joins to stdout while tests run."""
    return PROBLEM.findall(stdout) + PROBLEM.findall(stderr)


def outcomes(output):
    """{test or subtest: PASS, FAIL or SKIP} of the output of a test binary."""
    return {name: outcome for outcome, name in RESULT.findall(output)}


def judge(test, code, stdout, stderr, listed):
    """The verdict on one top-level test, given the reasons by which it or its subtests are listed."""
    found = outcomes(stdout)
    reasons = [f"the shim or the server failed: {line}" for line in problems(stdout, stderr)]
    own = {name: reason for name, reason in listed.items() if name.split("/")[0] == test}
    for name in own:
        if found.get(name) == "PASS":
            reasons.append(f"{name} passes and must be removed from the list")
        elif name not in found and test in found:
            reasons.append(f"{name} is listed and does not exist")
    # A test fails with its subtests, and a listed name stands for all below it.
    failed = {name for name, outcome in found.items() if outcome == "FAIL"}
    leaves = {name for name in failed if not any(other.startswith(name + "/") for other in failed)}
    skipped = {name for name, outcome in found.items() if outcome == "SKIP"}
    for names, what in ((leaves, "failed"), (skipped, "was skipped: only listed tests may be")):
        unlisted = (name for name in names if not any(name == one or name.startswith(one + "/") for one in own))
        reasons += [f"{name} {what}" for name in sorted(unlisted)]
    if test not in found and test not in own:
        reasons.append(f"no result, exit code {code}")  # a panic or a time-out
    if code == 0 and not found:
        reasons.append("no such test")
    if reasons:
        return Verdict(FAILED, reasons)
    if own:
        return Verdict(LISTED, list(own.values()))
    return Verdict(PASSED if code == 0 else FAILED, [] if code == 0 else [f"exit code {code}"])


def reports_gate(stdout, stderr, gate):
    """Whether the shim reported that a test switches a gate that Terrarium lacks."""
    return any(f" sets the gate {gate} " in problem for problem in problems(stdout, stderr))


def why_not_failed(test, code, stdout, stderr, time_limit, usual_seconds):
    """Why a run without controllers does not show that the test needs them; empty if it does.

    A test that waits for a controller is ended by the time limit, which must leave one that works enough time.
    """
    if found := problems(stdout, stderr):
        return f"the shim or the server failed: {found[0]}"
    if code != 0 and outcomes(stdout).get(test) == "FAIL":
        return ""
    if code == 0 or not (TIMED_OUT.search(stdout) or TIMED_OUT.search(stderr)):
        return f"it ends with exit code {code} and no failure"
    if usual_seconds > time_limit / 2:
        return f"with controllers it takes {usual_seconds:.0f} s, too near the time limit of {time_limit} s"
    return ""
