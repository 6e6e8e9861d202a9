#!/usr/bin/env python3
"""Holds docs/kep-coverage.md against the tree: what it names must be there, and what the KEPs ask for must be on it.

lines.txt has every test-plan line, readiness question, metric and criterion of the KEPs, one to a line: ID | WORDS. The
page has a row for each, with the same words, and says what shows it: tests by their full names (`Suite.Test` in C++,
`module.Class.test_name` in Python), files, wire cases (`FILE == TITLE`) or pages; or why none can.

    tests/kep_coverage/kep_coverage_test.py
"""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "docs/kep-coverage.md"
LINES = "tests/kep_coverage/lines.txt"
EXCUSE = "Does not apply: "

CPP_TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
PY_CLASS = re.compile(r"^class (\w+)|^    def (test_\w+)", re.MULTILINE)
WIRE_CASE = re.compile(r"^== (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([0-9a-z]+(?:-[0-9a-z]+)+)` \| (.*?) \| (.*) \|$")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([\w-]+\.md)(?:#([\w-]+))?\)")
# Words of a kind that only a test's name has.
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
    """What the text names and the tree lacks; and how many things it names that are there."""
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


def check(page, lines, tests):
    problems = []
    wanted = dict(line.split(" | ", 1) for line in lines.splitlines() if line and not line.startswith("#"))
    seen = {}
    for number, line in enumerate(page.splitlines(), 1):
        found, lacking = missing(line, tests)
        problems += ["%s:%d: there is no %s" % (PAGE, number, name) for name in lacking]
        row = ROW.match(line)
        if not row:
            continue
        ident, words, shown = row.groups()
        if ident in seen:
            problems.append("%s:%d: %s is there twice" % (PAGE, number, ident))
        seen[ident] = words
        if ident not in wanted:
            problems.append("%s:%d: %s is no line of a KEP that %s knows" % (PAGE, number, ident, LINES))
        elif wanted[ident] != words:
            problems.append("%s:%d: %s should say: %s" % (PAGE, number, ident, wanted[ident]))
        if found == 0 and EXCUSE not in shown and not re.search(r"\b(?:above|below)\b", shown):
            problems.append("%s:%d: nothing shows %s, and nothing says why" % (PAGE, number, ident))
    problems += ["%s: %s is missing: %s" % (PAGE, ident, wanted[ident]) for ident in wanted if ident not in seen]
    return problems


class TheCheckCanFail(unittest.TestCase):
    TESTS = {"Suite.Test", "test_a.Case.test_b"}

    def problems(self, page, lines="1-unit-1 | It works"):
        return check(page, lines, self.TESTS)

    def test_what_is_right_passes(self):
        for shown in ["`Suite.Test`", "`test_a.Case.test_b`", "`tests/kep_coverage`", "[x](testing.md#one-test)",
                      "Does not apply: no", "as above"]:
            self.assertEqual(self.problems("| `1-unit-1` | It works | %s |" % shown), [], shown)

    def test_names_that_are_not_there_are_told(self):
        for shown in ["`Suite.Other`", "`test_a.Case.test_c`", "`tests/nowhere`", "[x](nowhere.md)",
                      "[x](testing.md#nowhere)", "`tests/wire/cases/gates-off.wire == no such case`"]:
            self.assertEqual(len(self.problems("| `1-unit-1` | It works | `Suite.Test` %s |" % shown)), 1, shown)

    def test_a_row_that_shows_nothing_is_told(self):
        self.assertIn("nothing shows", self.problems("| `1-unit-1` | It works | certainly |")[0])

    def test_rows_are_those_of_the_keps(self):
        self.assertIn("is missing", self.problems("")[0])
        self.assertIn("should say", self.problems("| `1-unit-1` | It fails | `Suite.Test` |")[0])
        self.assertIn("no line of a KEP", self.problems("| `1-unit-2` | It works | `Suite.Test` |")[0])
        row = "| `1-unit-1` | It works | `Suite.Test` |\n"
        self.assertIn("twice", self.problems(row + row)[0])


def main():
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(TheCheckCanFail))
    page, lines = read(PAGE), read(LINES)
    problems = check(page, lines, all_tests())
    for problem in problems:
        print(problem)
    print("%d lines of the KEPs, %d problems" % (sum(map(bool, map(ROW.match, page.splitlines()))), len(problems)))
    return 1 if problems or not result.wasSuccessful() else 0


if __name__ == "__main__":
    sys.exit(main())
