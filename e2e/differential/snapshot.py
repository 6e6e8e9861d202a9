"""Reads a namespace and makes two readings comparable: random names, times and counts of steps are replaced.

A snapshot is {key: document}. The key is resource/name; a key whose objects are not distinguished by name (pods) has a
list of documents. All remaining fields are compared.
"""

import collections
import json
import re

RESOURCES = {
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "replicationcontrollers": "/api/v1",
    "statefulsets": "/apis/apps/v1",
    "daemonsets": "/apis/apps/v1",
    "controllerrevisions": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "cronjobs": "/apis/batch/v1",
    "pods": "/api/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "resourcequotas": "/api/v1",
    "persistentvolumeclaims": "/api/v1",
    "events": "/api/v1",
}

# The sources of the events that the controllers write; those of scheduler and kubelet are ours on both sides.
CONTROLLER_SOURCES = {
    "deployment-controller",
    "replicaset-controller",
    "replication-controller",
    "job-controller",
    "statefulset-controller",
    "daemonset-controller",
    "cronjob-controller",
    "controllermanager",
    "disruption-controller",
    "resourcequota-controller",
}

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
STATEFUL_HASH = "controller.kubernetes.io/hash"  # of the revisions of StatefulSets; ours is Kubernetes'
HASH_LABELS = ("pod-template-hash", "controller-revision-hash", STATEFUL_HASH)
HASH = "[bcdfghjklmnpqrstvwxz2456789]"
DROPPED = {"resourceVersion", "uid", "managedFields", "podIP", "podIPs", "hostIP", "hostIPs", "nodeName", "containerID"}
SCALED = re.compile(r"Scaled (up|down) replica set (\S+) from (\d+) to (\d+)")
COMBINED = "(combined from similar events): "
# Reported with every sync that finds it: a refused write is tried again with backoff, a budget is synced with every
# event of a pod, a CronJob with every event of a Job. The count at the time of the reading is random.
REPEATED = {"FailedCreate", "FailedUpdate", "ReplicaSetCreateError", "NoPods", "TooManyMissedTimes"}
# A view that does not show yet that a pod terminates causes a second deletion.
DELETED_POD = re.compile(r"Delete Pod \S+ in StatefulSet \S+ successful")
# A write from an older view is refused and repeated.
CONFLICT = "the object has been modified; please apply your changes to the latest version and try again"
# A CronJob's Job that its controller has deleted itself is reported if a sync comes before the view has its status write.
MISSING = re.compile(r"Active job went missing: (\S+)")
# client-go combines similar events of an object from the tenth on and drops those beyond 25; which ones depends on their
# order.
EVENTS_MAX = 20


NODE = re.compile(r"\bs\d+-\d+-n\d\b")  # one of a script's own
# Of a Job of a CronJob: the minutes since the epoch of its run, of which the hour and the minute are compared.
RUN = re.compile(r"\b(tick)-(\d{7,9})\b")


class Names:
    """Replaces random names: a ReplicaSet's hash by the tag of its image, a pod's suffix by *."""

    def __init__(self, workloads, ignored=(), nodes=True):
        self._nodes = nodes
        self._hashes, self._dropped = {}, DROPPED.union(ignored)
        owners = "|".join(sorted(map(re.escape, workloads), key=len, reverse=True)) or "(?!)"
        self._unknown_set = re.compile(rf"\b({owners})-{HASH}{{6,10}}(?=-{HASH}{{5}}\b|[^-\w]|$)")
        self._pod = re.compile(rf"\b((?:{owners})(?:-\{{[^}}]*\}})?(?:-\d+)?)-{HASH}{{5}}\b")

    def learn(self, replica_sets, revisions):
        templates = [(item, item["spec"]["template"]) for item in replica_sets]
        templates += [(item, item["data"]["spec"]["template"]) for item in revisions]
        for item, template in templates:
            for value in filter(None, map(item["metadata"].get("labels", {}).get, HASH_LABELS)):
                image = template["spec"]["containers"][0]["image"]
                self._hashes[value] = "{" + image.rpartition(":")[2] + "}"

    def text(self, value):
        if TIME.match(value):
            return "TIME"
        if not self._nodes:
            value = NODE.sub("NODE", value)
        for drawn, tag in self._hashes.items():
            if drawn in value:
                value = re.sub(rf"\b{drawn}\b", tag, value)
        value = self._unknown_set.sub(r"\1-{?}", value)
        value = RUN.sub(lambda match: f"{match[1]}-{_hour_and_minute(int(match[2]))}", self._pod.sub(r"\1-*", value))
        return UID.sub("UID", value)

    def document(self, value):
        if isinstance(value, dict):
            made = ((key, item, self.document(item)) for key, item in value.items() if key not in self._dropped)
            # A map that has only dropped fields equals one that is absent.
            return {self.text(key): new for key, item, new in made if new != {} or item == {}}
        if isinstance(value, list):
            return [self.document(item) for item in value]
        return self.text(value) if isinstance(value, str) else value


def _hour_and_minute(minutes):
    return f"{minutes // 60 % 24:02}{minutes % 60:02}"


def read(rest, namespace, names, steps_count=True):
    """The namespace as it is now.

    Without `steps_count` nothing is read that depends on the steps in between: of events only their kinds, and of a
    Deployment's conditions not the order, in which they last changed.
    """
    answers = {}
    for resource, group in RESOURCES.items():
        answers[resource] = rest.get(f"{group}/namespaces/{namespace}/{resource}").expect()["items"]
    names.learn(answers["replicasets"], answers["controllerrevisions"])
    found = {}
    for resource, items in answers.items():
        if resource == "events":
            continue
        for item in items:
            document = names.document(item)
            _forget_steps(resource, item, document)
            if resource == "controllerrevisions":
                document["hash"] = item["metadata"].get("labels", {}).get(STATEFUL_HASH)
            if not steps_count and resource == "deployments":
                document.get("status", {}).get("conditions", []).sort(key=lambda condition: condition["type"])
            found.setdefault(f"{resource}/{document['metadata']['name']}", []).append(document)
    for documents in found.values():
        documents.sort(key=lambda document: json.dumps(document, sort_keys=True))
    namespace_answer = rest.get(f"/api/v1/namespaces/{namespace}")
    if namespace_answer.code == 200:
        found["namespace"] = [names.document(namespace_answer.body)]
    found.update(_events(answers["events"], names, steps_count))
    return found


def _forget_steps(resource, item, document):
    """The number of writes of a rollout depends on timing: only whether the status is current is compared."""
    status = document.get("status", {})
    if resource in ("replicasets", "poddisruptionbudgets", "replicationcontrollers") and "observedGeneration" in status:
        current = status["observedGeneration"] == item["metadata"].get("generation")
        status["observedGeneration"] = "current" if current else "old"
        document["metadata"].pop("generation", None)
    if resource == "pods":
        document["metadata"].get("labels", {}).pop("topology.kubernetes.io/zone", None)  # the scheduler's choice


def _events(items, names, steps_count):
    """Events by the object they are about: {type, reason and message: how often}."""
    found, totals = collections.defaultdict(collections.Counter), collections.Counter()
    for item in items:
        source = item.get("source", {}).get("component") or item.get("reportingComponent")
        if source not in CONTROLLER_SOURCES:
            continue
        about = item["involvedObject"]
        key = f"events/{about['kind']}/{names.text(about['name'])}"
        message = names.text(item.get("message", ""))
        if CONFLICT in message:
            continue
        count = item.get("count") or item.get("series", {}).get("count") or 1
        # A combined event has the newest message only.
        totals[key] += EVENTS_MAX if message.startswith(COMBINED) and item["reason"] not in REPEATED else count
        message, weight = _without_steps(message.removeprefix(COMBINED), count)
        is_repeated = item["reason"] in REPEATED or DELETED_POD.fullmatch(message)
        found[key][(item["type"], item["reason"], message)] += 0 if is_repeated else weight
    result = {}
    for key, counter in found.items():
        counter = _without_own_deletions(counter)
        document = {"kinds": {f"{kind} {reason}": "reported" for kind, reason, _ in sorted(counter)}}
        if steps_count and totals[key] < EVENTS_MAX:
            document["all"] = {f"{kind} {reason}: {text}": n for (kind, reason, text), n in sorted(counter.items())}
        result[key] = [document]
    return result


def _without_own_deletions(counter):
    deleted = {message for _, reason, message in counter if reason == "SuccessfulDelete"}
    missing = {about: MISSING.fullmatch(about[2]) for about in counter}
    return {about: n for about, n in counter.items()
            if not missing[about] or f"Deleted job {missing[about][1]}" not in deleted}


def _without_steps(message, count):
    """From 0 to 1 and from 1 to 3 equals from 0 to 3: the sum of a ReplicaSet's steps is compared."""
    match = SCALED.search(message)
    if not match:
        return message, count
    direction, name, before, after = match.groups()
    steps = abs(int(after) - int(before)) * count
    return message.replace(match.group(0), f"Scaled {direction} replica set {name} by the sum of its steps"), steps


Leaf = collections.namedtuple("Leaf", "key path ours theirs")


def compare(ours, theirs):
    """Every field that differs."""
    leaves = []
    for key in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(key, []), theirs.get(key, [])
        if key.startswith("events/"):
            left, right = _comparable_events(left, right)
        if key.startswith("events/StatefulSet/"):
            left, right = _only_warnings(left), _only_warnings(right)
        left, right = _without_equals(left, right)
        for index in range(max(len(left), len(right))):
            a = left[index] if index < len(left) else None
            b = right[index] if index < len(right) else None
            leaves += _leaves(key, "", a, b)
    return leaves


def _comparable_events(left, right):
    """All events, or only their kinds if one side has so many that some may be missing."""
    part = "all" if all("all" in document for document in left + right) else "kinds"
    return [document[part] for document in left], [document[part] for document in right]


def _only_warnings(documents):
    """A view that is late turns the creation of a StatefulSet's pod into an update, or into nothing."""
    warnings = ({about: n for about, n in document.items() if about.startswith("Warning ")} for document in documents)
    return [document for document in warnings if document]


def _without_equals(left, right):
    """Drops the documents that both sides have, with their multiplicity."""
    rest = list(right)
    only_left = []
    for document in left:
        if document in rest:
            rest.remove(document)
        else:
            only_left.append(document)
    return only_left, rest


def _leaves(key, path, a, b):
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            yield from _leaves(key, f"{path}.{name}", a.get(name), b.get(name))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b)):
            yield from _leaves(key, f"{path}[{index}]", x, y)
    else:
        yield Leaf(key, path, a, b)
