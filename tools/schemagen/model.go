package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// field is one row of a table, already in the words of api/schema/field_def.h.
type field struct {
	name          string
	typ           string // FieldType enumerator
	cardinality   string // Cardinality enumerator
	presence      []string
	protoNumber   int
	message       string
	goType        string
	listType      string
	listMapKeys   []string
	patchStrategy []string
	patchMergeKey string
	atomic        bool
	granular      bool
	enum          *enum
}

type enum struct {
	pkg    string
	name   string
	values []string
}

type message struct {
	pkg    string
	name   string
	fields []field
	atomic bool
}

type model struct {
	loader   *loader
	messages map[string]*message // by OpenAPI name
}

func newModel(l *loader) *model { return &model{loader: l, messages: map[string]*message{}} }

// openAPIName turns k8s.io/api/apps/v1 + Deployment into io.k8s.api.apps.v1.Deployment.
func openAPIName(pkg, name string) string {
	host, rest, _ := strings.Cut(pkg, "/")
	parts := strings.Split(host, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + name
}

const (
	metaV1   = "k8s.io/apimachinery/pkg/apis/meta/v1"
	resource = "k8s.io/apimachinery/pkg/api/resource"
	intstr   = "k8s.io/apimachinery/pkg/util/intstr"
	rtPkg    = "k8s.io/apimachinery/pkg/runtime"
)

// special are the types with their own JSON and protobuf form.
var special = map[string]string{
	resource + ".Quantity":                    "kQuantity",
	intstr + ".IntOrString":                   "kIntOrString",
	metaV1 + ".Time":                          "kTime",
	metaV1 + ".MicroTime":                     "kMicroTime",
	metaV1 + ".Duration":                      "kDuration",
	metaV1 + ".FieldsV1":                      "kFieldsV1",
	rtPkg + ".RawExtension":                   "kRawObject",
	metaV1 + ".Verbs":                         "kStringList",
	"k8s.io/api/authentication/v1.ExtraValue": "kStringList",
	"k8s.io/api/authorization/v1.ExtraValue":  "kStringList",
	"k8s.io/api/certificates/v1.ExtraValue":   "kStringList",
}

var scalars = map[string]string{
	"string": "kString", "bool": "kBool", "int32": "kInt32", "int64": "kInt64", "float64": "kDouble",
}

func (m *model) addStruct(pkg, name string) error {
	full := openAPIName(pkg, name)
	if _, done := m.messages[full]; done {
		return nil
	}
	p, err := m.loader.load(pkg)
	if err != nil {
		return err
	}
	decl, ok := p.types[name]
	if !ok {
		return fmt.Errorf("%s has no type %s", pkg, name)
	}
	body, ok := decl.spec.Type.(*ast.StructType)
	if !ok {
		return fmt.Errorf("%s.%s is no struct", pkg, name)
	}
	msg := &message{pkg: pkg, name: name, atomic: has(marker(decl.doc, "structType"), "atomic")}
	m.messages[full] = msg
	for _, f := range body.Fields.List {
		if err := m.addField(p, decl, msg, f); err != nil {
			return fmt.Errorf("%s.%s: %w", pkg, name, err)
		}
	}
	return nil
}

func (m *model) addField(p *goPackage, decl *goType, msg *message, f *ast.Field) error {
	if f.Tag == nil {
		return nil
	}
	raw, _ := strconv.Unquote(f.Tag.Value)
	tag := reflect.StructTag(raw)
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	if name == "-" {
		return nil
	}
	embedded := len(f.Names) == 0
	if embedded && name == "" && strings.HasSuffix(typeText(f.Type), "TypeMeta") {
		// In protobuf the envelope carries these two.
		for _, n := range []string{"kind", "apiVersion"} {
			msg.fields = append(msg.fields, field{name: n, typ: "kString", goType: "string", presence: []string{"kOmitEmpty"}})
		}
		return nil
	}
	row := field{name: name, protoNumber: protoNumber(tag.Get("protobuf"))}
	if err := m.resolve(p, decl, f.Type, &row); err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	if embedded && name == "" {
		text := typeText(f.Type)
		row.name = text[strings.LastIndex(text, ".")+1:]
		row.presence = append(row.presence, "kInline")
		msg.fields = append(msg.fields, row)
		return nil
	}
	doc := commentText(f.Doc)
	row.presence = append(row.presence, presence(options, doc)...)
	addMarkers(&row, tag, doc)
	msg.fields = append(msg.fields, row)
	return nil
}

func presence(jsonOptions, doc string) []string {
	var out []string
	omit := false
	for _, o := range strings.Split(jsonOptions, ",") {
		switch o {
		case "omitempty":
			omit = true
			out = append(out, "kOmitEmpty")
		case "omitzero":
			out = append(out, "kOmitZero")
		}
	}
	if !omit && len(marker(doc, "optional")) == 0 {
		out = append(out, "kRequired")
	}
	return out
}

func addMarkers(row *field, tag reflect.StructTag, doc string) {
	if lt := marker(doc, "listType"); len(lt) > 0 && row.cardinality == "kList" {
		row.listType = map[string]string{"atomic": "kAtomic", "set": "kSet", "map": "kMap"}[lt[0]]
	}
	row.listMapKeys = marker(doc, "listMapKey")
	row.atomic = has(marker(doc, "structType"), "atomic") || has(marker(doc, "mapType"), "atomic")
	row.granular = has(marker(doc, "structType"), "granular")
	if ps := tag.Get("patchStrategy"); ps != "" {
		names := map[string]string{"merge": "kPatchMerge", "retainKeys": "kPatchRetainKeys", "replace": "kPatchReplace"}
		for _, s := range strings.Split(ps, ",") {
			row.patchStrategy = append(row.patchStrategy, names[s])
		}
	}
	row.patchMergeKey = tag.Get("patchMergeKey")
}

// resolve finds the row's type, following named types into their packages.
func (m *model) resolve(p *goPackage, decl *goType, expr ast.Expr, row *field) error {
	switch t := expr.(type) {
	case *ast.StarExpr:
		row.presence = append(row.presence, "kPointer")
		return m.resolve(p, decl, t.X, row)
	case *ast.ArrayType:
		if typeText(t.Elt) == "byte" {
			row.typ = "kBytes"
			setGoType(row, "[]uint8")
			return nil
		}
		return m.resolveElement(p, decl, t.Elt, row, "kList", "[]")
	case *ast.MapType:
		var key field
		if err := m.resolve(p, decl, t.Key, &key); err != nil {
			return err
		}
		return m.resolveElement(p, decl, t.Value, row, "kMap", "map["+key.goType+"]")
	case *ast.InterfaceType:
		row.typ = "kAny"
		setGoType(row, "interface {}")
		return nil
	case *ast.SelectorExpr:
		path := decl.imports[typeText(t.X)]
		other, err := m.loader.load(path)
		if err != nil {
			return err
		}
		return m.resolveNamed(other, t.Sel.Name, row)
	case *ast.Ident:
		if s, ok := scalars[t.Name]; ok {
			row.typ = s
			setGoType(row, t.Name)
			return nil
		}
		return m.resolveNamed(p, t.Name, row)
	}
	return fmt.Errorf("unsupported type %T", expr)
}

// resolveElement handles the elements of a list or map; our tables know no list of lists.
func (m *model) resolveElement(p *goPackage, decl *goType, expr ast.Expr, row *field, cardinality, prefix string) error {
	if row.cardinality != "" {
		return fmt.Errorf("nested list or map")
	}
	var element field
	if err := m.resolve(p, decl, expr, &element); err != nil {
		return err
	}
	if element.cardinality != "" {
		return fmt.Errorf("nested list or map")
	}
	row.typ, row.message, row.enum, row.cardinality = element.typ, element.message, element.enum, cardinality
	setGoType(row, prefix+element.goType)
	return nil
}

func (m *model) resolveNamed(p *goPackage, name string, row *field) error {
	short := p.path[strings.LastIndex(p.path, "/")+1:] + "." + name
	setGoType(row, short)
	if s, ok := special[p.path+"."+name]; ok {
		row.typ = s
		return nil
	}
	decl, ok := p.types[name]
	if !ok {
		return fmt.Errorf("%s has no type %s", p.path, name)
	}
	if _, ok := decl.spec.Type.(*ast.StructType); ok {
		row.typ, row.message = "kMessage", openAPIName(p.path, name)
		return m.addStruct(p.path, name)
	}
	if len(marker(decl.doc, "enum")) > 0 {
		row.enum = &enum{p.path, name, p.consts[name]}
	}
	return m.resolve(p, decl, decl.spec.Type, row)
}

// setGoType keeps the outermost name: Go's decoder reports the named type, not what it stands for.
func setGoType(row *field, name string) {
	if row.goType == "" {
		row.goType = name
	}
}

func protoNumber(tag string) int {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}

func typeText(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return typeText(t.X) + "." + t.Sel.Name
	case *ast.StarExpr:
		return typeText(t.X)
	}
	return ""
}

func has(values []string, want string) bool {
	for _, v := range values {
		if v == want {
			return true
		}
	}
	return false
}

// byPackage groups the messages, both levels sorted, so that the output depends on nothing but the input.
func (m *model) byPackage() ([]string, map[string][]*message) {
	groups := map[string][]*message{}
	for _, msg := range m.messages {
		groups[msg.pkg] = append(groups[msg.pkg], msg)
	}
	var names []string
	for pkg, list := range groups {
		names = append(names, pkg)
		sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	}
	sort.Strings(names)
	return names, groups
}
