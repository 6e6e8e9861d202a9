#!/usr/bin/env python3
"""Checks docs/kep-coverage.md against the tree and the KEPs: everything it names must exist, and every item of the KEPs
must have a row.

A row begins with an ID that names its KEP, and names the item of the KEP that it is about: a section, or one of its
items by number and by a word of it, "Unit tests 3 (wrapper)", so that a text that was changed is noticed. It names what
covers the item: tests by their full names (`Suite.Test` in C++, `module.Class.test_name` in Python), files, wire cases
(`FILE == TITLE`) or pages; or why none can.

The texts are not part of the tree: they are read from ../shared/seeds. Where they are missing, only the names are
checked, and that is a failure in CI (CI or TERRARIUM_E2E_REQUIRE=1 in the environment).

    tests/kep_coverage/kep_coverage_test.py
"""

import os
import re
import sys
import unittest

from kep_texts import Kep, split_entries

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEEDS = os.path.join(os.path.dirname(ROOT), "shared", "seeds")
PAGE = "docs/kep-coverage.md"
EXCUSE = "Does not apply: "

# The text of each KEP, and the sections besides those of TEMPLATE whose every item must have a row.
TEXTS = {
    "5882": ("kep-3973-original.md", [
        "Deployment Behavior Changes", "ReplicaSet Status and Deployment Status Changes",
        "Deployment Completion and Progress Changes", "kubectl Changes",
        "Deployment Scaling Changes and a New Annotation for ReplicaSets"]),
    "3973": ("kep-3973-current.md", ["Design Details"]),
    "3939": ("kep-3939-job-pod-replacement.md", [
        "Exponential Backoff for Pod Failures", "Defaulting and validation", "Implementation"]),
    "2255": ("kep-2255-pod-deletion-cost.md", ["Design Details"]),
    "3189": ("kep-3189-downscale-pod-picker.md", ["Pod-Picker API contract:", "Controller Behaviour Changes:"]),
}
# In every KEP: risks, then the test plan, graduation, upgrade, skew and production readiness. Each entry is a range of
# sections.
TEMPLATE = [("Risks and Mitigations", "Design Details"), ("Test Plan", "Implementation History")]

CPP_TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
PY_CLASS = re.compile(r"^class (\w+)|^    def (test_\w+)", re.MULTILINE)
WIRE_CASE = re.compile(r"^== (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([0-9a-z]+(?:-[0-9a-z]+)+)` \| (.*?) \| (.*?) \| (.*) \|$")
REFERENCE = re.compile(r"^(.+?)(?: (\d+)(?:-(\d+))? \((\S+)\))?$")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([\w-]+\.md)(?:#([\w-]+))?\)")
# Words that only occur in names of tests.
CPP_NAME = re.compile(r"^[A-Z]\w+\.[A-Z]\w+$")
PY_NAME = re.compile(r"^test_\w+\.\w+\.test_\w+$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def files(folder, *endings):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = [f for f in folders if f not in {"node_modules", "__pycache__", "build"}]
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def all_tests():
    tests = set()
    for path in files("tests", ".cc"):
        tests.update(".".join(match) for match in CPP_TEST.findall(read(path)))
    for path in list(files("e2e", ".py")) + list(files("tests", ".py")):
        suite = None
        for name, test in PY_CLASS.findall(read(path)):
            suite = name or suite
            if test:
                tests.add("%s.%s.%s" % (os.path.basename(path)[:-3], suite, test))
    return tests


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def missing(text, tests):
    """The names in the text that the tree lacks, and the number of names that exist."""
    found, lacking = 0, []
    for code in CODE.findall(text):
        if " == " in code:
            path, title = code.split(" == ", 1)
            there = os.path.isfile(os.path.join(ROOT, path)) and title in WIRE_CASE.findall(read(path))
        elif CPP_NAME.match(code) or PY_NAME.match(code):
            there = code in tests
        elif "/" in code and not code.startswith("."):
            there = os.path.exists(os.path.join(ROOT, code))
        else:
            continue
        found += there
        if not there:
            lacking.append(code)
    for page, heading in LINK.findall(text):
        path = "docs/" + page
        there = os.path.isfile(os.path.join(ROOT, path)) and (
            not heading or heading in {anchor(h) for h in re.findall(r"^#+ (.+)$", read(path), re.MULTILINE)})
        found += there
        if not there:
            lacking.append(page + ("#" + heading if heading else ""))
    return found, lacking


def check_names(page, tests):
    problems, seen = [], set()
    for number, line in enumerate(page.splitlines(), 1):
        found, lacking = missing(line, tests)
        problems += ["%s:%d: there is no %s" % (PAGE, number, name) for name in lacking]
        row = ROW.match(line)
        if not row:
            continue
        ident, _, _, shown = row.groups()
        if ident in seen:
            problems.append("%s:%d: %s is there twice" % (PAGE, number, ident))
        seen.add(ident)
        if found == 0 and EXCUSE not in shown and not re.search(r"\b(?:above|below)\b", shown):
            problems.append("%s:%d: nothing shows %s, and nothing says why" % (PAGE, number, ident))
    return problems


def section_of(kep, name):
    """The section of that name, or the only one whose name has it in it; None when there is none or more than one."""
    if name in kep.items:
        return name
    among = [section for section in kep.items if name in section]
    return among[0] if len(among) == 1 else None


def named_items(kep, references, problem):
    """The items (section, number) that a row names; number 0 is the section itself."""
    for reference in references.split("; "):
        name, first, last, word = REFERENCE.match(reference).groups()
        section = section_of(kep, name)
        if section is None:
            problem("has no section, or more than one, like %s" % name)
            continue
        items = kep.items[section]
        if first is None:
            yield from ((section, number) for number in range(len(items) + 1))
            continue
        numbers = range(int(first), int(last or first) + 1)
        if numbers[-1] > len(items):
            problem("has no item %d in %s" % (numbers[-1], section))
        elif word not in " ".join(items[number - 1] for number in numbers):
            problem("does not say %s in %s" % (word, reference))
        else:
            yield from ((section, number) for number in numbers)


def required_items(kep, sections):
    inside = False
    for section, items in kep.items.items():
        inside = (inside or section in [first for first, _ in TEMPLATE]) and section not in [end for _, end in TEMPLATE]
        if section.endswith("?") and inside:
            yield section, 0
        elif inside or section in sections:
            yield from ((section, number) for number in range(1, len(items) + 1))


def check_texts(page, texts):
    """`texts`: by the number of a KEP, its Kep and the sections that must be covered beside those of TEMPLATE."""
    problems, covered, words = [], {number: set() for number in texts}, {number: "" for number in texts}
    for line_number, line in enumerate(page.splitlines(), 1):
        row = ROW.match(line)
        if not row:
            continue
        ident, references, _, _ = row.groups()
        number = ident.split("-")[0]
        if number not in texts:
            problems.append("%s:%d: %s is a line of no KEP" % (PAGE, line_number, ident))
            continue
        words[number] += line
        covered[number].update(named_items(texts[number][0], references, lambda what, row=ident: problems.append(
            "%s: %s: KEP-%s %s" % (PAGE, row, row.split("-")[0], what))))
    for number, (kep, sections) in texts.items():
        for section, item in required_items(kep, sections):
            if (section, item) not in covered[number]:
                text = kep.items[section][item - 1] if item else ""
                problems.append("%s: no row is about KEP-%s, %s%s" % (
                    PAGE, number, section, " %d: %.60s" % (item, text) if item else ""))
        problems += ["%s: no row is about KEP-%s, the metric %s" % (PAGE, number, metric)
                     for metric in kep.metrics() if metric not in words[number]]
    return problems


class TheCheckCanFail(unittest.TestCase):
    TESTS = {"Suite.Test", "test_a.Case.test_b"}
    TEXT = """# KEP-1

## Risks and Mitigations
- It is slow.
- It is large,
  which is worse.
## Design Details
Nothing to see. job_syncs_total is a metric.
### Test Plan
#### Unit tests
Unit tests covering:
- A test wrapper
<!-- - A comment -->
###### Can it be disabled?
Yes.
## Implementation History
- It was written.
"""
    ROWS = ["| `1-risk-1` | Risks and Mitigations 1 (slow) | slow | `Suite.Test` |",
            "| `1-risk-2` | Risks and Mitigations 2 (worse) | large | `Suite.Test` |",
            "| `1-unit-1` | Unit tests 1 (wrapper) | a wrapper | `Suite.Test` |",
            "| `1-prr-1` | be disabled | yes: job_syncs_total | `Suite.Test` |"]

    def names(self, shown):
        return check_names("| `1-unit-1` | Unit tests 1 (works) | It works | %s |" % shown, self.TESTS)

    def texts(self, rows):
        return check_texts("\n".join(rows), {"1": (Kep(self.TEXT), [])})

    def test_what_is_right_passes(self):
        for shown in ["`Suite.Test`", "`test_a.Case.test_b`", "`tests/kep_coverage`", "[x](testing.md#one-test)",
                      "Does not apply: no", "as above"]:
            self.assertEqual(self.names(shown), [], shown)
        self.assertEqual(self.texts(self.ROWS), [])

    def test_names_that_are_not_there_are_reported(self):
        for shown in ["`Suite.Other`", "`test_a.Case.test_c`", "`tests/nowhere`", "[x](nowhere.md)",
                      "[x](testing.md#nowhere)", "`tests/wire/cases/gates-off.wire == no such case`"]:
            self.assertEqual(len(self.names("`Suite.Test` " + shown)), 1, shown)

    def test_a_row_that_shows_nothing_is_reported(self):
        self.assertIn("nothing shows", self.names("certainly")[0])

    def test_an_id_is_there_once(self):
        self.assertIn("twice", check_names("\n".join(self.ROWS[:1] * 2), self.TESTS)[0])

    def test_an_item_without_a_row_is_reported(self):
        for number, what in enumerate(["Risks and Mitigations 1", "Risks and Mitigations 2", "Unit tests 1"]):
            problems = self.texts(self.ROWS[:number] + self.ROWS[number + 1:])
            self.assertEqual(len(problems), 1)
            self.assertIn(what, problems[0])

    def test_a_question_and_a_metric_without_a_row_are_reported(self):
        self.assertEqual(["Can it be disabled?", "the metric job_syncs_total"],
                         [problem.split("KEP-1, ")[1] for problem in self.texts(self.ROWS[:3])])

    def test_a_row_about_what_is_not_in_the_text_is_reported(self):
        for item, what in [("Unit tests 2 (wrapper)", "no item 2"), ("Unit tests 1 (fast)", "does not say fast"),
                           ("Nowhere", "no section"), ("s", "no section, or more than one")]:
            self.assertIn(what, self.texts(self.ROWS + ["| `1-x-1` | %s | words | `Suite.Test` |" % item])[0])
        self.assertIn("of no KEP", self.texts(self.ROWS + ["| `2-x-1` | a | words | `Suite.Test` |"])[0])

    def test_entries_that_were_run_together_are_items_of_their_own(self):
        first, second = "Add a new test for x.", "TestA : https://example.test/?test=TestA"
        self.assertEqual(split_entries(first + second), ["- " + first, "- " + second])
        packages = ["k8s.io/a/v1:9 December 2023-71.4%", "k8s.io/b:9 December 2023-92.3%"]
        self.assertEqual(split_entries("".join(packages)), ["- " + package for package in packages])
        self.assertEqual(split_entries("It tests TestA : well."), ["It tests TestA : well."])

    def test_a_text_that_was_changed_is_noticed(self):
        changed = {"1": (Kep(self.TEXT.replace("- It is slow.\n", "- It is new.\n- It is slow.\n")), [])}
        self.assertEqual(len(check_texts("\n".join(self.ROWS), changed)), 5)


def main():
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(TheCheckCanFail))
    page = read(PAGE)
    problems = check_names(page, all_tests())
    if os.path.isdir(SEEDS):
        texts = {}
        for number, (name, sections) in TEXTS.items():
            with open(os.path.join(SEEDS, name), encoding="utf-8", errors="replace") as file:
                texts[number] = Kep(file.read()), sections
        problems += check_texts(page, texts)
    elif os.environ.get("CI") or os.environ.get("TERRARIUM_E2E_REQUIRE") == "1":
        problems.append("the texts of the KEPs are not in %s" % SEEDS)
    else:
        print("the texts of the KEPs are not in %s: only names are checked" % SEEDS)
    for problem in problems:
        print(problem)
    print("%d lines of the KEPs, %d problems" % (sum(map(bool, map(ROW.match, page.splitlines()))), len(problems)))
    return 1 if problems or not result.wasSuccessful() else 0


if __name__ == "__main__":
    sys.exit(main())
