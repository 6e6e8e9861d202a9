"""The two clusters that a script is played on: Terrarium on a virtual clock, and one with the real controllers."""

import re
import threading
import time
import urllib.parse

from lib.rest import Rest
from lib.server import Server

import snapshot
from actions import NODE_KEY
from controller_manager import CONTROLLERS, ControllerManager

OUR_NODES = 3
THEIR_NODES = 40  # for the pods of many scripts
# The longest time for a step. Retries with backoff and crash loops never end.
STEP_LIMIT_S = 42.0
# The machine's latency on top of the script's time, and how long it must have been quiet.
LATENCY_S = 1.5
QUIET_S = 1.3


class Ours:
    """A server with Terrarium's controllers; each script gets its own cluster."""

    def __init__(self, binary, controllers="*"):
        self._controllers = controllers
        # The other side's server has no accounts either.
        without_accounts = "--disable-admission-plugins=ServiceAccount"
        self._server = Server(binary, "--clock=virtual", "--nodes=0", "--log-level=error", without_accounts)
        self.url = self._server.url

    def open(self, name, gates):
        return OurCluster(self.url, name, gates, self._controllers)

    def close(self):
        self._server.__exit__(None)


class OurCluster:
    def __init__(self, url, name, gates, controllers):
        self._url, self._name = url, name
        body = {
            "name": name,
            "clock": "virtual",
            "nodes": OUR_NODES,
            "controllers": controllers,
            "featureGates": gates,
        }
        self._server().post("/terrarium/v1/clusters", body).expect()
        self.rest = Rest(f"{url}/clusters/{name}", timeout=120)
        self.namespace = name
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect()

    def control(self, method, path, body=None):
        return self.rest.request(method, f"/terrarium/v1{path}", body)

    def pause(self, seconds):
        self.control("POST", "/clock/advance", {"duration": f"{seconds}s"}).expect()

    def come_to_rest(self, _=None):
        """Returns the virtual seconds that passed."""
        limit = {"limit": f"{STEP_LIMIT_S}s"}
        seconds = _seconds(self.control("POST", "/clock/run-until-idle", limit).expect()["advanced"])
        self.pause(LATENCY_S + QUIET_S)  # the same time passes on the other side, e.g. for minReadySeconds
        return seconds

    def close(self):
        self.rest.close()
        self._server().delete(f"/terrarium/v1/clusters/{self._name}").expect()

    def _server(self):
        """A client of the whole server, for one request: an idle connection would be closed before the next."""
        return Rest(self._url)


def _seconds(text):
    """Of a Go duration."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(h|ms|m|s|µs|us|ns)", text))


# The claims of StatefulSets are bound by ours on both sides: the volumes of the real controllers need a driver.
VOLUME_CONTROLLERS = (
    "persistentvolume-binder-controller,persistentvolume-protection-controller,"
    "persistentvolumeclaim-protection-controller,terrarium-volume-driver"
)


class Theirs:
    """A server without controllers of workloads, and a kube-controller-manager; each script gets its own namespace."""

    def __init__(
        self, binary, program, gates, flags=(), controllers=CONTROLLERS, our_controllers=VOLUME_CONTROLLERS, kubeconfig=None
    ):
        text = ",".join(f"{name}={str(value).lower()}" for name, value in gates.items())
        self._server = Server(
            binary,
            f"--controllers={our_controllers}",
            f"--nodes={THEIR_NODES}",
            "--log-level=error",
            *([f"--feature-gates={text}"] if text else []),
        )
        self.url = self._server.url
        place = kubeconfig(self._server) if kubeconfig else self._server.kubeconfig
        self.manager = ControllerManager(program, place, controllers, flags)
        self.activity = Activity(self.url)
        self._rest = Rest(self.url)

    def wait_until_working(self):
        """It works once the nodes accept pods."""

        def is_working():
            nodes = self._rest.get("/api/v1/nodes").expect()["items"]
            return not any(item["spec"].get("taints") for item in nodes)

        self.manager.wait_until(is_working)

    def open(self, name):
        return TheirNamespace(self.url, name, self.activity)

    def close(self):
        self.activity.stop()
        self.manager.__exit__()
        self._server.__exit__(None)
        self._rest.close()


class TheirNamespace:
    def __init__(self, url, name, activity):
        self.rest, self.namespace, self._activity = Rest(url, timeout=120), name, activity
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect()

    def control(self, method, path, body=None):
        return self.rest.request(method, f"/terrarium/v1{path}", body)

    def pause(self, seconds):
        time.sleep(seconds)  # the real controllers use the machine's clock

    def come_to_rest(self, seconds):
        """Waits for the time that the Terrarium side needed, then until no more writes follow."""
        time.sleep(seconds + LATENCY_S)
        give_up = time.monotonic() + STEP_LIMIT_S
        while (quiet := self._activity.quiet_for(self.namespace)) < QUIET_S and time.monotonic() < give_up:
            time.sleep(QUIET_S - quiet + 0.01)

    def close(self):
        selector = urllib.parse.quote(f"{NODE_KEY}={self.namespace}")
        self.rest.delete(f"/api/v1/nodes?labelSelector={selector}").expect()
        self.rest.close()


class Activity:
    """When something was last written in each namespace, by watches of everything that is compared."""

    NAMESPACE = re.compile(rb'"namespace": ?"([^"]*)"')

    def __init__(self, url):
        self._last, self._stopped, self._streams = {}, False, []
        for resource, group in snapshot.RESOURCES.items():
            if resource != "events":
                threading.Thread(target=self._watch, args=(url, f"{group}/{resource}"), daemon=True).start()

    def _watch(self, url, path):
        while not self._stopped:
            rest = Rest(url, timeout=7200)
            self._streams.append(rest)
            try:
                version = rest.get(f"{path}?limit=1").expect()["metadata"]["resourceVersion"]
                for line in rest.stream("GET", f"{path}?watch=true&resourceVersion={version}"):
                    if match := self.NAMESPACE.search(line):
                        self._last[match.group(1).decode()] = time.monotonic()
            except (OSError, ValueError, AttributeError):
                pass  # the server ends
            finally:
                rest.close()

    def quiet_for(self, namespace):
        return time.monotonic() - self._last.get(namespace, 0.0)

    def stop(self):
        self._stopped = True
