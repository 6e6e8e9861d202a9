"""Rule `words`: words that must not come back, in pages, comments, names, messages and titles."""

import functools
import os
import re

from findings import CPP, CPP_TEXT, Finding, blank, code_only, each_match, line_of

# Words that are not to come back, with what to write instead; CONTRIBUTING.md gives the reasons. A blank stands for any
# blanks, a line break and the sign of a comment included.
BLANKS = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+|#|\*)?[ \t]*)"
RETIRED_WORDS = [(re.compile(pattern.replace(" ", BLANKS), re.IGNORECASE | re.MULTILINE), instead) for pattern, instead in [
    (r"\b(?:who(?:m|so)?ever|somebody|nobody|anybody|everybody)\b", "the caller, the client, the controller"),
    (r"\bat once\b", "immediately, or: in parallel, in one step"),
    (r"\bin vain\b", "no-op, without effect"),
    (r"\btell(?:s|ing)?\b(?! apart)|\btold\b", "report, notify, record, state"),
    (r"\b(?:says?|said|saying)\b", "report, record, log, state"),
    (r"\bhear(?:s|d|ing)?\b", "observe, see"),
    (r"\bheed(?:s|ed|ing)?\b", "enqueue, handle"),
    (r"\bplanes?\b", "control plane (code), cluster (users)"),
    (r"\b(?:a|one|each|every|next|another|first|last|no|its|this) look\b", "sync, reconcile, check"),
    (r"\blook(?:s|ed)? (?:again|anew)\b|\blooked at\b", "sync, reconcile, check"),
    (r"\bthe house\b", "architecture, the project"),
    (r"\b(?:happenings?|surroundings|unsaid)\b", "queued events; dependencies; missing"),
    (r"\b(?:that|which) (?:is|are) none\b", "malformed, invalid"),
    # "There is no X" is plain English.
    (r"\b(?!there\b)\w+ (?:is|are|was|were) no (?!(?:longer|more|less|fewer|later|older|newer|earlier|op)\b)\w+",
     "is not a JSON object, is not a number"),
    (r"\bclock (?:that |which )?(?:you|it|they|(?:a|the) test) holds?\b|\bholds? (?:its|their|the) (?:own )?clock\b",
     "a virtual clock, a clock that you control"),
    (r"\bgoodbye\b|\bwithout a word\b", "abruptly; without an error"),
    (r"\banew\b", "again"),
    (r"\bfor ever\b", "forever, indefinitely"),
    (r"\bhonest(?:ly)?\b", "what is guaranteed"),
    (r"\bthe world's (?:time|clock|seconds)\b", "wall-clock time"),
    (r"\bdo(?:es)? what (?:it|they) says?\b", "what it does"),
    (r"\bof one's own\b", "your own, its own"),
    (r"\bis none of\b", "must be one of, is not one of"),
    (r"\bknows nobody\b|\btime that is left\b|\btemplate owner's\b",
     "depends on nothing; deadline; strategy shared by owners of a pod template"),
    (r"^#+ (?:what is (?:not|checked)|what can be seen|who goes first|how it works|when it fails|where it is|a look)\b",
     "a heading that a reader searches for"),
]]
# Not checked: files that have to name the words, and inputs of the fuzz targets.
EXEMPT = ("tests/tidy/", "fuzz/seeds/", "controllers/controller_table.cc")
# The messages of these folders are for users. apiserver/table has Kubernetes' own descriptions.
MESSAGES = ("api/", "apiserver/", "bench/", "controllers/", "examples/", "include/", "kubelet-fake/", "storage/", "testbed/")
NOT_MESSAGES = ("apiserver/table/",)
# A page may quote a name, a message or the word itself.
QUOTED = re.compile(r'```.*?```|`(?:[^`\n]|\n(?!\n))*`|(?<!\w)"[^"\n]*"(?!\w)|\]\([^)\n]*\)'
                    r'|\b(?:control|data)[-\s/#*]+planes?\b', re.DOTALL | re.IGNORECASE)
HASH_COMMENT = re.compile(r"#[^\n]*")
SLASH_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Per kind of file, where its prose is; None: everywhere.
PROSE = {".md": None, ".py": re.compile(r'#[^\n]*|""".*?"""', re.DOTALL), ".go": SLASH_COMMENT, ".rs": SLASH_COMMENT,
         ".mjs": SLASH_COMMENT, ".mts": SLASH_COMMENT, ".txt": HASH_COMMENT, ".cmake": HASH_COMMENT, ".in": HASH_COMMENT,
         ".sh": HASH_COMMENT, ".supp": HASH_COMMENT, ".yaml": HASH_COMMENT,
         ".wire": re.compile(r"^(?:#|==)[^\n]*", re.MULTILINE)}
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w{2,}")
# The name of a test in Python, Go, Rust or JavaScript. Those of C++ are identifiers; titles of wire cases are prose.
TEST_NAME = re.compile(r"^(?:[ \t]*def test_(\w+)\(|func Test(\w+)\(|#\[tokio::test\]\nasync fn (\w+)"
                       r"|[ \t]*test\('([^'\n]*)')", re.MULTILINE)


def prose_of(path, text):
    """The sentences of a page or the comments of a source file; everything stays where it is."""
    suffix = os.path.splitext(path)[1]
    if suffix in CPP:
        comments = CPP_TEXT
    elif path.startswith("scenarios/"):
        comments = None  # titles and names are prose too
    elif suffix in PROSE:
        comments = PROSE[suffix]
    elif text.startswith("#!"):
        comments = HASH_COMMENT
    else:
        return ""
    if comments is not None:
        out, end = "", 0
        for match in comments.finditer(text):
            if suffix in CPP and not match[0].startswith("/"):
                continue
            out += blank(text[end:match.start()]) + match[0]
            end = match.end()
        text = out
    return QUOTED.sub(lambda m: blank(m[0]), text)


def words_of(name):
    """The words of a name in PascalCase or snake_case, separated by blanks."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name)


def describe(match, instead):
    return f"\"{' '.join(match[0].split())}\": write {instead}"


@functools.lru_cache(maxsize=None)
def findings_in_words(words):
    """What is wrong with a name or a title, whose words blanks separate."""
    words = QUOTED.sub("", words)
    return [describe(match, instead) for pattern, instead in RETIRED_WORDS for match in pattern.finditer(words)]


def names_of(path, text):
    """(line, words) of each identifier of a C++ file, and of the names of tests in other languages."""
    if path.endswith(CPP):
        code, seen = code_only(text), set()
        for match in IDENTIFIER.finditer(code):
            if match[0] not in seen:
                seen.add(match[0])
                if findings_in_words(words_of(match[0])):
                    yield line_of(code, match.start()), words_of(match[0])
    else:
        for match in TEST_NAME.finditer(text):
            yield line_of(text, match.start()), words_of(match[match.lastindex])


def messages_of(path, text):
    """(line, text) of each literal of a C++ file whose messages are for users."""
    if path.endswith(CPP) and path.startswith(MESSAGES) and not path.startswith(NOT_MESSAGES):
        for match in CPP_TEXT.finditer(text):
            if not match[0].startswith("/"):
                yield line_of(text, match.start()), match[0].strip('"')


def check_retired_words(path, text):
    if path.startswith(EXEMPT):
        return
    prose = prose_of(path, text)
    for pattern, instead in RETIRED_WORDS:
        yield from each_match(path, prose, pattern, "words", lambda m: describe(m, instead))  # noqa: B023
    for line, words in [*names_of(path, text), *messages_of(path, text)]:
        for found in findings_in_words(words):
            yield Finding(path, line, "words", found)
