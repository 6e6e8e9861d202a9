package protobuf

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func checkQuantity(t *testing.T, c *tool, text string) {
	t.Helper()
	ours := c.ask(map[string]any{"op": "quantity", "text": text})
	theirs, err := resource.ParseQuantity(text)
	switch {
	case err != nil && ours.Error != err.Error():
		t.Errorf("%q: theirs %q, ours %q %q", text, err, ours.Error, ours.Text)
	case err == nil && ours.Text != theirs.String():
		t.Errorf("%q: theirs %s, ours %s %s", text, &theirs, ours.Text, ours.Error)
	}
}

// TestYAML reads texts with both libraries.
func TestYAML(t *testing.T) {
	c := startTool(t)
	for _, text := range []string{
		"", "---\n", "a: 1\n", "a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: n\ng: 'yes'\nh: \"no\"\n",
		"mode: 0644\nhex: 0x1F\nbin: 0b11\noct: 0o17\nbad: 08\nsep: 1_000\nplus: +5\nminus: -3\n",
		"f: 1.5\ng: .5\nh: 1e3\ni: 1.\nj: -1.5e-3\nk: 1e400\nl: 12e03\n",
		"n: null\nt: ~\ne:\nE: Null\n", "t: 2024-01-01\nu: 2024-01-01T00:00:00Z\nv: 2024-01-01 10:00:00\n",
		"1: a\ntrue: b\n1.5: c\nyes: d\n", "a: &x {k: v, l: [1, 2]}\nb: *x\nc:\n  <<: *x\n  k: w\n",
		"a: &x {k: v}\nb: &y {k: u, m: 1}\nc:\n  <<: [*x, *y]\n", "a: |\n  one\n  two\nb: >-\n  folded\n  text\n",
		"- 1\n- - 2\n  - 3\n- {a: b}\n", "{\"json\": [1, 2.5, \"x\", null, true]}", "a: b\n---\nc: d\n",
		"a: !!str 5\nb: !!int \"7\"\n", "a: 9223372036854775807\nb: 9223372036854775808\nc: -9223372036854775808\n",
		"key with spaces: value # comment\n", "? a\n: b\n", "a: 'it''s'\nb: \"tab\\tnew\\u00e9\"\n", "a: 1:20\n",
		"data:\n  k: \"true\"\n  l: 0x\n  m: 0o9\n  o: 1__0\n  p: -\n  q: .\n  r: +\n",
	} {
		theirs, err := yaml.YAMLToJSON([]byte(text))
		ours := c.ask(map[string]any{"op": "yaml", "text": text})
		if (err != nil) != (ours.Error != "") || err == nil && !sameJSON(ours.Doc, theirs) {
			t.Errorf("%q\ntheirs: %s %v\nours:   %s %s", text, theirs, err, ours.Doc, ours.Error)
		}
	}
}

func TestYAMLMistakes(t *testing.T) {
	c := startTool(t)
	for _, text := range []string{"a: [", "a: b: c", "a: {", "\ta: b", "a: *nope", "a: 'x", "{a: b", "- a\nb: c", "a: .inf\n",
		"a: &x [*x]\n", "[1]: 2\n", "? {a: b}\n: c\n"} {
		_, err := yaml.YAMLToJSON([]byte(text))
		ours := c.ask(map[string]any{"op": "yaml", "text": text})
		if err == nil || ours.Error != err.Error() && !strings.HasPrefix(ours.Error, "yaml: ") {
			t.Errorf("%q\ntheirs: %v\nours:   %s %s", text, err, ours.Error, ours.Doc)
		}
	}
	text := "a: 1\nb:\n  c: 2\n  c: 3\na: 4\n"
	_, err := yaml.YAMLToJSONStrict([]byte(text))
	if ours := c.ask(map[string]any{"op": "yaml", "text": text}); len(ours.Strict) != 1 || ours.Strict[0] != err.Error() {
		t.Errorf("theirs: %q\nours:   %q", err, ours.Strict)
	}
}

// TestWrittenYAML lets their library read what we write, for documents with all sorts of strings.
func TestWrittenYAML(t *testing.T) {
	c := startTool(t)
	words := []string{"", " ", "a", "a b", "a: b", "a #b", "#", "- x", "-", "---", "yes", "null", "~", "1", "1.5", "0644",
		"1e3", "2024-01-01", "2024-01-01T00:00:00Z", "multi\nline", "multi\nline\n", "more\n\n\n", "\nfirst", " lead\nx", "'", "\"", "it's",
		"{a", "[b", "*c", "&d", "!e", "%f", "@g", "`h", "|", ">", "a:", ":a", "?b", "? c", "tab\there", "bell\a", "é🌱", "<<", "=",
		"a,b", "x]", "trail ", "true", ".5", "._", "1:20", "\u2028", "back\\slash", "a\r\nb"}
	random := rand.New(rand.NewSource(5))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.Intn(8); {
		case n == 0 && depth < 4:
			list := []any{}
			for range random.Intn(4) {
				list = append(list, value(depth+1))
			}
			return list
		case n <= 2 && depth < 4:
			m := map[string]any{}
			for range random.Intn(4) {
				m[words[random.Intn(len(words))]] = value(depth + 1)
			}
			return m
		case n == 3:
			return random.Intn(2000) - 1000
		case n == 4:
			return []any{nil, true, false, 1.5}[random.Intn(4)]
		}
		return words[random.Intn(len(words))]
	}
	for range 3000 {
		doc := map[string]any{"a": value(0), "b": value(0)}
		want := toJSON(t, doc)
		text := c.ask(map[string]any{"op": "to-yaml", "doc": doc}).Text
		got, err := yaml.YAMLToJSON([]byte(text))
		if err != nil || !sameJSON(got, want) {
			t.Fatalf("theirs reads %s %v\nwant %s\nfrom\n%s", got, err, want, text)
		}
		mine := c.ask(map[string]any{"op": "yaml", "text": text})
		if mine.Error != "" || !sameJSON(mine.Doc, want) {
			t.Fatalf("ours reads %s %s\nwant %s\nfrom\n%s", mine.Doc, mine.Error, want, text)
		}
	}
}

// TestJSONSyntax compares the error texts for malformed JSON.
func TestJSONSyntax(t *testing.T) {
	c := startTool(t)
	for _, text := range []string{"", " ", "{", "}", "[", "]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "[1,", "[1,]", "nul",
		"nope", "tru", "truex", "-", "-x", "1.", "1.x", "1e", "1ex", "01", "\"a", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "{a:1}",
		"{} {}", "{},", "'a'", "[1 2]", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "\u00e9", "[\u00e9]", "/", "[1,,2]", "{\"a\":1]", "[1}"} {
		var into map[string]any
		err := json.Unmarshal([]byte(text), &into)
		ours := c.ask(map[string]any{"op": "json", "message": "io.k8s.api.core.v1.ConfigMap", "text": text})
		if _, isType := err.(*json.UnmarshalTypeError); err == nil || isType {
			continue
		}
		if ours.Error != err.Error() {
			t.Errorf("%q\ntheirs: %v\nours:   %s", text, err, ours.Error)
		}
	}
}
