"""Reads .wire files (docs/wire-cases.md) into conversations. Texts are kept as written: names are filled in and YAML
is read when a step is played."""

import dataclasses
import re

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_STEP = re.compile(r"(?:(%s) ([/{]\S*)|(EVENTS) (\w+)|(ADVANCE) (\d+)s|(GATES) (\S+)|(COMPACT))$" % "|".join(METHODS))
_ANSWER = re.compile(r"---(?: (\d{3})(?: (\w+))?)?$")
_HEADER = re.compile(r"([A-Za-z][A-Za-z-]*):\s*(.*)$")
_ONLY = ("handler", "http", "terrarium")


class FormatError(ValueError):
    """A malformed file; the message begins with file and line."""


@dataclasses.dataclass
class Step:
    """One request with its expected response, a read of events, or an action of the runner."""

    line: int
    verb: str  # a method, EVENTS, ADVANCE, GATES or COMPACT
    target: str = ""  # the path with its query; the stream's name; the seconds; the gates
    headers: list = dataclasses.field(default_factory=list)
    directives: list = dataclasses.field(default_factory=list)  # (name, rest) of the request, in order
    body: str = ""
    code: int = 0
    reason: str = ""
    expect: str = ""
    answer_headers: list = dataclasses.field(default_factory=list)
    checks: list = dataclasses.field(default_factory=list)  # (name, rest) of the answer, in order
    text: list = dataclasses.field(default_factory=list)  # the lines of a text answer
    contains: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Conversation:
    title: str
    line: int
    only: list
    steps: list


@dataclasses.dataclass
class File:
    name: str
    gates: str
    objects: dict
    conversations: list


_REQUEST_DIRECTIVES = {"like", "set", "unset", "raw", "stream"}
_ANSWER_DIRECTIVES = {"save", "absent", "exact", "contains", "message", "invalid", "cause", "warning", "end"}


def _directive(line, known):
    name, _, rest = line[1:].partition(" ")
    if name not in known:
        raise ValueError(f"unknown directive @{name}")
    return name, rest.rstrip()


class _Parser:
    def __init__(self, name, text):
        self.lines = text.rstrip("\n").split("\n")
        self.at = 0
        self.file = File(name, "", {}, [])

    def more(self):
        return self.at < len(self.lines)

    def line(self):
        return self.lines[self.at]

    def take(self, stop):
        """The lines up to one for which stop(line) holds."""
        start = self.at
        while self.more() and not stop(self.line()):
            self.at += 1
        return self.lines[start:self.at]

    def parse(self):
        while self.more():
            line = self.line()
            if line.startswith("== "):
                self.conversation()
            elif line.startswith("@object "):
                self.at += 1
                body = self.take(lambda x: x.startswith(("== ", "@object ")))
                self.file.objects[line[8:].strip()] = "\n".join(body)
            elif line.startswith("gates: "):
                self.file.gates = line[7:].strip()
                self.at += 1
            elif not line.strip() or line.startswith("#"):
                self.at += 1
            else:
                raise ValueError(f"expected a conversation ('== title'), not '{line}'")
        return self.file

    def conversation(self):
        talk = Conversation(self.line()[3:].strip(), self.at + 1, [], [])
        self.file.conversations.append(talk)
        self.at += 1
        while self.more() and not self.line().startswith("== "):
            line = self.line()
            if line.startswith("only: "):
                talk.only = [word.strip() for word in line[6:].split(",")]
                if not set(talk.only) <= set(_ONLY):
                    raise ValueError(f"only: takes {', '.join(_ONLY)}")
                self.at += 1
            elif not line.strip() or line.startswith("#"):
                self.at += 1
            elif _STEP.match(line):
                talk.steps.append(self.step())
            else:
                raise ValueError(f"expected a request such as 'GET /path', not '{line}'")

    def step(self):
        match = [group for group in _STEP.match(self.line()).groups() if group]
        step = Step(self.at + 1, match[0], match[1] if len(match) > 1 else "")
        self.at += 1
        if step.verb in ("ADVANCE", "COMPACT", "GATES"):
            return step
        while self.more() and self.line().strip() and not _ANSWER.match(self.line()):
            line = self.line()
            if line.startswith("@"):
                step.directives.append(_directive(line, _REQUEST_DIRECTIVES))
            elif match := _HEADER.match(line):
                step.headers.append((match.group(1), match.group(2)))
            else:
                raise ValueError(f"expected a header, a directive, an empty line or '---', not '{line}'")
            self.at += 1
        body = self.take(_ANSWER.match)
        step.body = "\n".join(body[1:]).rstrip("\n")
        if not self.more():
            raise ValueError("the step has no '---' with its answer")
        match = _ANSWER.match(self.line())
        if (match.group(1) is None) != (step.verb == "EVENTS"):
            raise ValueError("'---' takes a status code, except after EVENTS")
        step.code, step.reason = int(match.group(1) or 0), match.group(2) or ""
        self.at += 1
        self.answer(step)
        return step

    def answer(self, step):
        yaml = []
        while self.more() and not self.line().startswith("== ") and not _STEP.match(self.line()):
            line = self.line()
            if line.startswith("@"):
                step.checks.append(_directive(line, _ANSWER_DIRECTIVES))
            elif line.startswith("< "):
                match = _HEADER.match(line[2:])
                if not match:
                    raise ValueError(f"expected '< Header: value', not '{line}'")
                step.answer_headers.append((match.group(1), match.group(2)))
            elif line.startswith("| ") or line == "|":
                step.text.append(line[2:])
            elif line.startswith("~ "):
                step.contains.append(line[2:])
            elif line.strip() and not line.startswith("#"):
                yaml.append(line)
            self.at += 1
        step.expect = "\n".join(yaml)


def parse(name, text):
    """The conversations of one file. Raises FormatError."""
    parser = _Parser(name, text)
    try:
        return parser.parse()
    except ValueError as error:
        raise FormatError(f"{name}:{min(parser.at + 1, len(parser.lines))}: {error}") from None
