#!/usr/bin/env python3
"""Removes the workers of a Spark standalone cluster that run the fewest tasks, by the master's /json/ page.

Story 3 of KEP-3189. Workers register under the names of their pods (SPARK_LOCAL_HOSTNAME). A worker that the master
does not list as alive runs no tasks.
"""

import json
import urllib.request

import pod_picker

MASTER_TIMEOUT_S = 2


def main():
    parser = pod_picker.arguments(__doc__)
    parser.add_argument("--master", default="http://127.0.0.1:8080", help="the master's web page")
    options = parser.parse_args()

    def busy_of(pods):
        with urllib.request.urlopen(f"{options.master}/json/", timeout=MASTER_TIMEOUT_S) as answer:
            workers = json.load(answer)["workers"]
        cores = {worker["host"]: worker["coresused"] for worker in workers if worker["state"] == "ALIVE"}
        return {pod: cores.get(pod, 0) for pod in pods}

    pod_picker.serve(options, busy_of)


if __name__ == "__main__":
    main()
