"""The reader of responses accepts and refuses: a fuzzer whose checks pass everything finds nothing."""

import json
import random
import unittest

from http_fuzz.answers import Incomplete, Malformed, problem_with, read_answer
from http_fuzz.conversation import Conversation
from http_fuzz.values import Members, Raw, hostile, json_text, spoil

STATUS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "m", "code": 404}


def message(code, body, *headers, kind="application/json"):
    lines = [f"HTTP/1.1 {code} Words", f"content-type: {kind}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def problem(code, body, is_api=True, method="GET", **more):
    answer, rest = read_answer(message(code, body, **more), method, False)
    assert rest == b"", rest
    return problem_with(answer, is_api, method)


class Reading(unittest.TestCase):
    def test_answers_follow_each_other(self):
        first, rest = read_answer(message(200, b"{}") + message(404, b"x"), "GET", False)
        second, rest = read_answer(rest, "GET", False)
        self.assertEqual((first.code, first.body, second.code, second.body, rest), (200, b"{}", 404, b"x", b""))

    def test_an_interim_answer_is_passed_over(self):
        answer, _ = read_answer(b"HTTP/1.1 100 Continue\r\n\r\n" + message(201, b"{}"), "POST", False)
        self.assertEqual(answer.code, 201)

    def test_chunks(self):
        head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        answer, rest = read_answer(head + b"3\r\nabc\r\n1\r\nd\r\n0\r\n\r\nHTTP", "GET", False)
        self.assertEqual((answer.body, answer.ended, rest), (b"abcd", True, b"HTTP"))
        answer, _ = read_answer(head + b"3\r\nabc\r\n5\r\nde", "GET", False)
        self.assertEqual((answer.body, answer.ended), (b"abcde", False))
        with self.assertRaises(Malformed):
            read_answer(head + b"3\r\nabc\r\n", "GET", True)
        for wrong in (b"3\r\nabcd\r\n", b"x\r\n", b"\r\n", b"0\r\nab", b"-1\r\n"):
            with self.assertRaises(Malformed, msg=wrong):
                read_answer(head + wrong, "GET", False)

    def test_malformed_answers(self):
        for wrong in (
            b"GET / HTTP/1.1\r\n\r\n",
            b"HTTP/1.1 999 X\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
            b"HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
            b"HTTP/1.1 200 OK\r\na: \x01\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
            b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nx",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            b"<html>",
        ):
            with self.assertRaises(Malformed, msg=wrong):
                read_answer(wrong, "GET", True)

    def test_a_part_of_an_answer(self):
        whole = message(200, b"abc")
        for end in range(1, len(whole)):
            with self.assertRaises(Incomplete):
                read_answer(whole[:end], "GET", False)

    def test_head_has_no_body(self):
        answer, rest = read_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "HEAD", False)
        self.assertEqual((answer.code, rest), (200, b""))


class Judging(unittest.TestCase):
    def test_what_passes(self):
        self.assertIsNone(problem(200, b"{}"))
        self.assertIsNone(problem(200, b"ok", kind="text/plain"))
        self.assertIsNone(problem(200, b'{"a":1}\n{"a":2}\n'))
        self.assertIsNone(problem(404, json.dumps(STATUS).encode()))
        self.assertIsNone(problem(404, b"404 page not found", is_api=False, kind="text/plain"))

    def test_what_does_not(self):
        self.assertIn("status 502", problem(502, b""))
        self.assertIn("500", problem(500, json.dumps({**STATUS, "code": 500}).encode()))
        self.assertIn("not JSON", problem(200, b"{"))
        self.assertIn("not a JSON object", problem(404, b"\xff"))
        self.assertIn("API path", problem(404, b"404 page not found", kind="text/plain"))
        for change in ({"code": 400}, {"kind": "Pod"}, {"message": 5}, {"metadata": []}, {"details": {"causes": [1]}}):
            self.assertIn("no Status", problem(404, json.dumps({**STATUS, **change}).encode()))

    def test_the_expected_500s_are_known_by_their_words(self):
        typed = "failed to create typed patch object (fuzz/seed; apps/v1, Kind=Deployment): .spec.x: field not declared in schema"
        for text in ("etcdserver: request is too large", typed):
            self.assertIsNone(problem(500, json.dumps({**STATUS, "code": 500, "message": text}).encode()))
        merged = {**STATUS, "code": 500, "message": "failed to merge config: x"}
        self.assertIn("500", problem(500, json.dumps(merged).encode()))


class Values(unittest.TestCase):
    def test_text_that_no_library_writes(self):
        self.assertEqual(json_text({"a": Raw("1e400"), "b": [None, "x"]}), b'{"a":1e400,"b":[null,"x"]}')
        self.assertEqual(json_text(Members([("a", 1), ("a", 2)])), b'{"a":1,"a":2}')

    def test_one_seed_draws_one_value(self):
        document = {"a": [1, {"b": "c"}], "d": {"e": None}}
        texts = [[json_text(spoil(random.Random(seed), document)) for seed in range(200)] for _ in range(2)]
        self.assertEqual(*texts)
        self.assertGreater(len(set(texts[0])), 100)
        self.assertTrue(all(json_text(hostile(random.Random(seed))) for seed in range(300)))

    def test_a_conversation_is_saved_byte_by_byte(self):
        made = Conversation("a", [("send", bytes(range(256))), ("answers", 1), ("shut",)], [("GET", True)], "reset")
        again = Conversation.from_json(json.loads(json.dumps(made.to_json())))
        self.assertEqual(vars(again), vars(made))


if __name__ == "__main__":
    unittest.main()
