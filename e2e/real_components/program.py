"""A program of Kubernetes that runs against a server, and what its log shows of its informers."""

import pathlib
import re
import subprocess
import tempfile

# client-go's reflectors log both with -v=3: when one begins to list, and when it has everything.
BEGUN = re.compile(r'"Listing and watching" type="([^"]*)" reflector="([^"]*)"')
SYNCED = re.compile(r'"Caches populated" type="([^"]*)" reflector="([^"]*)"')
# A line whose source is a reflector or an informer, and that reports an error or a warning.
FAILURE = re.compile(r"^[EW]\d{4} .*(?:reflector|shared_informer)\.go.*$|^.*Failed to watch.*$", re.MULTILINE)
PROBLEM = re.compile(r"^[EWF]\d{4} .*$", re.MULTILINE)
PANIC = re.compile(r"^(?:panic: |.*Observed a panic).*$", re.MULTILINE)


class Program:
    """A running program with a log of its own. A context manager, which ends it."""

    def __init__(self, path, *flags):
        self.name = pathlib.Path(path).name
        self._log = tempfile.NamedTemporaryFile(prefix=f"{self.name}-", suffix=".log")
        command = list(map(str, (path, *flags, "-v=3")))
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def log(self):
        return pathlib.Path(self._log.name).read_text(errors="replace")

    def is_running(self):
        return self._process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def informers(log):
    """{(type, reflector): (times that it began to list, times that it got everything)}"""
    found = {}
    for place, pattern in enumerate((BEGUN, SYNCED)):
        for key in pattern.findall(log):
            counts = found.setdefault(key, [0, 0])
            counts[place] += 1
    return {key: tuple(counts) for key, counts in found.items()}


def unsynced(log):
    return sorted(key for key, (_, synced) in informers(log).items() if not synced)


def repeated(log):
    """Informers that began to list again, as after a watch that failed."""
    return sorted(key for key, (begun, _) in informers(log).items() if begun > 1)


def problems(log):
    """All lines that are errors or warnings, whatever their source."""
    return PROBLEM.findall(log) + PANIC.findall(log)


def failures(log):
    return FAILURE.findall(log) + PANIC.findall(log)
