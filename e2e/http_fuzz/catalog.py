"""The server's own description: resources and verbs (discovery), fields (OpenAPI), endpoints (control API), bytes."""

import json
import re
import shlex

from http_fuzz.values import TEXTS, hostile
from lib import samples

PROTOBUF = "application/vnd.kubernetes.protobuf"
LIKELY_TEXTS = ("seed", "a", "main", "1", "10m", "1Gi", "app", "node-0", "default", "Always", "Never", "TCP")
_TEXTS_OF_FORMAT = {
    "date-time": ("2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    "byte": ("", "AAAA"),
}


class Resource:
    """One resource, or subresource, of a group version."""

    def __init__(self, group_version, entry):
        self.group_version, self.kind, self.verbs = group_version, entry["kind"], tuple(sorted(entry["verbs"]))
        self.name, _, self.subresource = entry["name"].partition("/")
        self.namespaced = entry["namespaced"]
        # A subresource may take a kind of another group: pods/eviction, deployments/scale.
        self.kind_version = (f"{entry['group']}/" if entry.get("group") else "") + entry.get("version", "")
        if "version" not in entry:
            self.kind_version = group_version

    def root(self):
        return f"/api/{self.group_version}" if self.group_version == "v1" else f"/apis/{self.group_version}"


class Catalog:
    """Read once when the server is fresh, in a fixed order, so that one seed draws the same requests in every run."""

    def __init__(self, rest):
        self.resources = list(_resources(rest))
        self.paths = rest.get("/").expect()["paths"]
        self._schemas, self._schema_of_kind = {}, {}
        for path, entry in sorted(rest.get("/openapi/v3").expect()["paths"].items()):
            document = rest.get(entry["serverRelativeURL"]).expect()
            for name, schema in document.get("components", {}).get("schemas", {}).items():
                self._schemas[name] = schema
                for kind in schema.get("x-kubernetes-group-version-kind", []):
                    version = f"{kind['group']}/{kind['version']}" if kind["group"] else kind["version"]
                    self._schema_of_kind.setdefault((version, kind["kind"]), schema)
        self.endpoints = [_endpoint(entry) for entry in rest.get("/terrarium/v1").expect()["endpoints"]]
        self.objects = {}  # by (group version, plural): a small valid object
        for path, item in samples.objects("fuzz", {}):
            *root, plural = path.strip("/").split("/")
            version = "v1" if root[0] == "api" else "/".join(root[1:3])
            self.objects[version, plural] = item
        self.protobuf = {}  # by (group version, plural): an object as the server writes it

    def learn_protobuf(self, ask, namespace):
        """Reads existing objects as protobuf. ask(method, path, headers=...) gives (code, body)."""
        for resource in self.resources:
            if resource.subresource or "get" not in resource.verbs:
                continue
            place = f"/namespaces/{namespace}" if resource.namespaced else ""
            name = "node-0" if resource.name == "nodes" else namespace if resource.name == "namespaces" else "seed"
            path = f"{resource.root()}{place}/{resource.name}/{name}"
            code, body = ask("GET", path, headers={"Accept": PROTOBUF})
            if code == 200:
                self.protobuf[resource.group_version, resource.name] = body

    def schema(self, resource):
        return self._schema_of_kind.get((resource.kind_version, resource.kind))

    def resolved(self, schema):
        """The schema itself where there is a reference to one."""
        for _ in range(8):
            reference = schema.get("$ref") or next((part.get("$ref") for part in schema.get("allOf", ())), None)
            if not reference:
                break
            schema = self._schemas.get(reference.rsplit("/", 1)[-1], {})
        return schema

    def grow(self, rng, document, schema, calm=False):
        """A copy of the document with one more field of the schema, anywhere below, fit or unfit.

        `calm`: of its type and with a likely value, so that the server may accept the object and controllers act on it.
        """
        schema = self.resolved(schema)
        properties = schema.get("properties")
        if properties and isinstance(document, dict):
            name = rng.choice(sorted(properties))
            copy = dict(document)
            if name in copy and rng.random() < 0.8:
                copy[name] = self.grow(rng, copy[name], properties[name], calm)
            else:
                copy[name] = self.value(rng, properties[name], calm=calm)
            return copy
        if isinstance(document, list) and "items" in schema:
            if document and rng.random() < 0.8:
                at = rng.randrange(len(document))
                return document[:at] + [self.grow(rng, document[at], schema["items"], calm)] + document[at + 1 :]
            return [*document, self.value(rng, schema["items"], calm=calm)]
        return self.value(rng, schema, calm=calm)

    def value(self, rng, schema, depth=0, calm=False):
        """A value for a field: of its type most of the time."""
        schema = self.resolved(schema)
        if not calm and rng.random() < (0.3 if depth == 0 else 0.1):
            return hostile(rng)
        kind = schema.get("type")
        if schema.get("enum"):
            return rng.choice(schema["enum"])
        if kind == "string":
            return rng.choice(_TEXTS_OF_FORMAT.get(schema.get("format"), LIKELY_TEXTS) if calm else TEXTS)
        if kind == "integer":
            return rng.choice((0, 1, 2, 3, 10, 2147483647) if calm else (0, 1, 2, 3, 7, -1, 50, 1 << 31, 1 << 63))
        if kind == "number":
            return rng.choice((0, 0.5, -1e300))
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "array":
            count = rng.randrange(3) if depth < 4 else 0
            return [self.value(rng, schema.get("items", {}), depth + 1, calm) for _ in range(count)]
        if "properties" in schema:
            names = sorted(schema["properties"])
            wanted = set(schema.get("required", ())) | set(rng.sample(names, min(len(names), rng.randrange(4))))
            if depth >= 4:
                wanted = set()
            properties = schema["properties"]
            return {name: self.value(rng, properties.get(name, {}), depth + 1, calm) for name in sorted(wanted)}
        if isinstance(schema.get("additionalProperties"), dict):
            value = schema["additionalProperties"]
            names = LIKELY_TEXTS if calm else TEXTS
            return {rng.choice(names): self.value(rng, value, depth + 1, calm) for _ in range(rng.randrange(3))}
        if "oneOf" in schema or schema.get("format") == "int-or-string":
            return rng.choice((0, 1, "25%", "100%", 3) if calm else ("-5%", "http", 65536, "1.5", -1))
        return 1 if calm else hostile(rng)


def _resources(rest):
    versions = [("v1", "/api/v1")]
    for group in rest.get("/apis").expect()["groups"]:
        versions += [(v["groupVersion"], f"/apis/{v['groupVersion']}") for v in group["versions"]]
    for version, path in versions:
        for entry in rest.get(path).expect()["resources"]:
            yield Resource(version, entry)


def _endpoint(entry):
    """(method, path with {name}s filled in, example body or None, query)"""
    words = shlex.split(entry["curl"])
    body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
    target = re.sub(r"^\$URL", "", words[-1])
    path, _, query = target.partition("?")
    return entry["method"], path, body, query
