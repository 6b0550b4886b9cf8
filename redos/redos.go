// Package redos compiles and runs the regular expressions that a caller of the server sends. It is the only door to the
// backtracking engine (regexp2): nothing else in the program imports it.
//
// # How to start
//
//	re, err := redos.Compile(`func \w+\(`, redos.Options{MatchTimeout: 250 * time.Millisecond})
//	if re.MayMatch(file) {
//		lines := re.Candidates(masked)
//		for at := lines.Next(0); at >= 0; at = lines.Next(endOfLine+1) {
//			start, end, ok, err := re.Find(lineAround(at), deadline)
//		}
//		lines.Close()
//	}
//
// # What it promises
//
//   - A pattern in which one text can be split in two or more ways under a repeat, so that a failing match takes
//     exponential time, is refused by Compile before the engine sees a text ([UnsafeError]). The judgement is made on
//     the engine's own parsed and optimised tree by an ambiguity test of the automaton behind it; see guard.go.
//   - Polynomial patterns pass the guard and meet a bound: a match ends with ErrTimeout after MatchTimeout or at the
//     deadline, whichever comes first, plus about two periods of the engine's clock (10 ms each) on a machine that is
//     not overloaded. A timeout that the coarse clock reports early is tried again, at most three times.
//   - Memory is bounded: a pattern whose counts the engine would write out is refused before it is parsed (counts.go),
//     lines over [MaxLine] (texts over [MaxText] with Multiline) are refused before they are decoded,
//     and the engine's backtracking stack keeps its limit ([ErrStack]).
//   - Errors are values and words of this package. The engine's own texts quote the pattern or the searched text and
//     never leave it.
//   - MayMatch and Candidates never lose a match. They look for a rare byte of a literal that every match must hold, or for
//     windows of three classes of bytes one of which is in every match (windows.go, cut.go), or, where neither is rare, run
//     an automaton over the bytes that accepts a superset of the pattern; see program.go. Windows are looked for by AVX2
//     instructions; on other processors they are not chosen.
//
// # Semantics
//
// Perl-like syntax with lookaround, backreferences, named, atomic and possessive groups. \d \w \s and [[:classes:]] are
// ASCII as in RE2 (\s is tab, newline, form feed, return and space); \b uses the Unicode notion of a word character, and
// ignoring case uses Unicode simple folding. A letter that means nothing behind a backslash is an error there. Without
// Multiline a text is one line without its terminator, so ^ and $ are its ends; $ does not match before a final newline.
// With Multiline ^ and $ match at every line and the dot matches a newline; terminators must be \n alone. Bytes that are
// not UTF-8 count as U+FFFD, one each.
//
// # Limits
//
// The guard decides about exponential time only, and no static rule is complete: the deadline is what bounds the rest.
// Of assertions it understands line ends and what a lookahead says about the next character; boundaries and lookbehinds
// are taken as met, and a backreference as a text of its group's language. So a pattern that is safe only thanks to one of
// those may be refused. Parsing cannot be interrupted: a pattern of MaxPattern bytes may take tens of milliseconds.
package redos

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"
)

const (
	// MaxLine is the longest line in bytes that is given to the engine; callers skip longer ones and count them.
	MaxLine = 1 << 20
	// MaxText is the longest text in bytes that is given to the engine with Multiline.
	MaxText = 4 << 20
	// MaxPattern is the longest pattern in bytes.
	MaxPattern = 4096
	// DefaultMatchTimeout bounds one match when Options name no bound.
	DefaultMatchTimeout = 250 * time.Millisecond

	clockPeriod = 10 * time.Millisecond
	stackSlots  = 100_000 // backtracking slots of the engine, 800 kB
)

var (
	// ErrTimeout says that a match outlasted its MatchTimeout or the deadline.
	ErrTimeout = errors.New("the pattern took too long on this text")
	// ErrStack says that a match needed more backtracking memory than the engine may use.
	ErrStack = errors.New("the pattern needed too much memory on this text")
	// ErrTooLong says that the text is longer than MaxLine, or MaxText with Multiline, and was not looked at.
	ErrTooLong = errors.New("the line is too long to be matched")
	// ErrEngine says that the engine failed in a way that no caller can cause knowingly; the text counts as not searched.
	ErrEngine = errors.New("the pattern could not be run on this text")
)

// SyntaxError says that a pattern is not valid.
type SyntaxError struct {
	Position int    // 1-based character at which the fault shows
	Reason   string // one of a closed set of phrases; holds no text of the pattern
}

func (e *SyntaxError) Error() string { return "invalid pattern: " + e.Reason }

// UnsafeError says that a pattern may take exponential time.
type UnsafeError struct {
	Fragment   string // the repeated part that can match one text in several ways, at most 60 characters
	Suggestion string // a pattern that Compile accepts in place of the refused one or, where that is long, of the fragment; may be ""
}

func (e *UnsafeError) Error() string {
	return "unsafe pattern: a repeated part can match one text in several ways"
}

// Options choose how a pattern is read. The zero value is a case-sensitive regular expression matched within one line.
type Options struct {
	Literal      bool          // the pattern is plain text
	IgnoreCase   bool          // Unicode simple folding
	Multiline    bool          // the text has many lines, and the dot matches a newline
	MatchTimeout time.Duration // bound of one match; 0 means DefaultMatchTimeout
	NoGuard      bool          // skip the static guard: for tests and measurements
}

// Regex is a compiled pattern. It is safe for concurrent use.
type Regex struct {
	re        *regexp2.Regexp // nil in literal mode
	plain     *plain          // literal mode
	filter    *filter         // nil when no literal is required, or none that is worth looking for
	automaton *automaton      // nil when it would let every line pass
	timeout   time.Duration
	maxText   int
	multiline bool
}

func init() { regexp2.SetTimeoutCheckPeriod(clockPeriod) } // before any match: the engine reads it without a lock

// Compile checks and compiles a pattern. Errors are *SyntaxError and *UnsafeError.
func Compile(pattern string, o Options) (*Regex, error) {
	r := &Regex{timeout: o.MatchTimeout, maxText: MaxLine, multiline: o.Multiline}
	if r.timeout <= 0 {
		r.timeout = DefaultMatchTimeout
	}
	if o.Multiline {
		r.maxText = MaxText
	}
	if len(pattern) > MaxPattern {
		return nil, &SyntaxError{Position: 1, Reason: reasonTooLong}
	}
	if o.Literal {
		r.plain, r.filter = newPlain(pattern, o.IgnoreCase)
		return r, nil
	}
	if !utf8.ValidString(pattern) {
		return nil, &SyntaxError{Position: invalidAt(pattern), Reason: reasonEncoding}
	}
	if at := tooMany(pattern); at > 0 {
		return nil, &SyntaxError{Position: at, Reason: reasonMany}
	}
	opts := engineOptions(o)
	text, folded := engineText(pattern, opts)
	if folded > maxFolded {
		return nil, &SyntaxError{Position: 1, Reason: reasonWide}
	}
	tree, err := parse(pattern, opts)
	if err != nil {
		return nil, syntaxError(pattern, opts, err)
	}
	if at := scanSource(pattern).unknown; at > 0 {
		return nil, &SyntaxError{Position: at, Reason: reasonEscape}
	}
	if !o.NoGuard && unsafePattern(pattern, tree) {
		return nil, refusal(pattern, opts)
	}
	if r.re, err = compileEngine(text, opts); err != nil {
		return nil, syntaxError(pattern, opts, err)
	}
	r.re.MatchTimeout = r.timeout
	r.automaton = newAutomaton(tree, o.Multiline)
	r.filter = newFilter(tree, r.automaton)
	if r.filter != nil && !r.filter.needsProof {
		r.automaton = nil // the literals say it all
	}
	return r, nil
}

func engineOptions(o Options) syntax.RegexOptions {
	opts := syntax.RE2
	if o.IgnoreCase {
		opts |= syntax.IgnoreCase
	}
	if o.Multiline {
		opts |= syntax.Multiline | syntax.Singleline
	}
	return opts
}

var errPanic = errors.New("parser failed")

// Both readers of a pattern below number groups in the order of the pattern, as Perl does; the engine would count the
// named ones behind all others.

// parse returns the engine's tree of a caller's pattern; a panic of its parser is an error like any other.
func parse(pattern string, opts syntax.RegexOptions) (t *syntax.RegexTree, err error) {
	defer func() {
		if recover() != nil {
			t, err = nil, errPanic
		}
	}()
	text, _ := engineText(pattern, opts)
	return syntax.Parse(text, syntax.ParseOptions{RegexOptions: opts, MaintainCaptureOrder: true})
}

func compileEngine(pattern string, opts syntax.RegexOptions) (re *regexp2.Regexp, err error) {
	defer func() {
		if recover() != nil {
			re, err = nil, errPanic
		}
	}()
	return regexp2.Compile(pattern, regexp2.RegexOptions(opts), regexp2.OptionMaxBacktrackingStackSize(stackSlots), regexp2.OptionMaintainCaptureOrder())
}

func invalidAt(s string) int {
	n := 1
	for i, c := range s {
		if c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			break
		}
		n++
	}
	return n
}
