"""Starts the real kube-controller-manager against a server."""

import pathlib
import subprocess
import tempfile
import time

START_TIMEOUT_S = 60

# The controllers that Terrarium has. The others would only add load.
CONTROLLERS = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourcequota-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
)


class ControllerManager:
    """A running kube-controller-manager. A context manager, which ends it."""

    def __init__(self, program, kubeconfig, controllers=CONTROLLERS, flags=()):
        self._log = tempfile.NamedTemporaryFile(prefix="kube-controller-manager-", suffix=".log")
        command = [
            str(program),
            f"--kubeconfig={kubeconfig}",
            f"--controllers={','.join(controllers)}",
            "--leader-elect=false",
            "--secure-port=0",
            "--use-service-account-credentials=false",
            "--kube-api-qps=2000",  # many scripts share it, and none of them may be throttled
            "--kube-api-burst=4000",
            "--concurrent-namespace-syncs=50",
            "--concurrent-job-syncs=20",
            "--concurrent-deployment-syncs=20",
            "--concurrent-replicaset-syncs=20",
            *flags,
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def log(self, limit=4000):
        return pathlib.Path(self._log.name).read_text(errors="replace")[-limit:]

    def wait_until(self, is_working):
        """Waits until `is_working()`. If the manager ends before, raises an error with the end of its log."""
        give_up = time.monotonic() + START_TIMEOUT_S
        while not is_working():
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise AssertionError(f"kube-controller-manager does not work:\n{self.log()}")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
