package tools

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// readSource reads a source file of known size as UTF-8; ok is false when it is not text or could not be read whole.
func readSource(f *sandbox.File, size int64) (text string, ok bool) {
	b := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), b); err != nil {
		return "", false
	}
	enc, mark, isText := sniff(b[:min(len(b), sniffBytes)])
	if !isText {
		return "", false
	}
	if enc == utf16LE || enc == utf16BE {
		decoded, err := io.ReadAll(io.LimitReader(decoder(enc, strings.NewReader(string(b))), 2*maxSymbolFile))
		if err != nil {
			return "", false
		}
		text, _ = validText(decoded)
		return text, true
	}
	text, _ = validText(b[mark:])
	return text, true
}

// notices says what was not looked at, and what a caller might have meant.
func (s *symbolSearch) notices(omitted int) {
	o := &s.out
	count := func(n int, one, many answer.Word) {
		switch {
		case n == 1:
			o.Notice(answer.W("1 "), answer.W(one))
		case n > 1:
			o.Notice(answer.N(int64(n)), answer.W(" "), answer.W(many))
		}
	}
	exts := make([]string, 0, len(s.unread))
	for e := range s.unread {
		exts = append(exts, e)
	}
	slices.SortFunc(exts, func(a, b string) int {
		if d := s.unread[b] - s.unread[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	const shown = 8
	rest := 0
	for i, e := range exts {
		if i >= shown {
			rest += s.unread[e]
			continue
		}
		word := answer.Word(" " + e) // one of the language table's own
		if n := s.unread[e]; n == 1 {
			o.Notice(answer.W("1"), answer.W(word), answer.W(" file was not looked at; use search_code"))
		} else {
			o.Notice(answer.N(int64(n)), answer.W(word), answer.W(" files were not looked at; use search_code"))
		}
	}
	count(rest, "file of a further language was not looked at; use search_code", "files of further languages were not looked at; use search_code")
	count(s.dense, "file is too dense to be analysed and was not looked at; use search_code", "files are too dense to be analysed and were not looked at; use search_code")
	count(s.large, "file over 4 MiB was not looked at; use search_code", "files over 4 MiB were not looked at; use search_code")
	count(s.binary, "file with the name of a source file is not text", "files with names of source files are not text")
	count(s.failed, "file could not be opened", "files could not be opened")
	count(s.broken, "file has syntax errors; its list may be incomplete", "files have syntax errors; their lists may be incomplete")
	count(s.stats.Unreadable, "folder could not be read", "folders could not be read")
	if s.stats.Capped {
		o.Notice(answer.W("the walk stopped at "), answer.N(int64(s.stats.Entries)), answer.W(" entries; narrow path"))
	}
	count(s.stats.Deep, "folder lies too deep and was not entered; set path to it", "folders lie too deep and were not entered; set path to one")
	if s.timeout {
		o.Notice(answer.W("time ran out; narrow path"))
	}
	if o.total == 0 {
		count(s.stats.Ignored, "ignored file or folder was not looked at; set path to it, or use search_code with include_ignored",
			"ignored files and folders were not looked at; set path to one, or use search_code with include_ignored")
	}
	if o.mode == "definitions" && o.total == 0 {
		count(s.otherKinds, "symbol of this name has another kind; leave kind out", "symbols of this name have another kind; leave kind out")
	}
	if o.mode == "references" {
		if s.in.Kind != "any" {
			o.Notice(answer.W("kind does not apply to references and was not used"))
		}
		if len(s.query.qualifiers) > 0 {
			o.Notice(answer.W("references are found by the last part of the name alone"))
		}
		if s.in.IncludeBody {
			o.Notice(answer.W("include_body does not apply to references"))
		}
	}
	if s.in.Offset > 0 && s.in.Offset >= o.total {
		o.Notice(answer.W("offset lies behind the last result"))
	}
	count(omitted, "body is left out because it is longer than 200 lines or than the answer may be; read_file shows it",
		"bodies are left out because they are longer than 200 lines or than the answer may be; read_file shows them")
}

// oneLine brings a signature onto one line of at most maxSignature characters. Secrets keep their places; what the
// rules see only now, because a line end is gone, is hidden as well.
func oneLine(t secrets.Text) secrets.Text {
	var j joiner
	at := 0
	for i := 0; i <= len(t.Raw); i++ {
		if i < len(t.Raw) && !isBlank(t.Raw[i]) {
			continue
		}
		if i > at {
			if j.raw.Len() > 0 {
				j.raw.WriteByte(' ') // a secret that goes on behind it stays one
			}
			j.add(t.Slice(at, i))
		}
		at = i + 1
	}
	joined := j.text()
	end := answer.RunePrefix(joined.Raw, maxSignature)
	cut := end < len(joined.Raw)
	joined = joined.Slice(0, end)
	if cut {
		joined.Raw += "…"
	}
	return seen(joined)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
