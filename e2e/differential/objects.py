"""The objects that scripts are made of."""

IMAGE = "example.test/app"


def template(labels, tag, script=None, grace=None, **spec):
    metadata = {"labels": labels}
    if script:
        metadata["annotations"] = {f"terrarium.dev/{key}": value for key, value in script.items()}
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": f"{IMAGE}:{tag}"}], **spec}}


def deployment(name, replicas, pod_template, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod_template, **spec},
    }


def replica_set(name, replicas, pod_template, labels=None, **spec):
    labels = labels or {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod_template, **spec},
    }


def replication_controller(name, replicas, pod_template, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": labels, "template": pod_template, **spec},
    }


def job(name, pod_template, **spec):
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"kind": "job"}},
        "spec": {"template": pod_template, **spec},
    }


def pod(name, labels, tag="bare", **spec):
    made = template(labels, tag, **spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **made["metadata"]}, "spec": made["spec"]}


def budget(name, labels, **spec):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, **spec},
    }


def quota(name, **hard):
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}


def claim(name):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name}, "spec": spec}


def stateful_set(name, pod_template, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": pod_template, **spec},
    }


def daemon_set(name, pod_template, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": pod_template, **spec},
    }


def cron_job(name, **spec):
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": spec}
