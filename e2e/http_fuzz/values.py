"""Difficult values, and bodies made of them: JSON that no library would write, YAML, protobuf."""

import json
import struct

DEPTH_MAX = 12_000
WIDTH_MAX = 4_000


class Raw:
    """Text that goes into JSON as it stands."""

    def __init__(self, text):
        self.text = text


class Members:
    """A JSON object whose members may come twice."""

    def __init__(self, pairs):
        self.pairs = pairs


def json_text(value):
    """The JSON text, as bytes, of a value that may hold Raw and Members."""
    if isinstance(value, Raw):
        return value.text if isinstance(value.text, bytes) else value.text.encode("utf-8", "surrogatepass")
    if isinstance(value, (dict, Members)):
        pairs = value.items() if isinstance(value, dict) else value.pairs
        return b"{" + b",".join(json_text(name) + b":" + json_text(item) for name, item in pairs) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(json_text, value)) + b"]"
    return json.dumps(value).encode()


NUMBERS = (
    "0 -0 -1 1 2 7 100 65535 65536 2147483647 2147483648 -2147483648 -2147483649 4294967296 9007199254740993 "
    "9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551616 "
    "1.0 1.5 -0.0 1e2 1E+2 1e-2 1e308 1e309 -1e400 1e-400 0.1e1 12345678901234567890123456789012345678901234567890"
).split()
NO_JSON = ("01", "+1", ".5", "1.", "1e", "0x10", "NaN", "Infinity", "nul", "TRUE", "'a'", "[1,]", "{,}",
           '{"a"}', "//a\n1")
TEXTS = (
    *("", " ", "a", "-", ".", "..", "/", "a/b", "a.b/c", "A", "a b", "ä", "\U0001f968", "\u0000", "\u001f"),
    *("\u007f",),
    *("\u2028", "\ufeff", "\ufffe", "a" * 63, "a" * 64, "a" * 253, "a" * 254, "true", "null", "~", "1", "-1"),
    *("1e3",),
    *("0s", "-1s", "1ns", "1h30m", "9999999999999h", "1e9s", "90", "1d", "PT1S", "2147483648s", "1.5h", "h"),
    *("s1",),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00+99:99"),
    *("2026",),
    *("1970-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.9999999999999999999Z"),
    *("292277026596-12-04T15:30:08Z",),
    *("1Gi", "1e999999999", "0.0000000000001", "-1", "9223372036854775807Ei", "1.5m", "1i", "1E", "1e", "+1"),
    *("١",),
    *("0%", "100%", "101%", "-1%", "99999999999999999999%", "%", "1.5%", "50% ", "25 %"),
    *("Always", "Never", "OnFailure", "ClusterFirst", "Pod", "v1", "apps/v1", "Deployment", "Orphan"),
    *("Foreground",),
    *("* * * * *", "*/0 * * * *", "@every 1s", "TZ=UTC * * * * *", "60 24 32 13 8", "0-59/1,1,2 * * * *"),
    *("L * * * *",),
    *("a=b", "a in (b,c)", "!a", "a==b,c!=d", "a notin ()", "=", "a=b=c", ",", "a in (", "a>1", "a<x"),
    *("(" * 200,),
    *("{.a}", "{.a[?(@.b==1)].c}", "{..}", "$(A)", "$$(A)", "$((A)", "{.a" * 100, "[[[[", "(?P<a>", "(a*)*b"),
    *("\\",),
    *("10.0.0.1", "::1", "::ffff:1.2.3.4", "256.1.1.1", "fe80::1%lo", "1.2.3.4/33", "10.96.0.0/12", "a.svc"),
    *("None",),
)
# JSON texts of strings that json.dumps never writes.
RAW_TEXTS = (
    rb'"\ud800"', rb'"\udfff\ud800"', rb'"\u00"', rb'"\x"', rb'"\u0000\u0001"', rb'"\uD83E\uDD68"', b'"\xff"',
    b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"', b'"a\tb"', b'"a\nb"', b'"a\0b"',
    rb'"\/"',
)  # fmt: skip


PLAIN = (None, True, False, [], {}, [None], {"": None}, [[]], [{}], {"a": {}}, ["a", 1], [1, "a", None])


def hostile(rng, depth=0):
    """A value that is probably invalid for a field."""
    draw = rng.random()
    if draw < 0.30:
        return Raw(rng.choice(NUMBERS))
    if draw < 0.60:
        return rng.choice(TEXTS)
    if draw < 0.68:
        return Raw(rng.choice(RAW_TEXTS))
    if draw < 0.72:
        return Raw(rng.choice(NO_JSON))
    if draw < 0.84:
        return rng.choice(PLAIN)
    if draw < 0.88 and depth < 3:
        return [hostile(rng, depth + 1) for _ in range(rng.randrange(5))]
    if draw < 0.92 and depth < 3:
        return {rng.choice(TEXTS): hostile(rng, depth + 1) for _ in range(rng.randrange(5))}
    if draw < 0.94:
        return Members([(rng.choice(("a", "name", "kind")), hostile(rng, 3)) for _ in range(3)])
    if draw < 0.96:
        return deep(rng)
    if draw < 0.98:
        return wide(rng)
    return Raw(b'"' + b"x" * rng.choice((1_000, 65_536, 300_000)) + b'"')


def deep(rng):
    depth = rng.choice((10, 100, 1_000, 9_999, 10_000, 10_001, DEPTH_MAX))
    opens, closes = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"items":', b"}]"), (b'{"properties":', b"}")))
    return Raw(opens * depth + b"1" + (b"" if rng.random() < 0.1 else closes * depth))


def wide(rng):
    count = rng.choice((100, 1_000, WIDTH_MAX))
    return rng.choice(
        (
            lambda: [rng.choice(TEXTS[:20])] * count,
            lambda: {f"k{i}": "v" for i in range(count)},
            lambda: Members([("a", "v")] * count),
            lambda: [{"name": f"n{i}", "value": "v"} for i in range(count)],
            lambda: [{}] * count,
        )
    )()


def paths_of(value, path=(), limit=400):
    """The paths of everything in a document."""
    found, stack = [], [(path, value)]
    while stack and len(found) < limit:
        at, item = stack.pop()
        found.append(at)
        if isinstance(item, dict):
            stack.extend((at + (name,), child) for name, child in item.items())
        elif isinstance(item, list):
            stack.extend((at + (number,), child) for number, child in enumerate(item[:20]))
    return found


def put(value, path, change):
    """A copy of `value` with change(old) at `path`."""
    if not path:
        return change(value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], change)
    return copy


def spoil(rng, document):
    """A copy with one value replaced, removed, doubled, renamed or wrapped."""
    path = rng.choice(paths_of(document))
    draw = rng.random()
    if draw < 0.55 or not path:
        return put(document, path, lambda _: hostile(rng))
    if draw < 0.65:
        return put(document, path, lambda old: rng.choice(([old], {"a": old}, [old, old], {"": old})))

    def change(parent):
        if isinstance(parent, list):
            return parent[: path[-1]] + parent[path[-1] + 1 :] if rng.random() < 0.5 else parent * 2
        pairs = list(parent.items())
        at = next(i for i, pair in enumerate(pairs) if pair[0] == path[-1])
        name, old = pairs[at]
        renamed = rng.choice((name.upper(), name + "\u0000", name[:-1], name * 2, "", "$patch", "$retainKeys", "-"))
        instead = rng.choice(([], [(name, old), (name, hostile(rng))], [(renamed, old)], [(name, old), (renamed, old)]))
        pairs[at : at + 1] = instead
        return Members(pairs) if len({n for n, _ in pairs}) < len(pairs) else dict(pairs)

    return put(document, path[:-1], change)


# -- YAML

YAML_SNIPPETS = (
    b"&a [*a]", b"*nowhere", b"&a {x: &b [1, 2], y: *b, z: *b}", b"!!binary aGFsbG8=",
    b"!!python/object:os.system x",
    b"!!int 'a'", b"{<<: {a: 1}, b: 2}", b"{<<: [{a: 1}, {b: 2}]}", b"? [a, b]\n: c", b"| \n  text\n",
    b">-\n  a\n  b\n",
    b".inf", b"-.inf", b".nan", b"0o17", b"0x1F", b"1_000", b"2026-01-01", b"12:30:45", b"yes", b"~",
    b"'it''s'",
    b'"\\x41\\u00e9\\U0001F968"', b'"\\q"', b"@a", b"`a", b"%a", b"a: b: c", b"\ta", b"[a, b", b"{a: 1",
    b"- - - a",
    b"--- a\n--- b\n", b"...\n", b"%YAML 9.9\n---\na", b"%TAG ! tag:a,2026:\n--- !b c", b"\xef\xbb\xbfa",
    b"\xff\xfea\0",
)  # fmt: skip


def laughs(rng):
    """Anchors that stand for ten of the one before: as text some hundred bytes, expanded a great many."""
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, rng.choice((3, 9, 20))):
        inner = b", ".join([b"*a%d" % (level - 1)] * 10)
        lines.append(b"a%d: &a%d [%s]" % (level, level, inner))
    return b"\n".join(lines) + b"\n"


def yaml_text(rng, document):
    """The document as YAML: its JSON with an unusual feature of YAML inserted."""
    text = json_text(document)
    draw = rng.random()
    if draw < 0.15:
        return b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\n" + laughs(rng) + b"data: {a: *a1}\n"
    if draw < 0.75 and b":" in text:
        at = rng.choice([i for i, byte in enumerate(text) if byte == ord(":")][:2000])
        end = min((i for i in (text.find(b",", at), text.find(b"}", at)) if i > 0), default=len(text))
        text = text[: at + 1] + b" " + rng.choice(YAML_SNIPPETS) + text[end:]
    if draw < 0.05:
        text = text * 2
    return text


# -- protobuf


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def delimited(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def envelope(api_version, kind, raw):
    """As Kubernetes frames protobuf: four bytes, then runtime.Unknown."""
    type_meta = delimited(1, api_version.encode()) + delimited(2, kind.encode())
    return b"k8s\0" + delimited(1, type_meta) + delimited(2, raw) + delimited(3, b"") + delimited(4, b"")


def random_message(rng, depth=0):
    """Fields of any number and wire type, some of them with lengths that do not fit."""
    out = []
    for _ in range(rng.randrange(1, 6)):
        field = rng.choice((1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 30, 40, 0, 1 << 28))
        draw = rng.random()
        if draw < 0.5 and depth < 5:
            out.append(delimited(field, random_message(rng, depth + 1)))
        elif draw < 0.7:
            out.append(delimited(field, rng.choice(TEXTS).encode()))
        elif draw < 0.85:
            number = rng.choice((0, 1, 127, 128, -1, 1 << 31, 1 << 63, (1 << 64) - 1))
            out.append(varint(field << 3) + varint(number))
        elif draw < 0.90:
            out.append(varint(field << 3 | 1) + struct.pack("<q", -1))
        elif draw < 0.95:
            out.append(varint(field << 3 | rng.choice((3, 4, 5, 6, 7))) + b"\xff\xff\xff\xff")
        else:
            out.append(varint(field << 3 | 2) + varint(rng.choice((1, 1 << 20, 1 << 31, 1 << 63, -1))))
    return b"".join(out)
