#!/usr/bin/env python3
"""Sends generated requests to every operation of the server's own OpenAPI v3 documents.

The checks: no response is a 5xx, every success response matches the document in media type and schema, and every error
response is a Status. Every run sends the same requests.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from lib import samples
from lib.rest import Rest

EXAMPLES_PER_OPERATION = 4
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")

APPLY = "application/apply-patch+yaml"
# Bodies in these forms can be generated from a schema. The other forms have suites of their own.
BODY_TYPES = (
    APPLY,
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
METHODS = ("get", "put", "post", "patch", "delete")
STATUS = {
    "type": "object",
    "required": ["kind", "apiVersion", "metadata", "status", "code"],
    "properties": {
        "kind": {"enum": ["Status"]},
        "apiVersion": {"enum": ["v1"]},
        "metadata": {"type": "object"},
        "status": {"enum": ["Failure"]},
        "message": {"type": "string"},
        "reason": {"type": "string"},
        "code": {"type": "integer", "minimum": 400, "maximum": 499},
        "details": {"type": "object"},
    },
}


def documents(rest):
    """The OpenAPI v3 documents of every group and version."""
    for path, entry in sorted(rest.get("/openapi/v3").expect()["paths"].items()):
        if re.fullmatch(r"api/v1|apis/[a-z0-9.]+/v1", path):
            yield rest.get(entry["serverRelativeURL"]).expect()


def merged(parts):
    """One document out of all: a schema that several have is the same in each."""
    whole = {
        "openapi": "3.0.0",
        "info": {"title": "terrarium", "version": "v1"},
        "paths": {},
        "components": {"schemas": {}},
    }
    for part in parts:
        whole["paths"].update(part["paths"])
        whole["components"]["schemas"].update(part["components"]["schemas"])
    return whole


def prepared(document):
    """The document as it is fed in.

    - A watch never ends by itself: its paths and its parameter are left out.
    - A binding without a target is a 500, as in Kubernetes: bindings are left out.
    - Names are those of seeded objects, or one more: a random one would only ever be a 404.
    - Kubernetes' documents describe success responses only; error responses are a Status.
    - They describe a deletion's response as a Status; while the object still exists the response is the object.
    - They describe the body of an apply as any object, which the server would refuse: applied_body() narrows it.
    """
    document["paths"] = {
        path: item
        for path, item in document["paths"].items()
        if "/watch/" not in path and not path.endswith(("/bindings", "/binding"))
    }
    for path, item in document["paths"].items():
        for parameters in [
            item.get("parameters", []),
            *(item[method].get("parameters", []) for method in METHODS if method in item),
        ]:
            parameters[:] = [p for p in parameters if p.get("name") != "watch"]
            for parameter in parameters:
                if parameter["in"] == "path":
                    seeds = [NAMESPACE] if parameter["name"] == "namespace" else ["seed", "another"]
                    parameter["schema"] = {"type": "string", "enum": seeds}
        stored = json_content(item.get("get", {}).get("responses", {}).get("200", {}))
        for answer in item.get("delete", {}).get("responses", {}).values():
            if stored and (content := json_content(answer)):
                content["schema"] = {"anyOf": [content["schema"], stored["schema"]]}
        for method in METHODS:
            if method in item:
                prepare_operation(item[method])
    return document


def json_content(answer):
    return answer.get("content", {}).get("application/json")


def applied_body(operation):
    """The schema of a configuration that gives its object a label. A field that the kind does not have would be a 500,
    as in Kubernetes."""
    kind = operation["x-kubernetes-group-version-kind"]
    version = "/".join(filter(None, [kind["group"], kind["version"]]))
    labels = {"type": "object", "properties": {"applied": {"type": "string", "pattern": "^[a-z]{1,9}$"}}}
    return {
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": {"enum": [version]},
            "kind": {"enum": [kind["kind"]]},
            "metadata": {
                "type": "object",
                "properties": {"labels": {**labels, "additionalProperties": False}},
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    }


def prepare_operation(operation):
    body = operation.get("requestBody", {}).get("content", {})
    if APPLY in body:
        body[APPLY] = {"schema": applied_body(operation)}
    for media_type in [name for name in body if name not in BODY_TYPES]:
        # A body that is described for any media type is a JSON one.
        described = body.pop(media_type)
        if media_type == "*/*":
            body["application/json"] = described
    operation["responses"].pop("401", None)
    operation["responses"]["4XX"] = {"description": "refused", "content": {"application/json": {"schema": STATUS}}}


NAMESPACE = "schemathesis"


def seed(rest):
    """One object of every kind. A finalizer keeps it there when a generated request deletes it."""
    rest.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}).expect()
    for path, item in samples.objects(NAMESPACE, {"name": "seed", "finalizers": ["example.test/stay"]}):
        rest.post(path, item).expect()


def main():
    rest = Rest(os.environ["TERRARIUM_URL"])
    document = prepared(merged(documents(rest)))
    seed(rest)
    rest.close()
    operations = sum(method in item for item in document["paths"].values() for method in METHODS)
    print(f"{operations} operations, {EXAMPLES_PER_OPERATION} requests each at most", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "openapi.json"
        path.write_text(json.dumps(document))
        command = [
            sys.executable,
            "-c",
            "from schemathesis.cli import schemathesis; schemathesis()",
            "run",
            str(path),
            "--url",
            os.environ["TERRARIUM_URL"],
            "--phases",
            "fuzzing",
            "--checks",
            ",".join(CHECKS),
            "--max-examples",
            str(EXAMPLES_PER_OPERATION),
            "--generation-deterministic",
            "--no-shrink",
            "--continue-on-failure",
            "--suppress-health-check",
            "all",
            "--header",
            "Accept: application/json",
            "--request-timeout",
            "30",
            "--workers",
            "1",
            "--no-color",
            "--warnings",
            "off",
            *sys.argv[1:],
        ]
        return subprocess.call(command, cwd=folder)


if __name__ == "__main__":
    sys.exit(main())
