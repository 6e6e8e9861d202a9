"""Makes conversations out of requests: unchanged, or with another target, head, framing, bytes or timing."""

import re
import urllib.parse

from http_fuzz.conversation import Conversation

BYTES_MAX = 12 << 20
DRAIN_SECONDS = 0.6
# A cluster of a great many nodes is valid, and takes the whole run.
TOO_MANY = re.compile(rb'"nodes"\s*:\s*\d{3,}')

LINE_ENDS = (b"\n", b"\r", b"\r\r\n", b"\n\r", b" \r\n", b"\r\n ", b"\r\n\t")
ODD_BYTES = (b"\0", b"\xff", b"\x7f", b"\x1b", b"\r", b"\n", b"\t", b" ", b"%", b"\xc0\x80", b":", b"/",
             b"HTTP/1.1", b"\r\n")
LENGTHS = ("0", "1", "-1", "+5", "5 ", "0x10", "1e3", "5,5", "5, 6", "", "a", "00005",
           "99999999999999999999", "4294967296",
           "18446744073709551616", "9223372036854775807", "100000000", "3145728", "3145729", "5;a", "\t5",
           "٥")  # fmt: skip
CODINGS = ("chunked", "Chunked", "CHUNKED", " chunked", "chunked ", "identity", "gzip, chunked",
           "chunked, chunked", "chunked, gzip",
           "", "xchunked", "chunked;a=b", "\x0bchunked", "chunked\x00", '"chunked"', "deflate",
           "trailers")  # fmt: skip
CHUNK_SIZES = (b"0", b"00", b"-1", b"+5", b"5;ext=1", b'5;a="b', b"0x5", b"5 ", b" 5", b"FFFFFFFF",
               b"ffffffffffffffff",
               b"10000000000000000", b"g", b"", b"5\t", b"000000000000000000005", b"7fffffffffffffff",
               b"5;" + b"x" * 70_000)  # fmt: skip
HEADERS = (
    ("Connection", "close"), ("Connection", "keep-alive"), ("Connection", "Upgrade"),
    ("Connection", "close, keep-alive"),
    ("Connection", "x" * 9000), ("Upgrade", "websocket"), ("Upgrade", "h2c"),
    ("HTTP2-Settings", "AAMAAABkAAQAAP__"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
    ("Expect", "100-continue"),
    ("Expect", "200-ok"), ("Expect", ""), ("Host", "example.test"), ("Host", ""), ("Host", "a b"),
    ("Host", "[::1"),
    ("Authorization", "Bearer x"), ("Authorization", "Basic !!!"),
    ("Authorization", "Bearer " + "x" * 20_000),
    ("Impersonate-User", "a"), ("Impersonate-Group", ""), ("If-None-Match", '"a"'), ("If-None-Match", "*"),
    ("If-Match", "x"),
    ("Range", "bytes=0-0,1-1"), ("Accept-Encoding", "gzip, br;q=0"), ("Content-Encoding", "gzip"),
    ("TE", "trailers"),
    ("Cookie", "a=b; " * 500), ("Cookie", "=;=;;"), ("X-HTTP-Method-Override", "DELETE"),
    ("Trailer", "Content-Length"),
    ("Content-Type", "multipart/form-data; boundary=a"), ("Content-Type", "multipart/form-data"),
    ("User-Agent", "\xff\xfe"),
    ("Content-Type", "application/x-www-form-urlencoded"), ("X-Forwarded-For", "127.0.0.1"),
    ("Forwarded", "for=_"),
    ("X-Remote-User", "admin"), ("Date", "yesterday"), ("X" * 300, "a"), ("X-Long", "y" * 70_000),
    ("X-Odd", "\x01\x02"),
    ("Origin", "http://example.test"), ("Sec-Fetch-Site", "cross-site"), ("", "a"), ("X Y", "a"),
    ("X\t", "a"), ("X(", "a"),
)  # fmt: skip
VERSIONS = ("HTTP/1.0", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/9.9", "http/1.1", "HTTP/1",
            "HTTP/11", "", "HTTP/1.1 x")
WORDS = ("GET", "get", "GETT", "G", "", "PRI", "CONNECT", "TRACE", "OPTIONS", "PROPFIND", "POST\t",
         "\x16\x03\x01", "X" * 5000)
SEGMENTS = ("..", ".", "%2e%2e", "%2E", "%2f", "%5c", "%00", "%", "%zz", "%1", "%c0%ae", "%c0%af",
            "%ed%a0%80", "%ff", "%f4%90%80%80",
            "", ";a=b", "a%0d%0ab", "%25", "%252e", "\\", "*", "~", "a" * 3000, "%20", "+", "caf\xe9", "{}",
            "|", "^", "[::1]", "#a")  # fmt: skip

PAIRS = ("&", "&&", "=", "&=", "&a", "&a=b=c", "&%zz=1", "&x=%ff", "&limit=1&limit=2", "&;a;b", "&a[]=1", "?", "+")
ORIGINS = ("http://example.test", "http://127.0.0.1", "https://a@b:c", "//example.test", "x:", "ftp://", "http:")


class Mutator:
    """Draws conversations from a grammar."""

    def __init__(self, grammar):
        self._grammar = grammar

    def conversation(self, rng):
        while True:
            made = self._draw(rng)
            sent = made.sent()
            if len(sent) <= BYTES_MAX and not TOO_MANY.search(sent):
                return made

    def _draw(self, rng):
        draw = rng.random()
        if draw < 0.08:
            return framed(self._grammar.of_sentinel(rng), sentinel=True)
        if draw < 0.16:
            return framed(self._grammar.likely_write(rng))
        request = self._grammar.request(rng)
        for share, make in (
            (0.36, self._as_it_is), (0.46, odd_target), (0.56, odd_head), (0.68, odd_framing),
            (0.82, self._odd_bytes),
            (0.90, self._pipelined), (0.96, hang_up), (1.00, large),
        ):  # fmt: skip
            if draw < share:
                return make(rng, request)
        raise AssertionError("the shares end at one")

    def _as_it_is(self, rng, request):
        if request.is_watch and rng.random() < 0.3:
            return over_websocket(rng, request)
        if request.is_watch and rng.random() < 0.3:
            return Conversation(f"{request.about}, never read", [("send", request.bytes())], [facts(request)], "park")
        return framed(request)

    def _plain(self, rng):
        """A request whose answer ends: no watch, no HEAD, no move of a clock."""
        while True:
            request = self._grammar.request(rng)
            if not request.is_watch and not request.patient and request.method != "HEAD":
                return request

    def _pipelined(self, rng, _):
        requests = [self._plain(rng) for _ in range(rng.choice((2, 3, 8, 30)))]
        data = b"".join(request.bytes() for request in requests)
        sends = cut(rng, data, rng.choice((1, 1, 2, 5)))
        made = [facts(request) for request in requests]
        if rng.random() < 0.2:
            return Conversation("pipelined, never read", sends, made, "park")
        if rng.random() < 0.2:
            return Conversation("pipelined, hung up", [*sends, ("drain", 0.05)], made, "reset")
        return Conversation("pipelined", [*sends, ("answers", len(requests))], made)

    def _odd_bytes(self, rng, _):
        data = bytearray(self._plain(rng).bytes())
        for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
            spoil_bytes(rng, data, lambda: self._plain(rng).bytes())
        return wild(rng, "odd bytes", bytes(data))


def facts(request):
    return request.method, request.is_api


def framed(request, sentinel=False):
    """The unchanged request: a response is required."""
    steps = [("send", request.bytes()), ("watch", 0.15) if request.is_watch else ("answers", 1)]
    if request.patient:
        steps[1] = ("drain", 3)
    return Conversation(request.about, steps, [facts(request)], sentinel=sentinel, patient=request.patient)


def wild(rng, about, data):
    """Bytes with an unknown number of requests."""
    steps = cut(rng, data, rng.choice((1, 1, 1, 2, 3)))
    if rng.random() < 0.3:
        steps.append(("shut",))
    # An incomplete request has no response, so the wait is short.
    steps.append(("drain", DRAIN_SECONDS))
    return Conversation(about, steps, [], rng.choice(("close", "close", "close", "reset")))


def cut(rng, data, pieces):
    """Sends with pauses between."""
    marks = sorted(rng.randrange(len(data) + 1) for _ in range(pieces - 1))
    steps = []
    for start, end in zip([0, *marks], [*marks, len(data)]):
        steps += [("send", data[start:end]), ("pause", 0.003)]
    return steps[:-1]


def spoil_bytes(rng, data, other):
    """One change of the bytes in place; `other` gives those of another request."""
    at = rng.randrange(len(data) + 1)
    if rng.random() < 0.5:
        at = min(at, rng.randrange(200))  # heads are short and bodies long
    end = min(len(data), at + rng.choice((1, 1, 2, 4, 16, 64, 1000)))
    kind = rng.randrange(8)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and at < len(data):
        data[at] = rng.randrange(256)
    elif kind == 2:
        del data[at:end]
    elif kind == 3:
        data[at:at] = data[at:end] * rng.choice((1, 2, 50))
    elif kind == 4:
        del data[max(at, 1) :]
    elif kind == 5:
        data[at:at] = rng.choice(ODD_BYTES)
    elif kind == 6:
        piece = other()
        start = rng.randrange(len(piece))
        data[at:end] = piece[start : start + rng.choice((10, 100, len(piece)))]
    else:
        lines = [match.start() for match in re.finditer(rb"\r\n", bytes(data))]
        if lines:
            place = rng.choice(lines)
            data[place : place + 2] = rng.choice(LINE_ENDS)


def odd_target(rng, request):
    """Another path or query; the head stays well-formed but for bytes above 127."""
    path, mark, query = request.target.partition("?")
    kind = rng.randrange(7)
    if kind == 0:
        parts = path.split("/")
        parts[rng.randrange(len(parts))] = rng.choice(SEGMENTS)
        path = "/".join(parts)
    elif kind == 1:
        parts = path.split("/")
        parts.insert(rng.randrange(1, len(parts) + 1), rng.choice(SEGMENTS))
        path = "/".join(parts)
    elif kind == 2:
        path = "".join(f"%{ord(c):02x}" if rng.random() < 0.5 and c != "/" else c for c in path)
    elif kind == 3:
        mark, query = "?", query + rng.choice(PAIRS) * rng.choice((1, 1, 2, 500))
    elif kind == 4:
        path = rng.choice(ORIGINS) + path
    elif kind == 5:
        path = path.strip("/") if rng.random() < 0.5 else path + rng.choice(("/", "//", "/.", "/..", "#", "%", "%2"))
    else:
        mark, query = "?", urllib.parse.quote("\0\x01é" * rng.choice((1, 100, 5000))) + query
    request.target = path + mark + query
    if rng.random() < 0.1:
        request.target = request.target.encode().decode("latin-1")
    return wild(rng, f"odd target, {request.about}", request.bytes()) if request.method != "HEAD" else framed(request)


def odd_head(rng, request):
    """Header lines added, dropped, doubled, in odd case or order; another method or version."""
    if request.method == "HEAD":
        request.method = "GET"
    lines = request.head()
    for _ in range(rng.choice((1, 1, 2, 5))):
        kind, at = rng.randrange(9), rng.randrange(1, len(lines)) if len(lines) > 1 else 0
        if kind <= 2:
            lines.insert(at, ": ".join(rng.choice(HEADERS)))
        elif kind == 3 and at:
            del lines[at]
        elif kind == 4 and at:
            lines.insert(at, lines[at])
        elif kind == 5 and at:
            colon = rng.choice((":", " : ", ":\t", "", ": \x00"))
            lines[at] = lines[at].swapcase() if rng.random() < 0.5 else lines[at].replace(": ", colon)
        elif kind == 6:
            lines += [f"X-{number}: a" for number in range(rng.choice((10, 100, 2000)))]
        elif kind == 7:
            first = lines[0].split(" ")
            first[-1] = rng.choice(VERSIONS)
            lines[0] = " ".join(first)
        else:
            first = lines[0].split(" ")
            first[0] = rng.choice(WORDS)
            lines[0] = rng.choice((" ", "  ", "\t")).join(first)
    data = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (request.body or b"")
    return wild(rng, f"odd head, {request.about}", data)


def over_websocket(rng, request):
    """A watch over a websocket whose client sends frames, valid or not."""
    names = ("Connection: Upgrade", "Upgrade: websocket", "Origin: http://127.0.0.1", "Sec-WebSocket-Version: 13",
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")  # fmt: skip
    lines = [*request.head(), *(name for name in names if rng.random() < 0.97)]
    frames = b"".join(client_frame(rng) for _ in range(rng.choice((0, 1, 3, 40))))
    data = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + frames
    return wild(rng, f"websocket, {request.about}", data[: rng.choice((len(data), rng.randrange(len(data) + 1)))])


def client_frame(rng):
    """Mostly a masked frame with a whole opcode and its length."""
    size = rng.choice((0, 1, 5, 125, 126, 65_535, 70_000))
    first = rng.choice((0x81, 0x82, 0x89, 0x8A)) if rng.random() < 0.9 else rng.randrange(256)
    mask = 0x80 if rng.random() < 0.95 else 0
    if size < 126:
        head = bytes((first, mask | size))
    elif size < 1 << 16:
        head = bytes((first, mask | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, mask | 127)) + size.to_bytes(8, "big")
    return head + rng.randbytes(4 if mask else 0) + rng.randbytes(size)


def odd_framing(rng, request):
    """Content-Length and Transfer-Encoding that contradict the body, each other or themselves; chunks; trailers."""
    if request.method == "HEAD":
        request.method = "GET"
    lines, body = request.head(framing=False), request.body or b""
    draw = rng.random()
    if draw < 0.45:
        near = (str(len(body)), str(len(body) + 1), str(max(0, len(body) - 1)))
        lines.append(f"Content-Length: {rng.choice((*LENGTHS, *near))}")
    if 0.30 < draw:
        lines.append(f"Transfer-Encoding: {rng.choice(CODINGS) if rng.random() < 0.6 else 'chunked'}")
        body = chunked(rng, body)
    if rng.random() < 0.2:
        lines.append(f"Content-Length: {rng.choice(LENGTHS)}")
    if rng.random() < 0.2:
        lines.append("Expect: 100-continue")
    if rng.random() < 0.15:
        lines[0] = lines[0].replace("HTTP/1.1", "HTTP/1.0")
    tail = rng.choice((b"", b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n\r\n", b"x" * 50))
    data = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body + tail
    return wild(rng, f"odd framing, {request.about}", data)


def chunked(rng, body):
    """The body in chunks, of which one may be wrong."""
    out = []
    while body:
        size = rng.choice((1, 5, 100, len(body)))
        piece, body = body[:size], body[size:]
        out.append((b"%x" % len(piece), piece))
        if len(out) > 50:
            out.append((b"%x" % len(body), body))
            break
    out.append((b"0", b""))
    if rng.random() < 0.6:
        at = rng.randrange(len(out))
        size, piece = out[at]
        wrong = ((rng.choice(CHUNK_SIZES), piece), (size, piece[:-1]), (size, piece + b"x"), (size, piece))
        out[at] = rng.choice(wrong)
    end = rng.choice((b"\r\n", b"\r\n", b"\r\n", b"\n", b""))
    data = b"".join(size + end + piece + (end if piece else b"") for size, piece in out)
    trailers = (b"X: y\r\n\r\n", b"Content-Length: 5\r\n\r\n", b"X: " + b"y" * 70_000 + b"\r\n\r\n")
    return data + rng.choice((b"\r\n", b"\r\n", b"", *trailers))


def hang_up(rng, request):
    """Ends in the middle of the head, of the body, or of the response."""
    data = request.bytes()
    at = rng.choice((rng.randrange(1, len(data) + 1), len(data)))
    steps = [("send", data[:at])]
    if rng.random() < 0.3:
        steps.append(("shut",))
    steps += rng.choice(((), (("pause", 0.002),), (("drain", 0.02),)))
    end = rng.choice(("close", "reset", "reset", "park"))
    return Conversation(f"hang-up, {request.about}", steps, [facts(request)], end)


def large(rng, request):
    """Around the limits of a body and of an object, or a body that is announced and comes slowly."""
    size = rng.choice((1_400_000, 1_600_000, 3_145_728, 3_145_729, 4_000_000, 10_000_000))
    if rng.random() < 0.5:
        padding = rng.choice((b" ", b'{"data":{"a":"', b"[", b'{"a":', b"- ", b"&a ", b"\0", b'"'))
        request.method, request.target = "POST", "/api/v1/namespaces/fuzz/configmaps?dryRun=All"
        kind = rng.choice(("application/json", "application/yaml", "application/vnd.kubernetes.protobuf"))
        request.headers = [("Content-Type", kind)]
        request.body = (padding * (size // len(padding) + 1))[:size]
        return wild(rng, f"large, {size} bytes", request.bytes())
    lines = request.head(framing=False) if request.method != "HEAD" else ["POST / HTTP/1.1"]
    head = "\r\n".join([*lines, f"Content-Length: {size}"]).encode("latin-1", "replace") + b"\r\n\r\n"
    steps = [("send", head + b"x" * 1000), ("drain", 0.05)]
    return Conversation("announced and not sent", steps, [], rng.choice(("reset", "park")))
