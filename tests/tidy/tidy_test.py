#!/usr/bin/env python3
"""Checks the tree against the rules of this code base and prints FILE:LINE: RULE: the violation.

First it checks itself: each rule must refuse a small sample and accept another.

    tests/tidy/tidy_test.py            the tree this file lies in
    tests/tidy/tidy_test.py FOLDER     another one
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

Finding = collections.namedtuple("Finding", "path line rule text")

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
    "sqlite3.h": ("storage/", "bench/", "tests/storage/"),
    "gtest": ("testbed/embedding/gtest/", "tests/", "examples/"),
    "gmock": ("testbed/embedding/gtest/", "tests/", "examples/"),
}
# Only these paths use the wall clock, threads and entropy; all others get a Clock, an Executor and a Prng.
LIVE_PLACES = ("testbed/runtime/real_", "testbed/cli/", "testbed/control_plane/http_client/",
               "storage/commit_thread.", "apiserver/http/", "bench/", "tests/")
LIVE_WORDS = re.compile(
    r"\b(?:system_clock::now|steady_clock::now|high_resolution_clock|sleep_for|sleep_until|random_device"
    r"|std::j?thread|std::async|mt19937\w*|\w+_distribution\b|unordered_(?:map|set)|s?rand\s*\()")
# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.}*-])/(?:wor[k]|roo[t]|hom[e])/")
TEST_OFF = re.compile(r"\bDISABLED_\w+|\bGTEST_SKIP\b")
# Words that are not to come back, with what to write instead; CONTRIBUTING.md gives the reasons. A blank stands for any
# blanks, a line break and the sign of a comment included.
BLANKS = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+|#|\*)?[ \t]*)"
RETIRED_WORDS = [(re.compile(pattern.replace(" ", BLANKS), re.IGNORECASE | re.MULTILINE), instead) for pattern, instead in [
    (r"\b(?:who(?:m|so)?ever|somebody|nobody|anybody|everybody)\b", "the caller, the client, the controller"),
    (r"\bat once\b", "immediately, or: in parallel, in one step"),
    (r"\bin vain\b", "no-op, without effect"),
    (r"\b(?:told|tells)\b", "report, notify, record, state"),
    (r"\bheed(?:s|ed|ing)?\b", "enqueue, handle"),
    (r"\bplanes?\b", "control plane (code), cluster (users)"),
    (r"\b(?:a|one|each|every|next|another|first|last|no|its|this) look\b", "sync, reconcile, check"),
    (r"\blook(?:s|ed)? (?:again|anew)\b|\blooked at\b", "sync, reconcile, check"),
    (r"\bthe house\b", "architecture, the project"),
    (r"\b(?:happenings?|surroundings|unsaid)\b", "queued events; dependencies; missing"),
    (r"\b(?:that|which) (?:is|are) none\b|\bis no (?:JSON|YAML|number)\b", "malformed, invalid, not JSON"),
    (r"\bclock (?:that |which )?(?:you|it|they|(?:a|the) test) holds?\b|\bholds? (?:its|their|the) (?:own )?clock\b",
     "a virtual clock, a clock that you control"),
    (r"\bgoodbye\b|\bwithout a word\b", "abruptly; without an error"),
    (r"\banew\b", "again"),
    (r"\bfor ever\b", "forever, indefinitely"),
    (r"\bhonest(?:ly)?\b", "what is guaranteed"),
    (r"\bthe world's (?:time|clock|seconds)\b", "wall-clock time"),
    (r"\bdo(?:es)? what (?:it|they) says?\b", "what it does"),
    (r"\bof one's own\b", "your own, its own"),
    (r"^#+ (?:what is (?:not|checked)|what can be seen|who goes first|how it works|when it fails|where it is|a look)\b",
     "a heading that a reader searches for"),
]]
# Where the words are retired: the beginning of a path and its possible ends. In source files only comments are checked.
# To add a folder: ("storage/", (".cc", ".h")).
RETIRED_WORDS_PLACES = (
    ("", (".md",)),
    ("api/", (".cc", ".h")),
    ("apiserver/", (".cc", ".h")),
    ("bench/", (".cc", ".h")),
    ("controllers/", (".cc", ".h")),
    ("fuzz/", (".cc", ".h")),
    ("include/", (".cc", ".h")),
    ("kubelet-fake/", (".cc", ".h")),
    ("storage/", (".cc", ".h")),
    ("testbed/", (".cc", ".h")),
)
RETIRED_WORDS_EXEMPT = ("tests/tidy/tidy_test.py",)  # it has to name them
# A page may quote a name, a message or the word itself.
QUOTED = re.compile(r'```.*?```|`(?:[^`\n]|\n(?!\n))*`|(?<!\w)"[^"\n]*"(?!\w)|\]\([^)\n]*\)'
                    r'|\b(?:control|data)[-\s/#*]+planes?\b', re.DOTALL | re.IGNORECASE)
COMMENTS = {".py": re.compile(r'#[^\n]*|""".*?"""', re.DOTALL), ".go": re.compile(r"//[^\n]*"),
            ".mjs": re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)}
LINES_MAX = 600
# What a page names: paths from the root or from the page's folder, in text and in commands; links; in backquotes also the
# name of a C++ file alone. Patterns (*, <x>, {a,b}) are not checked, nor paths with a placeholder such as NAME.
PAGE_PATH = re.compile(r"(?<!\]\()(?<![\w./$<>{}*~-])(?:[\w.-]+/)+(?:[\w.-]*\w)?(?![\w*<{$/-])")
PAGE_FILE = re.compile(r"(?<=`)\w+\.(?:cc|h)(?=`)")
PAGE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?=[)#])")
ANY_NAME = re.compile(r"(?:^|[/_-])(?:NAME|TARGET|FOLDER|KIND|SUITE)(?:[/_.-]|$)")

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
            elif "/internal/" in target and not path.startswith((f"{owner}/", f"tests/{owner}/", "fuzz/")):
                yield Finding(path, line, "internal", f"{target} is private to {owner}/")
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


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def prose_only(path, text):
    """The sentences of a page or the comments of a source file; everything stays where it is."""
    suffix = os.path.splitext(path)[1]
    comments = CPP_TEXT if suffix in CPP else COMMENTS.get(suffix)
    if comments is not None:
        out, end = "", 0
        for match in comments.finditer(text):
            if suffix in CPP and not match[0].startswith("/"):
                continue
            out += blank(text[end:match.start()]) + match[0]
            end = match.end()
        text = out
    return QUOTED.sub(lambda m: blank(m[0]), text)


def check_retired_words(path, text):
    if path in RETIRED_WORDS_EXEMPT or not any(
            path.startswith(prefix) and path.endswith(suffixes) for prefix, suffixes in RETIRED_WORDS_PLACES):
        return
    prose = prose_only(path, text)
    for pattern, instead in RETIRED_WORDS:
        yield from each_match(path, prose, pattern, "words",
                              lambda m: f"\"{' '.join(m[0].split())}\": write {instead}")


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


def check_pages(files):
    """Every path that a page names is there."""
    tree = set(files)
    for path in files:
        while path := os.path.dirname(path):
            tree.add(path)
    folders = {path.split("/")[0] for path in files if "/" in path}
    names = {os.path.basename(path) for path in files}
    for page, text in files.items():
        if not page.endswith(".md"):
            continue
        for match in PAGE_LINK.finditer(text):
            if os.path.normpath(os.path.join(os.path.dirname(page), match[1])) not in tree:
                yield Finding(page, line_of(text, match.start()), "dead-path", f"{match[1]} leads nowhere")
        for match in PAGE_PATH.finditer(text):
            path = match[0].rstrip("/")
            beside = os.path.normpath(os.path.join(os.path.dirname(page), path))
            if path.split("/")[0] in folders and not ANY_NAME.search(path) and not tree & {path, beside}:
                yield Finding(page, line_of(text, match.start()), "dead-path", f"{path} does not exist")
        for match in PAGE_FILE.finditer(text):
            if match[0] not in names and not ANY_NAME.search(match[0]):
                yield Finding(page, line_of(text, match.start()), "dead-path", f"no file is called {match[0]}")


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
        yield from check_retired_words(path, text)


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


def check_tree(files):
    found = [finding for path, text in files.items() for finding in check_file(path, text)]
    return sorted(found + list(check_listed(files)) + list(check_pages(files)))


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
        self.assertEqual(self.rules("tests/api/a.cc", '#include "api/codec/internal/wire.h"\n'), [])
        self.assertEqual(self.rules("storage/a.cc", '#include "storage/internal/batch.h"\n'), [])

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
                     "values that are none", "It tries for ever.", "a clock that you hold"]:
            self.assertEqual(self.rules("docs/a.md", text + "\n"), ["words"], text)
        for text in ["A control plane has a clock.", "the control\nplane", "`testbed/plane.h`", "```\nat once\n```",
                     'not "at once"', "It starts immediately.", "tell apart", "# Not supported", "[x](a.md#the-house)"]:
            self.assertEqual(self.rules("docs/a.md", text + "\n"), [], text)

    def test_retired_words_are_looked_for_in_comments_only(self):
        places = (("", (".cc", ".py", ".go", ".mjs")),)
        with unittest.mock.patch.dict(globals(), RETIRED_WORDS_PLACES=places):
            for path, text in [("api/a.cc", 'f("at once");  // starts at\n// once\n'),
                               ("a.py", 'x = "told"  # is told\n'),
                               ("a.py", '"""Nobody.\n"""\nplane = 1\n'), ("a.go", "plane := 1 // is told\n"),
                               ("a.mjs", "/* heeds */ told();\n")]:
                self.assertEqual([f.rule for f in check_retired_words(path, text)], ["words"], text)
            code = 'f("at once"); plane.told();  // a control plane\n'
            self.assertEqual(list(check_retired_words("api/a.cc", code)), [])
        self.assertEqual(self.rules("docs/a.md", "one\ntwo at once\n"), ["words"])
        self.assertEqual([f.line for f in check_retired_words("docs/a.md", "one\ntwo at once\n")], [2])

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


def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(EachRuleCanFail)
    if not unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite).wasSuccessful():
        return 1
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    files = read_tree(root)
    formatted = [path for path in files if path.endswith(CPP) and not GENERATED.search(path)]
    found = check_tree(files) + list(check_format(root, formatted))
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")
    print(f"{len(files)} files, {len(found)} findings")
    # A wrong root would find nothing and so prove nothing.
    return 1 if found or "api/json.h" not in files else 0


if __name__ == "__main__":
    sys.exit(main())
