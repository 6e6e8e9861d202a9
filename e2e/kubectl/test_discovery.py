"""Resources, versions, explain, authorization and version of the server, as kubectl shows them."""

import re

from base import KubectlCase, since


class Resources(KubectlCase):
    RESOURCES = {  # name: (short names, apiVersion, namespaced, kind)
        "configmaps": ("cm", "v1", "true", "ConfigMap"),
        "events": ("ev", "v1", "true", "Event"),
        "namespaces": ("ns", "v1", "false", "Namespace"),
        "nodes": ("no", "v1", "false", "Node"),
        "pods": ("po", "v1", "true", "Pod"),
        "replicationcontrollers": ("rc", "v1", "true", "ReplicationController"),
        "resourcequotas": ("quota", "v1", "true", "ResourceQuota"),
        "secrets": ("", "v1", "true", "Secret"),
        "serviceaccounts": ("sa", "v1", "true", "ServiceAccount"),
        "services": ("svc", "v1", "true", "Service"),
        "controllerrevisions": ("", "apps/v1", "true", "ControllerRevision"),
        "daemonsets": ("ds", "apps/v1", "true", "DaemonSet"),
        "deployments": ("deploy", "apps/v1", "true", "Deployment"),
        "replicasets": ("rs", "apps/v1", "true", "ReplicaSet"),
        "statefulsets": ("sts", "apps/v1", "true", "StatefulSet"),
        "cronjobs": ("cj", "batch/v1", "true", "CronJob"),
        "jobs": ("", "batch/v1", "true", "Job"),
        "leases": ("", "coordination.k8s.io/v1", "true", "Lease"),
        "poddisruptionbudgets": ("pdb", "policy/v1", "true", "PodDisruptionBudget"),
        "selfsubjectaccessreviews": ("", "authorization.k8s.io/v1", "false", "SelfSubjectAccessReview"),
    }

    def test_api_resources_lists_every_kind(self):
        shown = {}
        header, *rows = self.k("api-resources", namespace=False).lines
        starts = [header.index(word) for word in re.findall(r"[A-Z]+", header)]
        for row in rows:
            cells = [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]
            shown.setdefault(cells[0], []).append(tuple(cells[1:5]))
        for name, expected in self.RESOURCES.items():
            with self.subTest(name):
                self.assertIn(expected, shown.get(name, []))

    def test_api_resources_can_be_narrowed(self):
        out = self.k("api-resources --api-group=batch -o name", namespace=False).lines
        self.assertEqual(sorted(out), ["cronjobs.batch", "jobs.batch"])
        self.assertNotIn("nodes", self.k("api-resources --namespaced=true -o name", namespace=False).lines)
        self.assertIn(
            "pods", self.k("api-resources --verbs=list,watch,deletecollection -o name", namespace=False).lines
        )

    def test_short_names_and_kinds_are_understood(self):
        for name in (
            "po",
            "cm",
            "deploy",
            "rs",
            "sts",
            "ds",
            "cj",
            "svc",
            "sa",
            "pdb",
            "quota",
            "rc",
            "ev",
            "Deployment",
            "deployments.apps",
            "deployments.v1.apps",
        ):
            with self.subTest(name):
                self.k(f"get {name}")

    def test_api_versions(self):
        out = self.k("api-versions", namespace=False).lines
        for version in (
            "apps/v1",
            "authentication.k8s.io/v1",
            "authorization.k8s.io/v1",
            "batch/v1",
            "coordination.k8s.io/v1",
            "events.k8s.io/v1",
            "policy/v1",
            "v1",
        ):
            self.assertIn(version, out)

    def test_version(self):
        shown = self.k("version -o json", namespace=False).json
        self.assertEqual((shown["serverVersion"]["major"], shown["serverVersion"]["minor"]), ("1", "36"))
        self.assertRegex(shown["serverVersion"]["gitVersion"], r"^v1\.36\.")

    def test_cluster_info(self):
        self.assertRegex(self.k("cluster-info", namespace=False).out, r"(control plane|master).* is running at .*http")


class Explain(KubectlCase):
    def test_kind(self):
        out = self.k("explain deployment", namespace=False).out
        self.assertRegex(out, r"KIND: +Deployment\n")
        self.assertIn("v1", out)
        for field in ("apiVersion", "kind", "metadata", "spec", "status"):
            self.assertRegex(out, rf"\n +{field}\t<")

    def test_field(self):
        out = self.k("explain pod.spec.containers.image", namespace=False).out
        self.assertRegex(out, r"FIELD: +image <string>")

    def test_object_list_and_map_fields(self):
        out = self.k("explain pod.spec", namespace=False).out
        self.assertRegex(out, r"\n +containers\t<\[\](Object|Container)>")
        self.assertRegex(out, r"\n +nodeSelector\t<map\[string\]string>")
        self.assertRegex(out, r"\n +terminationGracePeriodSeconds\t<integer>")

    def test_required_fields_are_marked(self):
        self.assertRegex(self.k("explain deployment.spec", namespace=False).out, r"selector\t<.*> -required-")

    def test_recursive(self):
        out = self.k("explain job.spec --recursive", namespace=False).out
        for field in ("podFailurePolicy", "onExitCodes", "template", "livenessProbe", "tcpSocket"):
            self.assertRegex(out, rf"\n +{field}\t<")

    def test_every_kind(self):
        for name in (
            "namespace",
            "node",
            "event",
            "secret",
            "configmap",
            "service",
            "serviceaccount",
            "replicationcontroller",
            "resourcequota",
            "replicaset",
            "statefulset",
            "daemonset",
            "controllerrevision",
            "cronjob",
            "poddisruptionbudget",
            "lease",
        ):
            with self.subTest(name):
                self.assertIn("metadata", self.k(f"explain {name}", namespace=False).out)

    def test_a_chosen_version(self):
        self.assertRegex(
            self.k("explain events --api-version=events.k8s.io/v1", namespace=False).out, r"\n +reportingController\t"
        )

    def test_a_field_that_is_not_there(self):
        self.k_fails("explain pod.spec.wings", 'field "wings" does not exist', namespace=False)


class Auth(KubectlCase):
    def test_can_i(self):
        self.assertEqual(self.k("auth can-i create deployments").out, "yes\n")
        self.assertEqual(self.k("auth can-i get pods --subresource=log").out, "yes\n")

    def test_can_i_list(self):
        self.assertRegex(self.k("auth can-i --list").out, r"\*\.\* +\[\] +\[\] +\[\*\]")

    @since(1, 28, "whoami of authentication.k8s.io/v1")
    def test_whoami(self):
        out = self.k("auth whoami", namespace=False).out
        self.assertRegex(out, r"Username +\S+")
        self.assertIn("system:authenticated", out + self.k("auth whoami -o yaml", namespace=False).out)
