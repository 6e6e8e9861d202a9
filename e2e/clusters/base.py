"""The test case of the clusters suite: a server for every class, and clusters in it for every test."""

import os
import pathlib
import subprocess

from lib.kubectl import KUBECTL, TIMEOUT_S, Running
from lib.rest import Rest
from pods.base import ControlPlaneCase


class Cluster:
    """One cluster over HTTP, and kubectl with the kubeconfig that the server made for it."""

    def __init__(self, made, folder, environment):
        self.name, self.url = made["name"], made["url"]
        path = pathlib.Path(folder) / f"{self.name}.kubeconfig"
        path.write_text(made["kubeconfig"])
        self.environment = {**environment, "KUBECONFIG": str(path)}
        self.rest = Rest(self.url)

    def k(self, *words):
        done = subprocess.run(
            [KUBECTL, *words], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT_S * 2
        )
        if done.returncode != 0:
            raise AssertionError(f"{self.name}: kubectl {' '.join(words)}: {done}")
        return done.stdout

    def start(self, *words):
        return Running(list(words), self.environment)

    def control(self, method, path, body=None):
        return self.rest.request(method, f"/terrarium/v1{path}", body)

    def clock(self):
        return self.control("GET", "/clock").expect()

    def advance(self, duration):
        return self.control("POST", "/clock/advance", {"duration": duration}).expect()

    def run_until(self, condition, name, resource="pods", namespace="default", limit="10m"):
        body = {"resource": resource, "namespace": namespace, "name": name, "for": condition, "limit": limit}
        answer = self.control("POST", "/clock/run-until", body).expect()
        if answer["outcome"] != "done":
            raise AssertionError(f"{self.name}: {condition} of {name}: {answer}")
        return answer

    def make(self, item, path="/api/v1/namespaces/default/pods"):
        return self.rest.post(path, item).expect()

    def pods(self):
        return [item["metadata"]["name"] for item in self.rest.get("/api/v1/pods").expect()["items"]]


class ClusterCase(ControlPlaneCase):
    flags = ("--clock=virtual", "--nodes=1")

    def cluster(self, name=None, **settings):
        """A cluster that exists until the test ends, or until it is deleted."""
        body = {**settings, **({"name": name} if name else {})}
        made = self.control("POST", "/clusters", body).expect()
        cluster = Cluster(made, self.home, self.environment)
        self.addCleanup(cluster.rest.close)
        self.addCleanup(self.control, "DELETE", f"/clusters/{cluster.name}")
        return cluster

    def delete(self, cluster):
        self.control("DELETE", f"/clusters/{cluster.name}").expect()

    def names(self):
        return [cluster["name"] for cluster in self.control("GET", "/clusters").expect()["clusters"]]


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def resident_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
