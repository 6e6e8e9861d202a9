"""A Deployment's rollout and a pod's termination, with the kubernetes package, on a virtual clock."""

import pytest
from kubernetes import client

LABELS = {"app": "shop"}


def deployment(name, replicas):
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "shop:1"}]}}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template},
    }


@pytest.mark.terrarium(pod_defaults={"ready-delay": "20s"})
def test_a_rollout_waits_for_slow_pods(terrarium, api_client):
    client.AppsV1Api(api_client).create_namespaced_deployment("default", deployment("shop", 3))
    move = terrarium.run_until("deployments", "shop", "condition=Available", limit="1m")
    assert move["advanced"] == "20s"  # when the pods were ready


def test_a_pod_that_ignores_sigterm_has_its_half_hour(terrarium, api_client):
    core = client.CoreV1Api(api_client)
    pod = {
        "metadata": {"name": "drain", "annotations": {"terrarium.dev/ignore-sigterm": "true"}},
        "spec": {"terminationGracePeriodSeconds": 1800, "containers": [{"name": "main", "image": "shop:1"}]},
    }
    core.create_namespaced_pod("default", pod)
    terrarium.run_until("pods", "drain", "condition=Ready")
    core.delete_namespaced_pod("drain", "default")
    terrarium.advance("29m")
    assert core.read_namespaced_pod("drain", "default").metadata.deletion_timestamp
    assert terrarium.run_until("pods", "drain", "delete", limit="5m")["advanced"] == "1m0s"
