"""Watches: resuming, expiry, bookmarks."""

from kubernetes import client, watch

from base import ClientCase, config_map


class Watch(ClientCase):
    def write(self, name, **data):
        return self.core.create_namespaced_config_map(self.ns, config_map(name, **data))

    def test_events_in_order(self):
        # From a revision: a watch without one starts at the state it finds, which may be after the deletion.
        begin = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        events = self.start_watch(self.core.list_namespaced_config_map, self.ns, resource_version=begin)
        self.write("one", a="1")
        self.core.patch_namespaced_config_map("one", self.ns, {"data": {"a": "2"}})
        self.core.delete_namespaced_config_map("one", self.ns)
        self.assertEqual(
            [self.next_event(events) for _ in range(3)], [("ADDED", "one"), ("MODIFIED", "one"), ("DELETED", "one")]
        )

    def test_resume_after_a_revision(self):
        first = self.write("one")
        self.write("two")
        self.write("three")
        events = self.start_watch(
            self.core.list_namespaced_config_map, self.ns, resource_version=first.metadata.resource_version
        )
        self.assertEqual([self.next_event(events) for _ in range(2)], [("ADDED", "two"), ("ADDED", "three")])

    def test_the_library_resumes_at_the_timeout(self):
        events = self.start_watch(self.core.list_namespaced_config_map, self.ns, _request_timeout=30)
        stream = watch.Watch()
        # The server ends the stream; no received event is lost.
        seen = [
            event["object"].metadata.name
            for event in stream.stream(self.core.list_namespaced_config_map, self.ns, timeout_seconds=1)
        ]
        self.assertEqual(seen, [])
        self.write("late")
        self.assertEqual(self.next_event(events), ("ADDED", "late"))

    def test_a_compacted_revision_is_410(self):
        first = self.write("one")
        self.write("two")
        self.write("three")
        self.compact()
        with self.assertRaises(client.ApiException) as caught:
            for _ in watch.Watch().stream(
                self.core.list_namespaced_config_map,
                self.ns,
                timeout_seconds=20,
                resource_version=first.metadata.resource_version,
            ):
                self.fail("an event came")
        self.assertEqual(caught.exception.status, 410)
        # The recovery: list, then watch from there.
        listed = self.core.list_namespaced_config_map(self.ns)
        self.assertEqual(len(listed.items), 3)
        events = self.start_watch(
            self.core.list_namespaced_config_map, self.ns, resource_version=listed.metadata.resource_version
        )
        self.write("four")
        self.assertEqual(self.next_event(events), ("ADDED", "four"))

    def test_initial_events_and_their_end(self):
        self.write("one")
        stream = watch.Watch().stream(
            self.core.list_namespaced_config_map,
            self.ns,
            send_initial_events=True,
            resource_version_match="NotOlderThan",
            allow_watch_bookmarks=True,
            timeout_seconds=20,
        )
        first = next(stream)
        self.assertEqual((first["type"], first["object"].metadata.name), ("ADDED", "one"))
        mark = next(stream)
        self.assertEqual(mark["type"], "BOOKMARK")
        self.assertEqual(mark["raw_object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})

    def test_a_cluster_wide_watch_with_a_selector(self):
        events = self.start_watch(self.core.list_config_map_for_all_namespaces, label_selector=f"pick={self.ns}")
        self.core.create_namespaced_config_map("default", config_map(self.ns, labels={"pick": "no"}))
        self.addCleanup(self.core.delete_namespaced_config_map, self.ns, "default")
        self.core.create_namespaced_config_map(self.ns, config_map("mine", labels={"pick": self.ns}))
        self.assertEqual(self.next_event(events), ("ADDED", "mine"))
