package symbol

import (
	"context"
	"go/ast"
	"go/parser"
	goscanner "go/scanner"
	"go/token"
	"strings"
)

// What go/parser makes of a text that is not Go can cost it ten times what Go does, all of it for errors that nobody
// reads, and it cannot be interrupted.
const (
	goWhole  = 256 << 10 // a longer text must look like Go to be parsed
	goFaults = 1000      // words that are none; a text of more does not look like Go
	goPiece  = 64 << 10  // of a longer declaration the parser gives up after ten lines with errors
	goPieces = 20_000    // declarations that are parsed on their own
	goMasked = 1000      // masked bytes, each of which the parser reports
	goMode   = parser.SkipObjectResolution
)

// parseGo reads Go with go/parser; of a file with syntax errors it uses the declarations that can be read by themselves.
func parseGo(ctx context.Context, _ *language, src string) ([]Symbol, bool) {
	if strings.Count(src, "\x00") > goMasked {
		src = strings.ReplaceAll(src, "\x00", " ")
	}
	if len(src) > goWhole && !looksLikeGo(ctx, src) {
		return nil, false
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, goMode)
	if file == nil {
		return nil, false
	}
	g := goWalk{src: src, lines: newLineIndex(src), tf: fset.File(file.FileStart)}
	name := file.Name
	if name == nil || name.Name == "" { // it gave up on what follows
		if head, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.PackageClauseOnly); head != nil {
			name = head.Name
		}
	}
	if name != nil && name.Name != "_" {
		g.pkg = name.Name
	}
	if err == nil || onlyNULs(err) {
		g.decls(file)
		return g.out, true
	}
	// After an error the parser may lose what follows. Read on its own, every piece that begins with a keyword in the
	// first column (as gofmt leaves it) is found whether or not its neighbours are broken.
	for n, c := range goChunks(Blank(ctx, "go", src)) {
		if ctx.Err() != nil || n == goPieces {
			break
		}
		mode := goMode
		if c[1]-c[0] <= goPiece {
			mode |= parser.AllErrors
		}
		fset := token.NewFileSet()
		piece, _ := parser.ParseFile(fset, "", goHead+strings.TrimRight(src[c[0]:c[1]], " \t\r\n"), mode)
		if piece == nil {
			continue
		}
		g.tf, g.base = fset.File(piece.FileStart), c[0]-len(goHead)
		g.decls(piece)
	}
	return g.out, false
}

// looksLikeGo is false for a text of many words that are not Go's.
func looksLikeGo(ctx context.Context, src string) bool {
	faults := 0
	var s goscanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, []byte(src), func(_ token.Position, msg string) {
		if msg != noNUL {
			faults++
		}
	}, 0)
	for n := 1; faults <= goFaults; n++ {
		if n%checkSteps == 0 && ctx.Err() != nil {
			return false
		}
		if _, tok, _ := s.Scan(); tok == token.EOF {
			return true
		}
	}
	return false
}

const noNUL = "illegal character NUL"

const goHead = "package _;"

// goChunks splits blanked text before each line that begins with func, type, var or const.
func goChunks(code string) [][2]int {
	var out [][2]int
	start := -1
	for i := 0; i < len(code); i = lineLen(code, i) + 1 {
		switch code[i:wordEnd(code, i)] {
		case "func", "type", "var", "const":
			if start >= 0 {
				out = append(out, [2]int{start, i})
			}
			start = i
		}
	}
	if start >= 0 {
		out = append(out, [2]int{start, len(code)})
	}
	return out
}

func (g *goWalk) decls(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.fun(d)
		case *ast.GenDecl:
			g.gen(d, "")
		}
	}
}

// onlyNULs: masked bytes inside a literal are reported by the scanner, but the tree is whole.
func onlyNULs(err error) bool {
	list, ok := err.(goscanner.ErrorList)
	if !ok {
		return false
	}
	for _, e := range list {
		if e.Msg != noNUL {
			return false
		}
	}
	return true
}

type goWalk struct {
	src   string
	lines lineIndex
	tf    *token.File
	base  int // offset of the parsed text in src
	pkg   string
	out   []Symbol
}

// offset maps a position to a byte offset; positions that the parser invented for missing tokens are clamped. Line
// numbers come from offsets, never from the position itself, which a //line directive could move.
func (g *goWalk) offset(p token.Pos) int {
	if g.tf == nil || !p.IsValid() || int(p) < g.tf.Base() {
		return 0
	}
	return clamp(int(p)-g.tf.Base()+g.base, len(g.src))
}

func (g *goWalk) add(name *ast.Ident, container string, k Kind, start, end, sigStart, sigEnd token.Pos) {
	if name == nil || name.Name == "_" || name.Name == "" || len(g.out) == maxSymbols {
		return
	}
	s := Symbol{Name: name.Name, Container: container, Package: g.pkg, Kind: k,
		Start: g.offset(start), End: g.offset(end), SigStart: g.offset(sigStart), SigEnd: g.offset(sigEnd)}
	s.Line = g.lines.line(g.offset(name.Pos()))
	s.EndLine = g.lines.line(max(s.End-1, 0))
	g.out = append(g.out, s)
}

func (g *goWalk) fun(d *ast.FuncDecl) {
	k, container := Function, ""
	if d.Recv != nil {
		k = Method
		if len(d.Recv.List) > 0 {
			container = receiver(d.Recv.List[0].Type)
		}
	}
	sigEnd := d.Type.End()
	g.add(d.Name, container, k, d.Pos(), d.End(), d.Pos(), sigEnd)
	if d.Body == nil {
		return
	}
	inside := within(container, d.Name.Name)
	ast.Inspect(d.Body, func(n ast.Node) bool { // types may be declared inside a function; its variables are its own matter
		if s, ok := n.(*ast.DeclStmt); ok {
			if gd, ok := s.Decl.(*ast.GenDecl); ok && gd.Tok == token.TYPE {
				g.gen(gd, inside)
			}
		}
		_, isType := n.(*ast.StructType)
		return !isType
	})
}

// receiver is the type name of a method receiver, without pointer, parentheses and type parameters.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func (g *goWalk) gen(d *ast.GenDecl, container string) {
	for _, spec := range d.Specs {
		start := spec.Pos()
		if !d.Lparen.IsValid() {
			start = d.Pos()
		}
		switch s := spec.(type) {
		case *ast.TypeSpec:
			g.typ(s, container, start)
		case *ast.ValueSpec:
			k := Variable
			if d.Tok == token.CONST {
				k = Constant
			}
			for _, n := range s.Names {
				g.add(n, container, k, start, s.End(), start, g.lineEnd(s.End(), start))
			}
		}
	}
}

// lineEnd cuts a signature of values and types after the line it starts on, so that a table of a thousand lines does
// not become one.
func (g *goWalk) lineEnd(end, start token.Pos) token.Pos {
	a, b := g.offset(start), g.offset(end)
	if i := g.lines.lineEnd(a, b); a < i && i < b {
		return start + token.Pos(i-a) // both ends lie in the same text
	}
	return end
}

func (g *goWalk) typ(s *ast.TypeSpec, container string, start token.Pos) {
	if s.Name == nil {
		return
	}
	k, sigEnd := Type, s.End()
	inside := within(container, s.Name.Name)
	var fields *ast.FieldList
	fieldKind := Field
	switch t := s.Type.(type) {
	case *ast.StructType:
		k, fields = Struct, t.Fields
	case *ast.InterfaceType:
		k, fields, fieldKind = Interface, t.Methods, Method
	}
	if s.Assign.IsValid() {
		k = Type
	}
	if fields != nil && fields.Opening.IsValid() {
		sigEnd = fields.Opening
	}
	g.add(s.Name, container, k, start, s.End(), start, g.lineEnd(sigEnd, start))
	g.fields(fields, inside, fieldKind)
}

func (g *goWalk) fields(list *ast.FieldList, container string, k Kind) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			g.add(n, container, k, f.Pos(), f.End(), f.Pos(), g.lineEnd(f.End(), f.Pos()))
			if st, ok := f.Type.(*ast.StructType); ok {
				g.fields(st.Fields, within(container, n.Name), Field)
			}
		}
		if len(f.Names) == 0 && k == Field {
			if id := embedded(f.Type); id != nil {
				g.add(id, container, Field, f.Pos(), f.End(), f.Pos(), g.lineEnd(f.End(), f.Pos()))
			}
		}
	}
}

// embedded is the identifier that names an embedded field.
func embedded(e ast.Expr) *ast.Ident {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.SelectorExpr:
			return t.Sel
		case *ast.Ident:
			return t
		default:
			return nil
		}
	}
}
