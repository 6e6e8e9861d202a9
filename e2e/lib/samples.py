"""A small valid object of every kind, by the path of its collection. NS stands for a namespace."""

import json

TEMPLATE = {
    "metadata": {"labels": {"app": "seed"}},
    "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]},
}
ONCE = {"metadata": {}, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "seed"}}
_OBJECTS = {
    "/api/v1/nodes": {},
    "/api/v1/namespaces": {},
    "/api/v1/namespaces/NS/configmaps": {"data": {"a": "1"}},
    "/api/v1/namespaces/NS/secrets": {"stringData": {"a": "1"}},
    "/api/v1/namespaces/NS/services": {"spec": {"ports": [{"port": 80}]}},
    "/api/v1/namespaces/NS/resourcequotas": {"spec": {"hard": {"pods": "100"}}},
    "/api/v1/namespaces/NS/serviceaccounts": {},
    "/api/v1/namespaces/NS/pods": {"spec": {**TEMPLATE["spec"], "nodeName": "seed"}},
    "/api/v1/namespaces/NS/replicationcontrollers": {"spec": {"selector": {"app": "seed"}, "template": TEMPLATE}},
    "/api/v1/namespaces/NS/events": {
        "involvedObject": {"kind": "Pod", "name": "seed", "namespace": "NS"},
        "reason": "Seeded",
        # An unset time is null in an Event, which the OpenAPI document does not mention.
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "action": "Seed",
        "type": "Normal",
        "reportingComponent": "example.test/seed",
        "reportingInstance": "seed",
    },
    "/apis/apps/v1/namespaces/NS/deployments": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "/apis/apps/v1/namespaces/NS/replicasets": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "/apis/apps/v1/namespaces/NS/statefulsets": {
        "spec": {"selector": SELECTOR, "serviceName": "s", "template": TEMPLATE}
    },
    "/apis/apps/v1/namespaces/NS/daemonsets": {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
    "/apis/apps/v1/namespaces/NS/controllerrevisions": {"revision": 1, "data": {"a": 1}},
    "/apis/batch/v1/namespaces/NS/jobs": {"spec": {"template": ONCE}},
    "/apis/batch/v1/namespaces/NS/cronjobs": {
        "spec": {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": ONCE}}}
    },
    "/apis/policy/v1/namespaces/NS/poddisruptionbudgets": {"spec": {"minAvailable": 1, "selector": SELECTOR}},
    "/apis/coordination.k8s.io/v1/namespaces/NS/leases": {"spec": {"holderIdentity": "seed"}},
}


def objects(namespace, metadata):
    """(path of the collection, object) of every kind, with this metadata."""
    for path, rest in _OBJECTS.items():
        rest = json.loads(json.dumps(rest).replace('"NS"', json.dumps(namespace)))
        yield path.replace("/NS/", f"/{namespace}/"), {"metadata": dict(metadata), **rest}
