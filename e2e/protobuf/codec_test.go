package protobuf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
)

// decodeStrict is what the apiserver does with a body.
func decodeStrict(text []byte, into any) (strict []string, err error) {
	errs, err := kjson.UnmarshalStrict(text, into)
	for _, e := range errs {
		strict = append(strict, e.Error())
	}
	return strict, err
}

// checkDocument runs one document through both implementations and compares JSON, protobuf and the decoded results.
func (c *tool) checkDocument(t *testing.T, message string, doc map[string]any) runtime.Object {
	t.Helper()
	gvk := c.kindOf(message)
	text := toJSON(t, doc)
	object := c.newObject(gvk)
	strict, err := decodeStrict(text, object)
	if err != nil || len(strict) > 0 {
		t.Fatalf("Kubernetes refuses our document: %v %v", err, strict)
	}
	theirs := toJSON(t, object)

	ours := c.ask(map[string]any{"op": "json", "message": message, "text": string(text)})
	if ours.Error != "" || len(ours.Strict) > 0 {
		t.Fatalf("we refuse our own document: %s %v", ours.Error, ours.Strict)
	}
	if !sameJSON(ours.Doc, theirs) {
		t.Fatalf("JSON differs\ntheirs: %s\nours:   %s", theirs, ours.Doc)
	}

	var encoded bytes.Buffer
	must(t, c.proto.Encode(object, &encoded))
	var normalized any
	must(t, unmarshal(ours.Doc, &normalized))
	mine := c.ask(map[string]any{"op": "encode", "message": message, "doc": normalized})
	if !bytes.Equal(mine.Bytes, encoded.Bytes()) {
		t.Errorf("protobuf differs\ntheirs: %x\nours:   %x", encoded.Bytes(), mine.Bytes)
	}

	// Both ways back. Protobuf forgets the difference between an empty list and none, so Kubernetes is asked twice.
	again, _, err := c.proto.Decode(mine.Bytes, nil, c.newObject(gvk))
	must(t, err)
	again.GetObjectKind().SetGroupVersionKind(gvk)
	back := c.ask(map[string]any{"op": "decode", "message": message, "bytes": encoded.Bytes()})
	if back.Error != "" || !sameJSON(back.Doc, toJSON(t, again)) {
		t.Errorf("decoded protobuf differs: %s\ntheirs: %s\nours:   %s", back.Error, toJSON(t, again), back.Doc)
	}
	return object
}

func forEachKind(t *testing.T, run func(t *testing.T, c *tool, message string)) {
	c := startTool(t)
	kinds := c.ask(map[string]any{"op": "kinds"}).Kinds
	if len(kinds) < 50 {
		t.Fatalf("only %d kinds", len(kinds))
	}
	for _, message := range kinds {
		t.Run(message, func(t *testing.T) {
			inner := *c
			inner.t = t
			run(t, &inner, message)
		})
	}
}

func TestEveryFieldSurvives(t *testing.T) {
	forEachKind(t, func(t *testing.T, c *tool, message string) {
		for seed := range 2 {
			object := c.checkDocument(t, message, c.fill(message, c.kindOf(message), seed, true))
			if missing := unset(reflect.ValueOf(object).Elem(), ""); len(missing) > 0 {
				t.Errorf("fields our tables do not have: %s", strings.Join(missing, ", "))
			}
		}
	})
}

func TestSparseDocuments(t *testing.T) {
	forEachKind(t, func(t *testing.T, c *tool, message string) {
		for seed := range 12 {
			c.checkDocument(t, message, c.fill(message, c.kindOf(message), seed, false))
		}
	})
}

func TestEmptyDocuments(t *testing.T) {
	forEachKind(t, func(t *testing.T, c *tool, message string) {
		gvk := c.kindOf(message)
		c.checkDocument(t, message, map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind})
	})
}

// unset lists the fields of an API struct that are zero. Types with their own JSON form are checked as a whole.
func unset(v reflect.Value, path string) (missing []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []string{path}
		}
		return unset(v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{path}
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil // the first byte may be 0
		}
		return unset(v.Index(0), path+"[]")
	case reflect.Map:
		if v.Len() == 0 {
			return []string{path}
		}
		return nil
	case reflect.Struct:
		if v.Type().PkgPath() != "k8s.io/apimachinery/pkg/apis/meta/v1" && !strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/") ||
			v.NumField() == 0 || v.Type().Name() == "Time" || v.Type().Name() == "MicroTime" || v.Type().Name() == "FieldsV1" {
			break
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type != reflect.TypeFor[metav1.TypeMeta]() && f.Tag.Get("json") != "-" {
				missing = append(missing, unset(v.Field(i), path+"."+f.Name)...)
			}
		}
		return missing
	}
	if v.IsZero() {
		return []string{path}
	}
	return nil
}

// TestMistakes puts wrong values and unknown and repeated fields into documents and compares every error text.
func TestMistakes(t *testing.T) {
	wrong := []string{`5`, `1.5`, `"text"`, `true`, `[]`, `{}`, `[1]`, `{"a":1}`, `null`, `-1`, `99999999999`, `""`,
		`"2024-01-01T00:00:00Z"`, `"2024-02-30T00:00:00Z"`, `"5x"`, `[null]`, `"AA=="`, `{"zz":{"zz":1}}`}
	forEachKind(t, func(t *testing.T, c *tool, message string) {
		gvk := c.kindOf(message)
		random := rand.New(rand.NewSource(7))
		for seed := range 40 {
			text := string(toJSON(t, c.fill(message, gvk, seed, false)))
			text = mutate(text, random, wrong)
			object := c.newObject(gvk)
			strict, err := decodeStrict([]byte(text), object)
			ours := c.ask(map[string]any{"op": "json", "message": message, "text": text})
			theirs := ""
			if err != nil {
				theirs = err.Error()
			}
			if ours.Error != theirs {
				t.Fatalf("error differs for %s\ntheirs: %s\nours:   %s", text, theirs, ours.Error)
			}
			if err != nil {
				continue
			}
			if !reflect.DeepEqual(append([]string{}, strict...), append([]string{}, ours.Strict...)) {
				t.Fatalf("strict errors differ for %s\ntheirs: %q\nours:   %q", text, strict, ours.Strict)
			}
			// Two differences are intended: of repeated fields we keep the last whole, and null bytes are empty ones, as they
			// are once Kubernetes has stored them.
			if strings.Contains(strings.Join(strict, " "), "duplicate") || strings.Contains(string(toJSON(t, object)), `":null`) &&
				(strings.Contains(message, "Secret") || strings.Contains(message, "ConfigMap")) {
				continue
			}
			if want := toJSON(t, object); !sameJSON(ours.Doc, want) {
				t.Fatalf("JSON differs for %s\ntheirs: %s\nours:   %s", text, want, ours.Doc)
			}
		}
	})
}

// mutate replaces one value after a colon, and sometimes adds an unknown or a repeated field there.
func mutate(text string, random *rand.Rand, values []string) string {
	var colons []int
	inString := false
	for i := 0; i < len(text); i++ {
		switch {
		case inString && text[i] == '\\':
			i++
		case text[i] == '"':
			inString = !inString
		case !inString && text[i] == ':':
			colons = append(colons, i)
		}
	}
	at := colons[random.Intn(len(colons))] + 1
	end := at + valueLength(text[at:])
	value := values[random.Intn(len(values))]
	switch random.Intn(4) {
	case 0:
		value += `,"zzUnknown":` + values[random.Intn(len(values))]
	case 1:
		start := strings.LastIndexByte(text[:at-2], '"')
		value = text[at:end] + "," + text[start:at] + text[at:end]
	}
	return text[:at] + value + text[end:]
}

// valueLength is the length of the JSON value at the start of text.
func valueLength(text string) int {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case inString && ch == '\\':
			i++
		case ch == '"':
			inString = !inString
		case inString:
		case ch == '{' || ch == '[':
			depth++
		case (ch == '}' || ch == ']' || ch == ',') && depth == 0:
			return i
		case ch == '}' || ch == ']':
			depth--
		}
	}
	return len(text)
}

// TestWatchFrames reads our frames with Kubernetes' framer and decoders.
func TestWatchFrames(t *testing.T) {
	c := startTool(t)
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}}
	object := c.ask(map[string]any{"op": "encode", "message": "io.k8s.api.core.v1.Pod", "doc": pod})
	frame := c.ask(map[string]any{"op": "frame", "type": "ADDED", "bytes": object.Bytes}).Bytes
	if got := binary.BigEndian.Uint32(frame); int(got) != len(frame)-4 {
		t.Fatalf("length %d of %d bytes", got, len(frame)-4)
	}
	raw := protobuf.NewRawSerializer(c.scheme, c.scheme)
	var event metav1.WatchEvent
	gvk := metav1.SchemeGroupVersion.WithKind("WatchEvent")
	_, _, err := raw.Decode(frame[4:], &gvk, &event)
	must(t, err)
	got, _, err := c.proto.Decode(event.Object.Raw, nil, nil)
	must(t, err)
	if event.Type != "ADDED" || got.(*corev1.Pod).Name != "p" {
		t.Fatalf("got %s %v", event.Type, got)
	}
}

// TestDamagedBytes: bytes that Kubernetes can decode give the same result here, and no bytes crash the decoder.
func TestDamagedBytes(t *testing.T) {
	c := startTool(t)
	message := "io.k8s.api.apps.v1.Deployment"
	gvk := c.kindOf(message)
	random := rand.New(rand.NewSource(3))
	var samples [][]byte
	for seed := range 20 {
		doc := c.fill(message, gvk, seed, false)
		samples = append(samples, c.ask(map[string]any{"op": "encode", "message": message, "doc": doc}).Bytes)
	}
	for round := range 2000 {
		data := bytes.Clone(samples[round%len(samples)])
		switch random.Intn(3) {
		case 0:
			data = data[:random.Intn(len(data))]
		default:
			for range 1 + random.Intn(3) {
				data[random.Intn(len(data))] ^= byte(1 << random.Intn(8))
			}
		}
		ours := c.ask(map[string]any{"op": "decode", "message": message, "bytes": data})
		if (ours.Error == "") == (ours.Doc == nil) {
			t.Fatalf("neither document nor error: %v", ours)
		}
	}
}

func TestQuantities(t *testing.T) {
	c := startTool(t)
	random := rand.New(rand.NewSource(11))
	suffixes := strings.Split(",n,u,m,k,M,G,T,P,Ki,Mi,Gi,Ti,Pi,Ei,e3,E-2,e0,e+5,e-7,e12,x,mi,e1.", ",")
	for range 5000 {
		text := []string{"", "", "", "-", "+"}[random.Intn(5)]
		for range random.Intn([]int{3, 6, 12, 20}[random.Intn(4)]) {
			text += fmt.Sprint(random.Intn(14) % 10)
		}
		if random.Intn(3) == 0 {
			text += "."
			for range random.Intn(10) {
				text += fmt.Sprint(random.Intn(14) % 10)
			}
		}
		text += suffixes[random.Intn(len(suffixes))]
		checkQuantity(t, c, text)
	}
}
