"""Terrarium's deployment-controller under TerminationComplete with the real replicaset-controller.

At no revision may a pod be created that makes more pods, terminating ones included, than replicas + maxSurge. Every
event of pods, ReplicaSets and Deployments is read from watches and put in the order of revisions.
"""

import concurrent.futures
import json
import pathlib
import random
import tempfile
import time
import urllib.parse

import actions
import objects
from history import History, Watches
from lagging_proxy import LaggingProxy
from sides import Theirs

GATES = {"DeploymentPodReplacementPolicy": True, "DeploymentReplicaSetTerminatingReplicas": True}
OURS = "*,-replicaset-controller"
WATCHED = {"pods": "/api/v1/pods", "replicasets": "/apis/apps/v1/replicasets", "deployments": "/apis/apps/v1/deployments"}
REST_TIMEOUT_S = 150.0
WATCH_TIMEOUT_S = 15.0


def bound_of(deployment):
    """replicas + maxSurge, as the controller resolves it."""
    spec = deployment["spec"]
    strategy = spec.get("strategy", {})
    if strategy.get("type") == "Recreate":
        return spec["replicas"]
    surge = strategy.get("rollingUpdate", {}).get("maxSurge", 0)
    if isinstance(surge, str):
        surge = -(-spec["replicas"] * int(surge.rstrip("%")) // 100)
    return spec["replicas"] + surge


def _count(pods, kind, item):
    """Changes `pods`, those that have not ended by name, by one event of a pod; whether it is a new one."""
    name = item["metadata"]["name"]
    if kind == "DELETED" or item.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        pods.pop(name, None)
        return False
    is_new = name not in pods
    pods[name] = item
    return is_new


def violations(events):
    """[(number of the event, pods, bound)]: creations that made too many pods."""
    found, pods, bound = [], {}, None
    for number, (_, resource, kind, item) in enumerate(events):
        if resource == "deployments":
            bound = bound_of(item)
        elif resource == "pods" and _count(pods, kind, item) and bound is not None and len(pods) > bound:
            found.append((number, len(pods), bound))
    return found


def find_gap(events):
    """What shows that events are missing, given those of a Deployment at rest; empty if nothing does."""
    pods, deployment = {}, None
    for _, resource, kind, item in events:
        if resource == "deployments":
            deployment = item
        elif resource == "pods":
            _count(pods, kind, item)
    if deployment is None:
        return "the watches have shown no event of the Deployment"
    live = sum("deletionTimestamp" not in pod["metadata"] for pod in pods.values())
    if live != deployment["spec"]["replicas"]:
        return f"the watches have shown {live} live pods, and the Deployment at rest has {deployment['spec']['replicas']}"
    return ""


def trace(events, around, before=40):
    """The events up to a violation, numbered."""
    lines = []
    for number, (revision, resource, kind, item) in enumerate(events[: around + 1]):
        if number < around - before:
            continue
        metadata, spec, status = item["metadata"], item.get("spec", {}), item.get("status", {})
        if resource == "pods":
            text = f"{status.get('phase')}{' terminating' if 'deletionTimestamp' in metadata else ''}"
        elif resource == "replicasets":
            text = (
                f"spec {spec.get('replicas')} (generation {metadata.get('generation')}), status"
                f" {status.get('replicas')} + {status.get('terminatingReplicas')} terminating"
                f" (observed {status.get('observedGeneration')})"
            )
        else:
            text = f"replicas {spec.get('replicas')}, at most {bound_of(item)} pods"
        lines.append(f"  {number:4} revision {revision} {resource} {metadata['name']} {kind}: {text}")
    return "\n".join(lines)


class _Writer:
    """Draws and plays the steps of one Deployment in its own namespace."""

    def __init__(self, side, seed):
        self._side, self._prng, self._tag = side, random.Random(f"mixed {seed}"), 0
        self.steps = []

    def _template(self):
        self._tag += 1
        script = self._prng.choice([{}, {"stop-after": "1s"}, {"stop-after": "2s"}, {"ready-delay": "1s", "stop-after": "1s"}])
        return objects.template({"app": "web"}, f"t{self._tag}", script, 10)

    def _strategy(self):
        surge, unavailable = self._prng.choice([(1, 0), (0, 1), (2, 1), (0, 2), (3, 2), ("50%", "50%"), ("25%", "25%")])
        return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}

    def _step(self, step):
        self.steps.append(step)
        code = actions.perform(self._side, step)
        if code not in (200, 201):
            raise AssertionError(f"{step}: {code}")

    def run(self):
        strategy = {"type": "Recreate"} if self._prng.random() < 0.1 else self._strategy()
        replicas = self._prng.randint(1, 8)
        templates = [self._template()]
        made = objects.deployment("web", replicas, templates[0], strategy=strategy, podReplacementPolicy="TerminationComplete")
        self._step({"do": "create", "resource": "deployments", "object": made})
        # Pods above a lowered bound must be gone before pods are replaced.
        fails = self._prng.random() < 0.4
        for _ in range(self._prng.randint(8, 14)):
            # Enough time for part of the reaction.
            time.sleep(self._prng.choice([0.0, 0.01, 0.05, 0.2, 0.6, 1.3]))
            draw = self._prng.random()
            if draw < 0.12 and fails:
                # Its ReplicaSet replaces it immediately, whatever the Deployment's bound.
                self.steps.append(step := {"do": "pods", "act": "fail", "selector": "app=web", "body": {"exitCode": 3}})
                actions.perform(self._side, step)
            elif draw < 0.3:
                replicas = min(10, replicas + self._prng.randint(0, 3))
                self._patch({"replicas": replicas})
            elif draw < 0.42 and not fails:
                # A bound that is lowered while pods are being created is exceeded temporarily.
                self._rest()
                replicas = self._prng.randint(1, replicas)
                self._patch({"replicas": replicas})
            else:
                templates.append(self._prng.choice(templates) if draw < 0.65 else self._template())
                patch = [{"op": "replace", "path": "/spec/template", "value": templates[-1]}]
                self._step({"do": "patch", "resource": "deployments", "name": "web", "kind": "json", "patch": patch})
        self._rest()

    def _patch(self, spec):
        self._step({"do": "patch", "resource": "deployments", "name": "web", "patch": {"spec": spec}})

    def _rest(self):
        """Waits until the rollout is complete."""
        give_up = time.monotonic() + REST_TIMEOUT_S
        path = actions.path_of(self._side.namespace, "deployments", "web")
        while True:
            item = self._side.rest.get(path).expect()
            status, replicas = item.get("status", {}), item["spec"]["replicas"]
            done = status.get("observedGeneration") == item["metadata"]["generation"] and all(
                status.get(name, 0) == replicas for name in ("replicas", "updatedReplicas", "availableReplicas")
            )
            if done and not status.get("terminatingReplicas"):
                return
            if time.monotonic() > give_up:
                raise AssertionError(f"no rest after {REST_TIMEOUT_S} s: {json.dumps(status)}")
            time.sleep(0.1)


def run(binary, program, seeds, jobs, lag_s, flags=()):
    """(passed, failed); prints every violation with its trace."""
    theirs = _Mixed(binary, program, lag_s, flags)
    setting = f"lag {lag_s} s {' '.join(flags)}"
    failed = 0
    try:
        theirs.wait_until_working()
        history = History(Watches(theirs.url), WATCHED)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for seed, problem in pool.map(lambda seed: _play(theirs, history, seed), seeds):
                if problem:
                    failed += 1
                    print(f"\nmixed seed {seed}, {setting}: {problem}", flush=True)
        history.close()
        if lag_s and not theirs.delayed_watches:
            failed += 1
            print(f"\nmixed, {setting}: the proxy has delayed no watch, so the controllers' view was not late", flush=True)
    finally:
        theirs.close()
    return len(seeds) - min(failed, len(seeds)), failed


def _play(theirs, history, seed):
    side = theirs.open(f"m{seed}")
    writer = _Writer(side, seed)
    problem = None
    try:
        writer.run()
    except AssertionError as error:
        problem = str(error)
    finally:
        side.close()
    events = history.of(side.namespace)
    if problem is None:
        # The watches may be a moment later than the Deployment's status.
        give_up = time.monotonic() + WATCH_TIMEOUT_S
        while (problem := find_gap(events)) and not history.failure and time.monotonic() < give_up:
            time.sleep(0.1)
            events = history.of(side.namespace)
    problem = history.failure or problem
    for number, pods, bound in violations(events)[:1]:
        problem = f"{pods} pods where {bound} are allowed, by event {number}\n{trace(events, number)}"
    return seed, problem


class _Mixed(Theirs):
    """A server with all of Terrarium's controllers except replicaset-controller, which is the real one."""

    def __init__(self, binary, program, lag_s, flags):
        self._proxy = None
        super().__init__(
            binary,
            program,
            GATES,
            flags,
            controllers=("replicaset-controller",),
            our_controllers=OURS,
            kubeconfig=lambda server: self._lagging(server, lag_s),
        )

    def _lagging(self, server, lag_s):
        """The kubeconfig of the real controllers, whose view of pods is `lag_s` old."""
        if not lag_s:
            return server.kubeconfig
        parts = urllib.parse.urlsplit(server.url)
        self._proxy = LaggingProxy(parts.hostname, parts.port, "/api/v1/pods", lag_s)
        self._folder = tempfile.TemporaryDirectory(prefix="terrarium-mixed-")
        path = pathlib.Path(self._folder.name) / "kubeconfig"
        text = pathlib.Path(server.kubeconfig).read_text()
        path.write_text(text.replace(f":{parts.port}", f":{self._proxy.port}"))
        return path

    @property
    def delayed_watches(self):
        return self._proxy.delayed_watches if self._proxy else 0

    def close(self):
        super().close()
        if self._proxy:
            self._proxy.close()
            self._folder.cleanup()
