#!/usr/bin/env python3
"""Removes the Airflow workers whose loss costs least, by their running tasks in the metadata database.

Story 1 of KEP-3189. A task that has been running for longer has a higher weight, since it would start again: one, plus
one for each whole minute. The database of this example is an SQLite file with a few columns of Airflow's task_instance,
and a worker's host name is the name of its pod.
"""

import contextlib
import pathlib
import sqlite3
import time

import pod_picker

SCHEMA = "CREATE TABLE IF NOT EXISTS task_instance (task_id TEXT, hostname TEXT, state TEXT, start_date REAL)"


def main():
    parser = pod_picker.arguments(__doc__)
    parser.add_argument("--database", type=pathlib.Path, default="airflow.db")
    options = parser.parse_args()
    with contextlib.closing(sqlite3.connect(options.database)) as database:
        database.execute(SCHEMA)

    def busy_of(pods):
        busy = dict.fromkeys(pods, 0)
        with contextlib.closing(sqlite3.connect(options.database)) as database:
            running = database.execute("SELECT hostname, start_date FROM task_instance WHERE state = 'running'")
            for hostname, start in running:
                if hostname in busy:
                    busy[hostname] += 1 + int((time.time() - start) // 60)
        return busy

    pod_picker.serve(options, busy_of)


if __name__ == "__main__":
    main()
