#!/usr/bin/env python3
"""Joins the sources of each target for a unity build: unity_groups.py FOLDER SIZE < TARGETS.

A line of standard input is TARGET;FILE;FILE... For each, FOLDER/TARGET/unity_N.cc are written, each of which includes at
most SIZE of the files; a line of standard output is TARGET;UNITY;UNITY...

A name that a source declares in an unnamed namespace must not be visible to another source that uses the same name, so
those two go into different groups. Declarations are read from the lines that begin in the first column, which is where
those of a namespace begin in this project.
"""

import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = re.compile(r"[A-Za-z_]\w*")
# No members, which are found in their class.
USE = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*")
QUALIFIED = re.compile(r"(\w+)::([A-Za-z_]\w*)")
TYPE = re.compile(r"(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] )?(\w+)")
ALIAS = re.compile(r"^using (\w+) = (.*)")
TEST = re.compile(r"TEST(?:_F|_P)?\((\w+), (\w+)\)")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
NAMESPACE_END = re.compile(r"^\}  // namespace ([\w:]+)$")
# Comments and literals, whose words do not use a name. A digit separator does not begin a literal.
NO_CODE = re.compile(r'//[^\n]*|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|' r"(?<!\w)'(?:\\.|[^'\\\n])+'")
# A unit that uses one of these pays seconds for its templates, so sources that do are neighbours.
COSTLY = re.compile(r"^#include <(spdlog/|regex|CLI/|prometheus/)", re.MULTILINE)


@dataclasses.dataclass
class Source:
    path: pathlib.Path
    declared: set  # (namespace, name)
    aliases: dict  # (namespace, name) -> type
    words: set
    qualified: set  # (the last part of the qualifier, name)
    namespaces: set
    sees_all: bool  # has a using directive
    costly: list

    def sees_name_of(self, other):
        for namespace, name in other.declared | other.aliases.keys():
            if name not in self.words:
                continue
            alias = self.aliases.get((namespace, name))
            if alias is not None and alias == other.aliases.get((namespace, name)):
                continue
            if self.sees_all or (namespace.split("::")[-1], name) in self.qualified:
                return True
            if any(inside(each, namespace) for each in self.namespaces):
                return True
        return False


def inside(namespace, outer):
    """Whether code in `namespace` sees what `outer` declares."""
    return outer == "" or namespace == outer or namespace.startswith(outer + "::")


def declared_name(line):
    """The name that the first line of a declaration declares, in a list."""
    if test := TEST.match(line):
        return ["_".join(test.groups())]
    if type_ := TYPE.match(line):
        return [type_[1]]
    return NAME.findall(re.split(r"[({=;\[]", line, maxsplit=1)[0])[-1:]


def read_source(path):
    text = path.read_text(encoding="utf-8")
    declared, aliases, namespaces, stack, unnamed = set(), {}, {""}, [], False
    for line in text.splitlines():
        here = "::".join(stack)
        if line.startswith("namespace {"):
            unnamed = True
        elif line.strip() == "}  // namespace":
            unnamed = False
        elif opened := NAMESPACE.match(line):
            stack.append(opened[1])
            namespaces.add("::".join(stack))
        elif NAMESPACE_END.match(line) and stack:
            stack.pop()
        elif line.startswith("using "):
            aliases.update(((here, name), type_) for name, type_ in ALIAS.findall(line))
        elif unnamed and line[:1].isalpha():
            declared.update((here, name) for name in declared_name(line))
    code = NO_CODE.sub(" ", text)
    return Source(
        path=path,
        declared=declared,
        aliases=aliases,
        words=set(USE.findall(code)) | {name for _, name in declared},
        qualified=set(QUALIFIED.findall(code)),
        namespaces=namespaces,
        sees_all="\nusing namespace" in code,
        costly=sorted(set(COSTLY.findall(text))),
    )


def grouped(files, size):
    """Lists of sources; a source joins the first list with room in which none sees a name of the other's."""
    sources = [read_source(path) for path in files]
    sources.sort(key=lambda source: source.costly, reverse=True)
    groups = []
    for source in sources:
        for group in groups:
            if len(group) < size and not any(
                source.sees_name_of(member) or member.sees_name_of(source) for member in group
            ):
                group.append(source)
                break
        else:
            groups.append([source])
    return groups


def write_groups(folder, size, files):
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, group in enumerate(grouped(files, size)):
        unity = folder / f"unity_{number}.cc"
        # By the path from the root, so that ccache serves checkouts in other folders.
        text = "".join(f'#include "{source.path.relative_to(ROOT)}"\n' for source in group)
        # A file that stays as it is keeps its time, and ninja does not compile it again.
        if not unity.exists() or unity.read_text(encoding="utf-8") != text:
            unity.write_text(text, encoding="utf-8")
        written.append(str(unity))
    return written


def main():
    folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    for line in sys.stdin:
        target, *files = line.rstrip("\n").split(";")
        print(";".join([target, *write_groups(folder / target, size, map(pathlib.Path, files))]))


if __name__ == "__main__":
    main()
