"""The base of the picker suite: a cluster that calls pickers, the pickers of the examples, and a picker that a test
scripts."""

import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading
import time

from lib.kubectl import KUBECTL, TIMEOUT_S
from lib.tools import E2E
from workloads.base import WorkloadCase, deployment, names

EXAMPLES = E2E.parent / "docs" / "examples" / "pod-picker"
GATE = "--feature-gates=DownscalePodPicker=true"
EVENT_REASON = "FailedDownscalePodPicker"
CALLS_METRIC = "replicaset_controller_downscale_pod_picker_calls_total"
FAILURES_METRIC = "replicaset_controller_downscale_pod_picker_failures_total"


class PickerCase(WorkloadCase):
    flags = ("--clock=virtual", GATE)

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="terrarium-picker-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    # -- workloads

    def start_workers(self, replicas, picker, **more):
        """A Deployment `web` with that many ready pods, which calls `picker` (the `http` of its downscalePodPicker)."""
        item = deployment("web", replicas)
        item["spec"]["downscalePodPicker"] = {"http": picker, **more}
        self.roll_out(item)
        return self.pod_names()

    def scale(self, name, replicas):
        self.k(f"scale deployment {name} --replicas={replicas}")

    def pod_names(self):
        return names(self.pods())

    def picker_events(self):
        """The messages of events about pickers, in the order in which they were written."""
        items = [item for item in self.list("events") if item["reason"] == EVENT_REASON]
        items.sort(key=lambda item: int(item["metadata"]["resourceVersion"]))
        return [item["message"] for item in items]

    def calls(self, outcome):
        """The number of calls with that outcome since the server's start."""
        return self.metric(CALLS_METRIC, outcome=outcome) or 0

    def failures(self, reason):
        """The number of scale-downs without an answer for that reason."""
        return self.metric(FAILURES_METRIC, reason=reason) or 0

    def register(self, service, port, **more):
        body = {"address": f"127.0.0.1:{port}", **more}
        return self.control("PUT", f"/services/{self.ns}/{service}/address", body).expect()

    # -- pickers

    def picker(self, answer, **options):
        """A picker that responds by `answer` until the test ends."""
        picker = Picker(answer, **options)
        self.addCleanup(picker.stop)
        return picker

    def start_example(self, *words, **environment):
        """Runs the examples' `start` until the test ends; its workload has been applied when this returns."""
        process = subprocess.Popen(
            [str(EXAMPLES / "start"), *map(str, words)],
            cwd=self.folder,
            env={
                **self.environment,
                "URL": self.url,
                "NAMESPACE": self.ns,
                "KUBECTL": KUBECTL,
                "NODE": os.environ["NODE"],
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

        def stop():
            process.terminate()
            process.wait(TIMEOUT_S)
            process.stdout.close()

        self.addCleanup(stop)
        seen = []
        for line in process.stdout:
            seen.append(line)
            if line.startswith("picker ready on "):
                self.idle()
                return line.split(":")[-1].strip()
        self.fail("it did not start:\n" + "".join(seen))


class Picker:
    """An HTTP(S) server whose `answer(request)` gives the document to answer with, or (code, headers, bytes)."""

    def __init__(self, answer, tls=None):
        self.requests, self.headers = [], []
        picker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                picker.requests.append(request)
                picker.headers.append(dict(self.headers))
                given = answer(request)
                code, headers, body = given if isinstance(given, tuple) else (200, {}, json.dumps(given).encode())
                self.send_response(code)
                for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client has closed the connection

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def at(self, **more):
        """The `http` of a downscalePodPicker for this server."""
        return {"host": "127.0.0.1", "port": self.port, "path": "/pick", **more}

    def stop(self):
        """From now on its port refuses connections."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def make_certificate(folder, *alternative_names):
    """(authority, certificate, key): PEM files of a new authority and of a server certificate that it signs."""
    folder = pathlib.Path(folder)
    extensions = folder / "extensions"
    extensions.write_text("subjectAltName=" + ",".join(alternative_names))

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=folder)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", 1, "-subj", "/CN=test authority")
    openssl("req", *new_key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=picker")
    signed_by_us = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", extensions, "-days", 1)
    openssl("x509", "-req", "-in", "server.csr", *signed_by_us, "-out", "server.pem")
    return folder / "ca.pem", folder / "server.pem", folder / "server.key"


def chooses(*pods):
    return lambda request: {"chosen_pods": list(pods), "tied_pods": []}


def chooses_last(request):
    """The candidates whose names come last: no other criterion would choose them."""
    return {"chosen_pods": sorted(request["candidate_pods"])[-request["number_of_pods_requested"] :], "tied_pods": []}


class Stopwatch:
    """Real seconds."""

    def __enter__(self):
        self._began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self._began
