"""Differences that are known. A seed goes on after them."""


def _status_of_a_missing_service(request, ours, theirs):
    """Kubernetes creates a Service that a write of its status does not find."""
    return request["kind"] == "services" and request.get("sub") == "status" and (ours["code"], theirs["code"]) == (404, 422)


KNOWN = (_status_of_a_missing_service,)


def can_be_reordered(leaves, theirs):
    """Whether only one server has written, and several managers own fields.

    The entries of managedFields are in the order of the seconds in which they were written. When an apply that changes
    nothing changes their order, it is a write, on either server in another second.
    """
    owners = theirs.get("after", theirs["body"]).get("metadata", {}).get("managedFields", [])
    return len(owners) > 1 and all(path.endswith("resourceVersion") for path, _, _ in leaves)


def is_known(request, ours, theirs):
    return any(known(request, ours, theirs) for known in KNOWN)
