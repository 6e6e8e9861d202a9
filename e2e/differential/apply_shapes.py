"""Shapes that random configurations are drawn from, and the shapes of the kinds.

A dict is a map with some of its keys; a key with a leading "!" is always there. A list is one of its values or shapes; a
list among these is taken as it is.
"""

import copy
import dataclasses


@dataclasses.dataclass
class Whole:
    """A value that is taken as it is."""

    value: object


@dataclasses.dataclass
class Forms:
    """One of the values; some are not in their canonical form, which --forms asks for."""

    canonical: list
    others: list


@dataclasses.dataclass
class Some:
    """A list of some of the values, in any order."""

    values: list


@dataclasses.dataclass
class Keyed:
    """A list of items, each of which has one of the keys and some of the other fields."""

    keys: list
    rest: dict = dataclasses.field(default_factory=dict)
    least: int = 0


class Draw:
    """Draws configurations. `density` is the chance of a key that is not required."""

    has_forms = False  # whether quantities are drawn in other forms than the canonical one

    def __init__(self, prng, density=0.5):
        self._prng, self._density = prng, density

    def some(self, values, least=0):
        return self._prng.sample(values, self._prng.randint(least, len(values)))

    def _key(self, key):
        """The key of an item. Rarely a part is missing."""
        return {name: self._whole(value) for name, value in key.items() if self._prng.random() < 0.99}

    def _whole(self, value):
        if isinstance(value, Forms):
            return self.of(value)
        if isinstance(value, dict):
            return {name: self._whole(below) for name, below in value.items()}
        return [self._whole(item) for item in value] if isinstance(value, list) else value

    def of(self, shape):
        if isinstance(shape, dict):
            drawn = {}
            for key, below in shape.items():
                if key.startswith("!") or self._prng.random() < self._density:
                    drawn[key.lstrip("!")] = self.of(below)
            return drawn
        if isinstance(shape, list):
            chosen = self._prng.choice(shape)
            return copy.deepcopy(chosen) if isinstance(chosen, list) else self.of(chosen)
        if isinstance(shape, Whole):
            return copy.deepcopy(shape.value)
        if isinstance(shape, Forms):
            return self._prng.choice(shape.canonical + (shape.others if self.has_forms else []))
        if isinstance(shape, Some):
            return self.some(shape.values)
        if isinstance(shape, Keyed):
            return [{**self._key(key), **self.of(shape.rest)} for key in self.some(shape.keys, shape.least)]
        return shape


def _keys(name, *values):
    return [{name: value} for value in values]


LABELS = {"x": ["1", "2", "3"], "y": ["1", "2"], "example.com/z": ["1", "2"]}
OWNERS = Keyed(
    [{"uid": f"00000000-0000-4000-8000-00000000000{n}", "apiVersion": "v1", "kind": "Pod", "name": f"o{n}"} for n in "12"],
    {"blockOwnerDeletion": [True, False]},
)
METADATA = {
    "labels": LABELS,
    "annotations": {"x": ["1", "2", "3"], "example.com/y": ["1", "2"]},
    "ownerReferences": OWNERS,
}

CPU = ["1", "2", "500m", "1500m", "0"]
MEMORY = ["1Gi", "2Gi", "500M", "64Mi"]
CPU_FORMS = Forms(CPU, ["1000m", "0.5", 1, 2, "2e3m", 0.5, "1.5"])
MEMORY_FORMS = Forms(MEMORY, ["1024Mi", 1073741824, "1e9", "0.5G"])
SIZE = Forms(["1Gi"], ["1024Mi"])
RESOURCES = {
    "limits": {"cpu": CPU, "memory": MEMORY},
    "requests": {"cpu": ["100m", "0"], "memory": ["1Mi", "64Mi"]},
}
RESOURCE_FORMS = {"limits": {"cpu": CPU_FORMS, "memory": MEMORY_FORMS}, "requests": {"cpu": Forms(["100m"], ["0.1", 0, "1e-1"])}}


def _ports():
    keys = [
        {"containerPort": 80},
        {"containerPort": 80, "protocol": "UDP"},
        {"containerPort": 81, "protocol": "TCP"},
        {"containerPort": 82},
    ]
    return Keyed(keys, {"hostPort": [0, 80, 8080]})


ENV = Keyed(
    _keys("name", "A", "B", "C", "D"),
    [
        {"value": ["1", "2", ""]},
        {"!valueFrom": {"!fieldRef": {"!fieldPath": "metadata.name", "apiVersion": "v1"}}},
        {"!valueFrom": {"!configMapKeyRef": {"!name": "c", "!key": "k", "optional": [True, False]}}},
    ],
)
CONTAINER = {
    "image": ["i:1", "i:2", "i:latest", "i"],
    "args": Some(["a", "b", "c"]),
    "command": [["sh"], ["sh", "-c"], []],
    "env": ENV,
    "ports": _ports(),
    "resources": [RESOURCES, RESOURCES, RESOURCE_FORMS],
    "workingDir": ["/a", "/b"],
    "imagePullPolicy": ["Always", "IfNotPresent"],
    "securityContext": {"runAsUser": [0, 1], "capabilities": {"add": Some(["NET_ADMIN", "CHOWN"]), "drop": [["ALL"]]}},
    "readinessProbe": {"!httpGet": {"!port": [80, "web"], "path": ["/", "/r"]}, "periodSeconds": [5, 10]},
    "volumeMounts": Keyed([{"mountPath": path, "name": "v"} for path in ("/v", "/w")], {"readOnly": [True, False]}),
    "tty": [True, False],
}
TOLERATIONS = [
    [],
    [{"key": "k", "operator": "Exists"}],
    [{"key": "k", "value": "1", "effect": "NoSchedule"}, {"operator": "Exists"}],
]
PREFERRED = [{"weight": 1, "preference": {"matchExpressions": [{"key": "k", "operator": "Exists"}]}}]
PREFERENCES = {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERRED]}
VOLUMES = [
    {"name": "v"},
    {"name": "v", "emptyDir": {}},
    {"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
    {"name": "v", "emptyDir": {"sizeLimit": SIZE}},
    {"name": "v", "configMap": {"name": "c", "items": [{"key": "k", "path": "p"}]}},
    {"name": "v", "projected": {"sources": [{"configMap": {"name": "c"}}]}},
]
POD_SPEC = {
    "!containers": Keyed(_keys("name", "a", "b", "c"), {"!image": ["i:1", "i:2"], **CONTAINER}, least=1),
    "initContainers": Keyed(_keys("name", "d", "e"), {"!image": "i:1", "restartPolicy": ["Always"], "env": ENV}),
    "!volumes": [Keyed([volume], least=1) for volume in VOLUMES],
    "nodeSelector": {"disk": ["ssd", "hdd"], "zone": ["a", "b"]},
    "tolerations": TOLERATIONS,
    "hostAliases": Keyed(_keys("ip", "10.1.1.1", "10.1.1.2"), {"hostnames": [["a"], ["a", "b"]]}),
    "imagePullSecrets": Keyed(_keys("name", "s1", "s2")),
    "topologySpreadConstraints": Keyed(
        [{"topologyKey": "zone", "whenUnsatisfiable": otherwise} for otherwise in ("DoNotSchedule", "ScheduleAnyway")],
        {"!maxSkew": [1, 2], "labelSelector": {"matchLabels": {"app": ["x", "y"]}}},
    ),
    "terminationGracePeriodSeconds": [0, 10, 30],
    "securityContext": {"runAsUser": [0, 1], "supplementalGroups": [[1], [1, 2]], "sysctls": [[{"name": "a", "value": "1"}]]},
    "automountServiceAccountToken": [False],
    "dnsPolicy": ["ClusterFirst", "Default"],
    "dnsConfig": {"nameservers": [["10.0.0.1"]], "options": [[{"name": "ndots", "value": "2"}]]},
    "affinity": {"nodeAffinity": PREFERENCES},
    "hostname": ["h"],
    "enableServiceLinks": [True, False],
}


def _template(restart):
    spec = {**POD_SPEC, ("!" if restart == "Never" else "") + "restartPolicy": [restart]}
    # Always with a label: without any, a Job gets those of its selector, and its first write without a change is stored.
    metadata = {"!labels": {"!app": "x", **LABELS}, "annotations": METADATA["annotations"]}
    return {"!metadata": metadata, "!spec": spec}


def _conditions(*types):
    time = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    rest = {"!status": ["True", "False"], "reason": ["R", "S"], "message": ["m"], "lastTransitionTime": time}
    return Keyed(_keys("type", *types), rest)


SELECTOR = Whole({"matchLabels": {"app": "x"}})
REPLICAS = [0, 1, 2, 3]
COUNTS = {key: [0, 1, 2] for key in ("replicas", "readyReplicas", "availableReplicas", "observedGeneration")}


@dataclasses.dataclass
class Kind:
    """A kind of objects: where it is served and the shapes of its configurations."""

    api_version: str
    kind: str
    plural: str
    shape: dict
    status: dict = None
    scales: bool = False
    namespaced: bool = True

    @property
    def group(self):
        return f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"


def _spec(shape, **others):
    return {"!metadata": METADATA, "!spec": shape, **others}


HPA_TARGET = [
    Whole({"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}),
    Whole({"kind": "ReplicaSet", "name": "y"}),
]
HTTP_PATH = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
CPU_METRIC = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
MEMORY_METRIC = {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}
PODS_POLICY = {"type": "Pods", "value": 1, "periodSeconds": 60}
HPA_V2 = {
    "!scaleTargetRef": HPA_TARGET,
    "!maxReplicas": [3, 4],
    "minReplicas": [1, 2],
    "metrics": [
        [],
        [{"type": "Resource", "resource": CPU_METRIC}],
        [{"type": "Resource", "resource": MEMORY_METRIC}],
    ],
    "behavior": {
        "scaleUp": {"stabilizationWindowSeconds": [0, 10], "selectPolicy": ["Max", "Min"], "policies": [[PODS_POLICY]]},
        "scaleDown": {"stabilizationWindowSeconds": [0, 10], "tolerance": Forms(["100m"], ["0.1"])},
    },
}
INGRESS = {
    "ingressClassName": ["a", "b"],
    "!defaultBackend": {"!service": {"!name": ["s", "t"], "!port": [Whole({"number": 80}), Whole({"name": "web"})]}},
    "tls": [[], [{"hosts": ["a.example.com"], "secretName": "t"}], [{"secretName": "u"}]],
    "rules": [
        [{"host": "a.example.com"}],
        [{"http": {"paths": [HTTP_PATH]}}],
    ],
}
SERVICE = {
    "ports": Keyed(
        [{"port": 80}, {"port": 80, "protocol": "UDP"}, {"port": 81, "protocol": "TCP"}, {"port": 82}],
        {"!name": ["p", "q", "r", "s"], "targetPort": [80, "web", 8080], "appProtocol": ["http"]},
        least=1,
    ),
    "selector": {"app": ["x", "y"], "tier": ["1"]},
    "type": ["ClusterIP", "ExternalName", "ClusterIP"],
    "externalName": ["a.example.com", "b.example.com"],
    "externalIPs": [["1.2.3.4"], ["1.2.3.4", "1.2.3.5"]],
    "sessionAffinity": ["None", "ClientIP"],
    "publishNotReadyAddresses": [True, False],
    "clusterIP": ["None"],
    "internalTrafficPolicy": ["Local", "Cluster"],
}
JOB = {
    "parallelism": [0, 1, 2],
    "completions": [1, 2],
    "backoffLimit": [1, 6],
    "suspend": [True, False],
    "ttlSecondsAfterFinished": [1, 60],
    "activeDeadlineSeconds": [60, 90],
    "completionMode": ["NonIndexed"],
    "podReplacementPolicy": ["Failed", "TerminatingOrFailed"],
    "!template": _template("Never"),
}
CRON = {
    "!schedule": ["1 * * * *", "2 * * * *"],
    "suspend": [True, False],
    "concurrencyPolicy": ["Allow", "Forbid"],
    "timeZone": ["Etc/UTC"],
    "successfulJobsHistoryLimit": [1, 3],
    "startingDeadlineSeconds": [30, 60],
    "!jobTemplate": {
        "metadata": {"labels": LABELS},
        "!spec": {key: JOB[key] for key in ("parallelism", "backoffLimit", "!template")},
    },
}
DEPLOYMENT = {
    "replicas": REPLICAS,
    "!selector": SELECTOR,
    "minReadySeconds": [0, 5],
    "paused": [True, False],
    "revisionHistoryLimit": [0, 10],
    "progressDeadlineSeconds": [600, 700],
    "strategy": [
        Whole({"type": "Recreate"}),
        Whole({"type": "RollingUpdate"}),
        {"rollingUpdate": {"maxSurge": [1, "25%"], "maxUnavailable": [0, "50%"]}},
    ],
    "!template": _template("Always"),
}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
STATEFUL_SET = {
    "replicas": REPLICAS,
    "!selector": SELECTOR,
    "!serviceName": ["s"],
    "podManagementPolicy": ["OrderedReady"],
    "updateStrategy": [
        Whole({"type": "OnDelete"}),
        {"rollingUpdate": {"partition": [0, 1]}},
        {"!type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": [1, "50%"]}},
    ],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": ["Delete", "Retain"], "whenScaled": ["Delete", "Retain"]},
    "minReadySeconds": [0, 5],
    "volumeClaimTemplates": [[{"metadata": {"name": "d"}, "spec": CLAIM}]],
    "!template": _template("Always"),
}
NODE_STATUS = {
    "capacity": {"cpu": CPU, "memory": MEMORY, "pods": ["110", "10"]},
    "allocatable": {"cpu": CPU_FORMS, "memory": MEMORY_FORMS},
    "conditions": _conditions("Ready", "DiskPressure", "example.com/x"),
    "addresses": Keyed(_keys("type", "InternalIP", "Hostname"), {"!address": ["10.2.0.1", "10.2.0.2"]}),
    "images": [[{"names": ["i:1"], "sizeBytes": 1}]],
    "volumesInUse": [["a"], ["a", "b"]],
    "volumesAttached": [[{"name": "a", "devicePath": "/d"}]],
    "phase": ["Running"],
}
CONTAINER_STATUS = {"name": "a", "image": "i:1", "imageID": "1", "ready": True, "restartCount": 0}
POD_STATUS = {
    "phase": ["Running", "Pending"],
    "conditions": _conditions("Ready", "PodScheduled", "example.com/x"),
    "message": ["m", "n"],
    "podIPs": Keyed(_keys("ip", "10.3.0.1", "fd00::1")),
    "hostIPs": [[{"ip": "10.2.0.1"}]],
    "containerStatuses": [[CONTAINER_STATUS]],
}
JOB_STATUS = {
    "active": [0, 1],
    "ready": [0, 1],
    "startTime": ["2026-01-01T00:00:00Z"],
    "conditions": _conditions("example.com/x", "example.com/y"),
}
HPA = "horizontalpodautoscalers"
HPA_STATUS = {"!currentReplicas": [1, 2], "!desiredReplicas": [1, 2]}
SET_STATUS = {**COUNTS, "!replicas": [2, 3], "currentRevision": ["r"]}
LOAD_BALANCER = {"loadBalancer": {"ingress": [[{"ip": "1.2.3.4"}], [{"hostname": "a.example.com"}, {"ip": "1.2.3.5"}]]}}

CONFIG_MAP = {
    "!metadata": METADATA,
    "data": {key: ["1", "2", ""] for key in "abcd"},
    "binaryData": {"e": ["YQ==", "Yg=="]},
    "immutable": [False, False, True],
}
SECRET = {
    "!metadata": METADATA,
    "data": {key: ["YQ==", "Yg=="] for key in "abc"},
    "stringData": {key: ["1", "a"] for key in "bcd"},
    "type": ["Opaque"],
}
POD = {
    **POD_SPEC,
    "restartPolicy": ["Never"],
    "activeDeadlineSeconds": [60, 30],
    "schedulingGates": Keyed(_keys("name", "example.com/a", "example.com/b")),
}
NODE = {
    "unschedulable": [True, False],
    "taints": [[], [{"key": "k", "effect": "NoSchedule"}], [{"key": "k", "value": "1", "effect": "NoExecute"}]],
    "providerID": ["p"],
    "podCIDRs": [["10.9.0.0/24"]],
}
HPA_V1 = {
    "!scaleTargetRef": HPA_TARGET,
    "!maxReplicas": [3, 4],
    "minReplicas": [1, 2],
    "targetCPUUtilizationPercentage": [50, 80],
}
CRON_STATUS = {
    "lastScheduleTime": ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"],
    "active": [[{"kind": "Job", "name": "j"}]],
}


def _status(shape, *conditions):
    return {"!status": {**shape, **({"conditions": _conditions(*conditions)} if conditions else {})}}


_ALL = (
    Kind("v1", "ConfigMap", "configmaps", CONFIG_MAP),
    Kind("v1", "Secret", "secrets", SECRET),
    Kind("v1", "Service", "services", _spec(SERVICE), _status(LOAD_BALANCER, "A", "B")),
    Kind("v1", "Pod", "pods", _spec(POD), _status(POD_STATUS)),
    Kind("v1", "Node", "nodes", _spec(NODE, status=NODE_STATUS), _status(NODE_STATUS), namespaced=False),
    Kind("apps/v1", "Deployment", "deployments", _spec(DEPLOYMENT), _status(COUNTS, "Progressing", "X"), scales=True),
    Kind("apps/v1", "StatefulSet", "statefulsets", _spec(STATEFUL_SET), _status(SET_STATUS, "X", "Y"), scales=True),
    Kind("batch/v1", "Job", "jobs", _spec(JOB), _status(JOB_STATUS)),
    Kind("batch/v1", "CronJob", "cronjobs", _spec(CRON), _status(CRON_STATUS)),
    Kind("networking.k8s.io/v1", "Ingress", "ingresses", _spec(INGRESS), _status(LOAD_BALANCER)),
    Kind("autoscaling/v1", "HorizontalPodAutoscaler", HPA, _spec(HPA_V1), _status(HPA_STATUS)),
    Kind("autoscaling/v2", "HorizontalPodAutoscaler", HPA, _spec(HPA_V2), _status(HPA_STATUS, "AbleToScale", "X")),
)
KINDS = {kind.plural + ("" if kind.api_version != "autoscaling/v1" else ".v1"): kind for kind in _ALL}
