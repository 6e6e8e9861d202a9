"""The cache folder of the suites, and the error for missing tools."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess


class Missing(Exception):
    """A suite cannot run here. The message is one line that names the missing tool."""


def root():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "terrarium" / "e2e"


def key_of(*parts):
    """A short key made of texts and of the contents of files (given as paths)."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def folder(name, key, fill):
    """The folder `name/key` of the cache; when it is not there, `fill(path)` makes it.

    Only a folder that `fill` finished is ever seen there (it is filled under another name, then moved: a virtual
    environment is therefore used through its python only, never through its scripts). Two suites that want the same
    one wait for each other. A folder with another key belongs to another lock file, perhaps of another checkout.
    """
    parent = root() / name
    parent.mkdir(parents=True, exist_ok=True)
    place = parent / key
    with open(parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.is_dir():
            return place
        partial = parent / (key + ".partial")
        shutil.rmtree(partial, ignore_errors=True)  # left by an interrupted run
        partial.mkdir()
        fill(partial)
        partial.rename(place)
    return place


def run(command, what, **options):
    """Runs a set-up command; when it fails, the suite is Missing `what`, with the last line the command printed."""
    try:
        done = subprocess.run(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **options,
        )
    except FileNotFoundError:
        raise Missing(f"{what} ({command[0]} is not installed)") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise Missing(f"{what} ({lines[-1] if lines else 'exit ' + str(done.returncode)})")
    return done.stdout
