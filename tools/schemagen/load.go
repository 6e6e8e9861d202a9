package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// goType is a type declaration with the comment above it and the imports of its file.
type goType struct {
	name    string
	spec    *ast.TypeSpec
	doc     string
	imports map[string]string // name used in the file -> import path
}

// goPackage is what we keep of a parsed package.
type goPackage struct {
	path   string
	types  map[string]*goType
	consts map[string][]string // named string type -> values of its constants
	values map[string]string   // string constant -> its value
}

type loader struct {
	modules  map[string]module
	packages map[string]*goPackage
}

func newLoader() *loader {
	return &loader{modules: map[string]module{}, packages: map[string]*goPackage{}}
}

func (l *loader) addModule(path string) error {
	if _, done := l.modules[path]; done {
		return nil
	}
	m, err := findModule(path)
	if err != nil {
		return err
	}
	l.modules[path] = m
	return nil
}

// load parses the package of the given import path, once.
func (l *loader) load(path string) (*goPackage, error) {
	if p, done := l.packages[path]; done {
		return p, nil
	}
	dir := ""
	for prefix, m := range l.modules {
		if rest, ok := strings.CutPrefix(path, prefix+"/"); ok {
			dir = filepath.Join(m.Dir, rest)
		}
	}
	if dir == "" {
		return nil, fmt.Errorf("package %s is in none of our modules", path)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &goPackage{path: path, types: map[string]*goType{}, consts: map[string][]string{}, values: map[string]string{}}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") ||
			strings.HasSuffix(e.Name(), ".pb.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if err := p.addFile(l, file); err != nil {
			return nil, err
		}
	}
	for _, values := range p.consts {
		sort.Strings(values)
	}
	l.packages[path] = p
	return p, nil
}

func (p *goPackage) addFile(l *loader, file *ast.File) error {
	imports := map[string]string{}
	for _, im := range file.Imports {
		path, _ := strconv.Unquote(im.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		imports[name] = path
	}
	for i, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				p.types[s.Name.Name] = &goType{s.Name.Name, s, docAbove(file, i, gen, s), imports}
			case *ast.ValueSpec:
				if gen.Tok == token.CONST {
					if err := p.addConst(l, imports, s); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// docAbove joins the declaration's own comment with the comment block before it: code generators' markers are often
// kept apart from the documentation by an empty line.
func docAbove(file *ast.File, index int, gen *ast.GenDecl, spec *ast.TypeSpec) string {
	start := token.NoPos
	if index > 0 {
		start = file.Decls[index-1].End()
	}
	var b strings.Builder
	for _, group := range file.Comments {
		if group.Pos() > start && group.End() <= gen.Pos() {
			b.WriteString(commentText(group))
		}
	}
	b.WriteString(commentText(spec.Doc))
	return b.String()
}

// commentText is the raw text: CommentGroup.Text() drops lines that look like directives.
func commentText(group *ast.CommentGroup) string {
	if group == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(c.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// addConst keeps the constants of named string types: `A T = "a"`, `A = T("a")` and `A = T(other.A)`.
func (p *goPackage) addConst(l *loader, imports map[string]string, s *ast.ValueSpec) error {
	for i, v := range s.Values {
		named, _ := s.Type.(*ast.Ident)
		if call, ok := v.(*ast.CallExpr); ok && named == nil && len(call.Args) == 1 {
			named, _ = call.Fun.(*ast.Ident)
			v = call.Args[0]
		}
		if named == nil {
			continue
		}
		value, known, err := constValue(l, imports, v)
		if err != nil {
			return err
		}
		if known {
			p.values[s.Names[i].Name] = value
			p.consts[named.Name] = append(p.consts[named.Name], value)
		}
	}
	return nil
}

// constValue is the value of a string literal, or of another package's constant.
func constValue(l *loader, imports map[string]string, v ast.Expr) (string, bool, error) {
	switch e := v.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false, nil
		}
		value, err := strconv.Unquote(e.Value)
		return value, err == nil, err
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok || !strings.HasPrefix(imports[pkg.Name], "k8s.io/api/") {
			return "", false, nil
		}
		other, err := l.load(imports[pkg.Name])
		if err != nil {
			return "", false, err
		}
		value, known := other.values[e.Sel.Name]
		return value, known, nil
	}
	return "", false, nil
}

// marker returns the values of a comment marker such as "+listType=map".
func marker(doc, name string) []string {
	var values []string
	for _, line := range strings.Split(doc, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if line == "+"+name {
			values = append(values, "")
		} else if rest, ok := strings.CutPrefix(line, "+"+name+"="); ok {
			values = append(values, strings.TrimSpace(rest))
		}
	}
	return values
}
