"""Access control belongs to the server, for all clusters."""

import pathlib

from base import ClusterCase
from lib.rest import Rest
from lib.server import Server, binary_from_environment


class Access(ClusterCase):
    def test_a_token_opens_every_cluster(self):
        tokens = pathlib.Path(self.home) / "tokens"
        tokens.write_text("secret,alice,1\n")
        with Server(binary_from_environment(), *self.flags, f"--token-file={tokens}") as server:
            alice, nobody = Rest(server.url, token="secret"), Rest(server.url)
            self.addCleanup(alice.close)
            self.addCleanup(nobody.close)
            self.assertEqual(nobody.post("/terrarium/v1/clusters", {"name": "a"}).code, 401)
            made = alice.post("/terrarium/v1/clusters", {"name": "a"}).expect()
            self.assertIn("secret", made["kubeconfig"])
            self.assertEqual(nobody.get("/clusters/a/api/v1/pods").code, 401)
            self.assertEqual(nobody.get("/clusters/b/api/v1/pods").code, 401)
            self.assertEqual(alice.get("/clusters/a/api/v1/pods").code, 200)
            self.assertEqual(alice.get("/clusters/b/api/v1/pods").code, 404)
