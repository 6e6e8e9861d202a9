"""A test case with kubectl as a function and a namespace for every test.

The kubectl is the one that run_suite.py chose; `@since` and `@until` declare what a version cannot do.
"""

import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from lib.rest import Rest

KUBECTL = os.environ["KUBECTL"]
TIMEOUT_S = 30

_version = json.loads(
    subprocess.run([KUBECTL, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True).stdout
)["clientVersion"]["gitVersion"]
VERSION = tuple(map(int, re.match(r"v(\d+)\.(\d+)", _version).groups()))


def since(major, minor, why):
    """For a test that needs that version of kubectl or a later one."""
    return unittest.skipIf(VERSION < (major, minor), f"from kubectl {major}.{minor} on: {why}")


def until(major, minor, why):
    """For a test that needs a kubectl before that version."""
    return unittest.skipIf(VERSION >= (major, minor), f"before kubectl {major}.{minor}: {why}")


class Result:
    """The output of a finished kubectl."""

    def __init__(self, command, done):
        self.command, self.code, self.out, self.err = command, done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()

    def __str__(self):
        return f"kubectl {self.command}\nexit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Running:
    """A kubectl that keeps running, such as `get -w`; its output is read line by line."""

    def __init__(self, arguments, environment):
        self._command = " ".join(arguments)
        self._process = subprocess.Popen(
            [KUBECTL, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines = queue.Queue()
        self._seen = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line_with(self, text):
        """Waits for the next line that holds `text`."""
        give_up = time.monotonic() + TIMEOUT_S
        while True:
            try:
                line = self._lines.get(timeout=max(0, give_up - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                last = [line[:200] for line in self._seen[-5:]]
                raise AssertionError(f"kubectl {self._command}: no line with {text!r} came after {last}")
            self._seen.append(line)
            if text in line:
                return line

    def has_printed(self):
        """Whether a line is waiting to be read."""
        return not self._lines.empty()

    def end(self):
        """Waits until it ends by itself; its exit code and everything it printed."""
        code = self._process.wait(TIMEOUT_S)
        self._reader.join()
        while (line := self._lines.get()) is not None:
            self._seen.append(line)
        return code, "\n".join(self._seen)

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()


class KubectlCase(unittest.TestCase):
    maxDiff = None
    _count = 0

    @classmethod
    def server(cls):
        """(URL, kubeconfig) of the server that the class works with: the suite's, unless a class has its own."""
        return os.environ["TERRARIUM_URL"], os.environ["KUBECONFIG"]

    @classmethod
    def setUpClass(cls):
        url, kubeconfig = cls.server()
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="terrarium-kubectl-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, True)
        cls.environment = {
            "HOME": str(cls.home),
            "TMPDIR": str(cls.home),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": kubeconfig,
        }
        cls.rest = Rest(url)
        cls.addClassCleanup(cls.rest.close)

    def setUp(self):
        self.ns = self.new_namespace()

    def new_namespace(self):
        KubectlCase._count += 1
        name = f"kubectl-{os.getpid()}-{KubectlCase._count}"
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect()
        return name

    # -- kubectl

    def try_k(self, command, stdin=None, namespace=True, environment=None):
        """Runs kubectl and returns its result. `command` is a text in shell words or a list."""
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if namespace:
            words = ["-n", self.ns, *words]
        done = subprocess.run(
            [KUBECTL, *words],
            env={**self.environment, **(environment or {})},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S * 2,
        )
        return Result(shlex.join(words), done)

    def k(self, command, stdin=None, **options):
        """Like try_k, and kubectl must succeed."""
        result = self.try_k(command, self._text(stdin), **options)
        self.assertEqual(result.code, 0, str(result))
        return result

    def k_fails(self, command, *texts, stdin=None, **options):
        """Like try_k, and kubectl must fail with each of `texts` in its output."""
        result = self.try_k(command, self._text(stdin), **options)
        self.assertNotEqual(result.code, 0, str(result))
        for text in texts:
            self.assertIn(text, result.out + result.err, str(result))
        return result

    def start(self, command):
        """Starts kubectl in the background until the test ends."""
        running = Running(["-n", self.ns, *shlex.split(command)], self.environment)
        self.addCleanup(running.kill)
        return running

    def edit_with(self, command, script):
        """Runs a kubectl command that opens an editor; the editor is `sed -i script`."""
        editor = self.home / "editor"
        editor.write_text(f'#!/bin/sh\nexec sed -i {shlex.quote(script)} "$1"\n')
        editor.chmod(0o755)
        return self.try_k(command, environment={"KUBE_EDITOR": str(editor)})

    @staticmethod
    def _text(value):
        return value if value is None or isinstance(value, str) else json.dumps(value)

    # -- objects

    def get(self, kind_and_name):
        """The object as the server has it, through kubectl."""
        return self.k(f"get {kind_and_name} -o json").json

    def create(self, *objects):
        for item in objects:
            self.k("create -f -", stdin=item)

    def path_of(self, resource, name="", subresource=""):
        group = {
            "deployments": "/apis/apps/v1",
            "replicasets": "/apis/apps/v1",
            "statefulsets": "/apis/apps/v1",
            "daemonsets": "/apis/apps/v1",
            "endpointslices": "/apis/discovery.k8s.io/v1",
            "jobs": "/apis/batch/v1",
            "poddisruptionbudgets": "/apis/policy/v1",
        }.get(resource, "/api/v1")
        path = f"{group}/namespaces/{self.ns}/{resource}"
        return "/".join(filter(None, [path, name, subresource]))

    def set_status(self, resource, name, status):
        """Writes an object's status as its controller would."""
        return self.rest.patch(self.path_of(resource, name, "status"), {"status": status}).expect()

    def wait_until(self, what, condition, timeout_s=TIMEOUT_S):
        """Waits until `condition()` holds, for effects of another process."""
        give_up = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > give_up:
                self.fail(f"waited {timeout_s} s in vain: {what}")
            time.sleep(0.02)
