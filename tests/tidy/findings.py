"""What the rules of the tidy test share: findings, and reading C++ text."""

import collections
import functools
import re

Finding = collections.namedtuple("Finding", "path line rule text")

CPP = (".cc", ".h")
# Comments and literals, longest forms first. A quote after a digit separates thousands.
CPP_TEXT = re.compile(
    r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def each_match(path, text, pattern, rule, describe):
    for match in pattern.finditer(text):
        yield Finding(path, line_of(text, match.start()), rule, describe(match))


@functools.lru_cache(maxsize=None)
def code_only(text):
    """The C++ text with comments and literals blanked; lines stay where they are."""
    return CPP_TEXT.sub(lambda m: "\n" * m[0].count("\n"), text)


def blank(text):
    return re.sub(r"[^\n]", " ", text)
