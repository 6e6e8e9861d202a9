"""The code that the pickers in Python share: the choice of pods, and the HTTP server. Standard library only."""

import argparse
import http.server
import json
import os
import ssl


def least_busy(busy, wanted):
    """Returns (chosen, tied) for a {pod: load}, of which `wanted` are to be deleted.

    Chosen pods are deleted in any case. Pods with equal load of which only some are deleted are tied, and Kubernetes
    decides by its other criteria. Of {"a": 1, "b": 2, "c": 2, "d": 2}, two of which are deleted, "a" is chosen and the
    others are tied.
    """
    order = sorted(busy, key=lambda pod: (busy[pod], pod))
    if wanted >= len(order):
        return order, []
    limit = busy[order[wanted - 1]]
    below = [pod for pod in order if busy[pod] < limit]
    level = [pod for pod in order if busy[pod] == limit]
    return (below + level, []) if len(below) + len(level) == wanted else (below, level)


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=0, help="0 (the default) picks a free one")
    parser.add_argument("--tls-cert", help="PEM certificate: serve HTTPS")
    parser.add_argument("--tls-key", help="PEM key of --tls-cert")
    return parser


def serve(options, busy_of):
    """Serves POST /pick with `busy_of(pods)`, which returns {pod: load}, and prints its port.

    With PICKER_TOKEN in the environment, requests must have it as their bearer token.
    """
    token = os.environ.get("PICKER_TOKEN")

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != "/pick":
                return self.answer(404, {"error": "POST /pick"})
            if token and self.headers.get("Authorization") != f"Bearer {token}":
                return self.answer(401, {"error": "a bearer token is needed"})
            request = json.loads(body)
            pods, wanted = request["candidate_pods"], request["number_of_pods_requested"]
            chosen, tied = least_busy(busy_of(pods), wanted)
            self.answer(200, {"chosen_pods": chosen, "tied_pods": tied})

        def answer(self, code, document):
            text = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            """The events and metrics of the control plane report more."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    if options.tls_cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.tls_cert, options.tls_key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
