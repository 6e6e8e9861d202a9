"""How a picker is reached: Services, named ports, HTTPS, and hosts that may not be called."""

import shutil
import tempfile
import threading

from base import GATE, Picker, PickerCase, Stopwatch, chooses_last, make_certificate
from lib.rest import Rest


class Services(PickerCase):
    def test_a_service_is_called_where_it_is_registered(self):
        here, there = self.picker(chooses_last), self.picker(chooses_last)
        host = f"shop-picker.{self.ns}.svc"
        pods = self.start_workers(4, {"host": host, "port": 80, "path": "/pick"})
        self.register("shop-picker", here.port)
        self.scale("web", 3)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:3])
        self.assertEqual(here.headers[0]["Host"], host)
        self.register("shop-picker", there.port)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:2])
        self.assertEqual((len(here.requests), len(there.requests)), (1, 1))

    def test_without_an_address_the_event_states_how_to_register_one(self):
        self.start_workers(3, {"host": f"nowhere.{self.ns}.svc", "port": 80, "path": "/"}, maxRetries=0)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        (event,) = self.picker_events()
        self.assertIn(f"/terrarium/v1/services/{self.ns}/nowhere/address", event)

    def test_ports_by_name_and_by_number(self):
        plain, other = self.picker(chooses_last), self.picker(chooses_last)
        service = {
            "metadata": {"name": "ports"},
            "spec": {"ports": [{"name": "pick", "port": 8080}, {"name": "other", "port": 9090}]},
        }
        self.make(service, "services")
        body = {"address": "127.0.0.1", "ports": {"pick": plain.port, "9090": other.port}}
        self.control("PUT", f"/services/{self.ns}/ports/address", body).expect()
        at = {"host": f"ports.{self.ns}.svc.cluster.local", "path": "/"}
        self.start_workers(6, {**at, "port": "pick"})
        replicas = 6
        for port, picker in [("pick", plain), (8080, plain), ("other", other), (9090, other)]:
            asked = len(picker.requests)
            patch = {"spec": {"downscalePodPicker": {"http": {"port": port}}}}
            self.rest.patch(self.path_of("deployments", "web"), patch).expect()
            self.idle()
            replicas -= 1
            self.scale("web", replicas)
            self.idle()
            self.assertEqual(len(picker.requests), asked + 1, port)
        self.assertEqual(self.picker_events(), [])


class AllowList(PickerCase):
    def test_other_hosts_are_not_called(self):
        self.start_workers(3, {"host": "picker.example.com", "port": 80, "path": "/"}, maxRetries=0)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        (event,) = self.picker_events()
        self.assertIn("picker.example.com:80", event)
        self.assertIn("--pod-picker-allow", event)

    def test_an_address_that_is_not_listed_cannot_be_registered(self):
        answer = self.control("PUT", f"/services/{self.ns}/x/address", {"address": "192.0.2.1:80"})
        self.assertEqual(answer.code, 400)
        self.assertIn("--pod-picker-allow", answer.body["message"])


class ShortList(PickerCase):
    """The list is exhaustive: a server that lists one port of one host calls nothing else."""

    @classmethod
    def server(cls):
        cls.listed, cls.other = Picker(chooses_last), Picker(chooses_last)
        cls.addClassCleanup(cls.listed.stop)
        cls.addClassCleanup(cls.other.stop)
        cls.flags = ("--clock=virtual", GATE, f"--pod-picker-allow=127.0.0.1:{cls.listed.port}")
        return super().server()

    def test_only_what_is_listed_is_called(self):
        self.start_workers(4, self.listed.at())
        self.scale("web", 3)
        self.idle()
        self.assertEqual(len(self.listed.requests), 1)
        self.rest.patch(
            self.path_of("deployments", "web"), {"spec": {"downscalePodPicker": {"http": {"port": self.other.port}}}}
        ).expect()
        self.idle()
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.other.requests), 0)
        self.assertIn("--pod-picker-allow", self.picker_events()[-1])


class Https(PickerCase):
    @classmethod
    def server(cls):
        folder = tempfile.mkdtemp(prefix="terrarium-picker-")
        cls.addClassCleanup(shutil.rmtree, folder)
        ca, cert, key = make_certificate(folder, "IP:127.0.0.1", "DNS:secure.shop.svc")
        cls.identity = (cert, key)
        cls.flags = (*PickerCase.flags, f"--pod-picker-ca={ca}")
        return super().server()

    def test_by_address_and_by_the_name_of_a_service(self):
        picker = self.picker(chooses_last, tls=self.identity)
        pods = self.start_workers(4, picker.at(scheme="HTTPS"))
        self.scale("web", 3)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:3])
        self.control("PUT", "/services/shop/secure/address", {"address": f"127.0.0.1:{picker.port}"}).expect()
        patch = {"spec": {"downscalePodPicker": {"http": {"host": "secure.shop.svc", "port": 443, "scheme": "https"}}}}
        self.rest.patch(self.path_of("deployments", "web"), patch).expect()
        self.idle()
        self.scale("web", 2)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:2])
        self.assertEqual(self.picker_events(), [])

    def is_not_asked(self, http, *texts):
        self.start_workers(3, http, maxRetries=0)
        self.scale("web", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        (event,) = self.picker_events()
        for text in texts:
            self.assertIn(text, event)

    def test_a_certificate_for_another_host(self):
        picker = self.picker(chooses_last, tls=self.identity)
        self.register("other", picker.port)
        http = {"host": f"other.{self.ns}.svc", "port": 443, "path": "/", "scheme": "HTTPS"}
        self.is_not_asked(http, "hostname mismatch")
        self.assertEqual(picker.requests, [])

    def test_a_certificate_of_an_unknown_authority(self):
        folder = self.folder / "stranger"
        folder.mkdir()
        _, *identity = make_certificate(folder, "IP:127.0.0.1")
        picker = self.picker(chooses_last, tls=identity)
        self.is_not_asked(picker.at(scheme="HTTPS"), "certificate")
        self.assertEqual(picker.requests, [])

    def test_plain_http_where_tls_is_wanted(self):
        picker = self.picker(chooses_last)
        self.is_not_asked(picker.at(scheme="HTTPS"))
        self.assertEqual(picker.requests, [])


class Clusters(PickerCase):
    """Further clusters of the server call pickers, too, and have their own Services."""

    def cluster(self, name):
        """A new cluster as the target of the methods here."""
        made = self.control("POST", "/clusters", {"name": name}).expect()
        root, self.rest = self.rest, Rest(made["url"])
        self.addCleanup(setattr, self, "rest", root)
        self.addCleanup(self.rest.close)
        self.rest.post("/api/v1/namespaces", {"metadata": {"name": self.ns}}).expect()
        return root

    def scale_by_patch(self, replicas):
        self.rest.patch(self.path_of("deployments", "web"), {"spec": {"replicas": replicas}}).expect()

    def test_each_has_its_own_addresses(self):
        here, there = self.picker(chooses_last), self.picker(chooses_last)
        self.register("picker", here.port)
        self.cluster("addresses")
        self.assertEqual(self.control("GET", "/services").expect(), {"services": []})
        self.register("picker", there.port)
        pods = self.start_workers(3, {"host": f"picker.{self.ns}.svc", "port": 80, "path": "/"})
        self.scale_by_patch(2)
        self.idle()
        self.assertEqual(self.pod_names(), pods[:2])
        self.assertEqual((len(here.requests), len(there.requests)), (0, 1))

    def test_one_that_waits_for_an_answer_can_be_deleted(self):
        asked, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)
        picker = self.picker(lambda request: asked.set() or go_on.wait(60) and {})
        root = self.cluster("waiting")
        self.start_workers(3, picker.at(), timeoutSeconds=30)
        self.scale_by_patch(2)
        self.assertTrue(asked.wait(30))
        with Stopwatch() as real:
            root.delete("/terrarium/v1/clusters/waiting").expect()
        self.assertLess(real.seconds, 30)
