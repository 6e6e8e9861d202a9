"""Plays the requests of a seed on both servers and compares the answers, with what is random in them replaced.

The object is read as well after a write whose answer does not show it, and at the end. The entries of managedFields are compared as a set, because their order
follows their times; that each server keeps its own order is required.
"""

import collections
import dataclasses
import json
import re
import threading
import urllib.parse

import apply_known
from apply_requests import NAME, edit
from apply_shapes import KINDS

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-57][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
GIVEN_UID = re.compile(r"0{8}-0{4}-4000-8000-0{11}\d")  # of a request
TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
GIVEN_TIME = re.compile(r"2026-01-0[12]T")  # of a request
ADDRESS = re.compile(r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b")  # of a Service
# In messages Kubernetes prints its internal Go structs, and where its source is.
GO_STRUCT = re.compile(r"(Invalid|Duplicate) value: \{.*?\}: ", re.DOTALL)
GO_PATCH = re.compile(r'Invalid value: ".*": strict decoding error', re.DOTALL)
GO_DIFFERENCE = re.compile(r"(pod updates may not change fields other than [^\n]*)\n.*", re.DOTALL)
GO_SOURCE = re.compile(r' in scheme "[^"]*"')
AS_TEXT = "autoscaling.alpha.kubernetes.io/"  # annotations that hold JSON, whose keys are in another order
TYPES = {"create": "application/json", "update": "application/json"}
HIDING = ("scale", "binding", "eviction")  # subresources that answer with something else than the object
METHODS = {"create": "POST", "update": "PUT", "apply": "PATCH", "patch": "PATCH", "delete": "DELETE"}


def _without_nulls(value):
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


class Names:
    """Replaces what one server draws: uids, times, revisions and addresses by the order in which they appear."""

    def __init__(self, namespace):
        self.namespace = namespace
        self._seen = collections.defaultdict(dict)

    def _number(self, what, value):
        seen = self._seen[what]
        return f"{what}{seen.setdefault(value, len(seen) + 1)}"

    def forget_revisions(self):
        self._seen["RV"].clear()

    def text(self, value):
        value = value.replace(self.namespace, "NS")
        value = UID.sub(lambda match: match[0] if GIVEN_UID.match(match[0]) else self._number("UID", match[0]), value)
        value = ADDRESS.sub(lambda match: self._number("ADDRESS", match[0]), value)
        value = TIME.sub(lambda match: match[0] if GIVEN_TIME.match(match[0]) else "TIME", value)
        value = GO_STRUCT.sub(r"\1 value: {}: ", GO_SOURCE.sub("", value))
        value = GO_PATCH.sub('Invalid value: "": strict decoding error', value)
        return GO_DIFFERENCE.sub(r"\1", value)

    def document(self, value, key=""):
        if isinstance(value, dict):
            return {self.text(name): self.document(item, name) for name, item in value.items()}
        if key.startswith(AS_TEXT) and isinstance(value, str):
            return self.document(_without_nulls(json.loads(value)))
        if isinstance(value, list):
            items = [self.document(item) for item in value]
            return self._unordered(key, value, items)
        if isinstance(value, str):
            return self._number("RV", value) if key == "resourceVersion" else self.text(value)
        return self._number("PORT", value) if key in ("nodePort", "healthCheckNodePort") and value else value

    def _unordered(self, key, value, items):
        if key == "managedFields" and all(isinstance(item, dict) for item in items):
            order = [[item.get(key, "") for key in ("operation", "time", "manager", "apiVersion")] for item in value]
            found = sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
            return found if order == sorted(order) else [*found, "not in their order"]
        if key == "causes":  # of a conflict: in the order of a Go map; of an update: repeated by each check of the metadata
            return [json.loads(text) for text in sorted({json.dumps(item, sort_keys=True) for item in items})]
        return items


@dataclasses.dataclass
class Outcome:
    """What came of a seed: the first difference, or none."""

    seed: int
    requests: list
    sent: int = 0
    step: int = -1
    leaves: list = dataclasses.field(default_factory=list)
    answers: tuple = ()
    reordered: int = 0  # writes of one server alone, which can come from another order of the owners

    @property
    def differs(self):
        return bool(self.leaves)

    def signature(self):
        """What distinguishes this difference from those of other seeds."""
        request = self.requests[self.step]
        path, ours, theirs = self.leaves[0]
        path = re.sub(r"\[\d+\]", "[]", path)
        codes = tuple(answer["code"] for answer in self.answers)
        hint = "" if path != "code" and not path.endswith("message") else _hint(ours) + "/" + _hint(theirs)
        return request["do"], request["kind"].split(".")[0], request.get("sub", ""), codes, path, hint


def _hint(value):
    return re.sub(r'"[^"]*"|\d+', "_", str(value))[:60]


def leaves(ours, theirs, path=""):
    """(path, ours, theirs) of all that differs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            below = f"{path}.{key}" if path else key
            yield from leaves(ours.get(key, "nothing"), theirs.get(key, "nothing"), below)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (left, right) in enumerate(zip(ours, theirs)):
            yield from leaves(left, right, f"{path}[{index}]")
    elif type(ours) is not type(theirs) or ours != theirs:
        yield path, ours, theirs


class Side:
    """One server with a connection for each thread."""

    def __init__(self, server):
        self._server = server
        self._local = threading.local()

    @property
    def rest(self):
        if not hasattr(self._local, "rest"):
            self._local.rest = self._server.rest()
        return self._local.rest

    def begin(self, namespace):
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": namespace}}).expect(201)
        return Play(self.rest, namespace)


class Play:
    """The requests of one seed on one server."""

    def __init__(self, rest, namespace):
        self._rest, self.namespace = rest, namespace
        self.names = Names(namespace)

    def _path(self, request, collection=False):
        kind = KINDS[request["kind"]]
        path = f"{kind.group}/" + (f"namespaces/{self.namespace}/" if kind.namespaced else "") + kind.plural
        return path if collection else f"{path}/{self._name(kind)}"

    def _name(self, kind):
        return "x" if kind.namespaced else f"{self.namespace}-x"

    def _body(self, request):
        body = request.get("body")
        if request.get("edits"):
            path = self._path(request) + ("/" + request["sub"] if request.get("sub") else "")
            answer = self._rest.get(path)
            if answer.code == 200:
                body = edit(answer.body, request["edits"])
        if body is None or isinstance(body, str):
            return body
        return json.dumps(body).replace(NAME, self._name(KINDS[request["kind"]]))

    def answer(self, request):
        """The answer and the object after it, ready to be compared."""
        body = self._body(request)
        sub = request.get("sub", "")
        path = self._path(request, request["do"] == "create" and not sub) + (f"/{sub}" if sub else "")
        if request.get("query"):
            path += "?" + urllib.parse.urlencode(request["query"])
        headers = {"User-Agent": request.get("agent", "differential/1.0")}
        if body is not None:
            headers["Content-Type"] = request.get("type") or TYPES.get(request["do"], "application/json")
        answer = self._rest.request(METHODS[request["do"]], path, body, headers)
        shown = {
            "code": answer.code,
            "body": self._read(answer),
            "warnings": [self.names.text(text) for text in answer.headers.get_all("Warning") or []],
        }
        if answer.code < 300 and (sub in HIDING or "dryRun" in request["query"]):
            shown["after"] = self.read(request)
        return shown

    def read(self, request):
        """The object."""
        return self._read(self._rest.get(self._path(request)))

    def _read(self, answer):
        try:
            return self.names.document(answer.body)
        except ValueError:
            return answer.text

    def end(self):
        """Deletes what outlives the namespace: nothing does in Terrarium, and no controller ends that of Kubernetes."""
        node = KINDS["nodes"]
        self._rest.delete(f"{node.group}/{node.plural}/{self._name(node)}")


class Arena:
    """Both servers."""

    def __init__(self, terrarium, kubernetes, run):
        self._sides = Side(terrarium), Side(kubernetes)
        self._run, self._count, self._lock = run, 0, threading.Lock()

    def play(self, seed, requests):
        with self._lock:
            self._count += 1
            namespace = f"ap{self._run}-{self._count}"
        outcome = Outcome(seed, requests)
        plays = []
        try:
            plays = [side.begin(namespace) for side in self._sides]
            self._compare(outcome, plays)
        except (OSError, AssertionError) as error:
            outcome.step, outcome.leaves = outcome.sent - 1, [("error", repr(error), "")]
            outcome.answers = ({"code": 0}, {"code": 0})
        for play in plays:
            play.end()
        return outcome

    def _compare(self, outcome, plays):
        for step, request in enumerate(outcome.requests):
            outcome.sent += 1
            ours, theirs = (play.answer(request) for play in plays)
            different = list(leaves(ours, theirs))
            if not different and request is outcome.requests[-1]:
                different = list(leaves(*(play.read(request) for play in plays)))
            if different and apply_known.is_known(request, ours, theirs):
                continue
            if different and apply_known.can_be_reordered(different, theirs):
                outcome.reordered += 1
                for play in plays:
                    play.names.forget_revisions()
                continue
            if different:
                outcome.step, outcome.leaves, outcome.answers = step, different, (ours, theirs)
                return
