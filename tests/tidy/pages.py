"""Rules for pages: what they name exists, and their sections have one order."""

import os
import re

from findings import CPP, Finding, code_only, line_of

# What a page names: paths from the root or from the page's folder, in text and in commands; links; in backquotes also the
# name of a C++ file alone. Patterns (*, <x>, {a,b}) are not checked, nor paths with a placeholder such as NAME.
PAGE_PATH = re.compile(r"(?<!\]\()(?<![\w./$<>{}*~-])(?:[\w.-]+/)+(?:[\w.-]*\w)?(?![\w*<{$/-])")
PAGE_FILE = re.compile(r"(?<=`)\w+\.(?:cc|h)(?=`)")
PAGE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?=[)#])")
ANY_NAME = re.compile(r"(?:^|[/_-])(?:NAME|TARGET|FOLDER|KIND|SUITE)(?:[/_.-]|$)")
# A row of a table that walks through functions: | hops | `file`, `file` | functions |.
WALK_ROW = re.compile(r"^\|[^|\n]*\|((?: *`[\w./-]+\.(?:cc|h)`,?)+) *\|(.*)\|$", re.MULTILINE)
CODE_NAME = re.compile(r"`([A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)`")
# A member of a class, anywhere in a page; Terrarium::X is a CMake target.
MEMBER = re.compile(r"`(?!Terrarium::)((?:[A-Z]\w*::)+[A-Z]\w*)(?:\([^`]*\))?`")
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


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


def files_of_row(cell):
    """The paths of a row; a name without a folder is in the folder of the one before."""
    paths = []
    for path in re.findall(r"`([^`]+)`", cell):
        paths.append(path if "/" in path else os.path.join(os.path.dirname(paths[-1]), path) if paths else path)
    return paths


def check_functions(files):
    """A function in a walk is in the file of its row. A helper in brackets, and a member elsewhere, is in some file."""
    words = {path: set(re.findall(r"\w+", code_only(text))) for path, text in files.items() if path.endswith(CPP)}

    def is_in(name, paths):
        return any(words.get(path, set()).issuperset(name.split("::")) for path in paths)

    for page, text in files.items():
        if not page.endswith(".md"):
            continue
        for row in WALK_ROW.finditer(text):
            paths = files_of_row(row[1])
            for name in CODE_NAME.findall(re.sub(r"\[.*?\]", "", row[2])):
                if not is_in(name, paths):
                    yield Finding(page, line_of(text, row.start()), "dead-name", f"{name} is not in {', '.join(paths)}")
        for match in MEMBER.finditer(text):
            if not is_in(match[1], words):
                yield Finding(page, line_of(text, match.start()), "dead-name", f"no C++ file has {match[1]}")


def check_sections(page, text):
    """A page begins with its Usage and ends with its Limits."""
    titles = [match[1] for match in SECTION.finditer(re.sub(r"```.*?```", "", text, flags=re.DOTALL))]
    for title, place in (("Usage", 0), ("Limits", -1)):
        if title in titles and titles[place] != title:
            where = "first" if place == 0 else "last"
            yield Finding(page, line_of(text, text.index(f"\n## {title}\n") + 1), "page-order", f"{title} is the {where} section")
