"""The reader and the matcher of the HTTP runner against agreement.json; agreement_test.cc tests the other runner."""

import copy
import dataclasses
import json
import pathlib
import unittest

import wire_format
import wire_match
import wire_player
import wire_yaml

TABLES = json.loads((pathlib.Path(__file__).parent / "agreement.json").read_text())


class Agreement(unittest.TestCase):
    def test_texts_match_patterns(self):
        for row in TABLES["text"]:
            with self.subTest(row):
                self.assertEqual(wire_match.text_matches(row["pattern"], row["text"]), row["matches"])

    def test_differences_are_named(self):
        for row in TABLES["differences"]:
            with self.subTest(row):
                found = list(wire_match.differences(row["want"], row["got"], "", row.get("exact", ())))
                self.assertEqual(found, row["found"])

    def test_edits_follow_paths(self):
        for row in TABLES["edits"]:
            with self.subTest(row):
                document = copy.deepcopy(row["document"])
                for path, value in row["set"]:
                    wire_match.set_at(document, path, value)
                for path in row["unset"]:
                    wire_match.unset_at(document, path)
                self.assertEqual(document, row["result"])

    def test_merges(self):
        for row in TABLES["merges"]:
            with self.subTest(row):
                self.assertEqual(wire_match.merge(row["base"], row["patch"]), row["result"])

    def test_causes_make_a_status(self):
        for row in TABLES["invalid"]:
            with self.subTest(row):
                if row["status"] is None:
                    with self.assertRaises(ValueError):
                        wire_match.invalid_status(row["subject"], row["causes"])
                else:
                    self.assertEqual(wire_match.invalid_status(row["subject"], row["causes"]), row["status"])

    def test_names_are_filled_in(self):
        for row in TABLES["substitutions"]:
            with self.subTest(row):
                player = wire_player.Player("http://unused", {}, "ns-7")
                player.saved = row["saved"]
                if row["result"] is None:
                    with self.assertRaises(wire_player.Failed):
                        player.fill(row["text"])
                else:
                    self.assertEqual(player.fill(row["text"]), row["result"])

    def test_yaml_is_read(self):
        for row in TABLES["yaml"]:
            with self.subTest(row):
                self.assertEqual(wire_yaml.parse(row["text"]), row["value"])

    def test_yaml_that_is_read_differently_elsewhere_is_refused(self):
        doubtful = ("a: yes", "a: 0644", "a: &x 1", "a: !!str 1", "{a: b?c}")
        wrong = ("a: b: c", "{a: 1", "a: 'b", "a: 1\na: 2", "a: 1\n  b: 2")
        for text in doubtful + wrong:
            with self.subTest(text=text), self.assertRaises(wire_yaml.YamlError):
                wire_yaml.parse(text)

    def test_files_are_read(self):
        got = dataclasses.asdict(wire_format.parse("sample.wire", TABLES["file"]["text"]))
        self.assertEqual(json.loads(json.dumps(got)), TABLES["file"]["value"])

    def test_mistakes_in_files_are_named(self):
        for row in TABLES["errors"]:
            with self.subTest(row):
                with self.assertRaises(wire_format.FormatError) as caught:
                    wire_format.parse("bad.wire", row["text"])
                self.assertEqual(str(caught.exception), row["error"])


if __name__ == "__main__":
    unittest.main()
