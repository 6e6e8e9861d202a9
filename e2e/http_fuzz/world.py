"""The server under test: its objects, periodic repairs, and permanent checks."""

import http.client
import json
import os
import pathlib
import subprocess
import threading
import time
import urllib.parse

from http_fuzz.catalog import Catalog
from http_fuzz.grammar import SENTINEL, SENTINEL_KINDS
from lib import samples
from lib.rest import Rest
from lib.server import Server

FLAGS = (
    "--clock=virtual",
    "--nodes=2",
    "--seed=1",
    "--feature-gates=DeploymentReplicaSetTerminatingReplicas=true,DeploymentPodReplacementPolicy=true,"
    "DownscalePodPicker=true",
    # No server listens there: apart from responses, no byte leaves the process.
    "--pod-picker-allow=127.0.0.1:1",
)
# /healthz must answer before the server has used that much CPU time (so that a busy machine does not matter), and in
# any case within the second time.
HEALTH_CPU_SECONDS_MAX = 5
HEALTH_SECONDS_MAX = 40
HEALTH_EVERY_SECONDS = 0.25
TIDY_EVERY_SECONDS = 1
SAMPLES_EVERY = 5  # times of tidying
ASK_SECONDS_MAX = 40
PODS_MAX = 60
OBJECTS_MAX = 150
CLUSTERS_MAX = 4
RESIDENT_MIB_MAX = 1600
# The sanitizer's shadow, red zones and 256 MiB of freed memory that it keeps.
RESIDENT_MIB_MAX_ASAN = 4000
# Free memory is returned to the machine, so that resident memory is memory in use. Otherwise each glibc arena keeps
# its own, up to the largest request that it has served.
ENVIRONMENT = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "1048576"}
SANITIZER_WORDS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "MemorySanitizer",
                   "runtime error:",
                   "terminate called", "Assertion", "CHECK failed", "invariant broken")  # fmt: skip
NAMESPACES = ("fuzz", "default")
WORKLOADS = ("apps/v1 deployments", "apps/v1 replicasets", "apps/v1 statefulsets", "apps/v1 daemonsets",
             "batch/v1 jobs",
             "batch/v1 cronjobs", "v1 replicationcontrollers", "v1 pods",
             "policy/v1 poddisruptionbudgets")  # fmt: skip
PLENTY = ("v1 configmaps", "v1 secrets", "v1 services", "v1 events", "v1 serviceaccounts",
          "apps/v1 controllerrevisions")

# Objects of every namespace that a controller writes again some time after an accepted request has deleted them.
REWRITTEN = (("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default"))


def is_sanitized(binary):
    return b"__asan_init" in pathlib.Path(binary).read_bytes()


def path_of(version_and_plural, namespace):
    version, plural = version_and_plural.split()
    root = "/api/v1" if version == "v1" else f"/apis/{version}"
    return f"{root}/namespaces/{namespace}/{plural}"


class World:
    """A running server with objects in it and a second cluster beside the first."""

    def __init__(self, binary, folder):
        self.sanitized = is_sanitized(binary)
        slow = 6 if self.sanitized else 2
        self.server = Server(
            binary,
            *FLAGS,
            folder=folder,
            cwd=folder,
            environment=ENVIRONMENT,
            ready_seconds=20 * slow,
            stop_seconds=15 * slow,
        )
        parts = urllib.parse.urlsplit(self.server.url)
        self.address = (parts.hostname, parts.port)
        self._sentinel_lock = threading.Lock()
        self._sentinel_state = None
        self._tidied = 0
        self.stopped = threading.Event()  # the run is over: no more tidying
        rest = Rest(self.server.url, timeout=ASK_SECONDS_MAX)
        try:
            self._fill(rest)
            self.catalog = Catalog(rest)
        finally:
            rest.close()
        self.catalog.learn_protobuf(self.ask, "fuzz")

    def ask(self, method, path, body=None, headers=None, seconds=ASK_SECONDS_MAX):
        """(code, body) of a request on a connection of its own. Raises OSError or HTTPException without an answer."""
        connection = http.client.HTTPConnection(*self.address, timeout=seconds)
        try:
            sent = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    # -- what is there

    def _fill(self, rest):
        for name in ("fuzz", SENTINEL):
            rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect()
        self._limit_pods(rest.post)
        self._add_samples(rest.post)
        for kind in ("v1 configmaps", "v1 secrets", "v1 serviceaccounts", "coordination.k8s.io/v1 leases"):
            rest.post(path_of(kind, SENTINEL), {"metadata": {"name": "seed"}}).expect()
        rest.post("/terrarium/v1/clusters", {"name": "second", "clock": "auto", "nodes": 1}).expect()
        rest.post("/clusters/second/api/v1/namespaces", {"metadata": {"name": "fuzz"}}).expect()
        second = lambda path, body: rest.post(f"/clusters/second{path}", body)  # noqa: E731
        self._limit_pods(second)
        self._add_samples(second)
        rest.post("/terrarium/v1/clock/advance", {"duration": "5s"}).expect()

    @staticmethod
    def _limit_pods(post):
        """A workload of a great many pods is valid; the quota keeps it small."""
        for namespace in NAMESPACES:
            quota = {"metadata": {"name": "pods"}, "spec": {"hard": {"pods": str(PODS_MAX)}}}
            post(f"/api/v1/namespaces/{namespace}/resourcequotas", quota)

    @staticmethod
    def _add_samples(post):
        for path, item in samples.objects("fuzz", {"name": "seed"}):
            if path.endswith("/pods"):
                del item["spec"]["nodeName"]
            post(path, item)

    def tidy(self):
        """Reverts what requests did to the run itself: stopped components, running clocks, too many objects."""
        for cluster in ("", "/clusters/second"):
            self._ask("PUT", f"{cluster}/terrarium/v1/clock", {"mode": "auto" if cluster else "virtual"})
            for component in ("apiserver", "controller-manager", "scheduler", "kubelet"):
                self._ask("POST", f"{cluster}/terrarium/v1/components/{component}/start")
            if not cluster:
                self._ask("POST", "/terrarium/v1/clock/advance", {"duration": "1m"})  # controllers run
            for namespace in NAMESPACES:
                for kinds, most in (((("v1 pods"),), PODS_MAX - 20), (PLENTY, OBJECTS_MAX)):
                    if any(self._count(cluster, kind, namespace) > most for kind in kinds):
                        self._empty(cluster, namespace)
        code, body = self._ask("GET", "/terrarium/v1/clusters")
        names = [c["name"] for c in json.loads(body).get("clusters", [])] if code == 200 else []
        for name in [name for name in names if name != "second"][CLUSTERS_MAX:]:
            self._ask("DELETE", f"/terrarium/v1/clusters/{name}")
        if code == 200 and "second" not in names:
            self._ask("POST", "/terrarium/v1/clusters", {"name": "second", "clock": "auto", "nodes": 1})
        for cluster in ("", "/clusters/second"):
            code, _ = self._ask("POST", f"{cluster}/api/v1/namespaces", {"metadata": {"name": "fuzz"}})
            if code == 201 or self._tidied % SAMPLES_EVERY == 0:
                post = lambda path, body, at=cluster: self._ask("POST", at + path, body)  # noqa: E731
                self._limit_pods(post)
                self._add_samples(post)
        self._tidied += 1

    def _ask(self, method, path, body=None):
        if self.stopped.is_set():
            raise ConnectionAbortedError("the run is over")
        return self.ask(method, path, body)

    def _count(self, cluster, kind, namespace):
        code, body = self._ask("GET", f"{cluster}{path_of(kind, namespace)}?limit=1")
        if code != 200:
            return 0
        answer = json.loads(body)
        return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)

    def _empty(self, cluster, namespace):
        for kind in (*WORKLOADS, *PLENTY):
            now = {"gracePeriodSeconds": 0} if kind == "v1 pods" else {"propagationPolicy": "Background"}
            self._ask("DELETE", f"{cluster}{path_of(kind, namespace)}", now)
        self._add_samples(lambda path, body: self._ask("POST", cluster + path, body))

    # -- what must hold

    def sentinel(self):
        """The revisions of the objects in the sentinel namespace, or None while the apiserver is stopped."""
        state = {}
        for kind in SENTINEL_KINDS:
            version = "coordination.k8s.io/v1" if kind == "leases" else "v1"
            try:
                code, body = self.ask("GET", path_of(f"{version} {kind}", SENTINEL))
            except (OSError, http.client.HTTPException):
                return None
            if code != 200:
                return None
            for item in json.loads(body)["items"]:
                metadata = item["metadata"]
                # The garbage collector deletes these later.
                going = "deletionTimestamp" in metadata or "ownerReferences" in metadata
                if not going and (kind, metadata["name"]) not in REWRITTEN:
                    state[kind, metadata["name"]] = metadata["resourceVersion"]
        return state

    def play_on_sentinel(self, play, is_dry_run):
        """play() without other requests in that namespace: refused requests, reads and dry runs must change nothing."""
        with self._sentinel_lock:
            before = self._sentinel_state or self.sentinel()
            player = play()
            after = self.sentinel()
            self._sentinel_state = after
            accepted = any(answer.code < 300 for answer in player.answers) and not is_dry_run
            if before is not None and after is not None and before != after and player.answers and not accepted:
                changed = sorted(map(str, set(before.items()) ^ set(after.items())))
                player.problem = player.problem or f"answer {player.answers} changed {changed}"
            return player

    def has_ended(self):
        """Whether the process is gone; its last connections break a moment before."""
        try:
            self.server.process.wait(0.3)
        except subprocess.TimeoutExpired:
            return False
        return True

    def health(self):
        """The current error of the server, or None."""
        if self.server.process.poll() is not None:
            return f"the server ended with {self.server.process.returncode}"
        started, busy = time.monotonic(), self.cpu_seconds()
        while True:
            try:
                code, body = self.ask("GET", "/healthz", seconds=HEALTH_CPU_SECONDS_MAX)
                break
            except (OSError, http.client.HTTPException) as failed:
                if self.server.process.poll() is not None:
                    return f"the server ended with {self.server.process.returncode}"
                passed, worked = time.monotonic() - started, self.cpu_seconds() - busy
                if worked > HEALTH_CPU_SECONDS_MAX or passed > HEALTH_SECONDS_MAX:
                    return f"no answer of /healthz in {passed:.1f} s, {worked:.1f} s of them at work: {failed!r}"
        if code not in (200, 503):  # 503: the apiserver was stopped through the control API
            return f"/healthz: {code} {body[:200]!r}"
        mib = self.resident_mib()
        limit = RESIDENT_MIB_MAX_ASAN if self.sanitized else RESIDENT_MIB_MAX
        return f"{mib} MiB of resident memory, the limit is {limit}" if mib > limit else None

    def resident_mib(self):
        try:
            status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        except OSError:
            return 0
        found = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(found[0].split()[1]) // 1024 if found else 0

    def cpu_seconds(self):
        """CPU seconds that the server has used."""
        try:
            fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def reports(self):
        """The report of a sanitizer, an assertion or the runtime in the log, or None."""
        text = self.server.log(limit=1 << 24)
        places = [at for at in map(text.find, SANITIZER_WORDS) if at >= 0]
        return text[max(0, min(places) - 200) : min(places) + 6000] if places else None
