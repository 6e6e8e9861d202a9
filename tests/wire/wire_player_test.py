"""The HTTP runner's checks must be able to fail: each case here plays one step against a canned answer."""

import email.message
import http.client
import json
import unittest
from unittest import mock

import wire_format
import wire_player


def canned(code, document, headers=(), text=None):
    message = email.message.Message()
    for name, value in headers:
        message.add_header(name, value)
    response = mock.Mock(status=code, headers=message, will_close=False)
    response.read.return_value = (json.dumps(document) if text is None else text).encode()
    return response


class Checks(unittest.TestCase):
    def play(self, step_text, response):
        """The differences that a step finds in a response, and the request."""
        file = wire_format.parse("t.wire", "@object thing\nname: x\nlist: [1]\n\n== t\n" + step_text)
        player = wire_player.Player("http://unused", file.objects, "ns-7")
        with mock.patch.object(wire_player.Connection, "send", return_value=response) as send:
            found = list(player.step(file.conversations[0].steps[0]))
        return found, send.call_args.args

    def assert_found(self, step_text, response, *parts):
        found, _ = self.play(step_text, response)
        self.assertEqual(len(found), len(parts), found)
        for difference, part in zip(found, parts):
            self.assertIn(part, difference)

    def test_an_answer_as_expected(self):
        self.assert_found("GET /x\n--- 200\nkind: Thing\n@absent spec\n", canned(200, {"kind": "Thing"}))

    def test_another_code(self):
        self.assert_found("GET /x\n--- 200\n", canned(404, {}), "expected HTTP 200, got 404")

    def test_another_document(self):
        self.assert_found("GET /x\n--- 200\nkind: Thing\n", canned(200, {"kind": "Other"}), "kind: expected")

    def test_no_document(self):
        self.assert_found("GET /x\n--- 200\nkind: Thing\n", canned(200, None, text="<html>"), "expected JSON")

    def test_a_value_that_should_be_absent(self):
        self.assert_found("GET /x\n--- 200\n@absent spec\n", canned(200, {"spec": {}}), "spec: expected nothing")

    def test_a_value_that_cannot_be_saved(self):
        self.assert_found("GET /x\n--- 200\n@save x = spec.y\n", canned(200, {"spec": {}}), "spec.y: expected a value")

    def test_a_list_without_the_item(self):
        self.assert_found("GET /x\n--- 200\n@contains l = {a: 1}\n", canned(200, {"l": [{"a": 2}]}), "expected an item")
        self.assert_found("GET /x\n--- 200\n@contains l = {a: 1}\n", canned(200, {"l": [{"a": 2}, {"a": 1, "b": 1}]}))

    def test_more_than_exactly_this(self):
        self.assert_found("GET /x\n--- 200\ns: {}\n@exact s\n", canned(200, {"s": {"a": 1}}), "s.a: expected nothing")

    def test_an_error_that_is_not_a_status(self):
        wrong = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 400, "reason": "NotFound"}
        self.assert_found("GET /x\n--- 404 NotFound\n", canned(404, wrong), "code: expected 404")

    def test_another_message_or_cause(self):
        step = 'GET /x\n--- 422\n@invalid Pod "p"\n@cause a: Required value\n@message <any>: Required value\n'
        cause = {"reason": "FieldValueRequired", "message": "Required value", "field": "a"}
        details = {"name": "p", "kind": "Pod", "causes": [cause]}
        status = {"reason": "Invalid", "message": 'Pod "p" is invalid: a: Required value', "details": details}
        self.assert_found(step, canned(422, status))
        cause["field"] = "b"
        self.assert_found(step, canned(422, status), "details.causes[0].field")

    def test_headers(self):
        step = "GET /x\n--- 200\n< Retry-After: 1\n"
        self.assert_found(step, canned(200, {}, [("Retry-After", "1")]))
        self.assert_found(step, canned(200, {}, [("Retry-After", "2")]), "header Retry-After")
        self.assert_found(step, canned(200, {}), "header Retry-After")

    def test_warnings(self):
        warning = ("Warning", r'299 - "unknown field \"a\""')
        self.assert_found('GET /x\n--- 200\n@warning unknown field "a"\n', canned(200, {}, [warning]))
        self.assert_found("GET /x\n--- 200\n", canned(200, {}, [warning]), "warnings")
        self.assert_found('GET /x\n--- 200\n@warning unknown field "a"\n', canned(200, {}), "warnings")
        both = ("Warning", '299 - "one", 299 - "two"')
        self.assert_found("GET /x\n--- 200\n@warning one\n@warning two\n", canned(200, {}, [both]))

    def test_texts(self):
        self.assert_found("GET /x\n--- 200\n| ok\n", canned(200, None, text="ok\n"))
        self.assert_found("GET /x\n--- 200\n| ok\n", canned(200, None, text="no"), "text: expected 'ok'")
        self.assert_found("GET /x\n--- 200\n~ part\n", canned(200, None, text="another"), "that contains 'part'")

    def test_what_is_sent(self):
        step = "POST /x/NS\n@like thing\n@set list[1] = {a: 1}\n@unset name\n\nmore: yes!\n--- 200\n"
        _, (method, target, headers, body) = self.play(step, canned(200, {}))
        self.assertEqual((method, target), ("POST", "/x/ns-7"))
        self.assertEqual(json.loads(body), {"list": [1, {"a": 1}], "more": "yes!"})
        self.assertIn(("Content-Type", "application/json"), headers)
        _, (_, _, _, body) = self.play("POST /x\n@raw\n\n{not json\n--- 200\n", canned(200, {}))
        self.assertEqual(body, b"{not json")

    def test_a_server_that_goes_away(self):
        with self.assertRaises(wire_player.Failed), mock.patch.object(
            wire_player.Connection, "send", side_effect=http.client.RemoteDisconnected()
        ):
            wire_player.Connection("http://unused").request("GET", "/x", [], None)


class Events(unittest.TestCase):
    def play(self, step_text, lines, rest=b""):
        file = wire_format.parse("t.wire", "== t\n" + step_text)
        player = wire_player.Player("http://unused", {}, "ns-7")
        response = mock.Mock()
        response.readline.side_effect = [line.encode() for line in lines] + [b""]
        response.read.return_value = rest
        player.streams["w"] = (response, mock.Mock())
        return list(player.step(file.conversations[0].steps[0]))

    def test_events_as_expected(self):
        self.assertEqual(self.play("EVENTS w\n---\n- {type: ADDED}\n@end\n", ['{"type": "ADDED"}\n']), [])

    def test_another_event_or_too_few(self):
        self.assertIn("[0].type", self.play("EVENTS w\n---\n- {type: ADDED}\n", ['{"type": "ERROR"}\n'])[0])
        self.assertIn("expected 1 items, got 0", self.play("EVENTS w\n---\n- {type: ADDED}\n", [])[0])

    def test_a_stream_that_goes_on(self):
        self.assertIn("expected the end", self.play("EVENTS w\n---\n@end\n", [], b"more")[0])

    def test_a_stream_that_was_never_opened(self):
        with self.assertRaises(wire_player.Failed):
            self.play("EVENTS v\n---\n", [])


if __name__ == "__main__":
    unittest.main()
