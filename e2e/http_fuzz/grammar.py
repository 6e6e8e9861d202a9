"""Valid requests, and requests that are valid HTTP with something invalid inside."""

import base64
import random
import urllib.parse

from http_fuzz import values
from http_fuzz.catalog import PROTOBUF
from http_fuzz.values import TEXTS, envelope, hostile, json_text, random_message, spoil, yaml_text

NAMESPACES = (*("fuzz",) * 8, *("default",) * 3, "kube-system", "missing")
SENTINEL = "sentinel"
SENTINEL_KINDS = ("configmaps", "secrets", "serviceaccounts", "leases")
CLUSTERS = (*("",) * 26, *("/clusters/second",) * 12, "/clusters/missing", "/clusters/")
NAMES = (*("seed",) * 8, "web", "once", "another", "new-1", "new-2", "default", "kubernetes", "a" * 254,
         "A_b")
METHODS = {"get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
           "delete": "DELETE", "deletecollection": "DELETE"}  # fmt: skip
JSON_PATCH, MERGE_PATCH = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"
ACCEPTS = (
    *("application/json",) * 9, *(PROTOBUF,) * 3, *(TABLE,) * 2, "application/yaml", "*/*",
    f"{PROTOBUF};stream=watch",
)  # fmt: skip
ODD_ACCEPTS = (
    "", PARTIAL.format(""), PARTIAL.format("List"), f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io",
    "application/json;stream=watch",
    "text/html", "application/cbor", "application/json;q=0.1,application/yaml;q=0.9", "application/*", ";",
    ",,,", "*/*;q=x",
    "application/json;as=Table;v=v9;g=meta.k8s.io", "application/json;as", 'text/plain;q="a\\"',
    "application/json," * 2000,
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
)  # fmt: skip
REVISIONS = ("", "0", "1", "7", "30", "100", "-1", "99999999", "9223372036854775807", "9223372036854775808",
             "x", "1.5", "01")
SELECTORS = ("", "app", "app=seed", "app in (seed,web)", "app notin (a)", "!app", "app!=b,c", "=", "a=b=c",
             "a in (", "(",
             "a in (" + ",".join(f"v{i}" for i in range(300)) + ")", "app=", "/a=b", "a" * 300, "a>1",
             "\x00", "a,b,,")  # fmt: skip
FIELDS = ("metadata.name=seed", "metadata.namespace!=fuzz", "status.phase=Running", "spec.nodeName=node-0",
          "a=b", "=",
          "metadata.name", "spec.nodeName=", "metadata.name=seed,metadata.name=web", "status.phase!=", "\\,",
          "a\\=b=c")  # fmt: skip
FLAGS = ("", "0", "1", "true", "false", "True", "yes", "2", "\x00")
COUNTS = ("", "0", "1", "2", "500", "-1", "99999999999999999999", "1.5", "x", "2147483648")
OPTIONS = {
    "limit": COUNTS,
    "timeoutSeconds": ("1", "0", "-1", "x", "99999999999999999999", "30"),
    "resourceVersion": REVISIONS,
    "resourceVersionMatch": ("Exact", "NotOlderThan", "exact", ""),
    "labelSelector": SELECTORS,
    "fieldSelector": FIELDS,
    "allowWatchBookmarks": FLAGS,
    "sendInitialEvents": FLAGS,
    "pretty": FLAGS,
    "dryRun": ("All", "All", "all", "None", ""),
    "fieldManager": ("fuzz", "a" * 129, "\x00", ""),
    "fieldValidation": ("Strict", "Warn", "Ignore", "strict", ""),
    "force": FLAGS,
    "gracePeriodSeconds": COUNTS,
    "propagationPolicy": ("Orphan", "Background", "Foreground", "orphan", ""),
    "orphanDependents": FLAGS,
    "container": ("main", "missing", ""),
    "follow": FLAGS,
    "previous": FLAGS,
    "tailLines": COUNTS,
    "limitBytes": COUNTS,
    "sinceSeconds": COUNTS,
    "sinceTime": ("2026-01-01T00:00:00Z", "now", ""),
    "timestamps": FLAGS,
    "unknown": TEXTS,
}
OPTIONS_OF = {
    "read": ("resourceVersion", "pretty", "unknown"),
    "list": ("limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector",
             "fieldSelector", "pretty",
             "timeoutSeconds", "sendInitialEvents", "allowWatchBookmarks"),
    "write": ("dryRun", "fieldManager", "fieldValidation", "force", "pretty", "unknown"),
    "delete": ("gracePeriodSeconds", "propagationPolicy", "orphanDependents", "dryRun", "labelSelector",
             "limit", "pretty"),
    "log": ("container", "follow", "previous", "tailLines", "limitBytes", "sinceSeconds", "sinceTime",
             "timestamps"),
}  # fmt: skip
OTHER_PATHS = ("/", "/api", "/apis", "/version", "/healthz", "/livez?verbose", "/readyz/ping", "/metrics",
               "/openapi/v2",
               "/openapi/v3", "/openapi/v3/apis/apps/v1?hash=0", "/openapi/v3/../v3", "/swagger.json",
               "/favicon.ico",
               "/terrarium", "/terrarium/v1", "/terrarium/ui/", "/terrarium/v2/clock", "/clusters", "//",
               "/api//v1/pods",
               "/apis/apps/v9/deployments", "/api/v1/namespaces/fuzz/nothing", "/logs", "/debug/pprof",
               "*")  # fmt: skip
# More members that bodies of the control API take. `data` names a file and is left out on purpose.
CONTROL_MEMBERS = ("name", "clock", "seed", "featureGates", "controllers", "kubelet", "scheduler",
                   "podDefaults", "mode",
                   "limit", "duration", "for", "namespace", "pod", "rule", "point", "outcome", "exitCode",
                   "container",
                   "script", "selector", "resource", "address", "ports", "message", "unknown")  # fmt: skip
CONTROL_VALUES = ("30s", "0s", "virtual", "auto", "scaled=10", "scaled=0", "scaled=-1", "scaled=1e9",
                  "delete", "create",
                  "condition=Ready", "condition=", "jsonpath={.a}=b",
                  "jsonpath={.status.conditions[?(@.type==\"Ready\")].x}",
                  "jsonpath={", "terminating", "ready", "127.0.0.1:1", "127.0.0.1:99999", "seed", "fuzz",
                  "10000000h")  # fmt: skip


MANAGERS = ("fuzz", "other", "kubectl", "kubectl-client-side-apply", "before-first-apply", "")
OPERATIONS = ("Apply", "Update", "", "apply")
FIELDS_V1 = (".", "f:", "f:spec", "f:metadata", "f:labels", "f:data", "f:app", "k:", "k:{", 'k:{"name":"main"}',
             'k:{"containerPort":80,"protocol":"TCP"}', "k:[]", "v:", 'v:"a"', "v:1", "v:{}", "i:0", "i:-1", "i:x",
             "i:99999999999999999999", "x:y", "", "f")  # fmt: skip
SCRIPT_KEYS = ("start-delay", "ready-delay", "run-for", "exit-code", "stop-after", "stop-exit-code", "ignore-sigterm",
               "hold", "cpu", "memory", "unknown")  # fmt: skip
SCRIPT_VALUES = ("1s", "0s", "90s", "1h30m", "1", "0", "255", "true", "false", "ready", "terminating", "start", "100m",
                 "1Gi", "2562047h47m16s", "1ns", "-1", "256")  # fmt: skip


class Request:
    """The parts of a request before they become bytes."""

    def __init__(self, method, target, headers=(), body=None, about="", is_watch=False, patient=False):
        self.method, self.target, self.headers, self.body = method, target, list(headers), body
        self.about, self.is_watch, self.patient, self.version = about, is_watch, patient, "HTTP/1.1"
        self.is_api = True  # an error is a Status

    def head(self, framing=True):
        lines = [f"{self.method} {self.target} {self.version}", "Host: 127.0.0.1"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if framing and self.body is not None:
            lines.append(f"Content-Length: {len(self.body)}")
        return lines

    def bytes(self):
        return "\r\n".join(self.head()).encode("latin-1", "replace") + b"\r\n\r\n" + (self.body or b"")


def accept(rng):
    return rng.choice(ACCEPTS if rng.random() < 0.85 else ODD_ACCEPTS)


def quoted(rng, text):
    return urllib.parse.quote(text, safe=rng.choice(("", ":,=()")))


def query_of(rng, names, always=()):
    chosen = [*always, *rng.sample(names, min(len(names), rng.choice((0, 0, 0, 1, 1, 2))))]
    pairs = []
    for name in chosen:
        value = continue_token(rng) if name == "continue" else rng.choice(OPTIONS.get(name, FLAGS))
        pairs.append(f"{name}={quoted(rng, value)}")
    return "?" + "&".join(pairs) if pairs else ""


def continue_token(rng):
    revision, start = rng.choice((0, 1, 30, -1, 1 << 62)), rng.choice(("fuzz/seed", "", "a\0b"))
    token = {"v": "meta.k8s.io/v1", "rv": revision, "start": start}
    if rng.random() < 0.4:
        token = spoil(rng, token)
    text = base64.urlsafe_b64encode(json_text(token)).rstrip(b"=").decode()
    return text if rng.random() < 0.7 else text[: rng.randrange(len(text) + 1)] + rng.choice(("", "=", "!", "=="))


class Grammar:
    """Draws requests from the catalog."""

    def __init__(self, catalog):
        self._catalog = catalog
        self._sentinel = [r for r in catalog.resources if r.name in SENTINEL_KINDS and not r.subresource]

    def request(self, rng):
        draw = rng.random()
        if draw < 0.70:
            return self.of_resource(rng, rng.choice(self._catalog.resources))
        if draw < 0.92:
            return self.of_control(rng)
        target = rng.choice(CLUSTERS[:-2]) + rng.choice((*OTHER_PATHS, *self._catalog.paths))
        method = rng.choice(("GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"))
        request = Request(method, target, [("Accept", accept(rng))], about="other path")
        request.is_api = False
        return request

    def of_sentinel(self, rng):
        """A write to the namespace that only accepted writes may change."""
        while True:
            resource = rng.choice(self._sentinel)
            request = self.of_resource(rng, resource, namespace=SENTINEL)
            if not request.is_watch:
                return request

    def likely_write(self, rng):
        """A probably valid creation or update, so that controllers and kubelet act on unusual objects."""
        while True:
            resource = rng.choice(self._catalog.resources)
            sample = self._catalog.objects.get((resource.group_version, resource.name))
            if sample is not None and not resource.subresource and resource.name not in ("nodes", "namespaces"):
                break
        metadata = {"generateName": "fuzz-"} if rng.random() < 0.6 else {"name": "seed"}
        document = {"apiVersion": resource.kind_version, "kind": resource.kind, **sample, "metadata": metadata}
        schema = self._catalog.resolved(self._catalog.schema(resource))
        for _ in range(rng.choice((0, 1, 1, 2))):
            # Below the parts that a user writes; status and metadata are the server's.
            name = rng.choice(sorted(set(sample) & set(schema["properties"])) or ["metadata"])
            part = self._catalog.grow(rng, document.get(name, {}), schema["properties"][name], calm=True)
            document = {**document, name: part}
        if rng.random() < 0.4:
            document = with_script(rng, document)
        cluster = rng.choice(CLUSTERS[:-2])
        path = f"{cluster}{resource.root()}/namespaces/fuzz/{resource.name}"
        about = f"likely write of {resource.name}"
        if "name" in metadata:
            return Request("PUT", f"{path}/seed", [("Content-Type", "application/json")], json_text(document), about)
        return Request("POST", path, [("Content-Type", "application/json")], json_text(document), about)

    def of_resource(self, rng, resource, namespace=None):
        verb = rng.choice(resource.verbs)
        if rng.random() < 0.02:
            verb = rng.choice(sorted(METHODS))
        path = self._path(rng, resource, verb, namespace)
        headers = [("Accept", accept(rng))]
        about = f"{verb} {resource.name} {resource.subresource}"
        request = Request(METHODS.get(verb, "GET"), path, headers, about=about)
        if resource.subresource == "log":
            request.target += query_of(rng, OPTIONS_OF["log"])
            request.is_watch = "follow=" in request.target
        elif verb == "watch":
            request.is_watch = True
            request.target += query_of(rng, OPTIONS_OF["list"], ("watch",)).replace("watch=", "watch=1&x=", 1)
        elif verb in ("get", "list"):
            request.target += query_of(rng, OPTIONS_OF["list" if verb == "list" else "read"])
            if rng.random() < 0.05:
                request.method = "HEAD"
        elif verb in ("delete", "deletecollection"):
            request.target += query_of(rng, OPTIONS_OF["delete"])
            if rng.random() < 0.5:
                self._set_body(rng, request, self._delete_options(rng), "DeleteOptions", "v1")
        elif verb == "patch":
            request.target += query_of(rng, OPTIONS_OF["write"])
            self._set_patch(rng, request, resource)
        else:
            request.target += query_of(rng, OPTIONS_OF["write"])
            # An update has the name twice, mostly the same.
            name = path.split("/")[-1] if verb == "update" and rng.random() < 0.9 else None
            document = self._document(rng, resource, name if not resource.subresource else path.split("/")[-2])
            self._set_body(rng, request, document, resource.kind, resource.kind_version, resource)
        return request

    def _path(self, rng, resource, verb, namespace):
        cluster = "" if namespace else rng.choice(CLUSTERS)
        place = f"/namespaces/{namespace or rng.choice(NAMESPACES)}" if resource.namespaced else ""
        if not namespace and resource.namespaced and verb in ("list", "watch") and rng.random() < 0.3:
            place = ""
        path = f"{cluster}{resource.root()}{place}/{resource.name}"
        if verb in ("list", "create", "deletecollection") and not resource.subresource:
            return path
        if verb == "watch" and rng.random() < 0.7:
            return path
        name = rng.choice(NAMES)
        if resource.name == "namespaces":
            name = rng.choice(("fuzz", "another", "missing", "default"))
        elif resource.name == "nodes":
            name = rng.choice(("node-0", "node-1", "seed"))
        return f"{path}/{name}" + (f"/{resource.subresource}" if resource.subresource else "")

    def _delete_options(self, rng):
        options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background", "preconditions": {"uid": "a"}}
        kept = {name: value for name, value in options.items() if rng.random() < 0.4}
        return {"apiVersion": "v1", "kind": "DeleteOptions", **kept}

    def _document(self, rng, resource, name=None):
        """A valid object of the resource, with some more of its fields."""
        sample = self._catalog.objects.get((resource.group_version, resource.name), {})
        if resource.subresource not in ("", "status", "finalize", "ephemeralcontainers", "resize"):
            sample = {"spec": {"replicas": rng.randrange(4)}} if resource.subresource == "scale" else {}
        document = {"apiVersion": resource.kind_version, "kind": resource.kind, **sample}
        metadata = {"name": name or rng.choice(NAMES)} if name or rng.random() < 0.5 else {"generateName": "fuzz-"}
        document["metadata"] = {**metadata, **({"labels": {"app": "seed"}} if rng.random() < 0.3 else {})}
        schema, calm = self._catalog.schema(resource), rng.random() < 0.5
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3)) if schema else 0):
            document = self._catalog.grow(rng, document, schema, calm)
        if rng.random() < 0.3 and isinstance(document, dict):
            document = with_script(rng, document)
        if rng.random() < 0.1:
            document = with_owners(rng, document)
        return document

    def _set_body(self, rng, request, document, kind, version, resource=None):
        if rng.random() < 0.35 and isinstance(document, dict):
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                document = spoil(rng, document)
                if not isinstance(document, (dict, list)):
                    break
            request.about += ", spoiled"
        draw = rng.random()
        if draw < 0.70:
            media_type, request.body = "application/json", json_text(document)
        elif draw < 0.82:
            media_type, request.body = "application/yaml", yaml_text(rng, document)
        else:
            media_type, request.body = PROTOBUF, self._protobuf(rng, kind, version, resource)
        if rng.random() < 0.05:
            media_type = rng.choice((*ODD_ACCEPTS, MERGE_PATCH, "application/x-www-form-urlencoded"))
        request.headers.append(("Content-Type", media_type))

    def _protobuf(self, rng, kind, version, resource):
        known = resource and self._catalog.protobuf.get((resource.group_version, resource.name))
        if known and rng.random() < 0.7:
            body = bytearray(known)
            for _ in range(rng.choice((0, 1, 1, 2, 5))):
                first = 4 if rng.random() < 0.95 else 0  # mostly after the magic number
                body[rng.randrange(first, len(body))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            return bytes(body) if rng.random() < 0.9 else bytes(body[: rng.randrange(len(body))])
        return envelope(version, kind, random_message(rng))

    def _set_patch(self, rng, request, resource):
        media_type = rng.choice((JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY, APPLY, "application/json", ""))
        if media_type == APPLY:
            return self._set_applied(rng, request, resource)
        if media_type == JSON_PATCH:
            patch = self._json_patch(rng, resource)
        else:
            patch = {}
            schema = self._catalog.schema(resource)
            base = self._document(rng, resource) if rng.random() < 0.3 or not schema else {}
            patch = self._catalog.grow(rng, base, schema) if schema else base
            if media_type == STRATEGIC and rng.random() < 0.5:
                patch = self._with_directive(rng, patch)
        if rng.random() < 0.25 and isinstance(patch, (dict, list)):
            patch = spoil(rng, patch)
        request.headers.append(("Content-Type", media_type))
        request.body = json_text(patch)
        request.about += f", {media_type}"

    def _set_applied(self, rng, request, resource):
        """A configuration of two managers, mostly of the object in the path."""
        path, _, query = request.target.partition("?")
        name = path.split("/")[-2 if resource.subresource else -1]
        document = self._document(rng, resource, name if rng.random() < 0.9 else None)
        if rng.random() < 0.2 and isinstance(document, dict):
            document = spoil(rng, document)
        if rng.random() < 0.9:
            options = [f"fieldManager={rng.choice(MANAGERS[:3])}", f"force={rng.choice(FLAGS[3:5])}", query]
            request.target = path + "?" + "&".join(filter(None, options))
        request.headers.append(("Content-Type", APPLY))
        request.body = json_text(document) if rng.random() < 0.5 else yaml_text(rng, document)
        request.about += f", {APPLY}"

    def _with_directive(self, rng, patch):
        """Inserts a directive of strategic merge patches at a random place."""
        places = [path for path in values.paths_of(patch) if isinstance(_at(patch, path), dict)]
        lists = ("$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers")
        directive = rng.choice(("$patch", "$retainKeys", *lists))
        value = rng.choice(("replace", "delete", "merge", ["a"], [{"name": "main"}], hostile(rng)))
        if not places:
            return patch
        return values.put(patch, rng.choice(places), lambda old: {**old, directive: value})

    def _json_patch(self, rng, resource):
        document = self._document(rng, resource)
        pointers = ["/" + "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path)
                    for path in values.paths_of(document)] if isinstance(document, dict) else [""]  # fmt: skip
        pointers += ["", "/", "/spec/-", "/metadata/labels/a~1b", "/spec/containers/-",
        "/spec/containers/99999999999", "a", "/~",
                     "/metadata/finalizers/-1", "/spec/containers/00"]  # fmt: skip
        if rng.random() < 0.02:
            return [{"op": "add", "path": rng.choice(pointers), "value": 1}] * rng.choice((200, 10_000, 10_001))
        patch = []
        for _ in range(rng.choice((1, 1, 2, 5))):
            kind = rng.choice(("add", "remove", "replace", "move", "copy", "test"))
            operation = {"op": kind, "path": rng.choice(pointers)}
            if rng.random() < 0.8:
                operation["value"] = hostile(rng)
            if rng.random() < 0.5:
                operation["from"] = rng.choice(pointers)
            patch.append(operation)
        return patch

    def of_control(self, rng):
        method, path, body, query = rng.choice(self._catalog.endpoints)
        request = Request(method, rng.choice(CLUSTERS[:-2]) + path, about=f"control {method} {path}")
        if rng.random() < 0.3:
            request.target = request.target.replace("/web", "/seed").replace("/default/", "/fuzz/")
        if query:
            request.target += "?" + "&".join(part for part in query.split("&") if rng.random() < 0.7)
        elif rng.random() < 0.05:
            request.target += "?unknown=1"
        if body is None and rng.random() < 0.1:
            body = {}
        if body is not None:
            document = dict(body)
            if "namespace" in document and rng.random() < 0.6:
                document.update({"pod": "seed"} if "pod" in document else {"name": "seed"}, namespace="fuzz")
            for _ in range(rng.choice((0, 0, 1, 2))):
                document[rng.choice(CONTROL_MEMBERS)] = rng.choice((*CONTROL_VALUES, hostile(rng)))
            if rng.random() < 0.3:
                document = spoil(rng, document)
            request.body = json_text(document)
        # Writes in another media type are refused, even without a body.
        if body is not None or method != "GET":
            media_type = "application/json" if rng.random() < 0.95 else accept(rng)
            request.headers.append(("Content-Type", media_type))
        request.patient = "/clock" in path or "/components" in path
        return request


def with_script(rng, document):
    """A pod or an object with a pod template, with a pod script."""
    script = {}
    for _ in range(rng.randrange(1, 4)):
        value = rng.choice(SCRIPT_VALUES if rng.random() < 0.8 else TEXTS)
        script[f"terrarium.dev/{rng.choice(SCRIPT_KEYS)}"] = value
    at = document.get("spec")
    while isinstance(at, dict) and isinstance(at.get("jobTemplate"), dict):
        at = at["jobTemplate"].get("spec")
    if document.get("kind") == "Pod":
        at = document
    elif isinstance(at, dict) and isinstance(at.get("template"), dict):
        at = at["template"]
    else:
        return document
    metadata = at.get("metadata")
    # Samples share their templates: change a copy.
    changed = {**(metadata if isinstance(metadata, dict) else {}), "annotations": script}
    return _replaced(document, at, {**at, "metadata": changed})


def with_owners(rng, document):
    """The object with managedFields as clients read and write them back, or reset, or malformed."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict):
        return document
    entries = [{}] if rng.random() < 0.1 else [_entry(rng) for _ in range(rng.choice((0, 1, 2, 3, 12)))]
    if rng.random() < 0.2:
        entries = spoil(rng, {"managedFields": entries})
        return {**document, "metadata": {**metadata, **(entries if isinstance(entries, dict) else {})}}
    return {**document, "metadata": {**metadata, "managedFields": entries}}


def _entry(rng):
    entry = {
        "manager": rng.choice(MANAGERS),
        "operation": rng.choice(OPERATIONS[:2] if rng.random() < 0.9 else OPERATIONS),
        "apiVersion": rng.choice(("v1", "apps/v1", "batch/v1", "")),
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1" if rng.random() < 0.95 else "FieldsV2",
        "fieldsV1": _fields(rng, 4),
    }
    return entry if rng.random() < 0.8 else {**entry, "subresource": rng.choice(("status", "scale", ""))}


def _fields(rng, depth):
    names = rng.choices(FIELDS_V1, k=rng.randrange(4)) if depth else []
    return {name: _fields(rng, depth - 1) if rng.random() < 0.95 else hostile(rng) for name in names}


def _replaced(value, old, new):
    if value is old:
        return new
    if isinstance(value, dict):
        return {name: _replaced(item, old, new) for name, item in value.items()}
    return value


def _at(value, path):
    for part in path:
        value = value[part]
    return value


def stream_of(seed, number):
    """The random numbers of one conversation, whatever else the run does."""
    return random.Random(f"{seed}/{number}")

