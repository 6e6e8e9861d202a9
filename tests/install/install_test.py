#!/usr/bin/env python3
"""Installs a finished build, builds examples/embedding against it as a user would, and runs its tests.

    tests/install/install_test.py --build build/dev --source .

Nothing of Terrarium is compiled: what ./test has built is what is installed. Also configures Terrarium without its HTTP
side, with Drogon hidden, to see that nothing asks for it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys


def run(*command, **environment):
    print("+", *command, flush=True)
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **environment))
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    return done.stdout


def cached(build, name):
    """The value of a variable of a build folder."""
    text = (build / "CMakeCache.txt").read_text()
    match = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def check_headers(prefix):
    """They include each other by their installed names, and only what is installed."""
    root = prefix / "include"
    headers = sorted(root.rglob("*.h"))
    assert root / "terrarium/testbed.h" in headers, headers
    for header in headers:
        for target in re.findall(r'^#include ["<]([^">]+)[">]', header.read_text(), re.MULTILINE):
            if target.startswith("terrarium/"):
                assert (root / target).exists(), f"{header} includes {target}, which is not installed"
            assert not target.startswith(("api/", "apiserver/", "testbed/", "storage/")), f"{header} includes {target}"
        assert "drogon" not in header.read_text().lower(), f"{header} speaks of Drogon"
    print(len(headers), "headers")


def build_example(args, prefix, folder):
    build_type = cached(args.build, "CMAKE_BUILD_TYPE")
    flags = f"CMAKE_CXX_FLAGS_{build_type.upper()}"
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "-G", "Ninja", "-S", args.source / "examples/embedding", "-B", folder,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={build_type}",
        # Both sides must use the same sanitizer.
        f"-D{flags}={cached(args.build, flags)}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_Drogon=ON", "-DCMAKE_CXX_COMPILER_LAUNCHER=" + (shutil.which("ccache") or ""))
    run("cmake", "--build", folder)
    run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error")
    libraries = run("ldd", folder / "rollout_test")
    for unwanted in ["drogon", "trantor", "libssl", "libcurl"]:
        assert unwanted not in libraries, f"the example links {unwanted}"


def configure_without_http(args, folder):
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "-G", "Ninja", "-S", args.source, "-B", folder, "-DTERRARIUM_HTTP=OFF",
        "-DTERRARIUM_DEVELOPER_BUILD=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_DISABLE_FIND_PACKAGE_Drogon=ON",
        "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON")
    rules = (folder / "build.ninja").read_text().lower()
    assert "drogon" not in rules, "the build without HTTP speaks of Drogon"
    assert "libterrarium_embedding.a" in rules, "and yet builds the library"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    args = parser.parse_args()
    work = args.build.resolve() / "install-test"
    prefix = work / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    # Links are enough: the libraries of a debug build have half a gigabyte.
    run("cmake", "--install", args.build, "--prefix", prefix, CMAKE_INSTALL_MODE="ABS_SYMLINK_OR_COPY")
    check_headers(prefix)
    assert "terrarium" in run(prefix / "bin/terrarium", "--version")
    build_example(args, prefix, work / "example")
    configure_without_http(args, work / "without-http")


if __name__ == "__main__":
    main()
