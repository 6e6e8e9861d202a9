"""Everything that watches show, in the order of revisions."""

import collections
import json
import threading
import time

from lib.rest import Rest

# How often in a row a watch may be opened and show nothing before it counts as dead, and the time in between.
ATTEMPTS = 5
PAUSE_S = 0.2


class WatchFailed(Exception):
    """The server refuses the watch, so that its events are lost."""


class Watches:
    """Opens watches of a server."""

    def __init__(self, url):
        self._url = url

    def revision(self, path):
        """From which a watch of the path shows every later change."""
        rest = Rest(self._url)
        try:
            return rest.get(f"{path}?limit=1").expect()["metadata"]["resourceVersion"]
        finally:
            rest.close()

    def lines(self, path, revision):
        """The lines of one watch, until the server or the network ends it."""
        rest = Rest(self._url, timeout=7200)
        try:
            response = rest.stream("GET", f"{path}?watch=true&resourceVersion={revision}")
            if response.status != 200:
                raise WatchFailed(f"HTTP {response.status} for a watch from revision {revision}: {response.read(500)}")
            yield from response
        finally:
            rest.close()


class History:
    """All events of the watched resources by namespace, as (revision, resource, type, object).

    A watch that ends is opened again from the last revision that it has shown. `failure` states that one could not
    be, and then events may be missing.
    """

    def __init__(self, watches, paths):
        self._watches, self._events, self._lock = watches, collections.defaultdict(list), threading.Lock()
        self._closed, self.failure = False, ""
        for resource, path in paths.items():
            revision = watches.revision(path)
            threading.Thread(target=self._follow, args=(resource, path, revision), daemon=True).start()

    def _follow(self, resource, path, revision):
        shown, attempts, reason = revision, 0, ""
        while attempts < ATTEMPTS and not self._closed:
            before = shown
            try:
                for line in self._watches.lines(path, shown):
                    shown = self._record(resource, json.loads(line))
                reason = "it ended"
            except WatchFailed as failed:
                self._fail(f"the watch of {resource} failed: {failed}")
                return
            except Exception as error:  # of the network, or of a line that was cut off
                reason = repr(error)
            attempts = attempts + 1 if shown == before else 0
            time.sleep(PAUSE_S)
        self._fail(f"the watch of {resource} from revision {shown} showed nothing {ATTEMPTS} times: {reason}")

    def _record(self, resource, event):
        """Returns the event's revision."""
        if event["type"] == "ERROR":
            raise WatchFailed(json.dumps(event["object"]))
        metadata = event["object"]["metadata"]
        with self._lock:
            self._events[metadata["namespace"]].append(
                (int(metadata["resourceVersion"]), resource, event["type"], event["object"])
            )
        return metadata["resourceVersion"]

    def _fail(self, reason):
        if not self._closed:
            self.failure = reason

    def of(self, namespace):
        with self._lock:
            return sorted(self._events[namespace], key=lambda event: event[0])

    def close(self):
        """From here on the server may end."""
        self._closed = True
