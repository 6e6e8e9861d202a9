"""A test case with Helm as a function and a release in a namespace for every test.

Each class has a server of its own with nodes and all controllers. Its clock jumps to the next timer when the cluster is
idle, so that `--wait` ends as soon as nothing is left to do.
"""

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

from lib.rest import Rest
from lib.server import SLOWDOWN, Server, binary_from_environment

HELM = os.environ["HELM"]
CHART = pathlib.Path(__file__).resolve().parent / "chart"
TIMEOUT_S = 60 * SLOWDOWN
MANAGER = "helm"  # Helm takes the name of its program


class Result:
    """The output of a finished helm."""

    def __init__(self, command, done):
        self.command, self.code, self.out, self.err = command, done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"helm {self.command}\nexit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class HelmCase(unittest.TestCase):
    maxDiff = None
    flags = ("--clock=auto", "--nodes=2")
    _count = 0

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        server = stack.enter_context(Server(binary_from_environment(), *cls.flags))
        cls.addClassCleanup(stack.close)
        home = pathlib.Path(tempfile.mkdtemp(prefix="terrarium-helm-"))
        cls.addClassCleanup(shutil.rmtree, home, True)
        cls.environment = {
            "HOME": str(home),
            "TMPDIR": str(home),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": server.kubeconfig,
        }
        cls.rest = Rest(server.url)
        cls.addClassCleanup(cls.rest.close)

    def setUp(self):
        HelmCase._count += 1
        self.ns = f"helm-{os.getpid()}-{HelmCase._count}"
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": self.ns}}).expect()

    # -- helm

    def try_helm(self, command):
        """Runs helm and returns its result. `command` is in shell words; CHART stands for the chart's folder."""
        words = [str(CHART) if word == "CHART" else word for word in shlex.split(command)]
        words += ["--namespace", self.ns]
        if words[0] in ("install", "upgrade", "rollback", "uninstall", "test"):
            words += ["--timeout", f"{TIMEOUT_S / 2:.0f}s"]
        done = subprocess.run(
            [HELM, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        return Result(shlex.join(words), done)

    def helm(self, command):
        """Like try_helm, and helm must succeed."""
        result = self.try_helm(command)
        self.assertEqual(result.code, 0, str(result))
        return result

    def helm_fails(self, command, *texts):
        """Like try_helm, and helm must fail with each of `texts` in its output."""
        result = self.try_helm(command)
        self.assertNotEqual(result.code, 0, str(result))
        for text in texts:
            self.assertIn(text, result.out + result.err, str(result))
        return result

    def history(self, release="shop"):
        """[(revision, status)] of a release."""
        found = self.helm(f"history {release} -o json").json
        return [(item["revision"], item["status"]) for item in found]

    # -- objects

    def path_of(self, resource, name=""):
        group = {"deployments": "/apis/apps/v1", "replicasets": "/apis/apps/v1", "jobs": "/apis/batch/v1"}
        path = f"{group.get(resource, '/api/v1')}/namespaces/{self.ns}/{resource}"
        return f"{path}/{name}" if name else path

    def get(self, resource, name="shop"):
        return self.rest.get(self.path_of(resource, name)).expect()

    def list(self, resource):
        return self.rest.get(self.path_of(resource)).expect()["items"]

    def is_gone(self, resource, name="shop"):
        return self.rest.get(self.path_of(resource, name)).code == 404

    def apply_as(self, manager, resource, item, force=False):
        """Server-side apply by another manager than Helm."""
        query = f"?fieldManager={manager}" + ("&force=true" if force else "")
        path = self.path_of(resource, item["metadata"]["name"]) + query
        return self.rest.request("PATCH", path, item, {"Content-Type": "application/apply-patch+yaml"}).expect()


def owned(item, manager=MANAGER, operation="Apply", subresource=None):
    """The fields that a manager owns by an operation, or None."""
    for entry in item["metadata"]["managedFields"]:
        if (entry["manager"], entry["operation"], entry.get("subresource")) == (manager, operation, subresource):
            return entry["fieldsV1"]
    return None


def owners(item):
    """(manager, operation, subresource) of every owner, in order."""
    entries = item["metadata"].get("managedFields", [])
    return sorted((entry["manager"], entry["operation"], entry.get("subresource", "")) for entry in entries)


def container(deployment):
    return deployment["spec"]["template"]["spec"]["containers"][0]
