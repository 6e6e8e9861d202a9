"""The test case of the cli suite: a folder for every test, and servers in it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from lib import cache, tools
from lib.rest import Rest
from lib.server import BARE, Server

BINARY = os.environ["TERRARIUM_BINARY"]
TIMEOUT_S = 20


class ServeCase(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="terrarium-cli-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def terrarium(self, *arguments):
        return subprocess.run(
            [BINARY, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=self.folder,
        )

    def is_refused(self, *flags, saying):
        """The server does not start: one line on stderr with each of the texts, and exit code 2."""
        done = self.terrarium("serve", "--port", "0", *flags)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for text in saying:
            self.assertIn(text.lower(), done.stderr.lower())
        return done

    def server(self, *flags):
        return Server(BINARY, *BARE, *flags, folder=self.folder)

    def rest(self, url, **options):
        rest = Rest(url, **options)
        self.addCleanup(rest.close)
        return rest

    def kubectl(self, kubeconfig, *words):
        try:
            program = tools.kubectl("new")
        except cache.Missing as missing:
            self.skipTest(f"missing: {missing}")
        return subprocess.run(
            [program, "--kubeconfig", kubeconfig, *words],
            env={"HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )


def make_certificate(folder, name="server", subject="/CN=terrarium-e2e", signer=None):
    """(key, certificate) files of a certificate for 127.0.0.1, signed by `signer` (key, certificate) or by itself."""
    key, certificate = folder / f"{name}-key.pem", folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", subject, "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command += ["-keyout", key, "-out", certificate]
    if not signer:
        subprocess.run(command, check=True, capture_output=True)
        return key, certificate
    request = folder / f"{name}.csr"
    command = [
        "openssl",
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        subject,
    ]
    subprocess.run([*command, "-keyout", key, "-out", request], check=True, capture_output=True)
    command = [
        "openssl",
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        signer[1],
        "-CAkey",
        signer[0],
        "-CAcreateserial",
        "-days",
        "2",
    ]
    subprocess.run([*command, "-out", certificate], check=True, capture_output=True)
    return key, certificate
