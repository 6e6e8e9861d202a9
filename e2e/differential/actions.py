"""The steps of a script: plain documents, so that a script can be printed and replayed, and how each is carried out."""

import json

from snapshot import RESOURCES

NAMESPACE = "$NAMESPACE"  # in a step: the name of the script's namespace
NODE_KEY = "example.test/script"  # of the label and the taint of a script's nodes


def path_of(namespace, resource, name="", subresource=""):
    path = f"{RESOURCES[resource]}/namespaces/{namespace}/{resource}"
    return path + (f"/{name}" if name else "") + (f"/{subresource}" if subresource else "")


def perform(side, step):
    """Performs a step and returns its result for the comparison."""
    step = json.loads(json.dumps(step).replace(NAMESPACE, side.namespace))
    return ACTIONS[step["do"]](side, step)


def is_race(step):
    """Whether two controllers react to the step, so that the number of created and deleted pods depends on timing."""
    return step["do"] == "replica-set"


def _create(side, step):
    return side.rest.post(path_of(side.namespace, step["resource"]), step["object"]).code


def _patch(side, step):
    path = path_of(side.namespace, step["resource"], step["name"], step.get("subresource", ""))
    # A conflict is possible only with a resourceVersion, which no patch here has.
    return side.rest.patch(path, step["patch"], step.get("kind", "strategic")).code


def _patches(side, step):
    return [_patch(side, {**step, **patch}) for patch in step["patches"]]


def _delete(side, step):
    options = {"propagationPolicy": step["propagation"]} if step.get("propagation") else {}
    if "grace" in step:
        options["gracePeriodSeconds"] = step["grace"]
    return side.rest.delete(path_of(side.namespace, step["resource"], step["name"]), options).code


def _delete_namespace(side, _):
    return side.rest.delete(f"/api/v1/namespaces/{side.namespace}").code


def _patch_set(side, step):
    """Patches or deletes the ReplicaSet of a Deployment's template, which is known by its image."""
    for item in side.rest.get(path_of(side.namespace, "replicasets")).expect()["items"]:
        image = item["spec"]["template"]["spec"]["containers"][0]["image"]
        owners = [owner["name"] for owner in item["metadata"].get("ownerReferences", [])]
        if image.endswith(f":{step['tag']}") and step["owner"] in owners:
            name = item["metadata"]["name"]
            if "patch" in step:
                return _patch(side, {**step, "resource": "replicasets", "name": name})
            return _delete(side, {**step, "resource": "replicasets", "name": name})
    return "no such ReplicaSet"


def _delete_first(side, step):
    """Deletes the first object that a selector matches, by name."""
    path = path_of(side.namespace, step["resource"]) + f"?labelSelector={step['selector']}"
    names = sorted(item["metadata"]["name"] for item in side.rest.get(path).expect()["items"])
    return _delete(side, {**step, "name": names[0]}) if names else "none"


def _nodes(side, step):
    """Creates nodes of the script's own, which only its DaemonSet tolerates."""
    spec = {"taints": [_own_taint(side)]}
    answers = []
    for name, labels in step["nodes"].items():
        metadata = {"name": f"{side.namespace}-{name}", "labels": {**labels, NODE_KEY: side.namespace}}
        answers.append(side.rest.post("/api/v1/nodes", {"metadata": metadata, "spec": spec}).code)
    return answers


def _node(side, step):
    """Changes or deletes one of the script's nodes."""
    path = f"/api/v1/nodes/{side.namespace}-{step['name']}"
    if step["act"] == "delete":
        return side.rest.delete(path).code
    if step["act"] == "patch":
        return side.rest.patch(path, step["patch"], "merge").code
    added = [{"key": step["key"], "effect": step["effect"]}] if step["effect"] else []
    return side.rest.patch(path, {"spec": {"taints": [_own_taint(side), *added]}}, "merge").code


def _own_taint(side):
    return {"key": NODE_KEY, "value": side.namespace, "effect": "NoSchedule"}


def _rank(pod):
    """An order of pods that leaves only the order of equal pods to chance."""
    metadata, status = pod["metadata"], pod.get("status", {})
    annotations = metadata.get("annotations", {})
    ready = [c["status"] for c in status.get("conditions", []) if c["type"] == "Ready"]
    return (
        "deletionTimestamp" in metadata,
        status.get("phase"),
        ready,
        annotations.get("controller.kubernetes.io/pod-deletion-cost", ""),
        annotations.get("batch.kubernetes.io/job-completion-index", ""),
        pod["spec"]["containers"][0]["image"],
        metadata["name"] if not metadata.get("generateName") else "",
    )


def _chosen_pods(side, step):
    selector = step.get("selector", "")
    pods = side.rest.get(path_of(side.namespace, "pods") + f"?labelSelector={selector}").expect()["items"]
    if step.get("alive", True):
        pods = [
            pod
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in ("Succeeded", "Failed")
        ]
    return sorted(pods, key=RANKS[step.get("by")])[: step.get("count", 1)]


RANKS = {
    None: _rank,
    "name": lambda pod: pod["metadata"]["name"],
    # Two pods of a DaemonSet are on one node while one takes the other's place.
    "node": lambda pod: (pod["spec"].get("nodeName", ""), pod["spec"]["containers"][0]["image"]),
}


def _pods(side, step):
    """Performs an action on the first pods that a selector matches."""
    answers = []
    for pod in _chosen_pods(side, step):
        name = pod["metadata"]["name"]
        if step["act"] == "delete":
            answers.append(_delete(side, {**step, "resource": "pods", "name": name}))
        elif step["act"] == "patch":
            answers.append(_patch(side, {**step, "resource": "pods", "name": name}))
        elif step["act"] == "evict":
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            answers.append(side.rest.post(path_of(side.namespace, "pods", name, "eviction"), body).code)
        else:  # what only the kubelet can do: fail, crash
            body = {"namespace": side.namespace, "pod": name, **step.get("body", {})}
            answers.append(side.control("POST", f"/pods/{step['act']}", body).code)
    return answers


def _rule(side, step):
    """A script for all current and future pods that a selector matches."""
    rule = {
        "name": f"{side.namespace}-{step['name']}",
        "namespace": side.namespace,
        "selector": step["selector"],
        "script": step["script"],
    }
    return side.control("POST", "/pods/rules", rule).code


def _release(side, _):
    """Releases all held pods."""
    for pod in side.rest.get(path_of(side.namespace, "pods")).expect()["items"]:
        if "deletionTimestamp" in pod["metadata"]:
            side.control("POST", "/pods/release", {"namespace": side.namespace, "pod": pod["metadata"]["name"]})
    return None


ACTIONS = {
    "create": _create,
    "patch": _patch,
    "patches": _patches,
    "delete": _delete,
    "delete-first": _delete_first,
    "delete-namespace": _delete_namespace,
    "node": _node,
    "nodes": _nodes,
    "replica-set": _patch_set,
    "pods": _pods,
    "rule": _rule,
    "release": _release,
}
