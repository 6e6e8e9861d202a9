"""`terrarium why`: the controllers' decisions about an object and on its behalf, and their rules."""

import base64
import json
import os
import ssl
import subprocess

from base import BINARY, TIMEOUT_S, ServeCase, make_certificate
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


class WhyCase(ServeCase):
    def why(self, *words, kubeconfig=None):
        environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        if kubeconfig is not None:
            environment["KUBECONFIG"] = str(kubeconfig)
        return subprocess.run(
            [BINARY, "why", *words], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=self.folder, env=environment
        )


class Why(WhyCase):
    def cluster(self):
        return Server(BINARY, "--clock=virtual", folder=self.folder)

    def test_the_story_goes_from_a_deployment_down_to_its_pods(self):
        with self.cluster() as server:
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

    def test_a_kubeconfig_names_the_server(self):
        with self.cluster() as server:
            for done in [
                self.why("deployment/web", "--kubeconfig", server.kubeconfig),
                self.why("deployment/web", kubeconfig=server.kubeconfig),
                self.why("node/node-0", "--server", server.url),
            ]:
                self.assertEqual(done.returncode, 0, done)
                self.assertIn("no controller is known to have done anything to ", done.stdout)

    def test_a_namespace_is_asked_for_by_its_flag(self):
        with self.cluster() as server:
            done = self.why("deployment/web", "-n", "shop", "--server", server.url)
            self.assertIn("deployments shop/web", done.stdout)

    def test_tokens_are_sent(self):
        (self.folder / "tokens").write_text("sesame,ali,1\n")
        with Server(BINARY, "--clock=virtual", "--token-file", self.folder / "tokens", folder=self.folder) as server:
            refused = self.why("deployment/web", "--server", server.url)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("answers 401", refused.stderr)
            self.assertEqual(self.why("deployment/web", "--kubeconfig", server.kubeconfig).returncode, 0)

    def test_an_error_is_one_line(self):
        for words, code, saying in [
            (["gizmo/web"], 2, 'unknown kind "gizmo"'),
            (["pods"], 2, "KIND/NAME"),
            (["pod/web", "--server", "ftp://127.0.0.1:1"], 1, "ftp://127.0.0.1:1 is not http://HOST:PORT"),
            (["pod/web", "--server", "http://127.0.0.1:1"], 1, "cannot connect to 127.0.0.1:1: Connection refused"),
            (["pod/web", "--server", "https://127.0.0.1:1"], 1, "cannot reach https://127.0.0.1:1: cannot connect"),
            (["pod/web", "--kubeconfig", "nowhere"], 2, "nowhere"),
            (["pod/web", "--certificate-authority", "nowhere"], 2, "nowhere"),
            (["pod/web", "--insecure-skip-tls-verify", "--certificate-authority", "x"], 2, "excludes"),
        ]:
            done = self.why(*words)
            self.assertEqual(done.returncode, code, done)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(saying, done.stderr)


class WhyOverTls(WhyCase):
    """As with kubectl: the authority, the token and the client certificate come from the kubeconfig or from flags."""

    def setUp(self):
        super().setUp()
        self.key, self.certificate = make_certificate(self.folder)
        (self.folder / "tokens").write_text("sesame,ali,1\n")

    def secure(self, *flags):
        tls = ("--tls-cert", self.certificate, "--tls-key", self.key)
        return Server(BINARY, "--clock=virtual", *tls, *flags, folder=self.folder)

    def is_answered(self, *words, **options):
        done = self.why("deployment/web", *words, **options)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("no controller is known to have done anything to deployments default/web", done.stdout)

    def is_refused(self, saying, *words, **options):
        done = self.why("deployment/web", *words, **options)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(saying, done.stderr)

    def kubeconfig(self, name, url, cluster, user):
        """A kubeconfig in its own folder, to which its paths are relative."""
        folder = self.folder / name
        folder.mkdir()
        config = {
            "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        (folder / "config").write_text(json.dumps(config))
        return folder / "config"

    def test_the_servers_own_kubeconfig(self):
        with self.secure("--token-file", self.folder / "tokens") as server:
            self.assertTrue(server.url.startswith("https://"), server.url)
            self.is_answered("--kubeconfig", server.kubeconfig)
            self.is_answered(kubeconfig=server.kubeconfig)

    def test_flags(self):
        with self.secure("--token-file", self.folder / "tokens") as server:
            at, authority = ("--server", server.url), ("--certificate-authority", self.certificate)
            self.is_answered(*at, *authority, "--token", "sesame")
            self.is_answered(*at, "--insecure-skip-tls-verify", "--token", "sesame")
            self.is_refused("certificate: self-signed certificate", *at, "--token", "sesame")
            self.is_refused("answers 401", *at, *authority)
            self.is_refused("answers 401", *at, *authority, "--token", "other")
            _, other = make_certificate(self.folder, "other")
            self.is_refused("certificate: ", *at, "--certificate-authority", other, "--token", "sesame")
            # A flag overrides the kubeconfig.
            self.is_refused("answers 401", "--kubeconfig", server.kubeconfig, "--token", "other")
            self.is_refused("certificate: ", "--kubeconfig", server.kubeconfig, "--certificate-authority", other)
            self.is_answered("--kubeconfig", server.kubeconfig, "--insecure-skip-tls-verify")
            plain = server.url.replace("https://", "http://")
            self.is_refused(f"cannot reach {plain}: ", "--server", plain)

    def test_fields_of_a_kubeconfig(self):
        with self.secure("--token-file", self.folder / "tokens") as server:
            data = base64.b64encode(self.certificate.read_bytes()).decode()
            token = {"token": "sesame"}
            (self.folder / "token").write_text("sesame\n")
            named = {"certificate-authority-data": data, "tls-server-name": "localhost"}
            for name, cluster, user in [
                ("file", {"certificate-authority": "../server.pem"}, token),
                ("data", {"certificate-authority-data": data}, token),
                ("token-file", {"certificate-authority-data": data}, {"tokenFile": "../token"}),
                ("insecure", {"insecure-skip-tls-verify": True}, token),
                ("name", named, token),
            ]:
                with self.subTest(name):
                    self.is_answered("--kubeconfig", self.kubeconfig(name, server.url, cluster, user))
            for name, cluster, user, code, saying in [
                ("other-name", {**named, "tls-server-name": "other.test"}, token, 1, "hostname mismatch"),
                ("bad-data", {"certificate-authority-data": "?"}, token, 2, "certificate-authority-data is not base64"),
                ("missing", {"certificate-authority": "missing.pem"}, token, 2, "missing.pem"),
                ("plug-in", {}, {"exec": {"command": "x"}}, 2, "exec is not supported"),
            ]:
                with self.subTest(name):
                    config = self.kubeconfig(name, server.url, cluster, user)
                    done = self.why("deployment/web", "--kubeconfig", config)
                    self.assertEqual(done.returncode, code, done)
                    self.assertIn(saying, done.stderr)

    def test_client_certificates(self):
        authority_key, authority = make_certificate(self.folder, "authority", "/CN=authority")
        key, certificate = make_certificate(self.folder, "client", "/CN=carol", (authority_key, authority))
        with self.secure("--client-ca", authority) as server:
            cluster = {"certificate-authority": str(self.certificate)}
            user = {"client-certificate": str(certificate), "client-key": str(key)}
            self.is_answered("--kubeconfig", self.kubeconfig("shown", server.url, cluster, user))
            none = self.kubeconfig("none", server.url, cluster, {})
            self.assertEqual(self.why("deployment/web", "--kubeconfig", none).returncode, 1)

    def test_a_cluster_beside_the_servers_own(self):
        with self.secure("--token-file", self.folder / "tokens") as server:
            context = ssl.create_default_context(cafile=self.certificate)
            rest = self.rest(server.url, token="sesame", ssl_context=context)
            made = rest.post("/terrarium/v1/clusters", {"name": "side"}).expect()
            flags = ("--certificate-authority", self.certificate, "--token", "sesame")
            self.is_answered("--server", made["url"], *flags)
