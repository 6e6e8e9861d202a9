"""A pod with a grace period of 30 minutes that ignores SIGTERM, from create to gone, with kubectl watching."""

import time

from base import ControlPlaneCase, condition, pod, seconds_between
from lib.server import SLOWDOWN

GRACE_S = 1800


def state(event):
    """The state of the pod in an event: (event, phase, Ready, whether it is being deleted, its container)."""
    item = event["object"]
    containers = item["status"].get("containerStatuses", [])
    (kind, details), *_ = containers[0]["state"].items() if containers else [("none", {})]
    return (
        event["type"],
        item["status"]["phase"],
        condition(item, "Ready").get("status") == "True",
        "deletionTimestamp" in item["metadata"],
        " ".join([kind, *(str(details[key]) for key in ("reason", "exitCode") if key in details)]),
    )


def states(events):
    """Each state once, without other changes."""
    seen = [state(event) for event in events]
    return [entry for entry, before in zip(seen, [None, *seen]) if entry != before]


STATES = [
    ("ADDED", "Pending", False, False, "none"),
    ("MODIFIED", "Pending", False, False, "none"),  # bound to a node
    ("MODIFIED", "Pending", False, False, "waiting ContainerCreating"),
    ("MODIFIED", "Running", True, False, "running"),
    ("MODIFIED", "Running", True, True, "running"),
    ("MODIFIED", "Failed", False, True, "terminated Error 137"),
    ("DELETED", "Failed", False, True, "terminated Error 137"),
]


class GracePeriodCase(ControlPlaneCase):
    def create(self, name):
        script = {"start-delay": "3s", "ignore-sigterm": "true"}
        spec = {"terminationGracePeriodSeconds": GRACE_S, "tolerations": [{"operator": "Exists"}]}
        self.k("apply -f -", stdin=pod(name, script=script, **spec))

    def deletion_time(self, events):
        """When the pod is to be gone, as the delete left it; the kubelet's own delete takes the grace period off."""
        times = (event["object"]["metadata"].get("deletionTimestamp") for event in events)
        return next(time for time in times if time)

    def finish_time(self, events):
        return events[-1]["object"]["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]


class OnAVirtualClock(GracePeriodCase):
    def test_half_an_hour_passes_within_a_second(self):
        watch = self.watch_pods()
        times_s = []
        # The best run counts, since other programs use this machine too.
        for name in ("one", "two", "three"):
            self.create(name)
            self.run_until("condition=Ready", name, limit="1m")
            deleted_at = self.now().replace(microsecond=0)
            began = time.monotonic()
            self.k(f"delete pod {name} --wait=false")
            self.run_until("delete", name, limit="1h")
            events = watch.until_deleted(name)
            times_s.append(time.monotonic() - began)

            self.assertEqual(states(events), STATES)
            self.assertEqual(seconds_between(deleted_at, self.deletion_time(events)), GRACE_S)
            self.assertEqual(seconds_between(deleted_at, self.finish_time(events)), GRACE_S)
        self.assertLess(min(times_s), SLOWDOWN, times_s)

    def test_nothing_happens_while_the_clock_stands(self):
        self.create("web")
        self.run_until("condition=Ready", "web", limit="1m")
        self.k("delete pod web --wait=false")
        self.k_fails("wait pod web --for=delete --timeout=1s", "timed out")
        self.assertEqual(self.status_column("web"), "Terminating")
        self.run_until("delete", "web", limit=f"{GRACE_S - 1}s", outcome="deadline")
        self.run_until("delete", "web", limit="1s")

    def test_a_second_delete_shortens_it(self):
        self.create("web")
        self.run_until("condition=Ready", "web", limit="1m")
        self.k("delete pod web --wait=false")
        before = self.now()
        self.k("delete pod web --wait=false --grace-period=60")
        self.run_until("delete", "web")
        self.assertEqual(seconds_between(before, self.now()), 60)


class OnAScaledClock(GracePeriodCase):
    # A pause of this machine of 50 ms is 50 s for the cluster: its nodes would become unreachable. Without that
    # controller the initial taint of nodes is not removed, so the pod tolerates it.
    flags = ("--clock=scaled=1000", "--controllers=*,-node-lifecycle-controller")

    def test_the_same_order_of_states(self):
        watch = self.watch_pods()
        self.create("web")
        self.k("wait pod web --for=condition=Ready --timeout=20s")
        self.k("delete pod web --wait=false")
        events = watch.until_deleted("web")
        self.assertEqual(states(events), STATES)
        self.assertGreaterEqual(seconds_between(self.deletion_time(events), self.finish_time(events)), 0)
