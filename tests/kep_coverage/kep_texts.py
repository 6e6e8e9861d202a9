"""Reads the texts of KEPs: their sections, and the items of each section.

An item is a paragraph or an entry of a list, whatever its marker and depth, in the order of the text; a question of the
production readiness questionnaire is one together with its answer. Comments, code, the heads of tables and words that
only introduce what follows are left out.
"""

import re

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FENCE = re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,6} (.+?)\s*$")
ENTRY = re.compile(r"^\s*(?:[-*]|\d+\.|[a-z]\.) +(.*)$")
# Entries of a text that has lost its markers: a test by its name, a sentence that is an entry elsewhere, a package.
UNMARKED = r"Test[A-Z]\w* : http|The current behavior |Add a new test |The core packages |k8s\.io/\S+?:\d"
RUN_TOGETHER = re.compile(r"(?<=\.)(?=Test[A-Z]\w* : http)|(?<=%)(?=k8s\.io/)")
LINK_TARGET = re.compile(r"^\[[^\]]+\]: ")
TABLE_RULE = re.compile(r"^\|[-| ]+$")
# Names what follows, agrees to the template, or is the template's own words.
INTRODUCTION = re.compile(r"^(?:(?:\S+ ){0,5}\S+:|\w+|\w+ tests covering: \w+|\[x\] I/we understand .*|"
                          r"_This section must be completed .*_)$")
BOLD_QUESTION = re.compile(r"^\* \*\*(.+?)\*\*[ \t]*", re.DOTALL | re.MULTILINE)
METRIC = re.compile(r"\b(?:workqueue|kube|job)_[a-z_]*(?:total|depth|bucket|replicas|terminating)(?![a-z_]*_)")

# The headings of a text that has lost its markers; the questions end in a question mark.
PLAIN_HEADINGS = {
    "Release Signoff Checklist", "Summary", "Motivation", "Goals", "Non-Goals", "Proposal", "User Stories (Optional)",
    "Notes/Constraints/Caveats (Optional)", "Risks and Mitigations", "Design Details", "API", "Test Plan",
    "Prerequisite testing updates", "Unit tests", "Integration tests", "e2e tests", "Graduation Criteria", "Alpha",
    "Beta", "GA", "Upgrade / Downgrade Strategy", "Version Skew Strategy",
    "Production Readiness Review Questionnaire", "Feature Enablement and Rollback",
    "Rollout, Upgrade and Rollback Planning", "Monitoring Requirements", "Dependencies", "Scalability",
    "Troubleshooting", "Implementation History", "Drawbacks", "Alternatives"}


def without_markup(text):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("`", "").replace("**", "")).strip()


def split_entries(line):
    """A line of a text that has lost its markers: entries that were run together with the end of the one before."""
    line = re.sub(r"(?<=\S) ?- (?=[A-Z])", "\n- ", line)
    line = RUN_TOGETHER.sub("\n- ", line)
    return re.sub(r"^(?:(?=Deployment$)|(?=%s))" % UNMARKED, r"- ", line, flags=re.MULTILINE).split("\n")


def sections(text):
    """Pairs of a heading and its lines, the text before the first heading left out."""
    plain = not re.search(r"^## ", text, re.MULTILINE)
    text = FENCE.sub("\n", COMMENT.sub("\n", text))
    text = BOLD_QUESTION.sub(lambda match: "##### %s\n" % re.sub(r"\s+", " ", match.group(1)), text)
    found = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        name = heading.group(1) if heading else None
        if plain and (line in PLAIN_HEADINGS or re.match(r"^[A-Z].{15,}\?$", line)):
            name = line
        if name is not None:
            found.append((without_markup(name), []))
        elif found:
            found[-1][1].extend(split_entries(line) if plain else [line])
    return found


def items(lines):
    found, goes_on = [], False
    for line in lines:
        marked = ENTRY.match(line)
        if not line.strip() or LINK_TARGET.match(line):
            goes_on = False
        elif TABLE_RULE.match(line):
            found.pop()  # the heads of the columns
        elif marked or line.startswith("|") or not goes_on:
            found.append(marked.group(1) if marked else line)
            goes_on = True
        else:
            found[-1] += " " + line
    return [item for item in map(without_markup, found) if not INTRODUCTION.match(item)]


class Kep:
    def __init__(self, text):
        self.text = text
        self.items = {}  # by section, then in their order
        for name, lines in sections(text):
            self.items.setdefault(name, []).extend(items(lines))

    def questions(self):
        return [name for name in self.items if name.endswith("?")]

    def metrics(self):
        return sorted(set(METRIC.findall(COMMENT.sub("", self.text))))
