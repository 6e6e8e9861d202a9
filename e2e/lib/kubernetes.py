"""Kubernetes' Go module and the programs that the suites build from it.

The module is copied out of Go's module cache, because Go builds no test of a dependency and accepts an overlay for the
main module alone. Every build happens in that one unchanged copy with the same settings, so that Go compiles a package
once for all programs: the test binaries of `upstream` and the kube-controller-manager of `differential` have most of
their packages in common.
"""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from lib import cache

VERSION = "v1.36.4"
RELEASED = VERSION.replace("v1.", "v0.")  # of k8s.io/api and the other modules published with it
# go.sum lines of these modules. Those of k8s.io/api and the like are not in Kubernetes' own go.sum: in its repository
# they are folders.
SUMS = pathlib.Path(__file__).resolve().with_suffix(".sum")
MODULES = {"kubernetes": ("k8s.io/kubernetes", VERSION),
           "apiextensions-apiserver": ("k8s.io/apiextensions-apiserver", RELEASED)}
FORM = 1  # count up when the copy is made in another way: its path is part of what Go compares
UNNEEDED = shutil.ignore_patterns("vendor", "go.work*", "CHANGELOG", "LICENSES", "logo", "*.md")


class Unexpected(Exception):
    """The module has not the form that the code here expects: it is of another version."""


def _go():
    program = shutil.which("go")
    if not program:
        raise cache.Missing("Go (no go command on the PATH)")
    found = re.search(r"go(\d+)\.(\d+)", subprocess.run([program, "version"], capture_output=True, text=True).stdout)
    if not found or (int(found.group(1)), int(found.group(2))) < (1, 21):
        raise cache.Missing(f"Go 1.21, which can fetch the version that Kubernetes needs (this is {found})")
    return program


def _environment():
    # The user's GOFLAGS could change what is built, and a build with other flags shares nothing.
    return {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "CGO_ENABLED": "0"}


def _download(module, version):
    """The folder of a module in Go's module cache."""
    output = cache.run(
        [_go(), "mod", "download", "-json", f"{module}@{version}"],
        f"the Go module {module} {version}",
        env=_environment(),
        cwd=SUMS.parent,
    )
    found = json.loads(output[output.index("{"):])
    if f"{module} {version} {found['Sum']}" not in SUMS.read_text().splitlines():
        raise Unexpected(f"{module} {version} has the checksum {found['Sum']}, and {SUMS.name} has another")
    return pathlib.Path(found["Dir"])


def _copy(module, place):
    shutil.copytree(module, place, ignore=UNNEEDED, copy_function=shutil.copyfile)
    for folder in [place, *(path for path in place.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)  # the module cache is read-only


def _require_released_modules(copy):
    """Lets go.mod take k8s.io/api and the like from their own modules: an archive has no staging folder."""
    text = (copy / "go.mod").read_text()
    text, replaced = re.subn(r"\nreplace \(\n(.*\n)*?\)\n", "\n", text)
    text, released = re.subn(r"(\tk8s\.io/\S+) v0\.0\.0(?![-\w])", rf"\1 {RELEASED}", text)
    if replaced != 1 or not released:
        raise Unexpected("go.mod of Kubernetes has no replace block or requires no k8s.io module")
    # The overlay of `upstream` changes this module as well.
    (copy / "go.mod").write_text(text + "\nreplace k8s.io/apiextensions-apiserver => ../apiextensions-apiserver\n")
    (copy / "go.sum").write_text((copy / "go.sum").read_text() + SUMS.read_text())


def source():
    """The folder of the copy, which callers do not change."""
    def fill(place):
        for name, (module, version) in MODULES.items():
            _copy(_download(module, version), place / name)
        _require_released_modules(place / "kubernetes")
        command = [_go(), "mod", "download"]
        cache.run(command, f"the Go modules of Kubernetes {VERSION}", cwd=place / "kubernetes", env=_environment())

    return cache.folder("kubernetes", f"{VERSION}-{cache.key_of(SUMS, FORM)}", fill) / "kubernetes"


def build(what, *arguments):
    """Runs `go ARGUMENTS` in the copy and states what it took. Builds wait for each other: they share packages."""
    copy = source()
    print(f"kubernetes: building {what} of {VERSION}, once", flush=True)
    with open(copy.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin, before = time.monotonic(), os.times()
        done = subprocess.run(
            [_go(), *map(str, arguments)],
            cwd=copy,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"kubernetes: {what} cannot be built\n{done.stdout[-8000:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"kubernetes: built in {time.monotonic() - begin:.0f} s, {used:.0f} s of processor time", flush=True)


def _flags():
    """Link flags that give a program its version, which a release build gets from git."""
    version = "k8s.io/component-base/version"
    major, minor = VERSION.lstrip("v").split(".")[:2]
    return f"-s -w -X {version}.gitVersion={VERSION} -X {version}.gitMajor={major} -X {version}.gitMinor={minor}"


def _program(name):
    """One of Kubernetes' programs, built once."""
    def fill(place):
        build(name, "build", "-ldflags", _flags(), "-o", f"{place}/", f"./cmd/{name}")

    return cache.folder(name, cache.key_of(VERSION, SUMS, _flags()), fill) / name


def kube_controller_manager():
    return _program("kube-controller-manager")


def kube_scheduler():
    return _program("kube-scheduler")


def servers(folder):
    """(etcd, kube-apiserver) in `folder`, built if they are not there. The etcd is of the version that Kubernetes uses."""
    folder.mkdir(parents=True, exist_ok=True)
    etcd, apiserver = folder.resolve() / "etcd", folder.resolve() / "kube-apiserver"
    if not apiserver.exists():
        build("kube-apiserver", "build", "-ldflags", _flags(), "-o", apiserver, "./cmd/kube-apiserver")
    if not etcd.exists():
        # Kubernetes imports parts of etcd only: Go adds the checksums of what else it needs to a go.sum beside it.
        for suffix in ("mod", "sum"):
            shutil.copyfile(source() / f"go.{suffix}", folder / f"etcd.{suffix}")
        module = ("-mod=mod", f"-modfile={etcd}.mod")
        build("etcd", "build", *module, "-ldflags", "-s -w", "-o", etcd, "go.etcd.io/etcd/server/v3")
    return etcd, apiserver
