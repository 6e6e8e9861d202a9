#!/usr/bin/env python3
"""Checks the tree against the rules of this code base and prints FILE:LINE: RULE: the violation.

First it checks itself: each rule must refuse a small sample and accept another.

    tests/tidy/tidy_test.py            the tree this file lies in
    tests/tidy/tidy_test.py FOLDER     another one
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from findings import CPP, Finding, code_only, each_match, line_of
from pages import check_functions, check_pages, check_sections
from words import check_retired_words

BELOW_TESTBED = ("api", "storage", "apiserver", "controllers", "kubelet-fake")
# A folder may include itself and what is listed here. A folder inside another one has an entry of its own where its
# includes have a direction too; the longest entry that a path begins with counts.
MAY_INCLUDE = {
    "api": (),
    "storage": ("api",),
    "apiserver": ("api", "storage"),
    "controllers": ("api",),
    "kubelet-fake": ("api", "controllers/runtime"),  # informers, events and metrics are the same for all components
    "testbed": (),  # every file there belongs to one of its folders
    "testbed/runtime": ("api",),
    "testbed/control_plane": BELOW_TESTBED + ("testbed/runtime",),
    "testbed/invariants": BELOW_TESTBED + ("testbed/runtime", "testbed/control_plane"),
    "testbed/embedding": BELOW_TESTBED + ("testbed/runtime", "testbed/control_plane", "testbed/invariants"),
    "testbed/scenario": BELOW_TESTBED + ("testbed/runtime", "testbed/control_plane", "testbed/invariants",
                                         "testbed/embedding"),
    "testbed/server": BELOW_TESTBED + ("testbed/runtime", "testbed/control_plane"),
    "testbed/cli": BELOW_TESTBED + ("testbed",),
    "tests": BELOW_TESTBED + ("testbed",),
    "fuzz": ("api", "controllers", "testbed"),
    "bench": BELOW_TESTBED + ("testbed", "tests/hostile"),
}
# Libraries that only these paths may include.
LIBRARIES = {
    "drogon": ("apiserver/http/", "bench/"),
    "trantor": ("apiserver/http/", "bench/", "tests/apiserver/http/"),
    "openssl": ("apiserver/http/", "tests/testbed/control_plane/http_client/"),
    "curl": ("testbed/control_plane/http_client/",),
    "date": ("api/cron/",),
    "sqlite3.h": ("storage/", "bench/", "tests/storage/"),
    "gtest": ("testbed/embedding/gtest/", "tests/", "examples/"),
    "gmock": ("testbed/embedding/gtest/", "tests/", "examples/"),
}
# Only these paths use the wall clock, threads and entropy; all others get a Clock, an Executor and a Prng.
LIVE_PLACES = ("testbed/runtime/real_", "testbed/cli/", "testbed/control_plane/http_client/",
               "storage/internal/commit_thread.", "apiserver/http/", "bench/", "tests/")
LIVE_WORDS = re.compile(
    r"\b(?:system_clock::now|steady_clock::now|high_resolution_clock|sleep_for|sleep_until|random_device"
    r"|std::j?thread|std::async|mt19937\w*|\w+_distribution\b|unordered_(?:map|set)|s?rand\s*\()")
# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.}*-])/(?:wor[k]|roo[t]|hom[e])/")
RESULT_BOOL = re.compile(r"\bResult<bool>")
TEST_OFF = re.compile(r"\bDISABLED_\w+|\bGTEST_SKIP\b")
LINES_MAX = 600
README_LINES_MAX = 249
SOURCES = CPP + (".py", ".go", ".mjs", ".rs", ".sh")
# Written by tools, from other people's words.
GENERATED = re.compile(r"/generated/|(?:^|/)(?:package-lock\.json|Cargo\.lock|go\.sum|requirements\.txt)$")
SKIPPED_FOLDERS = {".git", ".cache", "build", "node_modules", "target", "__pycache__"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
# A literal, or several that the compiler joins.
LITERALS = re.compile(r'(?:R"\(.*?\)"|"(?:[^"\\\n]|\\.)*")(?:\s*(?:R"\(.*?\)"|"(?:[^"\\\n]|\\.)*"))*', re.DOTALL)
SELECT = re.compile(r"(IN\s*\(\s*|EXISTS\s*\(\s*)?\bSELECT\s+((?:count|max|min|sum|total|coalesce)\s*\()?")


def layer_of(path):
    """The longest entry of MAY_INCLUDE that holds this path, or None."""
    return max((entry for entry in MAY_INCLUDE if path.startswith(entry + "/")), key=len, default=None)


def may_include(layer, target):
    """A layer is allowed as a whole, or one of its folders is."""
    return layer_of(target) == layer or any(target.startswith(allowed + "/") for allowed in MAY_INCLUDE[layer])


def check_includes(path, text):
    layer = layer_of(path)
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        line = line_of(text, match.start())
        head = target.split("/")[0]
        places = LIBRARIES.get(head)
        if places and not path.startswith(places):
            yield Finding(path, line, "library", f"{target} is for {', '.join(places)} only")
        owner = layer_of(target)
        if owner:
            if layer and not may_include(layer, target):
                yield Finding(path, line, "dependency", f"{layer}/ does not include {owner}/: {target}")
            elif "/internal/" in target:
                folder = target.rpartition("/internal/")[0]
                if not path.startswith((f"{folder}/", f"tests/{owner}/", "fuzz/")):
                    yield Finding(path, line, "internal", f"{target} is private to {folder}/")
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


def check_readme_length(path, text):
    lines = text.count("\n")
    if path == "README.md" and lines > README_LINES_MAX:
        yield Finding(path, README_LINES_MAX + 1, "length", f"{lines} lines; reference material belongs in docs/")


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


def check_internal_sources(files):
    """The source of a private header stands beside it, unless the folder has a public header of the same name."""
    for path in files:
        folder, internal, name = path.rpartition("/internal/")
        if not internal or not path.endswith(".h"):
            continue
        source = name[:-len(".h")] + ".cc"
        if f"{folder}/{source}" in files and f"{folder}/{name}" not in files and path[:-len(".h")] + ".cc" not in files:
            yield Finding(f"{folder}/{source}", 1, "internal", f"move it to {folder}/internal/, beside its header")


def check_file(path, text):
    generated = GENERATED.search(path) is not None
    if path.endswith(CPP):
        yield from check_includes(path, text)
        yield from check_live_words(path, text)
        yield from check_select(path, text)
        yield from each_match(path, code_only(text), RESULT_BOOL, "result-bool",
                              lambda m: "Result<void>, or Result<Change> for whether something changed")
        if path.startswith("tests/"):
            yield from check_tests_run(path, text)
    if path.endswith(SOURCES) and not generated:
        yield from check_length(path, text)
    if not generated:
        yield from check_words(path, text)
        yield from check_retired_words(path, text)
    if path.endswith(".md"):
        yield from check_sections(path, text)
        yield from check_readme_length(path, text)


def check_format(root, paths):
    """What clang-format would change. Debian 12's, since releases format differently."""
    program = shutil.which("clang-format-14")
    if program is None:
        yield Finding("tests/tidy/tidy_test.py", 1, "format", "clang-format-14 is not installed")
        return
    command = [program, "--dry-run", "--ferror-limit=1", "--style=file", *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    for match in re.finditer(r"^(\S+?):(\d+):\d+: warning: code should be clang-formatted", done.stderr, re.MULTILINE):
        yield Finding(match[1], int(match[2]), "format", "run clang-format-14 -i on this file")


def check_clang_tidy(root, page):
    """.clang-tidy is valid, and the page lists its checks. tools/clang-tidy runs them, which takes an hour."""
    program = shutil.which("clang-tidy-19")
    if program is None:
        yield Finding(".clang-tidy", 1, "clang-tidy", "clang-tidy-19 is not installed")
        return
    path = os.path.join(root, ".clang-tidy")
    done = subprocess.run([program, "--verify-config", f"--config-file={path}"], capture_output=True, text=True, check=False)
    for match in re.finditer(r"(?:warning|error): (.*)", done.stdout + done.stderr):
        yield Finding(".clang-tidy", 1, "clang-tidy", match[1])
    with open(path, encoding="utf-8") as file:
        for check in re.findall(r"^  ([a-z]+-[a-z-]+)", file.read(), re.MULTILINE):
            if f"`{check}`" not in page:
                yield Finding(".clang-tidy", 1, "clang-tidy", f"docs/testing.md does not list {check}")


def check_fuzz_targets(files):
    """The page on testing has a line about each fuzz target."""
    page = files.get("docs/testing.md", "")
    for path in files:
        match = re.fullmatch(r"fuzz/(\w+)_fuzz\.cc", path)
        if match and f"`{match[1]}`" not in page:
            yield Finding(path, 1, "fuzz-target", f"docs/testing.md does not list {match[1]}")


def check_tree(files):
    found = [finding for path, text in files.items() for finding in check_file(path, text)]
    for check in (check_listed, check_internal_sources, check_pages, check_functions, check_fuzz_targets):
        found += check(files)
    return sorted(found)


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
                             ("apiserver/a.cc", "testbed/runtime/runtime.h"), ("controllers/a.cc", "storage/store.h"),
                             ("controllers/a.cc", "kubelet-fake/k.h"), ("kubelet-fake/a.cc", "controllers/table.h"),
                             ("testbed/cli/a.cc", "tests/wire/player.h"), ("testbed/a.cc", "api/json.h"),
                             ("testbed/runtime/a.cc", "storage/store.h"),
                             ("testbed/runtime/a.cc", "testbed/control_plane/control_plane.h"),
                             ("testbed/control_plane/a.cc", "testbed/invariants/rule.h"),
                             ("testbed/control_plane/http_client/a.cc", "testbed/server/cluster.h"),
                             ("testbed/invariants/a.cc", "testbed/embedding/views.h"),
                             ("testbed/embedding/a.cc", "testbed/scenario/step.h"),
                             ("testbed/embedding/gtest/a.cc", "testbed/server/control_api.h"),
                             ("testbed/scenario/a.cc", "testbed/server/control_api.h"),
                             ("testbed/server/a.cc", "testbed/embedding/testbed.h"),
                             ("testbed/server/a.cc", "testbed/cli/serve.h")]:
            self.assertEqual(self.rules(path, f'#include "{target}"\n'), ["dependency"], path)
        self.assertEqual(self.rules("apiserver/a.cc", '#include "storage/store.h"\n#include "api/json.h"\n'), [])
        self.assertEqual(self.rules("kubelet-fake/a.cc", '#include "controllers/runtime/informer.h"\n'), [])
        for path, target in [("testbed/runtime/a.cc", "api/json.h"), ("testbed/control_plane/a.cc", "apiserver/handler.h"),
                             ("testbed/control_plane/a.cc", "testbed/control_plane/http_client/http_caller.h"),
                             ("testbed/embedding/a.cc", "testbed/invariants/monitor.h"),
                             ("testbed/scenario/a.cc", "testbed/embedding/testbed.h"),
                             ("testbed/server/control/a.cc", "testbed/runtime/runtime.h"),
                             ("testbed/cli/a.cc", "testbed/server/cluster.h"), ("tests/a.cc", "testbed/cli/serve.h")]:
            self.assertEqual(self.rules(path, f'#include "{target}"\n#include <vector>\n'), [], path)

    def test_internal_headers_are_private_to_their_folder(self):
        self.assertEqual(self.rules("apiserver/a.cc", '#include "storage/internal/batch.h"\n'), ["internal"])
        self.assertEqual(self.rules("tests/wire/a.cc", '#include "api/codec/internal/wire.h"\n'), ["internal"])
        self.assertEqual(self.rules("testbed/server/a.cc", '#include "testbed/control_plane/internal/run.h"\n'), ["internal"])
        self.assertEqual(self.rules("api/patch/a.cc", '#include "api/codec/internal/wire.h"\n'), ["internal"])
        self.assertEqual(self.rules("apiserver/a.cc", '#include "apiserver/table/internal/a.h"\n'), ["internal"])
        self.assertEqual(self.rules("tests/api/a.cc", '#include "api/codec/internal/wire.h"\n'), [])
        self.assertEqual(self.rules("apiserver/table/a.cc", '#include "apiserver/internal/a.h"\n'), [])
        self.assertEqual(self.rules("storage/a.cc", '#include "storage/internal/batch.h"\n'), [])

    def test_sources_of_internal_headers_stand_beside_them(self):
        found = check_internal_sources({"api/internal/a.h": "", "api/a.cc": "", "api/internal/b.h": "", "api/b.cc": "",
                                        "api/b.h": "", "api/internal/c.h": "", "api/internal/c.cc": "", "api/c.cc": ""})
        self.assertEqual([(f.path, f.rule) for f in found], [("api/a.cc", "internal")])

    def test_files_are_included_by_their_path_from_the_root(self):
        self.assertEqual(self.rules("api/a.cc", '#include "json.h"\n'), ["include-path"])
        self.assertEqual(self.rules("api/a.cc", '#include "../api/json.h"\n'), ["include-path"])

    def test_libraries_stay_where_they_belong(self):
        for path in ["apiserver/handler.cc", "testbed/control_plane/control_plane.cc", "storage/a.cc", "tests/wire/a.cc"]:
            self.assertEqual(self.rules(path, "#include <drogon/drogon.h>\n"), ["library"], path)
        self.assertEqual(self.rules("apiserver/a.cc", "#include <trantor/net/EventLoop.h>\n"), ["library"])
        self.assertEqual(self.rules("apiserver/a.cc", "#include <sqlite3.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/a.cc", "#include <openssl/ssl.h>\n"), ["library"])
        self.assertEqual(self.rules("tests/testbed/control_plane/http_client/a.cc", "#include <openssl/ssl.h>\n"), [])
        self.assertEqual(self.rules("testbed/cli/a.cc", "#include <curl/curl.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/control_plane/http_client/a.cc", "#include <curl/curl.h>\n"), [])
        self.assertEqual(self.rules("controllers/cronjob/a.cc", "#include <date/tz.h>\n"), ["library"])
        self.assertEqual(self.rules("api/cron/a.cc", "#include <date/tz.h>\n"), [])
        self.assertEqual(self.rules("apiserver/http/a.cc", "#include <drogon/drogon.h>\n"), [])
        self.assertEqual(self.rules("storage/a.cc", "#include <sqlite3.h>\n"), [])
        self.assertEqual(self.rules("testbed/a.cc", "#include <gtest/gtest.h>\n"), ["library"])
        self.assertEqual(self.rules("testbed/embedding/gtest/a.cc", "#include <gmock/gmock.h>\n"), [])

    def test_time_threads_and_chance_come_from_outside(self):
        for code in ["auto t = std::chrono::system_clock::now();", "x = steady_clock::now();", "std::thread t;",
                     "std::this_thread::sleep_for(s);", "std::random_device d;", "std::async(f);", "int i = rand();",
                     "std::uniform_int_distribution<int> d;", "std::unordered_map<int, int> m;"]:
            self.assertEqual(self.rules("apiserver/a.cc", code + "\n"), ["live-word"], code)
            self.assertEqual(self.rules("testbed/runtime/real_runtime.cc", code + "\n"), [], code)
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
        self.assertEqual(self.rules("README.md", "\n" * 250), ["length"])
        self.assertEqual(self.rules("README.md", "\n" * 249), [])
        self.assertEqual(self.rules("docs/a.md", "\n" * 601), [])

    def test_nothing_is_left_for_later(self):
        for word in ["TO" + "DO", "FIX" + "ME", "XX" + "X"]:
            self.assertEqual(self.rules("docs/a.md", f"text\n{word}: more\n"), ["unfinished"])
        self.assertEqual(self.rules("tests/a.cc", 'mkdtemp("t-' + "X" * 6 + '");\n'), [])

    def test_no_path_of_one_machine(self):
        for folder in ["work", "root", "home"]:
            self.assertEqual(self.rules("tools/a.sh", f'cd "/{folder}' + '/me"\n'), ["machine-path"])
            self.assertEqual(self.rules("tools/a.sh", f'cd "$X/a/{folder}' + '/me"\n'), [])

    def test_retired_words_do_not_come_back(self):
        for text in ["Ask whoever has it.", "It starts at once.", "It starts at\nonce.", "A plane has a clock.",
                     "It is told what happened.", "ends without a word", "A sync is a look.", "# What is not",
                     "values that are none", "It tries for ever.", "a clock that you hold", "The file says no.",
                     "It tells the client.", "It hears of it.", "a text that is no number", "a text that is\nno number"]:
            self.assertEqual(self.rules("docs/a.md", text + "\n"), ["words"], text)
        for text in ["A control plane has a clock.", "the control\nplane", "`testbed/plane.h`", "```\nat once\n```",
                     'not "at once"', "It starts immediately.", "tell apart", "# Not supported", "[x](a.md#the-house)",
                     "There is no node.", "there\nis no node", "It is no longer there.", "It is no-op."]:
            self.assertEqual(self.rules("docs/a.md", text + "\n"), [], text)
        self.assertEqual([f.line for f in check_retired_words("docs/a.md", "one\ntwo at once\n")], [2])

    def test_retired_words_are_refused_in_comments(self):
        for path in ["api/a.cc", "tests/a.h", "bench/a.cc", "examples/a.cc", "e2e/a.go", "e2e/a.rs", "launchers/a.mjs",
                     "launchers/a.d.mts"]:
            self.assertEqual(self.rules(path, "// It ends at\n// once.\n"), ["words"], path)
        for path in ["e2e/a.py", "api/CMakeLists.txt", "cmake/a.cmake", "tools/a.sh", "tools/a.supp", "bench/a.yaml"]:
            self.assertEqual(self.rules(path, "a() # It ends at\n# once.\n"), ["words"], path)
        for path, text in [("a.py", 'x = "told"  # is told\n'), ("a.py", '"""Nobody.\n"""\nplane = 1\n'),
                           ("a.go", "plane := 1 // is told\n"), ("a.mjs", "/* heeds */ told();\n"),
                           ("bench/run", "#!/bin/sh\n# is told\n"), ("scenarios/a.yaml", "scenario: it is told\n")]:
            self.assertEqual(self.rules(path, text), ["words"], text)
        for path, text in [("e2e/a.py", 'told("at once")\n'), ("tools/a.sh", "told\n"), ("e2e/a.yaml", "a: told\n"),
                           ("fuzz/seeds/a.yaml", "# told\n")]:
            self.assertEqual(self.rules(path, text), [], text)
        self.assertEqual(self.rules("tests/wire/cases/a.wire", "== told\nGET /told\n# nobody\n"), ["words", "words"])

    def test_retired_words_are_refused_in_names_and_messages(self):
        for path, text in [("tests/a.cc", "TEST(A, StartsAtOnce) {}"), ("tests/a.cc", "TEST_F(A,\n  NobodyStarts) {}"),
                           ("e2e/a.py", "    def test_it_starts_at_once(self):"), ("e2e/a.go", "func TestNobody(t *T) {"),
                           ("e2e/a.rs", "#[tokio::test]\nasync fn it_starts_at_once() {"),
                           ("e2e/a.mjs", "test('a list that is told', f)"), ("api/a.h", "void StartAtOnce();"),
                           ("testbed/a.cc", "bool is_told = false;"), ("testbed/a.cc", 'Fail("the body is no JSON");')]:
            self.assertEqual(self.rules(path, text + "\n"), ["words"], text)
        for path, text in [("tests/a.cc", "TEST(A, AControlPlaneStarts) {}"), ("tests/a.cc", 'void A() { f("nobody"); }'),
                           ("e2e/a.py", "def told(): pass"), ("e2e/a.rs", "fn told() {}"),
                           ("testbed/a.cc", 'Fail("the control plane");'),
                           ("apiserver/table/a.cc", 'Column("tells");')]:
            self.assertEqual(self.rules(path, text + "\n"), [], text)

    def test_a_result_is_not_a_bool(self):
        self.assertEqual(self.rules("api/a.h", "Result<bool> Set();\n"), ["result-bool"])
        self.assertEqual(self.rules("api/a.h", "Result<void> Set();  // not Result<bool>\n"), [])

    def test_every_test_runs(self):
        self.assertEqual(self.rules("tests/a.cc", "TEST(A, DISABLED_B) {}\n"), ["test-off"])
        self.assertEqual(self.rules("tests/a.cc", "GTEST_SKIP();\n"), ["test-off"])

    def test_files_are_formatted(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {"good.cc": "int a = 1;\n", "bad.cc": "int  a=1 ;\n"}.items():
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            found = [(finding.path, finding.rule) for finding in check_format(root, ["good.cc", "bad.cc"])]
        self.assertEqual(found, [("bad.cc", "format")])

    def test_checks_of_clang_tidy_exist_and_are_documented(self):
        with tempfile.TemporaryDirectory() as root:
            for checks, count in [("bugprone-use-after-move", 0), ("bugprone-unused-raii", 1), ("bugprone-nonsense", 2)]:
                with open(os.path.join(root, ".clang-tidy"), "w", encoding="utf-8") as file:
                    file.write(f"Checks: >\n  -*,\n  {checks}\n")
                found = list(check_clang_tidy(root, "`bugprone-use-after-move`"))
                self.assertEqual([finding.rule for finding in found], ["clang-tidy"] * count, found)

    def test_fuzz_targets_are_documented(self):
        files = {"fuzz/json_fuzz.cc": "", "fuzz/yaml_fuzz.cc": "", "fuzz/property.cc": "", "docs/testing.md": "| `json` | bodies |\n"}
        self.assertEqual([(f.path, f.rule) for f in check_fuzz_targets(files)], [("fuzz/yaml_fuzz.cc", "fuzz-target")])

    def test_every_file_is_built(self):
        files = {"api/CMakeLists.txt": "terrarium_add_library(api a.cc sub/b.h)  # old.cc\n", "api/a.cc": "",
                 "api/sub/b.h": "", "api/old.cc": "", "api/sub/a.cc": "", "cmake/pch.cc": "",
                 "cmake/T.cmake": 'add_library(p "${PROJECT_SOURCE_DIR}/cmake/pch.cc")\n'}
        self.assertEqual([f.path for f in check_listed(files) if f.rule == "not-built"], ["api/old.cc", "api/sub/a.cc"])

    def test_pages_name_files_that_exist(self):
        files = {"api/json.h": "", "docs/a.md": "", "docs/b/c.py": ""}
        for text in ["`api/old.h`", "see api/old.h.", "[x](b/old.md)", "[x](../docs/b/old.py)", "![x](../api/old.svg#y)", "`docs/gone/`", "`old.h`", "`old.cc`",
                     "```\npython3 docs/b/old.py --x\n```"]:
            found = [(f.line, f.rule) for f in check_pages({**files, "docs/x.md": "\n" + text + "\n"})]
            self.assertEqual(found, [(3 if "python3" in text else 2, "dead-path")], text)
        for text in ["`api/json.h`", "see api/json.h, docs/b/c.py.", "`json.h`", "`docs/b/`", "`api/NAME_x.cc`",
                     "`api/<kind>.cc`", "`api/*.cc`", "`api/{a,b}.h`", "/api/v1/pods", "k8s.io/api/apps", "b/c.py",
                     "$DIR/api/old.h", "[x](b/c.py#y) [y](#z)", "[x](../api/json.h)", "[x](https://a.b/api/c)", "```\n[x](const A& a) {}\n```", "`pkg/old.go`", "old.h", "`api/json.h`/`api/`"]:
            self.assertEqual(list(check_pages({**files, "docs/x.md": text + "\n"})), [], text)


    def test_pages_name_functions_that_exist(self):
        files = {"api/a.cc": "void Kubelet::Start() { Begin(); }  // Old\n", "api/b.h": "class Loop { void Run(); };\n"}
        for text in ["| 1 | `api/a.cc` | `Kubelet::Stop` |", "| 1–2 | `api/a.cc` | `Kubelet::Start`, `Old` |",
                     "| 1 | `api/a.cc` | `Loop::Run` |", "`Loop::Stop`", "`Slot::Run()`"]:
            self.assertEqual({f.rule for f in check_functions({**files, "docs/x.md": f"{text}\n"})}, {"dead-name"}, text)
        for text in ["| 1 | `api/a.cc` | `Kubelet::Start`, `Begin` [`Loop::Run`: `Anything`] |",
                     "| 1 | `api/a.cc`, `b.h` | `Loop::Run` and *callback* of `Kubelet::Start` |", "`Loop::Run()`", "`std::map`"]:
            self.assertEqual(list(check_functions({**files, "docs/x.md": text + "\n"})), [], text)

    def test_pages_begin_with_usage_and_end_with_limits(self):
        self.assertEqual(self.rules("docs/a.md", "# A\n\n## Format\n\n## Usage\n"), ["page-order"])
        self.assertEqual(self.rules("docs/a.md", "# A\n\n## Limits\n\n## Format\n"), ["page-order"])
        self.assertEqual(self.rules("docs/a.md", "# A\n\n## Usage\n\n## Format\n\n## Limits\n\n### More\n"), [])

def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(EachRuleCanFail)
    if not unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite).wasSuccessful():
        return 1
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    files = read_tree(root)
    if "api/json.h" not in files:
        print(f"{root} is not the root of a checkout")
        return 1
    formatted = [path for path in files if path.endswith(CPP) and not GENERATED.search(path)]
    found = check_tree(files) + list(check_format(root, formatted)) + list(check_clang_tidy(root, files["docs/testing.md"]))
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    print(f"{len(files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
