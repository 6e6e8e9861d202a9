"""Differences that are known, and that have nothing to do with server-side apply. A seed goes on after them."""


def _status_of_a_missing_service(request, ours, theirs):
    """Kubernetes creates a Service that a write of its status does not find."""
    return request["kind"] == "services" and request.get("sub") == "status" and (ours["code"], theirs["code"]) == (404, 422)


KNOWN = (_status_of_a_missing_service,)


def is_known(request, ours, theirs):
    return any(known(request, ours, theirs) for known in KNOWN)
