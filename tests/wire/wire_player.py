"""Plays one conversation of wire cases over HTTP."""

import http.client
import json
import re
import socket
import urllib.parse

import wire_match
import wire_yaml

TIMEOUT_S = 10
_SUBSTITUTE = re.compile(r"\bNS\b|\{([a-z][a-z0-9_]*)\}|\{repeat:([^:}]*):(\d+)\}")


class Failed(AssertionError):
    """A step with an unexpected result."""


class Answer:
    def __init__(self, response, data):
        self.code = response.status
        self.headers = response.headers
        self.data = data

    @property
    def text(self):
        return self.data.decode(errors="replace")

    @property
    def warnings(self):
        """The texts of the Warning headers, without agent and quotes. Several may share a header line."""
        line = ", ".join(self.headers.get_all("Warning") or [])
        return [re.sub(r"\\(.)", r"\1", text) for text in re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', line)]


class Connection:
    """One keep-alive connection to the server."""

    def __init__(self, url):
        self._parts = urllib.parse.urlsplit(url)
        self._connection = None

    def send(self, method, target, headers, body):
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._parts.hostname, self._parts.port, timeout=TIMEOUT_S)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection.putrequest(method, self._parts.path + target, skip_accept_encoding=True)
        for name, value in headers:
            self._connection.putheader(name, value)
        self._connection.endheaders(body)
        return self._connection.getresponse()

    def request(self, method, target, headers, body):
        try:
            response = self.send(method, target, headers, body)
            answer = Answer(response, response.read())
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Failed(f"no answer: {error!r}") from None
        if response.will_close:
            self.close()
        return answer

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Player:
    """Plays one conversation in its own namespace."""

    def __init__(self, url, objects, ns):
        self.url, self.objects, self.ns = url, objects, ns
        self.connection = Connection(url)
        self.saved = {}
        self.streams = {}

    def play(self, talk):
        """Yields (step, differences) up to the first step that fails."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.ns}}
        body = json.dumps(namespace).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        answer = self.connection.request("POST", "/api/v1/namespaces", headers, body)
        if answer.code != 201:
            raise Failed(f"cannot make the namespace: HTTP {answer.code} {answer.text}")
        try:
            for step in talk.steps:
                try:
                    found = list(self.step(step))
                except (ValueError, KeyError, Failed, OSError, http.client.HTTPException) as error:
                    found = [str(error)]
                yield step, found
                if found:
                    return
        finally:
            self.connection.close()
            for _, connection in self.streams.values():
                connection.close()

    def fill(self, text):
        """Replaces names by the namespace and saved values."""

        def value(match):
            if match.group() == "NS":
                return self.ns
            if match.group(2) is not None:
                return match.group(2) * int(match.group(3))
            if match.group(1) not in self.saved:
                raise Failed(f"nothing was saved as {match.group()}")
            return self.saved[match.group(1)]

        return _SUBSTITUTE.sub(value, text)

    def step(self, step):
        if step.verb == "EVENTS":
            return self.events(step)
        if step.verb == "COMPACT":
            return self.compact()
        if step.verb in ("ADVANCE", "GATES"):
            raise Failed(f"{step.verb} is for the runner without sockets: mark the conversation 'only: handler'")
        return self.exchange(step)

    def compact(self):
        answer = self.connection.request("POST", "/terrarium/v1/store/compact", [("Content-Length", "0")], None)
        if answer.code != 200:
            yield f"cannot compact: HTTP {answer.code} {answer.text}"

    def exchange(self, step):
        body = self.body(step)
        headers = [(name, self.fill(value)) for name, value in step.headers]
        given = {name.lower() for name, _ in headers}
        if "accept" not in given:
            headers.append(("Accept", "application/json"))
        if body is not None and "content-type" not in given:
            headers.append(("Content-Type", "application/json"))
        if body is not None or step.verb in ("POST", "PUT", "PATCH"):
            headers.append(("Content-Length", str(len(body or b""))))
        target = self.fill(step.target)
        stream = next((rest for name, rest in step.directives if name == "stream"), None)
        if stream is None:
            answer = self.connection.request(step.verb, target, headers, body)
        else:
            connection = Connection(self.url)
            response = connection.send(step.verb, target, headers, body)
            if response.status == 200:
                self.streams[stream] = (response, connection)
                answer = Answer(response, b"")
            else:
                answer = Answer(response, response.read())
        yield from self.check(step, answer)

    def body(self, step):
        """The bytes to send: JSON made from the step's YAML, its like and its edits, or the text as it stands."""
        names = [name for name, _ in step.directives]
        content_type = dict((name.lower(), value) for name, value in step.headers).get("content-type", "")
        if "raw" in names:
            return self.fill(step.body).encode()
        if content_type == "application/yaml":
            return self.fill(step.body + "\n").encode()
        if not step.body and not {"like", "set", "unset"} & set(names):
            return None
        document = wire_yaml.parse(self.fill(step.body))
        for name, rest in step.directives:
            if name == "like":
                if rest not in self.objects:
                    raise Failed(f"there is no @object {rest}")
                base = wire_yaml.parse(self.fill(self.objects[rest]))
                document = wire_match.merge(base, document) if document is not None else base
            elif name == "set":
                path, value = _assignment(self.fill(rest))
                document = {} if document is None else document
                wire_match.set_at(document, path, wire_yaml.parse(value))
            elif name == "unset":
                wire_match.unset_at(document, self.fill(rest))
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()

    def check(self, step, answer):
        """The differences of a response."""
        if answer.code != step.code:
            yield f"expected HTTP {step.code}, got {answer.code}: {answer.text[:4000]}"
            return
        for name, value in step.answer_headers:
            got = ", ".join(answer.headers.get_all(name) or [])
            if not wire_match.text_matches(self.fill(value), got):
                yield f"header {name}: expected {value!r}, got {got!r}"
        want = [self.fill(rest) for name, rest in step.checks if name == "warning"]
        if len(want) != len(answer.warnings) or not all(map(wire_match.text_matches, want, answer.warnings)):
            yield f"warnings: expected {want}, got {answer.warnings}"
        if step.text:
            want = self.fill("\n".join(step.text))
            if not wire_match.text_matches(want, answer.text.rstrip("\n")):
                yield f"text: expected {want!r}, got {answer.text!r}"
        for part in step.contains:
            if self.fill(part) not in answer.text:
                yield f"text: expected one that contains {part!r}, got {answer.text[:4000]!r}"
        yield from self.check_document(step, answer)

    def check_document(self, step, answer):
        expected = self.expected(step)
        paths = [check for check in step.checks if check[0] in ("save", "absent", "exact", "contains")]
        if not expected and not paths:
            return
        try:
            document = json.loads(answer.text)
        except ValueError:
            yield f"expected JSON, got {answer.text[:4000]!r}"
            return
        exact = [rest for name, rest in paths if name == "exact"]
        for want in expected:
            yield from wire_match.differences(want, document, "", exact)
        yield from self.check_paths(paths, document)

    def expected(self, step):
        """The documents that the response must contain: the step's YAML, and those of its directives."""
        documents = []
        if step.expect:
            documents.append(wire_yaml.parse(self.fill(step.expect)))
        if step.code >= 400 and (step.reason or step.expect):
            documents.append({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": step.code})
        if step.reason:
            documents.append({"reason": step.reason})
        causes = [self.fill(rest) for name, rest in step.checks if name == "cause"]
        for name, rest in step.checks:
            if name == "message":
                documents.append({"message": self.fill(rest)})
            elif name == "invalid":
                documents.append(wire_match.invalid_status(self.fill(rest), causes))
        return documents

    def check_paths(self, paths, document):
        for name, rest in paths:
            if name == "save":
                key, path = _assignment(rest)
                found = wire_match.find(document, path)
                if not found:
                    yield f"{path}: expected a value to save as {key}, got nothing"
                else:
                    self.saved[key] = found[0] if isinstance(found[0], str) else json.dumps(found[0])
            elif name == "absent" and (found := wire_match.find(document, rest)):
                yield f"{rest}: expected nothing, got {wire_match.show(found[0])}"
            elif name == "contains":
                path, value = _assignment(self.fill(rest))
                want, found = wire_yaml.parse(value), wire_match.find(document, path)
                items = found[0] if found and isinstance(found[0], list) else []
                if not any(not list(wire_match.differences(want, item)) for item in items):
                    yield f"{path}: expected an item {wire_match.show(want)}, got {wire_match.show(found)}"

    def events(self, step):
        if step.target not in self.streams:
            raise Failed(f"there is no stream {step.target}")
        response, _ = self.streams[step.target]
        want = wire_yaml.parse(self.fill(step.expect)) or []
        got = []
        try:
            while len(got) < len(want):
                line = response.readline()
                if not line:
                    break
                got.append(json.loads(line))
            if any(name == "end" for name, _ in step.checks) and (rest := response.read()):
                yield f"expected the end of the stream, got {rest.decode()[:2000]}"
        except socket.timeout:
            yield f"nothing more within {TIMEOUT_S} s after {wire_match.show(got)}"
        exact = [rest for name, rest in step.checks if name == "exact"]
        yield from wire_match.differences(want, got, "", exact)
        yield from self.check_paths([check for check in step.checks if check[0] in ("save", "absent")], got)


def _assignment(text):
    left, equals, right = text.partition(" = ")
    if not equals:
        raise Failed(f"expected 'name = value', not {text!r}")
    return left.strip(), right.strip()
