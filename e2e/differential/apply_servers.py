"""The two servers of a differential run of server-side apply: Terrarium's and the real kube-apiserver with its etcd."""

import pathlib
import secrets
import socket
import ssl
import subprocess
import tempfile
import time

from lib import kubernetes
from lib.rest import Rest
from lib.server import BARE, SLOWDOWN, Server

START_TIMEOUT_S = 120 * SLOWDOWN


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class KubeApiserver:
    """A kube-apiserver that allows everything, and its etcd. A context manager, which ends both."""

    def __init__(self, folder):
        etcd, apiserver = kubernetes.servers(pathlib.Path(folder))
        self._folder = tempfile.TemporaryDirectory(prefix="kube-apiserver-")
        self._processes = []
        self._token = secrets.token_hex(16)
        place = pathlib.Path(self._folder.name)
        key, tokens = place / "key.pem", place / "tokens.csv"
        tokens.write_text(f"{self._token},admin,admin,system:masters\n")
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True)
        client, peer = (f"http://127.0.0.1:{_free_port()}" for _ in range(2))
        port = _free_port()
        try:
            self._start(
                etcd,
                f"--data-dir={place / 'etcd'}",
                "--unsafe-no-fsync",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
            )
            self._start(
                apiserver,
                f"--etcd-servers={client}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={place}",
                f"--token-auth-file={tokens}",
                "--service-account-issuer=https://differential.test",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-cluster-ip-range=10.96.0.0/16",
                "--authorization-mode=AlwaysAllow",
                "--enable-priority-and-fairness=false",
                # Accounts come from controllers, which do not run.
                "--disable-admission-plugins=ServiceAccount",
            )
            self.url = f"https://127.0.0.1:{port}"
            self._wait_ready()
        except BaseException:
            self.stop()
            raise

    def _start(self, program, *arguments):
        log = open(pathlib.Path(self._folder.name) / f"{program.name}.log", "wb")
        with log:
            self._processes.append(
                subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def _wait_ready(self):
        give_up = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < give_up:
            rest = self.rest()
            try:
                if rest.get("/readyz").code == 200:
                    return
            except OSError:
                pass
            finally:
                rest.close()
            if any(process.poll() is not None for process in self._processes):
                break
            time.sleep(0.1)
        logs = "".join(path.read_text(errors="replace")[-3000:] for path in pathlib.Path(self._folder.name).glob("*.log"))
        raise AssertionError(f"kube-apiserver is not ready:\n{logs}")

    def rest(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # a certificate of its own, on this machine
        return Rest(self.url, self._token, context)

    def stop(self):
        for process in reversed(self._processes):
            process.terminate()
            process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Running:
    """A server that runs already, at a URL without TLS."""

    def __init__(self, url):
        self.url = url

    def rest(self):
        return Rest(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Terrarium:
    """A Terrarium server without controllers."""

    def __init__(self, binary):
        self._server = Server(binary, *BARE)
        self.url = self._server.url

    def rest(self):
        return Rest(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._server.__exit__(*error)


def server_at(place, start):
    """The server at a URL, or a new one from a program or a folder of programs."""
    return Running(place) if place.startswith("http://") else start(place)
