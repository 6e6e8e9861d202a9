"""The bytes of one connection: requests, required responses, and the end. Saved and replayed as JSON."""

import socket
import struct
import time

from http_fuzz.answers import Incomplete, Malformed, problem_with, read_answer

CONNECT_SECONDS_MAX = 10
ANSWER_SECONDS_MAX = 40
RECEIVED_BYTES_MAX = 64 << 20
STEPS = ("send", "pause", "answers", "drain", "watch", "shut")
ENDS = ("close", "reset", "park")


class Conversation:
    """`steps`, in order, on one connection:

    ("send", bytes)       writes them
    ("pause", seconds)    lets the server read what it has so far
    ("answers", count)    so many whole answers must come
    ("drain", seconds)    reads everything that arrives within that time, perhaps nothing
    ("watch", seconds)    reads a stream for so long; its head must come
    ("shut",)             closes the sending side

    `end` is close, reset (RST instead of FIN) or park: the connection stays open and unread for a while. `requests` has
    (method, is below an API's root) for each request whose head is well-formed. `about` describes its origin.
    """

    def __init__(self, about, steps, requests, end="close", sentinel=False, patient=False):
        self.about, self.steps, self.requests, self.end = about, steps, requests, end
        self.sentinel = sentinel  # the request's namespace is the one that only accepted writes may change
        self.patient = patient  # a clock move: its response may take any time

    def sent(self):
        return b"".join(step[1] for step in self.steps if step[0] == "send")

    def to_json(self):
        steps = [[s[0], s[1].decode("latin-1")] if s[0] == "send" else list(s) for s in self.steps]
        return {**vars(self), "steps": steps}

    @staticmethod
    def from_json(made):
        steps = [(s[0], s[1].encode("latin-1")) if s[0] == "send" else tuple(s) for s in made["steps"]]
        return Conversation(**{**made, "steps": steps, "requests": [tuple(r) for r in made["requests"]]})


class Player:
    """Plays one conversation. `answers` and `problem` are the results."""

    def __init__(self, conversation, address):
        self._conversation, self._address = conversation, address
        self._received, self._at_end = b"", False
        self._reset = False
        self.answers, self.problem = [], None
        self.socket = None

    def play(self):
        try:
            self.socket = socket.create_connection(self._address, timeout=CONNECT_SECONDS_MAX)
        except OSError as failed:
            self.problem = f"no connection: {failed}"
            return self
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for step in self._conversation.steps:
                getattr(self, f"_{step[0]}")(*step[1:])
        except (Malformed, Incomplete) as wrong:
            self.problem = f"{type(wrong).__name__.lower()} answer {len(self.answers) + 1}: {wrong}"
        for number, answer in enumerate(self.answers):
            known = number < len(self._conversation.requests)
            method, is_api = self._conversation.requests[number] if known else ("GET", False)
            self.problem = self.problem or problem_with(answer, is_api, method)
        self._finish()
        return self

    def _finish(self):
        if self._conversation.end == "park" and not self._at_end:
            return
        if self._conversation.end == "reset":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _method(self):
        number = len(self.answers)
        return self._conversation.requests[number][0] if number < len(self._conversation.requests) else "GET"

    def _send(self, data):
        self.socket.settimeout(ANSWER_SECONDS_MAX)
        try:
            self.socket.sendall(data)
        except OSError:
            self._reset = True  # the server has closed; the next step reads its earlier output

    def _pause(self, seconds):
        time.sleep(seconds)

    def _shut(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed by the server already

    def _receive(self, until):
        """Whether bytes came before `until` (a time.monotonic())."""
        left = until - time.monotonic()
        if left <= 0 or self._at_end or len(self._received) > RECEIVED_BYTES_MAX:
            return False
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 18)
        except socket.timeout:
            return False
        except OSError:
            data, self._reset = b"", True
        self._at_end = not data
        self._received += data
        return bool(data)

    def _take_answer(self):
        """The next response in the received bytes, if it is complete."""
        if not self._received:
            raise Incomplete("nothing")
        answer, rest = read_answer(self._received, self._method(), self._at_end and not self._reset)
        if not answer.ended:
            raise Incomplete(f"a stream: {answer}")
        self.answers.append(answer)
        self._received = rest

    def _answers(self, count):
        until = time.monotonic() + ANSWER_SECONDS_MAX
        wanted = len(self.answers) + count
        while len(self.answers) < wanted:
            try:
                self._take_answer()
                if self.answers[-1].closes():
                    return
            except Incomplete as part:
                if self._receive(until):
                    continue
                if self._conversation.patient:
                    return
                why = "the connection closed" if self._at_end else f"{ANSWER_SECONDS_MAX} s passed"
                raise Incomplete(f"{why} after {part}") from None

    def _drain(self, seconds):
        until = time.monotonic() + seconds
        while self._receive(until):
            until = min(until, time.monotonic() + 0.05)  # more answers of the same bytes come soon
            try:
                while self._received:
                    self._take_answer()
            except Incomplete:
                pass

    def _watch(self, seconds):
        until, deadline = time.monotonic() + seconds, time.monotonic() + ANSWER_SECONDS_MAX
        answer = None
        while True:
            try:
                answer, rest = read_answer(self._received, self._method(), self._at_end and not self._reset)
                if answer.ended:
                    self._received = rest
                    break
            except Incomplete:
                pass
            if not self._receive(deadline if answer is None else until):
                break
        if answer is None:
            raise Incomplete("no head of a stream")
        self.answers.append(answer)
