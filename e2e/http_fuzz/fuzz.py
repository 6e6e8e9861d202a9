#!/usr/bin/env python3
"""Sends valid, unusual and broken HTTP requests to a whole control plane, and checks it continuously.

  fuzz.py --terrarium BINARY [--seed N] [--count N]        a run; conversation I of seed N is the same in every run
  fuzz.py --terrarium BINARY --seed N --only I[,J...]      these conversations of a run, on a fresh server
  fuzz.py --terrarium BINARY --replay FILE                 exactly the bytes of a finding, on a fresh server

The checks: the process runs, /healthz answers in time, every response is HTTP with a known status and no
unexpected 5xx, errors of API paths are Status objects, refused requests change nothing, memory stays bounded, and the
server ends on SIGTERM with exit code 0 and without a sanitizer report. See docs/testing.md.
"""

import argparse
import collections
import http.client
import json
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time

from http_fuzz.conversation import Conversation, Player
from http_fuzz.grammar import Grammar, stream_of
from http_fuzz.mutation import Mutator
from http_fuzz.world import HEALTH_EVERY_SECONDS, TIDY_EVERY_SECONDS, World
from lib.server import ServerFailed

WORKERS = 6
PARKED_MAX = 40
RECENT = 60
FINDINGS_MAX = 25
CONVERSATIONS_MIN = 1000


class Findings:
    """The findings, each with its conversations in a file for --replay."""

    def __init__(self, options, folder):
        self._options, self._folder, self._lock = options, folder, threading.Lock()
        self._seen = collections.Counter()
        self.fatal = False

    def __len__(self):
        return len(self._seen)

    def add(self, what, numbered, fatal=False):
        """`numbered`: (number, conversation) in the order in which they were begun; the last one is to blame."""
        signature = re.sub(r"\d+|0x[0-9a-f]+|b?'[^']*'|b?\"[^\"]*\"", "#", what)[:160]
        with self._lock:
            self.fatal = self.fatal or fatal
            self._seen[signature] += 1
            if self._seen[signature] > 1 or len(self._seen) > FINDINGS_MAX:
                return
            name = f"finding-{len(self._seen)}"
            file = self._folder / f"{name}.json"
            conversations = [{"number": number, **made.to_json()} for number, made in numbered]
            file.write_text(json.dumps({"what": what, "seed": self._options.seed, "conversations": conversations}))
            print(f"\n{name}, seed {self._options.seed}: {what}")
            if numbered:
                number, made = numbered[-1]
                (self._folder / f"{name}.bin").write_bytes(made.sent())
                print(f"  conversation {number}: {made.about}\n  sent: {made.sent()[:700]!r}")
                print(f"  bytes: {file.with_suffix('.bin')}")
            suite = f"e2e/run_suite.py http-fuzz --terrarium {self._options.terrarium}"
            print(f"  replay: {suite} -- --replay {file}", flush=True)


class Run:
    """Workers that play conversations, one thread that checks and one that tidies."""

    def __init__(self, options, world, findings, numbers):
        self._options, self._world, self._findings = options, world, findings
        self._numbers, self._lock = numbers, threading.Lock()
        self._mutator = Mutator(Grammar(world.catalog))
        self._recent = collections.OrderedDict()  # number -> conversation, begun last
        self._under_way = set()
        self._parked = collections.deque()
        self._stop = world.stopped
        self.codes, self.kinds, self.played = collections.Counter(), collections.Counter(), 0

    def run(self, seconds):
        workers = 1 if self._options.verbose else WORKERS
        threads = [threading.Thread(target=target) for target in (self._check, self._tidy, *[self._work] * workers)]
        end = time.monotonic() + seconds
        for thread in threads:
            thread.start()
        while time.monotonic() < end and not self._findings.fatal and any(w.is_alive() for w in threads[2:]):
            self._stop.wait(0.1)
        self._stop.set()
        for thread in threads:
            thread.join()
        for parked in self._parked:
            parked.close()

    def _work(self):
        while not self._stop.is_set() and not self._findings.fatal:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                return
            number, made = number if isinstance(number, tuple) else (number, self._draw(number))
            with self._lock:
                self._recent[number] = made
                self._under_way.add(number)
                while len(self._recent) > RECENT:
                    self._recent.popitem(last=False)
            busy = self._world.cpu_seconds()
            player = self._play(made)
            with self._lock:
                self._under_way.discard(number)
                self.played += 1
                self.kinds[made.about.split(",")[0].split()[0]] += 1
                self.codes.update(answer.code for answer in player.answers)
            if self._options.verbose:
                self._world.health()  # its consequences are processed
                worked = self._world.cpu_seconds() - busy
                print(f"{number}: {worked:.2f} s at work, {made.about}: {player.answers}", flush=True)
            if player.problem:
                self._findings.add(player.problem, [(number, made)])

    def _draw(self, number):
        return self._mutator.conversation(stream_of(self._options.seed, number))

    def _play(self, made):
        def play():
            return Player(made, self._world.address).play()

        player = self._world.play_on_sentinel(play, is_dry_run(made)) if made.sentinel else play()
        if player.problem and self._world.has_ended():
            player.problem = None  # end_well reports the cause
            self._stop.set()
        if made.end == "park" and player.socket is not None and player.socket.fileno() >= 0:
            with self._lock:
                self._parked.append(player.socket)
                if len(self._parked) > PARKED_MAX:
                    self._parked.popleft().close()
        return player

    def suspects(self):
        """Unfinished conversations come last, since they are the likelier cause."""
        with self._lock:
            numbered = list(self._recent.items())
            return sorted(numbered, key=lambda pair: pair[0] in self._under_way)

    def _check(self):
        while not self._stop.wait(HEALTH_EVERY_SECONDS):
            if wrong := self._world.health():
                report = self._world.reports()
                self._findings.add(wrong + (f"\n{report}" if report else ""), self.suspects(), fatal=True)
                return

    def _tidy(self):
        while not self._stop.wait(TIDY_EVERY_SECONDS):
            try:
                self._world.tidy()
            except (OSError, http.client.HTTPException) as failed:
                if not self._world.has_ended() and not self._findings.fatal and not self._stop.is_set():
                    self._findings.add(f"a plain request of the run itself got no answer: {failed!r}", self.suspects())


def is_dry_run(made):
    target = made.sent().split(b" ", 2)[1]
    return b"dryRun=All" in target or made.requests[0][0] in ("GET", "HEAD")


def numbers_of(options):
    """The conversations to play: numbers of random ones, or (number, conversation) of a file."""
    if options.replay:
        saved = json.loads(options.replay.read_text())
        options.seed = saved["seed"]
        return [(made.pop("number"), Conversation.from_json(made)) for made in saved["conversations"]]
    if options.only:
        return [int(number) for number in options.only.split(",")]
    return iter(range(options.count))


def end_well(world, findings, run):
    """Health once more, then SIGTERM."""
    mib = world.resident_mib()
    if findings.fatal:
        world.server.kill()
        return mib
    wrong = world.health()
    if not wrong:
        try:
            world.server.stop()
        except ServerFailed as failed:
            wrong = str(failed)
    if report := world.reports():
        wrong = f"{wrong or 'in the log'}\n{report}"
    if wrong:
        findings.add(wrong, run.suspects())
    return mib


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terrarium", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000, help="how many conversations; a fast machine plays no more")
    parser.add_argument("--seconds", type=float, default=240, help="ends the run even if conversations are left")
    parser.add_argument("--only", help="numbers of conversations of the seed, separated by commas")
    parser.add_argument("--replay", type=pathlib.Path, help="the file of a finding")
    parser.add_argument("--verbose", action="store_true", help="one after the other, each printed with its answers")
    options = parser.parse_args()
    chosen = bool(options.only or options.replay)
    options.verbose = options.verbose or chosen
    folder = pathlib.Path(tempfile.mkdtemp(prefix="terrarium-http-fuzz-"))
    findings = Findings(options, folder)
    world = World(options.terrarium, folder)
    try:
        run = Run(options, world, findings, iter(numbers_of(options)))
        run.run(options.seconds)
        mib = end_well(world, findings, run)
    finally:
        world.server.kill()
    print(
        f"seed {options.seed}: {run.played} conversations, {sum(run.codes.values())} answers, {mib} MiB at the end, "
        f"{len(findings)} findings\n"
        f"  answers: {dict(sorted(run.codes.items()))}\n  kinds: {dict(run.kinds.most_common(12))}"
    )
    if len(findings):
        print(f"  kept: {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    if not chosen and run.played < min(CONVERSATIONS_MIN, options.count):
        print(f"  too slow to tell: at least {CONVERSATIONS_MIN} conversations are wanted")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
