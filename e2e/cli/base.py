"""The test case of the cli suite: a folder of its own for every test, and servers in it."""

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
