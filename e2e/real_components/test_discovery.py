"""Every stable kind of Kubernetes is served: discovery against the documents of kube-apiserver in Kubernetes' module."""

import json
import re
import unittest

from lib import kubernetes
from lib.rest import Rest
from lib.server import BARE, Server, binary_from_environment

# The documents of the groups' stable versions: api__v1.json, apis__apps__v1.json.
STABLE = re.compile(r"(?:api|apis__[^_]+)__v\d+\.json")
# Their kinds are not part of k8s.io/api.
OTHER_GROUPS = {"apiextensions.k8s.io", "apiregistration.k8s.io"}
# docs/compatibility.md lists these as not supported.
NOT_SUPPORTED = {
    "v1 componentstatuses",
    "v1 nodes/proxy",
    "v1 pods/ephemeralcontainers",
    "v1 pods/proxy",
    "v1 pods/resize",
    "v1 serviceaccounts/token",
    "v1 services/proxy",
}
# Versions that another server of the cluster serves, here metrics-server.
AGGREGATED = {"metrics.k8s.io/v1beta1"}


def resources(document):
    """{"v1 pods": the resource's entry in discovery}"""
    out = {}
    for resource in document["resources"]:
        entry = {key: sorted(value) if isinstance(value, list) else value for key, value in resource.items()}
        entry.pop("storageVersionHash", None)
        out[f"{document['groupVersion']} {entry.pop('name')}"] = entry
    return out


def of_kubernetes():
    out = {}
    for file in sorted((kubernetes.source() / "api" / "discovery").iterdir()):
        if not STABLE.fullmatch(file.name):
            continue
        document = json.loads(file.read_text())
        if document["groupVersion"].partition("/")[0] not in OTHER_GROUPS:
            out |= resources(document)
    return out


def of_server(rest):
    out = resources(rest.get("/api/v1").expect())
    for group in rest.get("/apis").expect()["groups"]:
        for version in group["versions"]:
            if version["groupVersion"] not in AGGREGATED:
                out |= resources(rest.get(f"/apis/{version['groupVersion']}").expect())
    return out


class Discovery(unittest.TestCase):
    maxDiff = None

    def test_every_stable_resource_is_served_as_by_kubernetes(self):
        expected = of_kubernetes()
        with Server(binary_from_environment(), *BARE) as server:
            rest = Rest(server.url)
            self.addCleanup(rest.close)
            served = of_server(rest)
        self.assertGreater(len(expected), 100, "the documents were found")
        self.assertEqual(set(expected) - set(served), NOT_SUPPORTED)
        self.assertEqual({name: expected.get(name) for name in served}, served)


if __name__ == "__main__":
    unittest.main()
