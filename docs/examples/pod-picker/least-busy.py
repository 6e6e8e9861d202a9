#!/usr/bin/env python3
"""Removes the pods with the lowest load, read from a JSON file: {"POD": 3, ...}. A pod that is not listed is idle."""

import json
import pathlib

import pod_picker


def main():
    parser = pod_picker.arguments(__doc__)
    parser.add_argument("--busy", type=pathlib.Path, default="busy.json", help="the file, read again for each request")
    options = parser.parse_args()

    def busy_of(pods):
        known = json.loads(options.busy.read_text()) if options.busy.exists() else {}
        return {pod: known.get(pod, 0) for pod in pods}

    pod_picker.serve(options, busy_of)


if __name__ == "__main__":
    main()
