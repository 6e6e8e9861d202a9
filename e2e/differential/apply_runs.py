#!/usr/bin/env python3
"""Random server-side applies and other writes, sent to Terrarium and to a real kube-apiserver. To be run by hand.

  apply_runs.py --terrarium build/dev/testbed/terrarium --kubernetes FOLDER --seeds 1-500

FOLDER is where kube-apiserver and etcd are, or where they are built; a http:// URL of a running server works for both. Each seed is a sequence of requests about one object.
After each request status code, body, warnings and the object are compared, metadata.managedFields included. A seed that
differs is played again, since the order of managedFields follows the seconds in which they were written. The requests of
one that differs again are made fewer, and each distinct difference is printed once.
"""

import argparse
import concurrent.futures
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from apply_play import Arena  # noqa: E402
from apply_requests import Requests, show  # noqa: E402
from apply_servers import KubeApiserver, Terrarium, server_at  # noqa: E402
from apply_shapes import KINDS, Draw  # noqa: E402

SHOWN_LEAVES = 12
SHOWN_TEXT = 600


def parse_seeds(text):
    """"1-40", "7", "1-3,9"."""
    seeds = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def shrink(arena, outcome):
    """The outcome of the fewest requests that still differ in the same way."""
    best = outcome
    wanted = outcome.signature()
    while True:
        requests = best.requests[: best.step + 1]
        for left_out in range(len(requests) - 2, -1, -1):
            found = arena.play(best.seed, requests[:left_out] + requests[left_out + 1 :])
            if found.differs and found.signature() == wanted:
                best = found
                break
        else:
            return best


def describe(outcome):
    """The difference as text."""
    lines = [f"seed {outcome.seed}: {outcome.signature()}"]
    lines += [f"  {number}. {show(request)}" for number, request in enumerate(outcome.requests[: outcome.step + 1], 1)]
    for path, ours, theirs in outcome.leaves[:SHOWN_LEAVES]:
        lines += [f"  {path}", f"    Terrarium  {_cut(ours)}", f"    Kubernetes {_cut(theirs)}"]
    if len(outcome.leaves) > SHOWN_LEAVES:
        lines.append(f"  and {len(outcome.leaves) - SHOWN_LEAVES} more")
    return "\n".join(lines)


def _cut(value):
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "..."


def run(options, arena):
    begin = time.monotonic()
    sent = differ = once = reordered = 0
    known = set()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda seed: arena.play(seed, Requests(seed, options.kinds).make()), options.seeds):
            sent += outcome.sent
            reordered += outcome.reordered
            if outcome.differs:
                again = arena.play(outcome.seed, outcome.requests)
                once += not again.differs
                outcome = again
            if not outcome.differs:
                continue
            differ += 1
            if outcome.signature() in known:
                continue
            known.add(outcome.signature())
            print(describe(outcome if options.whole else shrink(arena, outcome)), flush=True)
    seconds = time.monotonic() - begin
    print(
        f"{len(options.seeds)} seeds, {sent} requests, {reordered} writes by one server alone; "
        f"{once} seeds differ once, {differ} again, {len(known)} distinct differences; {seconds:.0f} s"
    )
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terrarium", required=True)
    parser.add_argument("--kubernetes", required=True, help="the folder of etcd and kube-apiserver, or http://HOST:PORT")
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("1-100"), help="1-40,77")
    parser.add_argument("--kinds", nargs="*", choices=sorted(KINDS), default=(), help="only these")
    parser.add_argument("--jobs", type=int, default=4, help="seeds side by side")
    parser.add_argument("--whole", action="store_true", help="print all requests up to a difference")
    parser.add_argument("--forms", action="store_true", help="quantities in other forms, which conflict in Kubernetes only")
    options = parser.parse_args()
    Draw.has_forms = options.forms
    with (
        server_at(options.terrarium, Terrarium) as terrarium,
        server_at(options.kubernetes, KubeApiserver) as kubernetes,
    ):
        return run(options, Arena(terrarium, kubernetes, f"{int(time.time()) % 10**6}"))


if __name__ == "__main__":
    sys.exit(main())
