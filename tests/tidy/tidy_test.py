#!/usr/bin/env python3
"""Checks the tree against the habits of the house and prints FILE:LINE: RULE: what is wrong.

First it checks itself: each rule is shown a small sample that it must refuse and one that it must let pass.

    tests/tidy/tidy_test.py            the tree this file lies in
    tests/tidy/tidy_test.py FOLDER     another one
"""

import collections
import os
import re
import sys
import unittest

Finding = collections.namedtuple("Finding", "path line rule text")

# A folder may include itself and what is listed here.
MAY_INCLUDE = {
    "api": (),
    "storage": ("api",),
    "apiserver": ("api", "storage"),
    "controllers": ("api",),
    "kubelet-fake": ("api", "controllers/runtime"),  # informers, events and metrics are the same for all components
    "testbed": ("api", "storage", "apiserver", "controllers", "kubelet-fake"),
    "tests": ("api", "storage", "apiserver", "controllers", "kubelet-fake", "testbed"),
    "bench": ("api", "storage", "apiserver", "controllers", "kubelet-fake", "testbed"),
}
# Libraries that only some places know.
LIBRARIES = {
    "drogon": ("apiserver/http/", "bench/"),
    "trantor": ("apiserver/http/", "bench/"),
    "openssl": ("apiserver/http/", "testbed/http_caller/", "tests/testbed/http_caller/"),
    "sqlite3.h": ("storage/", "bench/", "tests/storage/"),
    "gtest": ("testbed/gtest/", "tests/", "examples/"),
    "gmock": ("testbed/gtest/", "tests/", "examples/"),
}
# The wall clock, threads and entropy live here; everybody else gets a Clock, an Executor and a Prng.
LIVE_PLACES = ("testbed/real_", "testbed/cli/", "testbed/http_caller/", "storage/commit_thread.",
               "apiserver/http/", "bench/", "tests/")
LIVE_WORDS = re.compile(
    r"\b(?:system_clock::now|steady_clock::now|high_resolution_clock|sleep_for|sleep_until|random_device"
    r"|std::j?thread|std::async|mt19937\w*|\w+_distribution\b|unordered_(?:map|set)|s?rand\s*\()")
# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.}*-])/(?:wor[k]|roo[t]|hom[e])/")
TEST_OFF = re.compile(r"\bDISABLED_\w+|\bGTEST_SKIP\b")
LINES_MAX = 600

CPP = (".cc", ".h")
SOURCES = CPP + (".py", ".go", ".mjs", ".sh")
# Written by tools, from other people's words.
GENERATED = re.compile(r"/generated/|(?:^|/)(?:package-lock\.json|go\.sum|requirements\.txt)$")
SKIPPED_FOLDERS = {".git", ".cache", "build", "node_modules", "__pycache__"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
# Comments and literals, longest forms first. A quote after a digit separates thousands.
CPP_TEXT = re.compile(
    r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
# A literal, or several that the compiler joins.
LITERALS = re.compile(r'(?:R"\(.*?\)"|"(?:[^"\\\n]|\\.)*")(?:\s*(?:R"\(.*?\)"|"(?:[^"\\\n]|\\.)*"))*', re.DOTALL)
SELECT = re.compile(r"(IN\s*\(\s*|EXISTS\s*\(\s*)?\bSELECT\s+((?:count|max|min|sum|total|coalesce)\s*\()?")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def each_match(path, text, pattern, rule, say):
    for match in pattern.finditer(text):
        yield Finding(path, line_of(text, match.start()), rule, say(match))


def code_only(text):
    """The C++ text with comments and literals blanked; lines stay where they are."""
    return CPP_TEXT.sub(lambda m: "\n" * m[0].count("\n"), text)


def may_include(folder, target):
    """A folder is let in whole, or by one of its own folders."""
    return any(target.startswith(allowed + "/") for allowed in MAY_INCLUDE[folder])


def check_includes(path, text):
    folder = path.split("/")[0]
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        line = line_of(text, match.start())
        head = target.split("/")[0]
        places = LIBRARIES.get(head)
        if places and not path.startswith(places):
            yield Finding(path, line, "library", f"{target} is for {', '.join(places)} only")
        if head in MAY_INCLUDE and "/" in target:
            if folder in MAY_INCLUDE and head != folder and not may_include(folder, target):
                yield Finding(path, line, "dependency", f"{folder}/ does not include {head}/: {target}")
            elif "/internal/" in target and not path.startswith((f"{head}/", f"tests/{head}/")):
                yield Finding(path, line, "internal", f"{target} is private to {head}/")
        elif quote == '"':
            yield Finding(path, line, "include-path", f"{target} is not a path from the root of the checkout")


def check_live_words(path, text):
    if path.startswith(LIVE_PLACES) or not LIVE_WORDS.search(text):
        return
    code = re.sub(r"^[ \t]*#[ \t]*include.*", "", code_only(text), flags=re.MULTILINE)
    yield from each_match(path, code, LIVE_WORDS, "live-word",
                          lambda m: f"{m[0].strip()} (time, threads and chance come from Env)")


def check_select(path, text):
    """Rows come in no order of their own: a SELECT names one, or gives a single row, or is a set."""
    if not path.startswith("storage/") or "SELECT" not in text:
        return
    for literal in LITERALS.finditer(text):
        for match in SELECT.finditer(literal[0]):
            is_set, single = match.groups()
            if is_set or single or "ORDER BY" in literal[0][match.end():]:
                continue
            yield Finding(path, line_of(text, literal.start() + match.start()), "select", "SELECT without ORDER BY")


def check_length(path, text):
    lines = text.count("\n")
    if lines > LINES_MAX:
        yield Finding(path, LINES_MAX + 1, "length", f"{lines} lines; split what has more than {LINES_MAX} by decision")


def check_words(path, text):
    yield from each_match(path, text, UNFINISHED, "unfinished", lambda m: m[0])
    yield from each_match(path, text, MACHINE_PATH, "machine-path", lambda m: f"{m[0]}... exists on one machine only")


def check_tests_run(path, text):
    yield from each_match(path, text, TEST_OFF, "test-off", lambda m: f"{m[0]}: a test that does not run proves nothing")


def check_listed(files):
    """Every C++ file stands in a CMakeLists.txt of its own folder or of one above."""
    listed = set()
    for path, text in files.items():
        if path.split("/")[-1] != "CMakeLists.txt" and not path.endswith(".cmake"):
            continue
        text = re.sub(r"#[^\n]*", "", text)
        folder = os.path.dirname(path)
        for word in re.findall(r"[^\s()\";]+\.(?:cc|h)\b", text):
            from_root = re.sub(r"^\$\{PROJECT_SOURCE_DIR\}/", "", word)
            word = re.sub(r"^\$\{CMAKE_CURRENT_SOURCE_DIR\}/", "", word)
            listed.add(from_root if from_root != word else os.path.normpath(os.path.join(folder, word)))
    for path in files:
        if path.endswith(CPP) and path not in listed:
            yield Finding(path, 1, "not-built", "no CMakeLists.txt lists this file")


def check_file(path, text):
    generated = GENERATED.search(path) is not None
    if path.endswith(CPP):
        yield from check_includes(path, text)
        yield from check_live_words(path, text)
        yield from check_select(path, text)
        if path.startswith("tests/"):
            yield from check_tests_run(path, text)
    if path.endswith(SOURCES) and not generated:
        yield from check_length(path, text)
    if not generated:
        yield from check_words(path, text)


def check_tree(files):
    found = [finding for path, text in files.items() for finding in check_file(path, text)]
    return sorted(found + list(check_listed(files)))


def read_tree(root):
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
        for name in names:
            if name in SKIPPED_FOLDERS:
                continue  # .git is a file in a linked worktree
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8") as file:
                    files[os.path.relpath(path, root).replace(os.sep, "/")] = file.read()
            except (UnicodeDecodeError, FileNotFoundError):
                pass  # not text, or a temporary file that has just gone
    return files


class EachRuleCanFail(unittest.TestCase):
    def rules(self, path, text):
        return [finding.rule for finding in check_file(path, text)]

    def test_includes_point_one_way(self):
        for path, target in [("api/a.h", "storage/store.h"), ("storage/a.cc", "apiserver/handler.h"),
                             ("apiserver/a.cc", "testbed/plane.h"), ("controllers/a.cc", "storage/store.h"),
                             ("controllers/a.cc", "kubelet-fake/k.h"), ("kubelet-fake/a.cc", "controllers/table.h"),
                             ("testbed/a.cc", "tests/wire/player.h")]:
            self.assertEqual(self.rules(path, f'#include "{target}"\n'), ["dependency"], path)
        self.assertEqual(self.rules("apiserver/a.cc", '#include "storage/store.h"\n#include "api/json.h"\n'), [])
        self.assertEqual(self.rules("kubelet-fake/a.cc", '#include "controllers/runtime/informer.h"\n'), [])
        self.assertEqual(self.rules("testbed/a.cc", '#include "apiserver/handler.h"\n#include <vector>\n'), [])

    def test_internal_headers_are_private_to_their_folder(self):
        self.assertEqual(self.rules("apiserver/a.cc", '#include "storage/internal/batch.h"\n'), ["internal"])
        self.assertEqual(self.rules("tests/wire/a.cc", '#include "api/codec/internal/wire.h"\n'), ["internal"])
        self.assertEqual(self.rules("tests/api/a.cc", '#include "api/codec/internal/wire.h"\n'), [])
        self.assertEqual(self.rules("storage/a.cc", '#include "storage/internal/batch.h"\n'), [])

    def test_files_are_included_by_their_path_from_the_root(self):
        self.assertEqual(self.rules("api/a.cc", '#include "json.h"\n'), ["include-path"])
        self.assertEqual(self.rules("api/a.cc", '#include "../api/json.h"\n'), ["include-path"])

    def test_libraries_stay_where_they_belong(self):
        for path in ["apiserver/handler.cc", "testbed/plane.cc", "storage/a.cc", "tests/wire/a.cc"]:
            self.assertEqual(self.rules(path, "#include <drogon/drogon.h>\n"), ["library"], path)
        self.assertEqual(self.rules("apiserver/a.cc", "#include <trantor/net/EventLoop.h>\n"), ["library"])
        self.assertEqual(self.rules("apiserver/a.cc", "#include <sqlite3.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/a.cc", "#include <openssl/ssl.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/http_caller/a.cc", "#include <openssl/ssl.h>\n"), [])
        self.assertEqual(self.rules("apiserver/http/a.cc", "#include <drogon/drogon.h>\n"), [])
        self.assertEqual(self.rules("storage/a.cc", "#include <sqlite3.h>\n"), [])
        self.assertEqual(self.rules("testbed/a.cc", "#include <gtest/gtest.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/gtest/a.cc", "#include <gmock/gmock.h>\n"), [])

    def test_time_threads_and_chance_come_from_outside(self):
        for code in ["auto t = std::chrono::system_clock::now();", "x = steady_clock::now();", "std::thread t;",
                     "std::this_thread::sleep_for(s);", "std::random_device d;", "std::async(f);", "int i = rand();",
                     "std::uniform_int_distribution<int> d;", "std::unordered_map<int, int> m;"]:
            self.assertEqual(self.rules("apiserver/a.cc", code + "\n"), ["live-word"], code)
            self.assertEqual(self.rules("testbed/real_runtime.cc", code + "\n"), [], code)
        self.assertEqual(self.rules("api/a.cc", "int n = 20'000; std::thread t; char c = 'x';\n"), ["live-word"])
        self.assertEqual(self.rules("api/a.cc", '// no std::thread\nlog("rand()"); operand(1);\n'), [])

    def test_a_finding_names_its_line(self):
        text = 'auto a = R"(\n\n)";  // x\n/* \n */ std::thread t;\n'
        self.assertEqual([f.line for f in check_file("api/a.cc", text)], [5])

    def test_selects_are_ordered(self):
        self.assertEqual(self.rules("storage/a.cc", 'q("SELECT a FROM log");\n'), ["select"])
        self.assertEqual(self.rules("storage/a.cc", 'q(R"(SELECT a\n FROM log)");\n'), ["select"])
        self.assertEqual(self.rules("storage/a.cc", 'q("SELECT a ORDER BY a"); q("SELECT b");\n'), ["select"])
        for sql in ["SELECT a FROM log ORDER BY a", "SELECT count(*) FROM log", "PRAGMA user_version",
                    "DELETE FROM log WHERE a IN (SELECT b FROM log)"]:
            self.assertEqual(self.rules("storage/a.cc", f'q("{sql}");\n'), [], sql)
        self.assertEqual(self.rules("storage/a.cc", 'q("SELECT a FROM log "\n  "ORDER BY a");\n'), [])

    def test_files_are_short(self):
        self.assertEqual(self.rules("api/a.cc", "\n" * 601), ["length"])
        self.assertEqual(self.rules("e2e/a.py", "\n" * 601), ["length"])
        self.assertEqual(self.rules("api/a.cc", "\n" * 600), [])
        self.assertEqual(self.rules("api/schema/generated/a.cc", "\n" * 601), [])

    def test_nothing_is_left_for_later(self):
        for word in ["TO" + "DO", "FIX" + "ME", "XX" + "X"]:
            self.assertEqual(self.rules("docs/a.md", f"text\n{word}: more\n"), ["unfinished"])
        self.assertEqual(self.rules("tests/a.cc", 'mkdtemp("t-' + "X" * 6 + '");\n'), [])

    def test_no_path_of_one_machine(self):
        for folder in ["work", "root", "home"]:
            self.assertEqual(self.rules("tools/a.sh", f'cd "/{folder}' + '/me"\n'), ["machine-path"])
            self.assertEqual(self.rules("tools/a.sh", f'cd "$X/a/{folder}' + '/me"\n'), [])

    def test_every_test_runs(self):
        self.assertEqual(self.rules("tests/a.cc", "TEST(A, DISABLED_B) {}\n"), ["test-off"])
        self.assertEqual(self.rules("tests/a.cc", "GTEST_SKIP();\n"), ["test-off"])

    def test_every_file_is_built(self):
        files = {"api/CMakeLists.txt": "terrarium_add_library(api a.cc sub/b.h)  # old.cc\n", "api/a.cc": "",
                 "api/sub/b.h": "", "api/old.cc": "", "api/sub/a.cc": "", "cmake/pch.cc": "",
                 "cmake/T.cmake": 'add_library(p "${PROJECT_SOURCE_DIR}/cmake/pch.cc")\n'}
        self.assertEqual([f.path for f in check_listed(files) if f.rule == "not-built"], ["api/old.cc", "api/sub/a.cc"])


def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(EachRuleCanFail)
    if not unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite).wasSuccessful():
        return 1
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    files = read_tree(root)
    found = check_tree(files)
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    print(f"{len(files)} files, {len(found)} findings")
    # A wrong root would find nothing and so prove nothing.
    return 1 if found or "api/json.h" not in files else 0


if __name__ == "__main__":
    sys.exit(main())
