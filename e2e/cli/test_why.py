"""`terrarium why`: what the controllers did to an object and on its behalf, and by which rule."""

import json
import os
import subprocess

from base import BINARY, TIMEOUT_S, ServeCase
from lib.server import Server


def deployment(name):
    labels = {"app": name}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
        },
    }


class Why(ServeCase):
    def why(self, *words, kubeconfig=None):
        environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        if kubeconfig is not None:
            environment["KUBECONFIG"] = str(kubeconfig)
        return subprocess.run(
            [BINARY, "why", *words], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=self.folder, env=environment
        )

    def plane(self):
        return Server(BINARY, "--clock=virtual", folder=self.folder)

    def test_the_story_goes_from_a_deployment_down_to_its_pods(self):
        with self.plane() as server:
            rest = self.rest(server.url)
            for name in ["web", "other"]:
                rest.post("/apis/apps/v1/namespaces/default/deployments", deployment(name)).expect()
            rest.post("/terrarium/v1/clock/advance", {"duration": "1s"}).expect()
            done = self.why("deploy/web", "--server", server.url)
            self.assertEqual(done.returncode, 0, done)
            heads = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
            self.assertIn("deployment-controller: create replicasets default/web-", heads[0])
            self.assertIn(" for deployments default/web", heads[0])
            pods = [line for line in heads if ": create pods default/web-" in line]
            self.assertEqual(len(pods), 2, done.stdout)
            self.assertNotIn("other", done.stdout)
            self.assertEqual(done.stdout.count("  because  "), len(heads))

            records = json.loads(self.why("deployment/web", "-o", "json", "--server", server.url).stdout)["records"]
            self.assertEqual(len(records), len(heads))
            self.assertEqual(records[0]["controller"], "deployment-controller")
            pod = records[-1]["name"]
            only = json.loads(self.why(f"pod/{pod}", "-o", "json", "--server", server.url).stdout)["records"]
            self.assertEqual([record["name"] for record in only], [pod])

    def test_a_kubeconfig_says_where_to_ask(self):
        with self.plane() as server:
            for done in [
                self.why("deployment/web", "--kubeconfig", server.kubeconfig),
                self.why("deployment/web", kubeconfig=server.kubeconfig),
                self.why("node/node-0", "--server", server.url),
            ]:
                self.assertEqual(done.returncode, 0, done)
                self.assertIn("no controller is known to have done anything to ", done.stdout)

    def test_a_namespace_is_asked_for_by_its_flag(self):
        with self.plane() as server:
            done = self.why("deployment/web", "-n", "shop", "--server", server.url)
            self.assertIn("deployments shop/web", done.stdout)

    def test_tokens_are_sent(self):
        (self.folder / "tokens").write_text("sesame,ali,1\n")
        with Server(BINARY, "--clock=virtual", "--token-file", self.folder / "tokens", folder=self.folder) as server:
            refused = self.why("deployment/web", "--server", server.url)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("answers 401", refused.stderr)
            self.assertEqual(self.why("deployment/web", "--kubeconfig", server.kubeconfig).returncode, 0)

    def test_what_cannot_be_asked_is_said_in_a_line(self):
        for words, code, saying in [
            (["gizmo/web"], 2, 'unknown kind "gizmo"'),
            (["pods"], 2, "KIND/NAME"),
            (["pod/web", "--server", "https://127.0.0.1:1"], 1, "only plain HTTP"),
            (["pod/web", "--server", "http://127.0.0.1:1"], 1, "cannot reach http://127.0.0.1:1: Connection refused"),
            (["pod/web", "--kubeconfig", "nowhere"], 2, "nowhere"),
        ]:
            done = self.why(*words)
            self.assertEqual(done.returncode, code, done)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(saying, done.stderr)
