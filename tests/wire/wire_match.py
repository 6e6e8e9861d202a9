"""Compares a response with the expectation of a case, and edits documents by path."""

import json
import re

_TOKENS = {
    "<any>": r"[\s\S]*",
    "<uid>": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "<time>": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "<microtime>": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
    "<rv>": r"[1-9][0-9]*",
    "<suffix>": r"[bcdfghjklmnpqrstvwxz2456789]{5}",
    "<age>": r"[0-9]+[a-z0-9]*|<invalid>",
}
_TOKEN = re.compile("(%s)" % "|".join(_TOKENS))
_PATH = re.compile(r'\.?([^.\[\]]+)|\[(\d+)\]|\["([^"]*)"\]')


def text_matches(pattern, text):
    """Whether a text matches the pattern, in which words such as <uid> stand for values that differ from run to run."""
    parts = [_TOKENS.get(part, None) or re.escape(part) for part in _TOKEN.split(pattern)]
    return re.fullmatch("".join(f"(?:{part})" for part in parts), text) is not None


def differences(want, got, path="", exact=()):
    """How `got` fails to contain `want`, as texts; empty when it does. Mappings may have more keys than wanted, unless
    their path or one above it is in `exact`; lists have the same length."""
    here = path or "the answer"
    if want == "<any>":
        return
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want):
            below = join(path, key)
            if key not in got:
                yield f"{below}: expected {show(want[key])}, got nothing"
            else:
                yield from differences(want[key], got[key], below, exact)
        if any(path == top or path.startswith((top + ".", top + "[")) for top in exact):
            for key in sorted(set(got) - set(want) - {"managedFields"}):
                yield f"{join(path, key)}: expected nothing, got {show(got[key])}"
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{here}: expected {len(want)} items, got {len(got)}: {show(got)}"
            return
        for index, (left, right) in enumerate(zip(want, got)):
            yield from differences(left, right, f"{path}[{index}]", exact)
    elif isinstance(want, str) and isinstance(got, str):
        if not text_matches(want, got):
            yield f"{here}: expected {show(want)}, got {show(got)}"
    elif type(want) is not type(got) or want != got:
        yield f"{here}: expected {show(want)}, got {show(got)}"


def join(path, key):
    if re.search(r'[.\[\]]', key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def show(value):
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text if len(text) <= 2000 else text[:2000] + "..."


def split_path(path):
    """The steps of a path such as spec.ports[0].name or metadata.labels["a.b/c"]: names and numbers."""
    steps, at = [], 0
    while at < len(path):
        match = _PATH.match(path, at)
        if not match:
            raise ValueError(f"cannot read the path {path!r}")
        name, index, quoted = match.groups()
        steps.append(int(index) if index is not None else quoted if quoted is not None else name)
        at = match.end()
    return steps


_NOTHING = object()


def find(document, path):
    """The value at a path as a list of one, or an empty list."""
    for step in split_path(path):
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else _NOTHING
        else:
            document = document.get(step, _NOTHING) if isinstance(document, dict) else _NOTHING
        if document is _NOTHING:
            return []
    return [document]


def _container(document, path):
    """The mapping or list that the last step of a path is in, and that step; missing values are created."""
    steps = split_path(path)
    for step, following in zip(steps, steps[1:]):
        fresh = [] if isinstance(following, int) else {}
        if isinstance(step, int) and step == len(document):
            document.append(fresh)
        elif isinstance(step, str):
            document.setdefault(step, fresh)
        document = document[step]
    return document, steps[-1]


def set_at(document, path, value):
    """Sets the value at a path; a list may be extended by one item."""
    container, key = _container(document, path)
    if isinstance(container, list) and key == len(container):
        container.append(None)
    container[key] = value


def unset_at(document, path):
    container, key = _container(document, path)
    del container[key]


def merge(base, patch):
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


_CAUSE_REASONS = (
    ("Required value", "FieldValueRequired"),
    ("Invalid value", "FieldValueInvalid"),
    ("Unsupported value", "FieldValueNotSupported"),
    ("Not found", "FieldValueNotFound"),
    ("Duplicate value", "FieldValueDuplicate"),
    ("Forbidden", "FieldValueForbidden"),
    ("Too long", "FieldValueTooLong"),
    ("Too many", "FieldValueTooMany"),
)


def invalid_status(subject, causes):
    """The Status that '@invalid subject' with its '@cause field: message' lines stands for."""
    match = re.fullmatch(r'(\w+)(?:\.(\S+))? "(.*)"', subject)
    if not match:
        raise ValueError(f'@invalid takes a kind and a name, such as Deployment.apps "web", not {subject}')
    details = {"kind": match.group(1), "causes": []}
    if match.group(2):
        details["group"] = match.group(2)
    if match.group(3):
        details["name"] = match.group(3)
    for cause in causes:
        field, _, message = cause.partition(": ")
        reason = next((reason for start, reason in _CAUSE_REASONS if message.startswith(start)), None)
        if reason is None:
            raise ValueError(f"@cause takes 'field: Invalid value: ...' and the like, not {cause}")
        details["causes"].append({"reason": reason, "message": message, "field": field})
    unique = list(dict.fromkeys(causes))
    words = unique[0] if len(unique) == 1 else "[" + ", ".join(unique) + "]"
    return {"reason": "Invalid", "message": f"{subject} is invalid: {words}", "details": details}
