"""The objects that the tests create, and the paths of their kinds."""

STATEFUL_SETS = "/apis/apps/v1/namespaces/{namespace}/statefulsets"
DAEMON_SETS = "/apis/apps/v1/namespaces/{namespace}/daemonsets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{namespace}/deployments"
CRON_JOBS = "/apis/batch/v1/namespaces/{namespace}/cronjobs"
CLAIMS = "/api/v1/namespaces/{namespace}/persistentvolumeclaims"

STORAGE_CLASS = "by-hand"  # volumes and claims are matched by its name; nothing provisions
SIZE = {"storage": "1Gi"}


def _workload(kind, name, **spec):
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels}, "template": template, **spec}}


def deployment(name, replicas):
    return _workload("Deployment", name, replicas=replicas)


def daemon_set(name):
    return _workload("DaemonSet", name)


def stateful_set(name, replicas):
    claim = {"metadata": {"name": "data"},
             "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": STORAGE_CLASS, "resources": {"requests": SIZE}}}
    return _workload("StatefulSet", name, replicas=replicas, serviceName=name, volumeClaimTemplates=[claim])


def cron_job(name, schedule):
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.test/app:1"}]}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
            "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": {"spec": pod}}}}}


def service(name):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}}


def volume(name):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": SIZE, "accessModes": ["ReadWriteOnce"], "storageClassName": STORAGE_CLASS,
                     "hostPath": {"path": f"/data/{name}"}}}
