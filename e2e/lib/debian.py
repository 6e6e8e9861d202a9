"""Takes a package of another Debian release out of the archive without installing it.

apt runs with its own configuration: its lists, its sources and its cache are in the cache folder. The machine's
sources are only read, to learn the mirror and the keyring. apt checks the signatures as always.
"""

import os
import pathlib
import re
import shutil

from lib import cache

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def _stanzas_of_sources():
    """(uri, suites, keyring) of every binary source that this machine's apt is configured with."""
    etc = pathlib.Path("/etc/apt")
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", block, re.MULTILINE))
            if "deb" not in fields.get("Types", "").split() or fields.get("Enabled", "yes").lower() == "no":
                continue
            for uri in fields.get("URIs", "").split():
                yield uri, fields.get("Suites", "").split(), fields.get("Signed-By") or None
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]:
        if not path.exists():
            continue
        for options, uri, suite in re.findall(r"^deb\s+(\[[^]]*\]\s+)?(\S+)\s+(\S+)", path.read_text(), re.MULTILINE):
            keyring = re.search(r"signed-by=(\S+?)[\s\]]", options or "")
            yield uri, [suite], keyring and keyring.group(1)


def _mirror():
    """(uri, keyring) of the Debian archive in this machine's own sources."""
    release = pathlib.Path("/etc/os-release")
    codename = re.search(r"^VERSION_CODENAME=(\S+)$", release.read_text() if release.exists() else "", re.MULTILINE)
    for uri, suites, keyring in _stanzas_of_sources():
        if codename and codename.group(1) in suites and pathlib.Path(uri.rstrip("/")).name == "debian":
            keyring = keyring if keyring and keyring.startswith("/") else KEYRING
            if pathlib.Path(keyring).exists():
                return uri, keyring
    raise cache.Missing("a Debian mirror among this machine's apt sources, with Debian's archive keyring")


def unpack(suite, *packages):
    """The folder with the unpacked first one of `packages` that `suite` has as a real package.

    It stays in the cache until it is deleted there, so "newest" means: when it was fetched.
    """
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise cache.Missing(f"{tool}, to take {packages[0]} from Debian {suite}")
    uri, keyring = _mirror()

    def fill(place):
        work = place / "apt"
        for part in ("lists/partial", "cache/archives/partial", "state", "parts"):
            (work / part).mkdir(parents=True)
        (work / "sources.list").write_text(f"deb [signed-by={keyring}] {uri} {suite} main\n")
        environment = {**os.environ, "APT_CONFIG": str(_write_configuration(work))}
        what = f"Debian {suite}'s package {packages[0]}"
        cache.run(["apt-get", "-q", "update"], what, env=environment)
        name = next((name for name in packages if _is_real(name, what, environment)), None)
        if name is None:
            raise cache.Missing(f"{what} (not in that suite for this architecture)")
        cache.run(["apt-get", "-q", "download", name], what, env=environment, cwd=work)
        (deb,) = work.glob("*.deb")
        cache.run(["dpkg-deb", "-x", deb, place / "root"], what)
        shutil.rmtree(work)

    return cache.folder(f"debian/{suite}-{packages[0]}", cache.key_of(suite, *packages), fill) / "root"


def _write_configuration(work):
    """Of the machine's own configuration only how to reach the network is taken: its hooks would act on the machine."""
    network = [line for line in cache.run(["apt-config", "dump"], "apt").splitlines() if line.startswith("Acquire::")]
    settings = {
        "Dir::Etc::main": "/dev/null",
        "Dir::Etc::parts": work / "parts",
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": work / "parts",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": work / "parts",
        "Dir::State": work / "state",
        "Dir::State::lists": work / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": work / "cache",
        "Dir::Log": work,
        "Acquire::Languages": "none",
        # The folder belongs to the user who runs this; apt's own download user could not write to it.
        "APT::Sandbox::User": "root",
    }
    path = work / "apt.conf"
    path.write_text("\n".join([*network, *(f'{name} "{value}";' for name, value in settings.items())]) + "\n")
    return path


def _is_real(package, what, environment):
    """Whether the suite has `package` and it holds a program (sid's kubernetes-client only points to another one)."""
    shown = cache.run(["apt-cache", "show", "--no-all-versions", package, "apt"], what, env=environment)
    sizes = dict(re.findall(r"^Package: (\S+)\n(?:.*\n)*?Installed-Size: (\d+)$", shown, re.MULTILINE))
    return int(sizes.get(package, 0)) > 10_000
