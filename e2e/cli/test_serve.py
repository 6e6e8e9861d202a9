"""The command line of `terrarium serve`: flags, refusals, start and end."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

from base import BINARY, TIMEOUT_S, ServeCase, make_certificate
from lib.server import BARE, SLOWDOWN, Server

BUILD_TYPE = os.environ.get("TERRARIUM_BUILD_TYPE", "")


class Help(ServeCase):
    def test_help_names_every_flag(self):
        done = self.terrarium("serve", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for flag in (
            "--port",
            "--address",
            "--data",
            "--cluster-data-dir",
            "--durability",
            "--feature-gates",
            "--controller-manager-feature-gates",
            "--kubelet-feature-gates",
            "--controllers",
            "--kubelet",
            "--scheduler",
            "--nodes",
            "--pod-defaults",
            "--event-ttl",
            "--enable-admission-plugins",
            "--disable-admission-plugins",
            "--pod-picker-allow",
            "--pod-picker-ca",
            "--clock",
            "--seed",
            "--kubeconfig",
            "--ready-file",
            "--exit-on-stdin-close",
            "--log-level",
            "--tls-cert",
            "--tls-key",
            "--token-file",
        ):
            self.assertIn(flag, done.stdout)

    def test_help_of_the_program_names_serve(self):
        done = self.terrarium("--help")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("serve", done.stdout)

    def test_an_unknown_flag_is_named(self):
        self.is_refused("--bogus", saying=["--bogus"])


class Refusals(ServeCase):
    def test_a_taken_port(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = self.terrarium("serve", "--port", port)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
            self.assertIn(str(port), done.stderr)

    def test_a_port_taken_by_another_server(self):
        with self.server() as server:
            port = server.url.rsplit(":", 1)[1]
            done = self.terrarium("serve", "--port", port)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done)
            self.assertIn(port, done.stderr)

    def test_files_that_cannot_be_read(self):
        missing = self.folder / "nowhere" / "file"
        table = {
            "token file": ["--token-file", missing],
            "certificate": ["--tls-cert", missing, "--tls-key", missing],
            "database in a folder that is not there": ["--data", missing],
            "database that is a folder": ["--data", self.folder],
            "folder of clusters that is not there": ["--cluster-data-dir", missing],
        }
        for name, flags in table.items():
            with self.subTest(name):
                self.is_refused(*flags, saying=[str(flags[1])])

    def test_a_malformed_database(self):
        path = self.folder / "cluster.db"
        path.write_text("these are words, not a database\n" * 100)
        self.is_refused("--data", path, saying=[str(path)])

    def test_an_unknown_gate(self):
        self.is_refused("--feature-gates", "NoSuchGate=true", saying=["NoSuchGate"])

    def test_a_gate_without_a_value(self):
        self.is_refused("--feature-gates", "PodDeletionCost=maybe", saying=["PodDeletionCost"])

    def test_an_unmet_gate_dependency(self):
        self.is_refused(
            "--feature-gates",
            "DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=false",
            saying=["DeploymentPodReplacementPolicy", "DeploymentReplicaSetTerminatingReplicas"],
        )

    def test_gates_of_one_component(self):
        for flag in ("--controller-manager-feature-gates", "--kubelet-feature-gates"):
            with self.subTest(flag):
                self.is_refused(flag, "NoSuchGate=true", saying=[flag, "NoSuchGate"])
                self.is_refused(flag, "PodDeletionCost", saying=[flag, "PodDeletionCost"])

    def test_an_unknown_controller(self):
        for controllers in ("no-such-controller", "*,-no-such-controller", "podgc,no-such-controller"):
            with self.subTest(controllers):
                self.is_refused("--controllers", controllers, saying=["--controllers", '"no-such-controller"'])

    def test_an_unknown_admission_plugin(self):
        for flag in ("--enable-admission-plugins", "--disable-admission-plugins"):
            with self.subTest(flag):
                self.is_refused(flag, "ServiceAccount,NoSuchPlugin", saying=[flag, '"NoSuchPlugin"'])

    def test_an_event_ttl_that_is_not_a_time(self):
        for ttl in ("soon", "0s", "-1h"):
            with self.subTest(ttl):
                self.is_refused(f"--event-ttl={ttl}", saying=["--event-ttl", ttl])

    def test_an_unknown_clock(self):
        for clock in ("fast", "scaled", "scaled=0", "scaled=many", "virtual=2", ""):
            with self.subTest(clock):
                self.is_refused(f"--clock={clock}", saying=["--clock", clock])

    def test_malformed_pod_defaults(self):
        table = {
            "start-delay=soon": ["start-delay", "soon"],
            "start-delay=-1s": ["start-delay", "-1s"],
            "begin-after=1s": ["begin-after", "start-delay"],
            "exit-code=300": ["exit-code", "300"],
            "start-delay": ["start-delay", "KEY=VALUE"],
            "start-delay=1s,stop-after": ["stop-after", "KEY=VALUE"],
        }
        for defaults, texts in table.items():
            with self.subTest(defaults):
                self.is_refused("--pod-defaults", defaults, saying=["--pod-defaults", *texts])

    def test_malformed_hosts_of_pickers(self):
        for hosts in ("a b", "localhost,", "localhost:http", "10.0.0.0/40", "http://localhost"):
            with self.subTest(hosts):
                self.is_refused("--pod-picker-allow", hosts, saying=["--pod-picker-allow", hosts.split(",")[-1]])

    def test_malformed_authorities_of_pickers(self):
        missing, empty = self.folder / "missing.pem", self.folder / "empty.pem"
        empty.write_text("")
        for path in (missing, empty):
            with self.subTest(path.name):
                self.is_refused("--pod-picker-ca", path, saying=["--pod-picker-ca", str(path)])

    def test_malformed_numbers(self):
        for flag in ("--nodes", "--seed"):
            for value in ("many", "-1", "1.5"):
                with self.subTest(f"{flag}={value}"):
                    self.is_refused(f"{flag}={value}", saying=[flag])

    def test_malformed_switches(self):
        for flag in ("--kubelet", "--scheduler"):
            with self.subTest(flag):
                self.is_refused(f"{flag}=perhaps", saying=[flag])

    def test_an_unknown_durability(self):
        self.is_refused("--durability", "eternal", saying=["eternal"])

    def test_an_address_others_can_reach(self):
        self.is_refused("--address", "0.0.0.0", saying=["0.0.0.0"])

    def test_a_key_without_a_certificate(self):
        key, _ = make_certificate(self.folder)
        self.is_refused("--tls-key", key, saying=["--tls-cert"])

    def test_a_database_of_a_newer_schema(self):
        path = self.folder / "cluster.db"
        with self.server("--data", path):
            pass
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 1000000")
        database.close()
        self.is_refused("--data", path, saying=[str(path), "newer"])
        with sqlite3.connect(path) as database:
            self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (1000000,))
        database.close()


class Start(ServeCase):
    def test_ready_file_and_kubeconfig(self):
        with self.server() as server:
            self.assertEqual(server.pid, server.process.pid)
            self.assertRegex(server.url, r"^http://127\.0\.0\.1:\d+$")
            self.assertEqual(server.kubeconfig, str(self.folder / "kubeconfig"))
            self.assertIn(server.url, pathlib.Path(server.kubeconfig).read_text())
            self.assertEqual(self.rest(server.url).get("/readyz").text, "ok")

    def test_ready_means_that_the_first_write_succeeds(self):
        for number in range(30):
            with self.server("--data", self.folder / f"cluster-{number}.db") as server:
                answer = self.rest(server.url).post(
                    "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "first"}}
                )
                self.assertEqual(answer.code, 201, answer.text)

    def test_the_kubeconfig_goes_to_a_private_folder(self):
        """Never to a name in a shared folder that another user could have prepared."""
        for variables, parent in (({}, f"tmp/terrarium-{os.geteuid()}"), ({"XDG_RUNTIME_DIR": "run"}, "run")):
            for name in ("tmp", "run"):
                (self.folder / name).mkdir(exist_ok=True)
            environment = {"TMPDIR": str(self.folder / "tmp"), **{k: str(self.folder / v) for k, v in variables.items()}}
            ready = self.folder / "ready"
            ready.unlink(missing_ok=True)
            command = [BINARY, "serve", "--port=0", *BARE, f"--ready-file={ready}", "--exit-on-stdin-close"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
                process.stdout.readline()
                kubeconfig = pathlib.Path(json.loads(ready.read_text())["kubeconfig"])
                self.assertEqual(kubeconfig.parent, self.folder / parent)
                self.assertEqual(kubeconfig.stat().st_mode & 0o777, 0o600)
                self.assertEqual(kubeconfig.parent.stat().st_mode & 0o022, 0)
                process.stdin.close()

    def test_a_database_that_is_taken_away(self):
        path = self.folder / "cluster.db"
        with self.server("--data", path) as server:
            rest = self.rest(server.url)
            self.assertEqual((rest.get("/readyz").code, rest.get("/readyz").text), (200, "ok"))
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            path.rename(self.folder / "elsewhere.db")
            answer = rest.get("/readyz")
            self.assertEqual(answer.code, 500)
            self.assertIn(f"[-]store failed: {path} is gone", answer.text)
            self.assertEqual(rest.get("/readyz/store").code, 500)
            self.assertEqual((rest.get("/livez").code, rest.get("/healthz").code), (200, 200))
            give_up = time.monotonic() + TIMEOUT_S
            while f"{path} is gone" not in server.log():
                self.assertLess(time.monotonic(), give_up, server.log())
                time.sleep(0.1)
            (self.folder / "elsewhere.db").rename(path)
            self.assertEqual(rest.get("/readyz").code, 200)

    def test_the_kubeconfig_is_private(self):
        with self.server() as server:
            self.assertEqual(os.stat(server.kubeconfig).st_mode & 0o077, 0)

    def test_it_prints_the_url_and_a_line_to_paste(self):
        with self.server() as server:
            give_up = time.monotonic() + TIMEOUT_S
            while server.log().count("\n") < 2 and time.monotonic() < give_up:
                time.sleep(0.002)
            self.assertIn(server.url, server.log())
            self.assertRegex(server.log(), rf"(?m)^\s*(export )?KUBECONFIG={re.escape(server.kubeconfig)}\s*$")

    def test_two_servers_have_ports_of_their_own(self):
        with self.server() as first, Server(BINARY, *BARE) as second:
            self.assertNotEqual(first.url, second.url)
            made = self.rest(first.url).post("/api/v1/namespaces", {"metadata": {"name": "only-there"}})
            self.assertEqual(made.code, 201)
            self.assertEqual(self.rest(second.url).get("/api/v1/namespaces/only-there").code, 404)

    def test_kubectl_uses_the_kubeconfig(self):
        with self.server() as server:
            done = self.kubectl(server.kubeconfig, "get", "namespaces", "-o", "name")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("namespace/default", done.stdout)

    def test_ready_in_50_ms(self):
        # The guarantee is for a release binary; other builds must not be far off.
        limit_ms = 50 if BUILD_TYPE == "Release" else 250 * SLOWDOWN
        times_ms = []
        for _ in range(9):
            began = time.monotonic()
            with Server(BINARY, *BARE, folder=self.folder):
                times_ms.append((time.monotonic() - began) * 1000)
        # The best run, since other programs use this machine too.
        self.assertLess(min(times_ms), limit_ms, f"all of them: {times_ms}")


class Data(ServeCase):
    def test_objects_and_revisions_survive_a_restart(self):
        path = self.folder / "cluster.db"
        for durability in ("full", "normal", "off"):
            with self.subTest(durability):
                with self.server("--data", path, "--durability", durability) as server:
                    made = (
                        self.rest(server.url)
                        .post("/api/v1/namespaces", {"metadata": {"name": f"kept-{durability}"}})
                        .expect()
                    )
                with self.server("--data", path, "--durability", durability) as server:
                    rest = self.rest(server.url)
                    self.assertEqual(rest.get(f"/api/v1/namespaces/kept-{durability}").expect(), made)
                    later = rest.post("/api/v1/namespaces", {"metadata": {"generateName": "more-"}}).expect()
                self.assertGreater(int(later["metadata"]["resourceVersion"]), int(made["metadata"]["resourceVersion"]))

    def test_without_a_file_everything_is_forgotten(self):
        with self.server() as server:
            self.rest(server.url).post("/api/v1/namespaces", {"metadata": {"name": "short-lived"}}).expect()
        with self.server() as server:
            self.assertEqual(self.rest(server.url).get("/api/v1/namespaces/short-lived").code, 404)

    def test_one_file_has_one_server(self):
        path = self.folder / "cluster.db"
        with self.server("--data", path):
            self.is_refused("--data", path, saying=[str(path)])


class Gates(ServeCase):
    def make_deployment(self, server):
        labels = {"app": "a"}
        body = {
            "metadata": {"name": "d"},
            "spec": {
                "podReplacementPolicy": "TerminationComplete",
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            },
        }
        return self.rest(server.url).post("/apis/apps/v1/namespaces/default/deployments", body).expect()["spec"]

    def test_a_field_whose_gate_is_off_is_dropped(self):
        with self.server() as server:
            self.assertNotIn("podReplacementPolicy", self.make_deployment(server))

    def test_a_field_whose_gate_is_on_is_kept(self):
        with self.server("--feature-gates", "DeploymentPodReplacementPolicy=true") as server:
            self.assertEqual(self.make_deployment(server)["podReplacementPolicy"], "TerminationComplete")


class End(ServeCase):
    def test_sigterm_and_sigint_are_a_good_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                server = self.server()
                server.process.send_signal(number)
                self.assertEqual(server.process.wait(TIMEOUT_S), 0)

    def test_it_ends_when_standard_input_closes_if_asked_to(self):
        command = [BINARY, "serve", "--port=0", *BARE, f"--kubeconfig={self.folder / 'kc'}", "--exit-on-stdin-close"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            self.assertIn("is ready at", process.stdout.readline())
            process.stdin.write("what comes there is not read\n")
            process.stdin.flush()
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.2)
            process.stdin.close()
            self.assertEqual(process.wait(TIMEOUT_S), 0)

    def test_the_ready_file_is_there_before_the_line_on_standard_output(self):
        ready = self.folder / "ready"
        command = [BINARY, "serve", "--port=0", *BARE, f"--kubeconfig={self.folder / 'kc'}", f"--ready-file={ready}"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            line = process.stdout.readline()
            self.assertIn(json.loads(ready.read_text())["url"], line)
            process.terminate()

    def test_open_watches_do_not_hold_it(self):
        server = self.server()
        self.addCleanup(server.kill)
        clients = [self.rest(server.url) for _ in range(20)]
        streams = [client.stream("GET", "/api/v1/configmaps?watch=true") for client in clients]
        self.assertEqual({stream.status for stream in streams}, {200})
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 5)
        for stream, client in zip(streams, clients):
            try:
                self.assertEqual(stream.read(), b"")
            except (OSError, http.client.IncompleteRead):
                pass  # a broken stream ends the watch, too
            client.close()

    def test_requests_in_flight_are_answered_and_kept(self):
        path = self.folder / "cluster.db"
        server = self.server("--data", path)
        self.addCleanup(server.kill)
        acknowledged, torn, refused = set(), [], []
        enough = threading.Semaphore(0)

        def write(writer):
            rest = self.rest(server.url)
            for number in range(100_000):
                name = f"w{writer}-{number}"
                try:
                    answer = rest.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}})
                except (OSError, http.client.RemoteDisconnected, http.client.CannotSendRequest) as error:
                    refused.append(f"{name}: {error!r}")  # expected once the server is stopping
                    return
                except http.client.HTTPException as error:
                    torn.append(f"{name}: {error!r}")
                    return
                if answer.code == 503:
                    refused.append(f"{name}: {answer.text}")
                    return
                if answer.code != 201:
                    torn.append(f"{name}: HTTP {answer.code} {answer.text}")
                    return
                acknowledged.add(name)
                enough.release()

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(200):
            self.assertTrue(enough.acquire(timeout=TIMEOUT_S), f"refused before the end: {refused}, {torn}")
        server.stop()
        for thread in threads:
            thread.join()
        self.assertEqual(torn, [])
        with self.server("--data", path) as again:
            items = self.rest(again.url).get("/api/v1/namespaces/default/configmaps").expect()["items"]
            stored = {item["metadata"]["name"] for item in items}
        self.assertEqual(acknowledged - stored, set())


class Security(ServeCase):
    TOKENS = 'good-token,alice,42,"crew,system:masters"\nother-token,bob,43\n'

    def setUp(self):
        super().setUp()
        self.tokens = self.folder / "tokens.csv"
        self.tokens.write_text(self.TOKENS)

    def user_of(self, rest):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        return rest.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", body).expect(201)["status"]["userInfo"]

    def test_tokens(self):
        with self.server("--token-file", self.tokens) as server:
            for token in (None, "bad-token"):
                answer = self.rest(server.url, token=token).get("/api/v1/namespaces")
                self.assertEqual((answer.code, answer.body["reason"]), (401, "Unauthorized"))
            self.assertEqual(self.rest(server.url, token="other-token").get("/api/v1/namespaces").code, 200)
            user = self.user_of(self.rest(server.url, token="good-token"))
            self.assertEqual((user["username"], user["uid"]), ("alice", "42"))
            self.assertEqual(set(user["groups"]), {"crew", "system:masters", "system:authenticated"})

    def test_an_address_others_can_reach_is_fine_with_tokens(self):
        with self.server("--address", "0.0.0.0", "--token-file", self.tokens) as server:
            port = server.url.rsplit(":", 1)[1]
            self.assertEqual(
                self.rest(f"http://127.0.0.1:{port}", token="good-token").get("/api/v1/namespaces").code, 200
            )

    def test_tls(self):
        key, certificate = make_certificate(self.folder)
        with self.server("--tls-cert", certificate, "--tls-key", key) as server:
            self.assertTrue(server.url.startswith("https://"), server.url)
            context = ssl.create_default_context(cafile=certificate)
            self.assertEqual(self.rest(server.url, ssl_context=context).get("/readyz").text, "ok")
            with self.assertRaises(ssl.SSLCertVerificationError):
                self.rest(server.url).get("/readyz")

    def test_client_certificates(self):
        key, certificate = make_certificate(self.folder)
        authority_key, authority = make_certificate(self.folder, name="authority")
        client_key, client = make_certificate(
            self.folder, name="client", subject="/O=crew/CN=carol", signer=(authority_key, authority)
        )
        stranger_key, stranger = make_certificate(self.folder, name="stranger", subject="/CN=mallory")
        flags = ["--tls-cert", certificate, "--tls-key", key, "--client-ca", authority]
        with self.server("--address", "0.0.0.0", *flags) as server:
            url = "https://127.0.0.1:" + server.url.rsplit(":", 1)[1]

            def rest_with(*chain):
                context = ssl.create_default_context(cafile=certificate)
                if chain:
                    context.load_cert_chain(*chain)
                return self.rest(url, ssl_context=context)

            user = self.user_of(rest_with(client, client_key))
            self.assertEqual(user["username"], "carol")
            self.assertEqual(set(user["groups"]), {"crew", "system:authenticated"})
            for chain in ((), (stranger, stranger_key)):
                try:
                    self.assertEqual(rest_with(*chain).get("/api/v1/namespaces").code, 401)
                except (ssl.SSLError, ConnectionError):
                    pass  # refused even earlier, in the handshake

    def test_kubectl_with_tls_and_a_token(self):
        key, certificate = make_certificate(self.folder)
        with self.server("--tls-cert", certificate, "--tls-key", key, "--token-file", self.tokens) as server:
            done = self.kubectl(server.kubeconfig, "auth", "whoami", "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["status"]["userInfo"]["username"], "alice")
