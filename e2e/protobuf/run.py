#!/usr/bin/env python3
"""Compares Terrarium's codecs with those of Kubernetes: run.py PATH-OF-codec_tool [-- arguments for go test].

Exits with 77 when Go or its modules are missing on this machine; with TERRARIUM_E2E_REQUIRE=1 that is a failure.
"""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
sys.dont_write_bytecode = True

from lib import cache, tools  # noqa: E402: found through the line above


def main():
    extra = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    try:
        program = tools.go(FOLDER)
    except cache.Missing as missing:
        required = os.environ.get("TERRARIUM_E2E_REQUIRE") == "1"
        print(f"protobuf: {'missing, and everything is required here' if required else 'skipped, missing'}: {missing}")
        return 1 if required else 77
    environment = {**os.environ, "TERRARIUM_CODEC_TOOL": str(pathlib.Path(sys.argv[1]).resolve())}
    return subprocess.call([program, "test", "-count=1", *extra, "./..."], cwd=FOLDER, env=environment)


if __name__ == "__main__":
    sys.exit(main())
