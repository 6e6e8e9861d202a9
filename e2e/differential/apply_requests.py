"""Draws the requests of a seed: applies, updates, patches, status and scale writes of one object by several managers.

A request is JSON: {do, kind, sub, query, agent, type, body, edits}. A text body is sent as it stands. An `update` sends the
object as the server has it, changed by `edits`, or `body` if there is none.
"""

import copy
import json
import random

from apply_shapes import HPA, KINDS, Draw

MANAGERS = ["m1", "m2", "m3", "kubectl"]
AGENTS = ["tool/1.0", "kubectl/v1.36.4 (linux/amd64)", "m1", ""]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
PATCHES = [MERGE, STRATEGIC, JSON_PATCH]
NAME = "@NAME"  # replaced when it is played: objects without a namespace need names of their own

# What is wrong with a configuration, rarely.
MISTAKES = [
    {"set": ["spec", "unknownField"], "to": 1},
    {"set": ["metadata", "labels"], "to": ["a"]},
    {"set": ["metadata", "labels", "x"], "to": 1},
    {"set": ["metadata", "labels"], "to": None},
    {"set": ["metadata", "annotations", "x"], "to": None},
    {"set": ["spec"], "to": None},
    {"set": ["spec"], "to": "text"},
    {"set": ["metadata", "managedFields"], "to": [{"manager": "x"}]},
    {"set": ["metadata", "managedFields"], "to": []},
    {"set": ["metadata", "uid"], "to": "00000000-0000-4000-8000-000000000009"},
    {"set": ["metadata", "resourceVersion"], "to": "1"},
    {"set": ["metadata", "generation"], "to": 7},
    {"set": ["metadata", "creationTimestamp"], "to": None},
    {"set": ["metadata", "name"], "to": "other"},
    {"set": ["metadata", "namespace"], "to": "other"},
    {"set": ["apiVersion"], "to": "v2"},
    {"set": ["kind"], "to": "Other"},
    {"set": ["status"], "to": {}},
    {"set": ["status"], "to": {"replicas": 1}},
]


def paths_of(value, prefix=()):
    """The paths of all fields below, with numbers for items."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in below:
        yield (*prefix, key)
        yield from paths_of(child, (*prefix, key))


def remove(document, path):
    """Removes the field or item if it is there."""
    for step in path[:-1]:
        found = isinstance(document, dict) and step in document or (
            isinstance(document, list) and isinstance(step, int) and step < len(document))
        if not found:
            return
        document = document[step]
    last = path[-1]
    if isinstance(document, dict) and last in document or (
        isinstance(document, list) and isinstance(last, int) and last < len(document)):
        del document[last]


def put(document, path, value):
    """Sets a field whose parents are maps; parents that are not there are made."""
    for step in path[:-1]:
        if not isinstance(document.get(step), dict):
            document[step] = {}
        document = document[step]
    document[path[-1]] = value


def merge(base, patch):
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    base = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            base.pop(key, None)
        else:
            base[key] = merge(base.get(key), value)
    return base


def _identity(entry):
    return [entry.get(key, "") for key in ("manager", "operation", "subresource", "apiVersion")]


def edit(document, edits):
    """Applies the edits of an update to an object as the server has it."""
    document = copy.deepcopy(document)
    for each in edits:
        if "merge" in each:
            document = merge(document, each["merge"])
        elif "remove" in each:
            remove(document, each["remove"])
        elif each["owners"] == "reset":
            document["metadata"]["managedFields"] = [{}]
        elif each["owners"] == "empty":
            document["metadata"]["managedFields"] = []
        elif each["owners"] == "first":  # by name: their order follows their times
            owners = sorted(document["metadata"].get("managedFields", []), key=lambda entry: _identity(entry))
            document["metadata"]["managedFields"] = owners[1:]
        elif each["owners"] == "rename":
            for entry in document["metadata"].get("managedFields", []):
                entry["manager"] = "renamed"
        elif each["owners"] == "bad":
            document["metadata"]["managedFields"] = [{"manager": "x", "operation": "Other"}]
    return document


class Requests:
    """The requests of one seed."""

    def __init__(self, seed, kinds=()):
        self._prng = random.Random(f"apply {seed}")
        self.seed = seed
        self._key = self._prng.choice(sorted(kinds or KINDS))
        self._kind = KINDS[self._key]
        self._has_mistakes = self._prng.random() < 0.3
        self._has_dry_runs = self._prng.random() < 0.3
        self._last = {}

    def make(self):
        count = self._prng.randint(4, 24)
        return [self._request() for _ in range(count)]

    def _request(self):
        choices = [(self._apply, 50), (self._update, 15), (self._patch, 18), (self._create, 4), (self._delete, 2)]
        if self._kind.status:
            choices += [(self._status, 12)]
        if self._kind.scales:
            choices += [(self._scale, 12)]
        if self._key == "pods":
            choices += [(self._bind, 2), (self._evict, 1)]
        request = self._prng.choices([do for do, _ in choices], [weight for _, weight in choices])[0]()
        request.setdefault("kind", self._served())
        query = request.setdefault("query", {})
        if self._has_dry_runs and self._chance(0.15):
            query["dryRun"] = "All"
        if self._has_mistakes and self._chance(0.15) and request["do"] != "delete":
            query["fieldValidation"] = self._prng.choice(["Strict", "Warn", "Ignore"])
        return request

    def _chance(self, share):
        return self._prng.random() < share

    def _served(self):
        """The version of the object to use. HorizontalPodAutoscalers have two."""
        if not self._key.startswith(HPA):
            return self._key
        return self._key if self._chance(0.6) else self._prng.choice([HPA, HPA + ".v1"])

    def _draw(self, density=None):
        return Draw(self._prng, self._prng.choice([0.1, 0.25, 0.5]) if density is None else density)

    def _named(self, key, body):
        kind = KINDS[key]
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        return {**head, **body, "metadata": {"name": NAME, **body.get("metadata", {})}}

    def _whole(self, key):
        return self._named(key, self._draw().of(KINDS[key].shape))

    def _part(self, key):
        """Some of a configuration, so that other managers have the rest."""
        body = self._whole(key)
        if self._chance(0.5):
            body.pop("spec", None)
            return body
        for _ in range(self._prng.randint(0, 3)):
            self._drop_one(body)
        return body

    def _drop_one(self, body):
        kept = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"))
        paths = [path for path in paths_of(body) if path not in kept]
        if paths:
            remove(body, self._prng.choice(paths))

    def _config(self, key, manager):
        """What a manager applies: often what it applied last, changed."""
        last = self._last.get((key, manager))
        if last is None or self._chance(0.3):
            return self._whole(key) if not self._last or self._chance(0.4) else self._part(key)
        body = copy.deepcopy(last)
        change = self._prng.random()
        if change < 0.3:
            self._drop_one(body)
        elif change < 0.75:
            body = self._named(key, merge(body, self._draw(0.2).of(KINDS[key].shape)))
        elif change < 0.85:
            self._shuffle(body)
        return body

    def _shuffle(self, body):
        lists = [path for path in paths_of(body) if isinstance(path[-1], int)]
        if lists:
            parent = body
            for step in self._prng.choice(lists)[:-1]:
                parent = parent[step]
            self._prng.shuffle(parent)
            if self._has_mistakes and self._chance(0.3):
                parent.append(copy.deepcopy(parent[0]))

    def _spoil(self, body):
        if self._has_mistakes and self._chance(0.15):
            mistake = self._prng.choice(MISTAKES)
            put(body, mistake["set"], copy.deepcopy(mistake["to"]))
        return body

    def _manager(self):
        manager = self._prng.choice(MANAGERS)
        query = {"fieldManager": manager}
        if self._has_mistakes and self._chance(0.04):
            query = {"fieldManager": self._prng.choice(["", "x" * 129, "x" * 128, "a\tb", "ä"])}
        return manager, query

    def _apply(self):
        key = self._served()
        manager, query = self._manager()
        if key != self._key:  # what one manager applies in two versions is pruned by Go's zero values
            manager = query["fieldManager"] = f"other-{manager}"
        body = self._config(key, manager)
        self._last[key, manager] = copy.deepcopy(body)
        if self._chance(0.45):
            query["force"] = self._prng.choice(["true", "true", "1", "false"])
        return {"do": "apply", "kind": key, "query": query, "type": APPLY, "body": self._spoil(body)}

    def _writer(self):
        """Who writes: a field manager, or a client known by its User-Agent."""
        if self._chance(0.5):
            return {"query": self._manager()[1]}
        return {"agent": self._prng.choice(AGENTS)}

    def _edits(self, key, shape):
        edits = []
        for _ in range(self._prng.randint(1, 2)):
            if self._chance(0.6):
                edits.append({"merge": self._draw(0.2).of(shape)})
            else:
                paths = [path for path in paths_of(self._draw(0.5).of(shape)) if path != ("metadata",)]
                edits += [{"remove": list(self._prng.choice(paths))}] if paths else []
        if self._chance(0.12):
            edits.append({"owners": self._prng.choice(["reset", "empty", "first", "rename", "bad"])})
        if self._chance(0.5):
            edits.append({"remove": ["metadata", "resourceVersion"]})
        return edits

    def _update(self, sub="", shape=None):
        key = self._served()
        shape = shape or KINDS[key].shape
        body = self._named(key, {}) if sub else self._whole(key)
        return {"do": "update", "kind": key, "sub": sub, "body": body, "edits": self._edits(key, shape), **self._writer()}

    def _create(self):
        key = self._served()
        return {"do": "create", "kind": key, "body": self._spoil(self._whole(key)), **self._writer()}

    def _delete(self):
        return {"do": "delete", "query": {"gracePeriodSeconds": "0"}}

    def _patch(self, sub="", shape=None):
        key = self._served()
        shape = shape or KINDS[key].shape
        kind = self._prng.choice(PATCHES)
        body = self._draw(self._prng.choice([0.1, 0.3])).of(shape)
        if kind == JSON_PATCH:
            body = self._operations(shape)
        else:
            for path in list(paths_of(body)):
                if self._chance(0.05) and not any(isinstance(step, int) for step in path) and len(path) > 1:
                    put(body, path, None)
                    break
            if kind == STRATEGIC and self._chance(0.3):
                self._strategic(body)
        return {"do": "patch", "kind": key, "sub": sub, "type": kind, "body": body, **self._writer()}

    def _strategic(self, body):
        items = [path for path in paths_of(body) if isinstance(path[-1], int)]
        if not items:
            return
        parent = body
        for step in self._prng.choice(items):
            parent = parent[step]
        if isinstance(parent, dict):
            parent["$patch"] = "delete"

    def _operations(self, shape):
        operations = []
        for _ in range(self._prng.randint(1, 3)):
            document = self._draw(0.4).of(shape)
            paths = list(paths_of(document))
            if not paths:
                continue
            path = self._prng.choice(paths)
            value = document
            for step in path:
                value = value[step]
            pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
            do = self._prng.choices(["add", "replace", "remove"], [6, 2, 2])[0]
            operations.append({"op": do, "path": pointer, **({} if do == "remove" else {"value": value})})
        return operations

    def _status(self):
        key = self._served()
        shape = {"metadata": KINDS[key].shape["!metadata"], **KINDS[key].status}
        if self._chance(0.8):
            shape.pop("metadata")
        way = self._prng.random()
        if way < 0.3:
            return {**self._update("status", shape), "kind": key}
        if way < 0.6:
            return {**self._patch("status", shape), "kind": key}
        manager, query = self._manager()
        last = self._last.get((key, manager, "status"))
        body = self._named(key, self._draw().of(shape))
        if last and self._chance(0.5):
            body = merge(last, body)
            self._drop_one(body)
        self._last[key, manager, "status"] = copy.deepcopy(body)
        if self._chance(0.5):
            query["force"] = "true"
        return {"do": "apply", "kind": key, "sub": "status", "query": query, "type": APPLY, "body": self._spoil(body)}

    def _scale(self):
        body = {"spec": {"replicas": self._prng.choice([0, 1, 2, 3, 4])}}
        whole = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": NAME}, **body}
        way = self._prng.random()
        if way < 0.3:
            return {"do": "update", "sub": "scale", "body": whole, "edits": [{"merge": body}], **self._writer()}
        if way < 0.5:
            return {"do": "patch", "sub": "scale", "type": MERGE, "body": body, **self._writer()}
        manager, query = self._manager()
        if self._chance(0.5):
            query["force"] = "true"
        if self._chance(0.2):
            whole["spec"] = {}
        if self._chance(0.1):
            whole["metadata"]["labels"] = {"x": "1"}
        return {"do": "apply", "sub": "scale", "query": query, "type": APPLY, "body": self._spoil(whole)}

    def _bind(self):
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": NAME}, "target": {"kind": "Node", "name": "n"}}
        return {"do": "create", "sub": "binding", "body": body, **self._writer()}

    def _evict(self):
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": NAME}}
        return {"do": "create", "sub": "eviction", "body": body, **self._writer()}


def show(request):
    """The request as one line."""
    query = "&".join(f"{key}={value}" for key, value in request.get("query", {}).items())
    sub = "/" + request["sub"] if request.get("sub") else ""
    head = f"{request['do']} {request['kind']}{sub}" + (f"?{query}" if query else "")
    for key in ("agent", "type"):
        if key in request:
            head += f" {key}={request[key]!r}"
    return " ".join([head, *(f"{key} {json.dumps(request[key])}" for key in ("edits", "body") if key in request)])
