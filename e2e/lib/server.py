"""Starts and stops one `terrarium serve` process in a private temporary folder."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

# How many times slower than usual the binary may be: a build with sanitizers needs more than the usual seconds.
SLOWDOWN = float(os.environ.get("TERRARIUM_SLOWDOWN", "1"))
READY_TIMEOUT_S = 10 * SLOWDOWN
STOP_TIMEOUT_S = 15 * SLOWDOWN

# A bare apiserver: the suites write statuses, nodes and pod deletions themselves.
BARE = ("--controllers=-*", "--kubelet=false", "--scheduler=false", "--nodes=0")


class ServerFailed(AssertionError):
    """The server failed to start or to stop; the message has the end of its output."""


class Server:
    """A running server. Use it as a context manager: leaving it stops the server and requires exit code 0.

    The folder holds the ready file, the kubeconfig and the log, and is removed on leaving unless `folder` was given.
    """

    def __init__(
        self,
        binary,
        *flags,
        folder=None,
        cwd=None,
        environment=None,
        ready_seconds=READY_TIMEOUT_S,
        stop_seconds=STOP_TIMEOUT_S,
    ):
        self._ready_seconds, self._stop_seconds = ready_seconds, stop_seconds
        self._owns_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="terrarium-e2e-"))
        self._ready_file = self.folder / "ready.json"
        self._log_file = self.folder / "server.log"
        self._ready_file.unlink(missing_ok=True)
        command = [
            str(binary),
            "serve",
            "--port",
            "0",
            "--ready-file",
            str(self._ready_file),
            "--kubeconfig",
            str(self.folder / "kubeconfig"),
            *map(str, flags),
        ]
        with open(self._log_file, "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
            )
        try:
            ready = self._wait_ready()
        except BaseException:
            self.kill()
            raise
        self.url = ready["url"].rstrip("/")
        self.kubeconfig = ready["kubeconfig"]
        self.pid = ready["pid"]

    def _wait_ready(self):
        """The parsed ready file, which the server moves into place when it can be used."""
        give_up = time.monotonic() + self._ready_seconds
        while True:
            if self._ready_file.exists():
                text = self._ready_file.read_text()
                if text.endswith("}\n") or text.endswith("}"):
                    return json.loads(text)
            if self.process.poll() is not None:
                raise ServerFailed(f"the server ended with {self.process.returncode} before it was ready\n{self.log()}")
            if time.monotonic() > give_up:
                raise ServerFailed(f"no ready file after {self._ready_seconds} s\n{self.log()}")
            time.sleep(0.002)

    def log(self, limit=4000):
        """The end of the server's output."""
        return self._log_file.read_text(errors="replace")[-limit:]

    def stop(self):
        """Sends SIGTERM and requires that the server exits with 0 in time."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(self._stop_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"the server was still there {self._stop_seconds} s after SIGTERM\n{self.log()}") from None
        if code != 0:
            raise ServerFailed(f"the server ended with {code} instead of 0\n{self.log()}")

    def kill(self):
        """Kills the process, as a power failure would."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
            else:
                self.kill()
        finally:
            if self._owns_folder:
                shutil.rmtree(self.folder, ignore_errors=True)


def binary_from_environment():
    """The server binary that run_suite.py was given."""
    return os.environ["TERRARIUM_BINARY"]
