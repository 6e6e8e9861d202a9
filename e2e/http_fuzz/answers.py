"""Parses the server's output as HTTP/1.1 responses, strictly, and reports the errors of each."""

import json
import re

STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*\Z")
HEADER_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\Z")
HEAD_BYTES_MAX = 1 << 16
PROTOBUF_MAGIC = b"k8s\0"

# All statuses that the server may answer with.
KNOWN_CODES = frozenset(
    # Kubernetes' own; 101: a watch over a websocket; 204: the log of a pod without a node
    (101, 200, 201, 202, 204, 301, 304, 307, 400, 401, 403, 404, 405, 406, 408, 409, 410, 413, 415, 422, 429)
    # of the HTTP parser: a target or a head that is too long, an Expect or a version that is not served
    + (411, 412, 414, 417, 431, 505)
    # not implemented; the apiserver is stopped or the server ends; a revision that is still to come, a request too long
    + (501, 503, 504)
)

# kube-apiserver answers these with 500 as well: message and reason. Everything else is a finding.
EXPECTED_500 = {
    # a binding whose target is incomplete or of another kind; several errors come as one list
    r"\[?target\.(kind|name): .*": "create",
    # a create that names a revision
    r"resourceVersion should not be set on objects to be created": "create",
    # an update with a malformed revision
    r"strconv\.ParseUint: parsing .*: invalid syntax": "update",
    # a watch from a malformed revision; a list would be 400
    r"resourceVersion: Invalid value: .*: strconv\.ParseUint: parsing .*": "watch",
    # an eviction of a pod that two budgets select
    r"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support\.": "eviction",
    # an object over etcd's limit
    r"etcdserver: request is too large": "write",
    # strategic merge patches whose lists or directives do not fit the kind
    r"list element types are not identical: .*": "patch",
    r"cannot merge lists without merge key for (string|struct)": "patch",
    r"merging lists cannot yet be specified in the patch": "patch",
    r"The order in patch list:\n.*": "patch",
    r"no elements in any of the given slices": "patch",
    r"unable to find api field in struct .* for the json field .*": "patch",
    r"expected slice or array type, but got: struct": "patch",
    r"expected a .*, but received a .*": "patch",
    r"map: .* does not contain declared merge key: .*": "patch",
    r"unknown patch type: .* in map: .*": "patch",
    # an applied configuration that does not fit the schema
    r"failed to create typed patch object \(.*; .*, Kind=.*\): .*": "apply",
}


class Malformed(Exception):
    """The received bytes are not an HTTP/1.1 response."""


class Incomplete(Exception):
    """The received bytes are the beginning of a response."""


class Answer:
    """One response. `body` is without chunk framing; `ended` is False for a stream of which only a part was read."""

    def __init__(self, code, headers, body, ended):
        self.code, self.headers, self.body, self.ended = code, headers, body, ended

    def header(self, name):
        return next((value for key, value in self.headers if key == name), "")

    def closes(self):
        return "close" in self.header("connection").lower()

    def __repr__(self):
        return f"{self.code} {self.header('content-type')} {self.body[:300]!r}"


def read_answer(data, method, at_end):
    """(answer, rest of the bytes). `at_end`: the server has closed, so no more bytes will come.

    Raises Incomplete when the response is not whole; an endless one counts as whole once its head is there,
    with
    `ended` False.
    """
    while True:
        code, headers, data = _read_head(data)
        if code >= 200 or code == 101:
            break
    named = [name for name, _ in headers]
    lengths = [value for name, value in headers if name == "content-length"]
    codings = [value.lower() for name, value in headers if name == "transfer-encoding"]
    if len(lengths) > 1 or (lengths and not re.fullmatch(r"\d+", lengths[0])):
        raise Malformed(f"Content-Length: {lengths}")
    if codings and (codings != ["chunked"] or lengths):
        raise Malformed(f"Transfer-Encoding: {codings} with Content-Length: {lengths}")
    if len(named) != len(set(named)) and {"content-type", "date", "connection"} & _doubled(named):
        raise Malformed(f"header lines that come twice: {sorted(_doubled(named))}")
    if method == "HEAD" or code in (204, 304):
        return Answer(code, headers, b"", True), data
    if codings:
        body, data, ended = _read_chunks(data)
        if not ended and at_end:
            raise Malformed("the connection closed in the middle of a chunked body")
        return Answer(code, headers, body, ended), data
    if lengths:
        length = int(lengths[0])
        if len(data) < length:
            raise Incomplete(f"{len(data)} of {length} bytes of the body")
        return Answer(code, headers, data[:length], True), data[length:]
    return Answer(code, headers, data, at_end), b""


def _doubled(names):
    return {name for name in names if names.count(name) > 1}


def _read_head(data):
    end = data.find(b"\r\n\r\n")
    if end < 0:
        if len(data) > HEAD_BYTES_MAX:
            raise Malformed(f"no end of the head in {len(data)} bytes")
        if not b"HTTP/1.".startswith(data[:7]):
            raise Malformed(f"no status line: {data[:100]!r}")
        raise Incomplete("the head")
    first, *lines = data[:end].split(b"\r\n")
    status = STATUS_LINE.match(first)
    if not status:
        raise Malformed(f"no status line: {first[:100]!r}")
    headers = []
    for line in lines:
        header = HEADER_LINE.match(line)
        if not header:
            raise Malformed(f"no header line: {line[:200]!r}")
        headers.append((header[1].decode("latin-1").lower(), header[2].decode("latin-1")))
    return int(status[1]), headers, data[end + 4 :]


def _read_chunks(data):
    """(body, rest, whether the last chunk was there)"""
    body = []
    while True:
        end = data.find(b"\r\n")
        if end < 0:
            return b"".join(body), b"", False
        if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", data[:end]):
            raise Malformed(f"no chunk size: {data[:40]!r}")
        size = int(data[:end], 16)
        if size == 0:
            if len(data) < end + 4:
                return b"".join(body), b"", False
            if data[end : end + 4] != b"\r\n\r\n":
                raise Malformed(f"after the last chunk: {data[end:end + 40]!r}")
            return b"".join(body), data[end + 4 :], True
        chunk = data[end + 2 : end + 2 + size]
        tail = data[end + 2 + size : end + 4 + size]
        if not b"\r\n".startswith(tail):
            raise Malformed(f"a chunk of {size} bytes ends with {tail!r}")
        body.append(chunk)
        if len(tail) < 2:
            return b"".join(body), b"", False
        data = data[end + 4 + size :]


def problem_with(answer, is_api_request, method):
    """The error of the response to a request, or None.

    `is_api_request`: the head was well-formed and the path below an API's root, so an error is a Status.
    """
    if answer.code not in KNOWN_CODES and answer.code != 500:
        return f"status {answer.code}"
    if answer.code == 500 and not _is_expected_500(answer):
        return f"500: {answer.body[:500]!r}"
    if method == "HEAD" or answer.code == 304:
        return None
    if answer.code >= 400:
        return _problem_with_error(answer, is_api_request)
    if answer.ended and answer.header("content-type").startswith("application/json") and answer.body:
        if _parsed(answer.body) is None and not _is_watch(answer):
            return f"a body that is not JSON: {answer.body[:200]!r}"
    return None


def _is_watch(answer):
    """A watch is one JSON document a line."""
    return all(_parsed(line) is not None for line in answer.body.splitlines())


def _parsed(body):
    try:
        return json.loads(body.decode("utf-8"))
    except ValueError:  # both of the text and of its encoding
        return None


def _status_of(answer):
    return _parsed(answer.body) if answer.header("content-type").startswith("application/json") else None


def _is_expected_500(answer):
    status = _status_of(answer)
    if not isinstance(status, dict):
        # protobuf and YAML hold the same words
        text = answer.body.decode("utf-8", "replace")
        return any(re.search(words, text, re.DOTALL) for words in EXPECTED_500)
    message = status.get("message", "")
    return any(re.fullmatch(words, message, re.DOTALL) for words in EXPECTED_500)


def _problem_with_error(answer, is_api_request):
    if not is_api_request and not answer.body:
        return None
    kind = answer.header("content-type").split(";")[0]
    if kind == "application/json":
        status = _parsed(answer.body)
        if not isinstance(status, dict):
            return f"an error whose body is not a JSON object: {answer.body[:300]!r}"
        wrong = _problem_with_status(status, answer.code)
        return f"an error that is no Status ({wrong}): {answer.body[:300]!r}" if wrong else None
    if kind == "application/vnd.kubernetes.protobuf":
        return None if answer.body.startswith(PROTOBUF_MAGIC) else f"no protobuf: {answer.body[:100]!r}"
    if kind == "application/yaml":
        return None if b"kind: Status" in answer.body else f"a YAML error that is no Status: {answer.body[:300]!r}"
    if is_api_request:
        return f"an error of an API path in {kind or 'no media type'}: {answer.body[:300]!r}"
    return None


def _problem_with_status(status, code):
    types = {"metadata": dict, "message": str, "reason": str, "details": dict, "code": int}
    if (status.get("kind"), status.get("apiVersion"), status.get("status")) != ("Status", "v1", "Failure"):
        return "kind, apiVersion or status"
    if status.get("code") != code:
        return f"code {status.get('code')}"
    for name, type_ in types.items():
        if name in status and not isinstance(status[name], type_):
            return name
    if "metadata" not in status:
        return "metadata"
    causes = status.get("details", {}).get("causes", [])
    if not isinstance(causes, list) or not all(isinstance(cause, dict) for cause in causes):
        return "details.causes"
    return None
