"""Starts a Terrarium server for a test suite. The server ends with the suite, even if that crashes.

As a context manager:

    with Terrarium(clock="virtual") as server, server.cluster() as cluster:
        api = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(cluster.kubeconfig))
        cluster.advance("30s")

With pytest, `pytest_plugins = ["terrarium"]` in conftest.py provides the fixture `terrarium`: a separate cluster for
every test, which takes milliseconds, on one server for the whole session.

    @pytest.mark.terrarium(feature_gates={"DownscalePodPicker": True})
    def test_something(terrarium):
        terrarium.run_until("pods", "web", "condition=Ready")

Override the fixture `terrarium_options` to pass options to the server. This file needs only the standard library;
pytest is optional.
"""

import http.client
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time
import urllib.parse

START_TIMEOUT_S = 30
STOP_TIMEOUT_S = 20
LOG_TAIL = 4000


class TerrariumError(Exception):
    """The server did not start, did not exit with 0, or a clock move had another outcome than expected."""


class ControlError(TerrariumError):
    """An error response of the control API, with its `code` and `reason`."""

    def __init__(self, code, reason, message):
        super().__init__(f"{message} ({code} {reason})")
        self.code, self.reason, self.message = code, reason, message


class ControlPlane:
    """A client of the control API of one cluster: docs/control-api.md. `kubeconfig` is the path of a file."""

    def __init__(self, url, kubeconfig):
        self.url, self.kubeconfig = url, kubeconfig

    def call(self, method, path, body=None):
        """Sends one request to the control API, `path` below /terrarium/v1, and returns the response."""
        parts = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port)
        try:
            text = None if body is None else json.dumps(body)
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, f"{parts.path}/terrarium/v1{path}", text, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 300:
            raise ControlError(response.status, answer.get("reason", ""), answer.get("message", str(answer)))
        return answer

    # -- the clock

    def clock(self):
        """{"mode": ..., "now": ..., "idle": ...}"""
        return self.call("GET", "/clock")

    def set_clock(self, mode):
        """real, scaled=N, virtual or auto"""
        return self.call("PUT", "/clock", {"mode": mode})

    def advance(self, duration):
        """Moves a virtual clock forward ("90s", or seconds as a number); returns when all work is done."""
        return self._move("/clock/advance", {"duration": _duration(duration)}, "done")

    def settle(self):
        """Waits until all work that is due now is done."""
        return self.advance("0s")

    def run_until_idle(self, limit="24h"):
        """Moves the clock until only housekeeping is left."""
        return self._move("/clock/run-until-idle", {"limit": _duration(limit)}, "idle")

    def run_until(self, resource, name, condition, namespace="default", limit="24h"):
        """Moves the clock until a condition holds, in the syntax of `kubectl wait --for`: create, delete, condition=Ready,
        jsonpath={.status.phase}=Running. `namespace` is None for cluster-scoped kinds."""
        body = {"resource": resource, "name": name, "for": condition, "limit": _duration(limit)}
        if namespace is not None:
            body["namespace"] = namespace
        return self._move("/clock/run-until", body, "done", f"{resource} {namespace or ''}/{name}, {condition}: ")

    def _move(self, path, body, wanted, about=""):
        move = self.call("POST", path, body)
        if move["outcome"] != wanted:
            raise TerrariumError(
                f"{about}the clock stopped with {move['outcome']} after {move['advanced']}, at {move['now']}"
            )
        return move

    # -- pods and nodes

    def add_rule(self, name, script, selector=None, namespace=None):
        """Adds a script for pods without one of their own: docs/pod-scripts.md."""
        given = {"name": name, "script": script, "selector": selector, "namespace": namespace}
        return self.call("POST", "/pods/rules", {key: value for key, value in given.items() if value is not None})

    def delete_rule(self, name):
        return self.call("DELETE", f"/pods/rules/{name}")

    def hold_pod(self, name, point, namespace="default"):
        """Holds a pod at a point: ready or terminating."""
        return self._order("hold", namespace, name, point=point)

    def release_pod(self, name, namespace="default", **more):
        """Releases a pod from all points, or from `point`; with `outcome={"exitCode": 0}` it ends with that code."""
        return self._order("release", namespace, name, **more)

    def crash_container(self, pod, container, exit_code=137, namespace="default"):
        return self._order("crash", namespace, pod, container=container, exitCode=exit_code)

    def fail_pod(self, name, exit_code=1, namespace="default"):
        return self._order("fail", namespace, name, exitCode=exit_code)

    def evict_pod(self, name, namespace="default"):
        """Evicts a pod as under node pressure."""
        return self._order("evict", namespace, name)

    def _order(self, what, namespace, pod, **more):
        return self.call("POST", f"/pods/{what}", {"namespace": namespace, "pod": pod, **more})

    def fail_node(self, name):
        return self.call("POST", f"/nodes/{name}/fail")

    def recover_node(self, name):
        return self.call("POST", f"/nodes/{name}/recover")

    # -- components: apiserver, controller-manager, scheduler, kubelet

    def feature_gates(self, component):
        return self.call("GET", f"/components/{component}/feature-gates")

    def set_feature_gates(self, component, gates):
        """Changes some gates of the component and restarts it."""
        return self.call("PUT", f"/components/{component}/feature-gates", gates)

    def stop_component(self, name):
        return self.call("POST", f"/components/{name}/stop")

    def start_component(self, name):
        return self.call("POST", f"/components/{name}/start")

    def restart_component(self, name):
        return self.call("POST", f"/components/{name}/restart")

    def crash_component(self, name):
        return self.call("POST", f"/components/{name}/crash")

    # -- history

    def why(self, resource=None, name=None, namespace="default"):
        """Returns what the controllers did to an object or on its behalf, and why; without a name all records."""
        query = f"?{urllib.parse.urlencode({'resource': resource, 'namespace': namespace, 'name': name})}" if name else ""
        return self.call("GET", f"/why{query}")["records"]

    def compact(self):
        """Drops the history, so that requests for older revisions get 410."""
        return self.call("POST", "/store/compact")


class Cluster(ControlPlane):
    """A separate cluster of a server. As a context manager it is deleted at the end."""

    def __init__(self, server, made, folder):
        path = folder / f"{made['name']}.kubeconfig"
        path.write_text(made["kubeconfig"])
        super().__init__(made["url"], str(path))
        self.name, self.seed, self._server = made["name"], made["seed"], server

    def delete(self):
        pathlib.Path(self.kubeconfig).unlink(missing_ok=True)
        self._server.call("DELETE", f"/clusters/{self.name}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.delete()


class Terrarium(ControlPlane):
    """A running server; its ControlPlane is the root cluster. It ends with stop(), at the end of the context manager,
    or when this process ends.

    `binary` is the program to run; by default the one that the environment variable TERRARIUM names, or terrarium on
    the PATH. `settings` are those of cluster(): clock, seed, nodes, feature_gates, controller_manager_feature_gates,
    kubelet_feature_gates, controllers, kubelet, scheduler, pod_defaults, event_ttl, enable_admission_plugins,
    disable_admission_plugins, data. They are the defaults of other clusters.
    """

    def __init__(self, binary=None, *, flags=(), start_timeout=START_TIMEOUT_S, **settings):
        program = _find_binary(binary)
        settings.setdefault("clock", "virtual")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="terrarium-"))
        self._stopped = False
        command = [program, "serve", "--port=0", f"--ready-file={self.folder / 'ready'}"]
        command += [f"--kubeconfig={self.folder / 'kubeconfig'}", "--exit-on-stdin-close", *_flags_of(settings), *flags]
        try:
            with open(self.folder / "log", "wb") as log:
                # The server ends when its standard input is closed, also by the end of this process.
                self.process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
                )
            try:
                ready = self._wait_ready(start_timeout)
            except BaseException:
                self._end(kill=True)
                raise
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        super().__init__(ready["url"].rstrip("/"), ready["kubeconfig"])
        self.pid = ready["pid"]

    def _wait_ready(self, timeout):
        """The server prints a line on standard output when it is ready, after it has written the ready file."""
        output, give_up = b"", time.monotonic() + timeout
        while b"\n" not in output:
            left = give_up - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TerrariumError(f"terrarium was not ready after {timeout} s\n{self.log()}")
            more = os.read(self.process.stdout.fileno(), 4096)
            if not more:
                code = self.process.wait()
                raise TerrariumError(f"terrarium ended with {code} before it was ready\n{self.log()}")
            output += more
        return json.loads((self.folder / "ready").read_text())

    def log(self):
        """The end of the server's standard error."""
        return (self.folder / "log").read_text(errors="replace")[-LOG_TAIL:]

    def cluster(self, name=None, **settings):
        """Creates a cluster; unset settings default to those of the server."""
        body = {_camel(key): value for key, value in settings.items() if value is not None}
        if name is not None:
            body["name"] = name
        return Cluster(self, self.call("POST", "/clusters", body), self.folder)

    def clusters(self):
        """The names of the clusters besides the root cluster."""
        return [cluster["name"] for cluster in self.call("GET", "/clusters")["clusters"]]

    def stop(self):
        """Ends the server. Raises an error if it did not exit with 0 in time."""
        if self._stopped:
            return
        self._stopped = True
        try:
            code = self._end()
            if code != 0:
                raise TerrariumError(f"terrarium ended with {code} instead of 0\n{self.log()}")
        except subprocess.TimeoutExpired:
            self._end(kill=True)
            raise TerrariumError(f"terrarium still ran {STOP_TIMEOUT_S} s after it was stopped\n{self.log()}") from None
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, kill=False):
        if kill:
            self.process.kill()
        self.process.stdin.close()
        code = self.process.wait(STOP_TIMEOUT_S)
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _find_binary(given):
    for name in (given, os.environ.get("TERRARIUM")):
        if name:
            found = shutil.which(name)
            if not found:
                raise TerrariumError(f"{name} is not a program")
            return found
    found = shutil.which("terrarium")
    if not found:
        raise TerrariumError("no terrarium on the PATH; name the program in TERRARIUM or as binary=")
    return found


def _camel(name):
    return re.sub("_(.)", lambda match: match[1].upper(), name)


def _duration(value):
    return value if isinstance(value, str) else f"{value:f}s"


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ",".join(f"{key}={_text(item)}" for key, item in value.items())
    return str(value)


def _flags_of(settings):
    return [f"--{name.replace('_', '-')}={_text(value)}" for name, value in settings.items() if value is not None]


try:
    import pytest
except ImportError:
    pass
else:

    def pytest_configure(config):
        config.addinivalue_line("markers", "terrarium(**settings): the settings of the test's cluster")

    @pytest.fixture(scope="session")
    def terrarium_options():
        """The arguments of Terrarium."""
        return {}

    @pytest.fixture(scope="session")
    def terrarium_server(terrarium_options):
        """One server for the whole session."""
        with Terrarium(**terrarium_options) as server:
            yield server

    @pytest.fixture
    def terrarium(terrarium_server, request):
        """A separate cluster, with the settings of the test's mark."""
        settings = {}
        for mark in reversed(list(request.node.iter_markers("terrarium"))):
            settings.update(mark.kwargs)
        with terrarium_server.cluster(**settings) as cluster:
            yield cluster
