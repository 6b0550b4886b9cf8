package redos

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
)

var benchLine = "	return nil, fmt.Errorf(\"reading %s: %w\", name, err) // Handler"

// benchFile is text like source, with one needle in the middle of a megabyte.
var benchFile = func() []byte {
	var b bytes.Buffer
	for b.Len() < 1<<20 {
		b.WriteString("func (s *server) handle(ctx context.Context, req *request) error {\n")
		b.WriteString("	if err := s.check(ctx, req.name); err != nil {\n		return fmt.Errorf(\"checking: %w\", err)\n	}\n")
		b.WriteString("	// a comment that says why and not what, with some words in it\n	return s.next.handle(ctx, req)\n}\n\n")
	}
	half := b.Len() / 2
	return bytes.Join([][]byte{b.Bytes()[:half], b.Bytes()[half:]}, []byte("\nneedleHandler xyzzy\n"))
}()

func BenchmarkFind(b *testing.B) {
	deadline := time.Now().Add(time.Hour)
	for name, p := range map[string]string{
		"suffix": `\w+Handler\b`, "lookbehind": `(?<=// )\w+`, "dot": `return .*Errorf`, "miss": `\w+Handlers\b`,
	} {
		re := mustCompile(b, p, Options{})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				re.Find(benchLine, deadline)
			}
		})
		b.Run(name+"/engine alone", func(b *testing.B) { // rejected: allocates, and decodes even where nothing is found
			b.ReportAllocs()
			raw := regexp2.MustCompile(p, regexp2.RE2)
			raw.MatchTimeout = time.Second
			for b.Loop() {
				raw.FindStringMatch(benchLine)
			}
		})
	}
}

func BenchmarkCandidates(b *testing.B) {
	all := func(b *testing.B, re *Regex) {
		b.SetBytes(int64(len(benchFile)))
		b.ReportAllocs()
		for b.Loop() {
			c := re.Candidates(view(benchFile))
			for at := c.Next(0); at >= 0; {
				end := bytes.IndexByte(benchFile[at:], '\n')
				if end < 0 {
					break
				}
				at = c.Next(at + end + 1)
			}
			c.Close()
		}
	}
	for _, c := range []struct {
		name, pattern string
		o             Options
	}{
		{"rare literal", "xyzzy", Options{Literal: true}},
		{"common first byte", "needleHandler", Options{Literal: true}},
		{"common literal", "return", Options{Literal: true}},
		{"any case", "XYZZY", Options{Literal: true, IgnoreCase: true}},
		{"any case, common letters", "needle", Options{Literal: true, IgnoreCase: true}},
		{"regex with literal", `\w+Handler\b`, Options{}},
		{"alternation", `xyzzy|plugh|frobnicate`, Options{}},
		{"classes", `[A-Z]{3,}_\d+`, Options{}},
		{"beyond ASCII", `\p{Greek}`, Options{}},
		{"lookbehind", `(?<=[A-Z])[0-9]\w`, Options{}},
		{"backreference", `\b([a-f]\w{3,})\s+\1\b`, Options{}},
		{"anchors", `^\s*[A-Z]\w+$`, Options{}},
	} {
		re := mustCompile(b, c.pattern, c.o)
		b.Run(c.name, func(b *testing.B) { all(b, re) })
	}
	one := mustCompile(b, `[A-Z]{3,}_\d+`, Options{})
	b.Run("classes/one lane", func(b *testing.B) { // rejected: a step waits for the one before
		b.SetBytes(int64(len(benchFile)))
		text := strings.ReplaceAll(string(benchFile), "\n", " ")
		t := one.automaton.get()
		for b.Loop() {
			t.line(text)
		}
	})
	b.Run("classes/windows byte by byte", func(b *testing.B) { // rejected: no faster than the automaton, and it says less
		b.SetBytes(int64(len(benchFile)))
		withoutVectors(func() {
			for b.Loop() {
				one.filter.windows.next(view(benchFile), 0, len(benchFile))
			}
		})
	})
	b.Run("classes/four lanes", func(b *testing.B) { // rejected where windows are rare
		all(b, automatonOnly(`[A-Z]{3,}_\d+`, Options{}, 0))
	})
	b.Run("classes/engine", func(b *testing.B) { // rejected: the engine on every line
		b.SetBytes(int64(len(benchFile)))
		deadline := time.Now().Add(time.Hour)
		all := bytes.Split(benchFile, []byte("\n"))
		for b.Loop() {
			for _, l := range all {
				one.Find(view(l), deadline)
			}
		}
	})
	b.Run("bytes.Index, common first byte", func(b *testing.B) { // rejected: stops at every first byte
		b.SetBytes(int64(len(benchFile)))
		for b.Loop() {
			bytes.Index(benchFile, []byte("needleHandlers"))
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for name, p := range map[string]string{
		"plain":   `func \w+\(`,
		"repeats": `^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`,
		"refused": `^(\w+.)+=\d$`,
		"large":   `(?:` + strings.Repeat(`[a-z]x|`, 140) + `z)*!`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Compile(p, Options{})
			}
		})
		b.Run(name+"/no guard", func(b *testing.B) {
			for b.Loop() {
				Compile(p, Options{NoGuard: true})
			}
		})
	}
}
