"""The base of the kubectl suite. The same tests run with every kubectl."""

import functools
import pathlib
import tempfile

from lib.kubectl import VERSION, KubectlCase, since

__all__ = ["VERSION", "KubectlCase", "config_map", "deployment", "manifest_file", "pod", "service", "since"]


def pod(name, node=None, labels=None, containers=1, **spec):
    spec["containers"] = [
        {"name": "main" if i == 0 else f"side-{i}", "image": "example.test/app:1"} for i in range(containers)
    ]
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {"app": name}},
        "spec": spec,
    }


def deployment(name, replicas=3, image="example.test/app:1", **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
            **spec,
        },
    }


def service(name):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


def config_map(name, labels=None, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels or {}}, "data": data}


def manifest_file(function):
    """Decorates a test that needs a folder for manifests; it is passed as a path."""

    @functools.wraps(function)
    def wrapper(self):
        with tempfile.TemporaryDirectory() as folder:
            return function(self, pathlib.Path(folder))

    return wrapper
