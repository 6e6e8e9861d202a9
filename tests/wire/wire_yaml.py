"""The part of YAML that wire cases are written in, without a library: block and flow collections, quoted and plain
scalars, block scalars. What it does not know (anchors, tags, words that YAML 1.1 takes for booleans) it refuses, so
that it never reads a text otherwise than the server's own YAML reader does."""

import json
import re

_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?$")
_LOOKS_NUMERIC = re.compile(r"[-+]?(\.?[0-9][0-9_]*([.eE][-+0-9_eE]*)?|0[xob][0-9a-fA-F_]+)$")
_YAML_1_1_WORDS = {"y", "n", "yes", "no", "on", "off"}
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'{}\[\],#&*!|>%@`][^#]*?)\s*:(?:\s+|$)""")
_BLOCK_SCALAR = re.compile(r"[|>]-?$")


class YamlError(ValueError):
    """The text is malformed, or YAML that is not supported here."""


def parse(text):
    """The value of one document; None for an empty one."""
    reader = _Blocks(text)
    value = reader.node(0)
    reader.expect_end()
    return value


def scalar(text):
    """The value of a plain scalar."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    if text.lower() in _YAML_1_1_WORDS or _LOOKS_NUMERIC.match(text) or text[0] in "&*!%@`|>":
        raise YamlError(f"quote {text!r}: readers of YAML do not agree on it")
    if ": " in text or text.endswith(":"):
        raise YamlError(f"quote {text!r}: it has a colon in it")
    return text


class _Flow:
    """Reads one value inside a text: quoted, {...}, [...] or plain up to a delimiter."""

    def __init__(self, text, at=0):
        self.text, self.at = text, at

    def skip(self):
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self):
        self.skip()
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self, char):
        if self.peek() != char:
            raise YamlError(f"expected {char!r} before {self.text[self.at:self.at + 20]!r}")
        self.at += 1

    def value(self, ends):
        char = self.peek()
        if char == "{":
            return self.mapping()
        if char == "[":
            return self.sequence()
        if char in ("'", '"'):
            return self.quoted()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self.at += 1
        plain = self.text[start:self.at].strip()
        if "?" in plain:
            raise YamlError(f"quote {plain!r}: a question mark ends a plain scalar inside braces")
        return scalar(plain)

    def quoted(self):
        match = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""").match(self.text, self.at)
        if not match:
            raise YamlError(f"unfinished quotes in {self.text!r}")
        self.at = match.end()
        inner = match.group()
        return json.loads(inner) if inner[0] == '"' else inner[1:-1].replace("''", "'")

    def mapping(self):
        self.take("{")
        result = {}
        while self.peek() != "}":
            key = self.quoted() if self.peek() in ("'", '"') else self.plain_key()
            self.take(":")
            if key in result:
                raise YamlError(f"key {key!r} comes twice")
            result[key] = None if self.peek() in (",", "}") else self.value(",}")
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        return result

    def plain_key(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ":,}":
            self.at += 1
        return self.text[start:self.at].strip()

    def sequence(self):
        self.take("[")
        result = []
        while self.peek() != "]":
            result.append(self.value(",]"))
            if self.peek() != "]":
                self.take(",")
        self.take("]")
        return result


class _Blocks:
    """Reads nested blocks from lines; a line is (indent, text)."""

    def __init__(self, text):
        self.raw = text.split("\n")
        self.at = 0

    def line(self):
        """The next line that is not blank as (indent, text), or None."""
        while self.at < len(self.raw):
            line = self.raw[self.at]
            text = line.strip()
            if text and not text.startswith("#"):
                if "\t" in line[: len(line) - len(line.lstrip())]:
                    raise YamlError("tabs cannot indent")
                return len(line) - len(line.lstrip()), text
            self.at += 1
        return None

    def expect_end(self):
        if self.line():
            raise YamlError(f"cannot read {self.line()[1]!r} here")

    def node(self, indent):
        """The block that starts at the next line, which must be indented by at least `indent`."""
        line = self.line()
        if line is None or line[0] < indent:
            return None
        if line[1].startswith("- ") or line[1] == "-":
            return self.sequence(line[0])
        if _KEY.match(line[1]):
            return self.mapping(line[0])
        self.at += 1
        return self.inline(line[1], line[0])

    def sequence(self, indent):
        result = []
        while (line := self.line()) and line[0] == indent and (line[1].startswith("- ") or line[1] == "-"):
            rest = line[1][1:].lstrip()
            if not rest or rest.startswith("#"):
                self.at += 1
                result.append(self.node(indent + 1))
                continue
            inner = indent + len(line[1]) - len(rest)
            if _KEY.match(rest) or rest.startswith("- "):
                self.raw[self.at] = " " * inner + rest  # the item is a block that begins on the line of its dash
                result.append(self.node(inner))
            else:
                self.at += 1
                result.append(self.inline(rest, indent + 1))
        return result

    def mapping(self, indent):
        result = {}
        while (line := self.line()) and line[0] == indent and (match := _KEY.match(line[1])):
            key = match.group(1)
            key = _Flow(key).quoted() if key[0] in "'\"" else key
            if key in result:
                raise YamlError(f"key {key!r} comes twice")
            rest = line[1][match.end():].strip()
            self.at += 1
            if rest and not rest.startswith("#"):
                result[key] = self.inline(rest, indent + 1)
                continue
            below = self.line()
            dash = below and below[0] == indent and (below[1].startswith("- ") or below[1] == "-")
            result[key] = self.sequence(indent) if dash else self.node(indent + 1)
        return result

    def inline(self, text, indent):
        """A value that starts on this line; a flow collection or block scalar may go on below."""
        if _BLOCK_SCALAR.match(text):
            return self.block_scalar(text, indent)
        if text[0] in "{['\"":
            while True:
                flow = _Flow(text)
                try:
                    value = flow.value("")
                    break
                except YamlError:
                    below = self.line()
                    if below is None or below[0] < indent:
                        raise
                    self.at += 1
                    text += " " + below[1]
            rest = flow.text[flow.at:].strip()
            if rest and not rest.startswith("#"):
                raise YamlError(f"cannot read {rest!r} here")
            return value
        return scalar(re.split(r"\s#", text, maxsplit=1)[0].strip())

    def block_scalar(self, style, indent):
        lines = []
        while self.at < len(self.raw):
            line = self.raw[self.at]
            if line.strip() and len(line) - len(line.lstrip()) < indent:
                break
            lines.append(line)
            self.at += 1
        while lines and not lines[-1].strip():
            lines.pop()
        margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        text = ("\n" if style[0] == "|" else " ").join(line[margin:] for line in lines)
        return text if style.endswith("-") else text + "\n"
