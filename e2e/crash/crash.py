#!/usr/bin/env python3
"""Kills the server with -9 in the middle of its writes, repeatedly, on one database file.

Writers count what the server acknowledged. After each restart under --durability full:
  - every acknowledged write is there: the object is as the last acknowledged write left it, or as the one request
    that had no answer yet would have left it;
  - revisions never go back: no stored revision is below an acknowledged one, and the next write is above them all.

The points of the kills are drawn from a seed, which is printed: --seed repeats them.
"""

import argparse
import http.client
import pathlib
import random
import sys
import tempfile
import threading
import time

from lib.rest import Rest
from lib.server import BARE, Server

WRITERS = 6
OBJECTS_PER_WRITER = 8
ROUNDS_MIN = 6
PATH = "/api/v1/namespaces/default/configmaps"
GONE = object()


class Acknowledged:
    """Counts acknowledgements and wakes threads that wait for a number of them."""

    def __init__(self):
        self._changed = threading.Condition()
        self.count = 0
        self.newest = 0

    def add(self, revision):
        with self._changed:
            self.count += 1
            self.newest = max(self.newest, revision)
            self._changed.notify_all()

    def wait_for(self, count, timeout_s):
        with self._changed:
            return self._changed.wait_for(lambda: self.count >= count, timeout_s)


class Writer:
    """Creates, updates and deletes objects of its own.

    `state` is what was acknowledged, `pending` the request that has no answer yet.
    """

    def __init__(self, number, seed):
        self._number = number
        self._prng = random.Random(f"{seed}/{number}")
        self._serial = 0
        self.state = {}  # name -> (value, revision) or (GONE, revision)
        self.pending = None  # (name, value or GONE)

    def run(self, url, acknowledged, failures):
        rest = Rest(url)
        try:
            while True:
                self._write(rest, acknowledged)
        except (OSError, http.client.HTTPException):
            pass  # the server was killed
        except AssertionError as failure:
            failures.append(f"writer {self._number}: {failure}")
        finally:
            rest.close()

    def _write(self, rest, acknowledged):
        name = f"w{self._number}-{self._prng.randrange(OBJECTS_PER_WRITER)}"
        self._serial += 1
        value = f"{self._serial}-" + "x" * self._prng.randrange(2000)
        is_there = self.state.get(name, (GONE, 0))[0] is not GONE
        if is_there and self._prng.random() < 0.15:
            self.pending = (name, GONE)
            answer = rest.delete(f"{PATH}/{name}").expect(200)
            # The response lacks the revision of the deletion; the object's last one is a lower bound.
            revision, value = self.state[name][1], GONE
        elif is_there:
            self.pending = (name, value)
            answer = rest.put(f"{PATH}/{name}", {"metadata": {"name": name}, "data": {"value": value}}).expect(200)
            revision = int(answer["metadata"]["resourceVersion"])
        else:
            self.pending = (name, value)
            answer = rest.post(PATH, {"metadata": {"name": name}, "data": {"value": value}}).expect(201)
            revision = int(answer["metadata"]["resourceVersion"])
        self.state[name] = (value, revision)
        self.pending = None
        acknowledged.add(revision)

    def compare(self, stored):
        """The errors in the stored objects; adopts the possible effect of the unanswered request."""
        pending_name, pending_value = self.pending or (None, None)
        self.pending = None
        for name, (value, revision) in self.state.items():
            found_value, found_revision = stored.get(name, (GONE, None))
            if found_value != value and not (name == pending_name and found_value == pending_value):
                found = f"{short(found_value)} at {found_revision}"
                yield f"{name}: acknowledged {short(value)} at {revision}, found {found}"
            elif found_revision is not None and found_revision < revision:
                yield f"{name}: acknowledged at revision {revision}, stored at {found_revision}"
        if (
            pending_name
            and pending_name not in self.state
            and stored.get(pending_name, (GONE,))[0] not in (GONE, pending_value)
        ):
            yield f"{pending_name}: holds what nobody wrote"
        mine = {name: item for name, item in stored.items() if name.startswith(f"w{self._number}-")}
        for name in mine.keys() - self.state.keys() - {pending_name}:
            yield f"{name}: nobody made it"
        self.state = {name: (GONE, self.state[name][1]) for name in self.state} | mine


def short(value):
    return "nothing" if value is GONE else repr(value[:20])


def read_all(rest):
    """(objects, the list's revision)"""
    answer = rest.get(PATH).expect(200)
    items = {
        item["metadata"]["name"]: (item["data"]["value"], int(item["metadata"]["resourceVersion"]))
        for item in answer["items"]
        if item["metadata"]["name"].startswith("w")
    }
    return items, int(answer["metadata"]["resourceVersion"])


class CrashTest:
    def __init__(self, options, folder):
        self._options, self._folder = options, pathlib.Path(folder)
        self._prng = random.Random(options.seed)
        self._writers = [Writer(number, options.seed) for number in range(WRITERS)]
        self.problems = []
        self._newest = 0
        self.acknowledged = 0

    def _start(self):
        return Server(
            self._options.terrarium,
            *BARE,
            "--data",
            self._folder / "cluster.db",
            "--durability",
            "full",
            folder=self._folder,
        )

    def round(self):
        """One run of the server: the stored state is checked, then the server is killed while the writers write."""
        server = self._start()
        try:
            self._compare(server)
            acknowledged = Acknowledged()
            threads = [
                threading.Thread(target=writer.run, args=(server.url, acknowledged, self.problems))
                for writer in self._writers
            ]
            for thread in threads:
                thread.start()
            target = self._prng.randrange(1, 400)
            if not acknowledged.wait_for(target, timeout_s=30):
                self.problems.append(f"only {acknowledged.count} of {target} writes were acknowledged in 30 s")
        finally:
            server.kill()
        for thread in threads:
            thread.join()
        self._newest = max(self._newest, acknowledged.newest)
        self.acknowledged += acknowledged.count

    def _compare(self, server):
        rest = Rest(server.url)
        stored, revision = read_all(rest)
        for writer in self._writers:
            self.problems.extend(writer.compare(stored))
        if revision < self._newest:
            self.problems.append(f"the list is at revision {revision}, {self._newest} was acknowledged")
        made = rest.post(PATH, {"metadata": {"generateName": "probe-"}}).expect(201)["metadata"]
        if int(made["resourceVersion"]) <= self._newest:
            self.problems.append(
                f"a new write is at revision {made['resourceVersion']}, {self._newest} was acknowledged"
            )
        self._newest = max(self._newest, int(made["resourceVersion"]))
        rest.delete(f"{PATH}/{made['name']}").expect(200)
        rest.close()

    def last(self):
        """The last run ends with exit code 0."""
        with self._start() as server:
            self._compare(server)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terrarium", required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="terrarium-crash-") as folder:
        test = CrashTest(options, folder)
        rounds, end = 0, time.monotonic() + options.seconds
        while time.monotonic() < end and not test.problems:
            test.round()
            rounds += 1
        if not test.problems:
            test.last()
    print(
        f"seed {options.seed}: {rounds} kills, {test.acknowledged} acknowledged writes, {len(test.problems)} problems"
    )
    for problem in test.problems[:20]:
        print(f"  {problem}")
    if not test.problems and rounds < ROUNDS_MIN:
        print(f"  too slow to tell: {rounds} kills in {options.seconds} s, at least {ROUNDS_MIN} are wanted")
        return 1
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
