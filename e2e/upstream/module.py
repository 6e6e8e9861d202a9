"""Prepares the test binaries: Kubernetes' module with the edits as an overlay, built once into the cache folder."""

import pathlib
import shutil

from lib import cache, kubernetes

import edits
from suites import SUITES

FOLDER = pathlib.Path(__file__).resolve().parent
OVERLAY = FOLDER / "overlay"


def _remove_older(folders):
    """Keeps the two newest, perhaps of two checkouts: they are large."""
    for old in sorted(folders, key=lambda folder: folder.stat().st_mtime, reverse=True)[2:]:
        shutil.rmtree(old, ignore_errors=True)


def binaries():
    """(folder of the test binaries, folder of the sources), built if they are not in the cache."""
    copy = kubernetes.source()
    overlaid = sorted(OVERLAY.rglob("*.go"))
    names = [str(path.relative_to(OVERLAY)) for path in overlaid]
    key = cache.key_of(kubernetes.VERSION, *names, *overlaid, FOLDER / "edits.py", *(suite.path() for suite in SUITES))

    def fill(place):
        packages = [f"./{suite.path()}" for suite in SUITES]
        replaced = edits.write_overlay(copy, OVERLAY, place)
        # One command for all suites: Go then links one binary while it compiles for the next.
        kubernetes.build(
            "the test binaries", "test", "-c", "-vet=off", "-ldflags=-s -w", f"-overlay={replaced}", "-o", f"{place}/",
            *packages,
        )

    built = cache.folder("upstream/bin", key, fill)
    _remove_older(path for path in built.parent.iterdir() if path.is_dir())
    return built, copy
