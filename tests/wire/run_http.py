#!/usr/bin/env python3
"""Plays the wire cases over real HTTP.

  run_http.py --terrarium PATH [FILE...]   starts servers of its own, one for each setting of feature gates
  run_http.py --url URL [FILE...]          plays against a running server (cases with gates of their own are left out)

--only TEXT narrows to titles that contain it. --kubernetes leaves out what is Terrarium's own, so that the cases can be
checked against a kube-apiserver. Standard library only. The format: docs/wire-cases.md.
"""

import argparse
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "e2e"))

import wire_format  # noqa: E402
from lib.server import BARE, Server  # noqa: E402
from wire_player import Player  # noqa: E402


def load(paths):
    shared = wire_format.parse("objects.wire", (HERE / "objects.wire").read_text())
    files = []
    for path in paths or sorted((HERE / "cases").glob("*.wire")):
        file = wire_format.parse(os.path.relpath(path), pathlib.Path(path).read_text())
        file.objects = {**shared.objects, **file.objects}
        files.append(file)
    return files


def wanted(talk, options):
    if "handler" in talk.only or options.kubernetes and "terrarium" in talk.only:
        return False
    return options.only in talk.title


class Run:
    def __init__(self, options):
        self.options = options
        self.steps = self.talks = self.failures = 0
        self.run_id = f"{int(time.time() * 1000) % 10**9:x}"

    def play_file(self, url, file):
        for talk in file.conversations:
            if not wanted(talk, self.options):
                continue
            self.talks += 1
            player = Player(url, file.objects, f"wire-{self.run_id}-{self.talks}")
            for step, found in player.play(talk):
                self.steps += 1
                if not found:
                    continue
                self.failures += 1
                print(f"{file.name}:{step.line}: {talk.title}: {step.verb} {step.target}", flush=True)
                for difference in found:
                    print(f"    {difference}", flush=True)

    def all(self, files):
        if self.options.url:
            for file in files:
                if not file.gates:
                    self.play_file(self.options.url, file)
            return
        for gates in sorted({file.gates for file in files}):
            flags = BARE + ((f"--feature-gates={gates}",) if gates else ())
            with Server(self.options.terrarium, *flags) as server:
                for file in files:
                    if file.gates == gates:
                        self.play_file(server.url, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    server = parser.add_mutually_exclusive_group(required=True)
    server.add_argument("--terrarium")
    server.add_argument("--url")
    parser.add_argument("--kubernetes", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    run = Run(options)
    run.all(load(options.files))
    print(f"{run.talks} conversations, {run.steps} steps, {run.failures} failures")
    if run.steps == 0:
        print("nothing was played")
    return 1 if run.failures or run.steps == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
