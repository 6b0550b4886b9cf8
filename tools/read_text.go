package tools

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-devserver/sandbox"
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/sandbox/secrets"
)

// regionBytes bounds the text that one call holds beside the neighbourhood in
// which secrets are looked for.
const regionBytes = 4 << 20

// wholeBytes is the size up to which a file is read in one piece.
const wholeBytes = 256 << 10

// readText fills o with the lines that in asks for, out of size bytes of r.
func readText(ctx context.Context, c *Call, in *readFileIn, o *readFileOut, r io.ReaderAt, size int64, path string) error {
	var whole []byte
	head := make([]byte, min(size, sniffBytes))
	if size <= wholeBytes {
		whole = make([]byte, size)
		head = whole
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), head); err != nil {
		return readError(in.Path, err)
	}
	head = head[:min(size, sniffBytes)]
	enc, mark, isText := sniff(head)
	if !isText {
		kind, mime, _ := magic(head)
		return sandbox.Refuse(sandbox.BinaryFile, sandbox.Args{"path": in.Path, "mime": mime, "kind": kind, "size_bytes": size})
	}
	if limit := c.Limits.MaxFileBytes; size > limit {
		return tooLarge(in.Path, size, limit, false)
	}
	if limit := c.Limits.UnrangedBytes; size > limit && !in.ranged() {
		return tooLarge(in.Path, size, limit, true)
	}
	o.encoding = enc
	src := &source{r: r, size: size, enc: enc, mark: int64(mark)}
	if whole != nil {
		src.r = bytes.NewReader(whole)
		if !src.wide() {
			src.whole = whole[mark:]
		}
	}

	survey, err := src.survey(ctx, in)
	if err != nil {
		return readError(in.Path, err)
	}
	o.total, o.finalNewline, o.lossy = survey.lines, survey.finalNewline, survey.lossy
	if o.lossy && !src.wide() {
		o.encoding = unknown
	}
	o.lineEnding = survey.ending()
	first := max(in.StartLine, 1)
	if in.Tail > 0 {
		first = max(survey.lines-in.Tail+1, 1)
	}
	if in.EndLine > 0 && in.EndLine < first || survey.lines > 0 && first > survey.lines || survey.lines == 0 && first > 1 {
		b := in.EndLine
		if b == 0 {
			b = first
		}
		return sandbox.Refuse(sandbox.InvalidRange, sandbox.Args{"path": in.Path, "a": first, "b": b, "n": survey.lines})
	}
	if survey.lines == 0 {
		o.Complete = true
		return nil
	}
	last := survey.lines
	if in.EndLine > 0 {
		last = min(last, in.EndLine)
	}
	wanted := last
	last = min(last, first+c.Limits.ReadMaxLines-1)

	release, err := c.Memory.Hold(ctx, min(3*size, 3*(regionBytes+2*secrets.Reach)))
	if err != nil {
		return err
	}
	defer release()
	from := max(survey.start-secrets.Reach, 0)
	raw, err := src.read(from, int(survey.start-from)+regionBytes+secrets.Reach)
	if err != nil {
		return readError(in.Path, err)
	}
	before, _ := validText(trimPartialRune(raw[:survey.start-from]))
	text, _ := validText(raw[survey.start-from:])
	if before != "" {
		text = before + text
	}
	region := secrets.Scan(text)
	ended := from+int64(len(raw)) >= survey.length
	switch {
	case o.lossy && src.wide():
		o.Notice(answer.W("units that are not UTF-16 are shown as U+FFFD"))
	case o.lossy:
		o.Notice(answer.W("bytes that are not UTF-8 are shown as U+FFFD; the file's encoding is unknown"))
	}

	w := window{c: c, region: region, at: len(before), visible: len(region.Raw), line: first, last: last,
		stripCR: o.lineEnding == "crlf", whole: in.StartLine > 0 && in.StartLine == in.EndLine}
	if !ended {
		// What comes near the end of the region could be part of a secret
		// that the region does not show whole.
		w.visible = max(len(region.Raw)-secrets.Reach, w.at)
		w.rest = func() (int, error) { return src.restOfLine(ctx, from+int64(len(raw))) }
	}
	if err := w.take(); err != nil {
		return readError(in.Path, err)
	}
	o.first, o.last, o.cut = first, w.line-1, w.cut
	shown := w.text()
	if len(o.cut) > 0 {
		shown = seen(shown)
	}
	o.text, o.open = c.Texts.Content(shown, o.path, first), !strings.HasSuffix(shown.Raw, "\n")
	o.Complete = o.last == wanted && len(o.cut) == 0
	if o.last < wanted {
		o.Stopped = "limit"
		if o.last < last {
			o.Stopped = "chars"
		}
		n := &answer.Next{Tool: "read_file", Args: []answer.Arg{answer.ArgText("path", o.path), answer.ArgInt("start_line", int64(o.last+1))}}
		if in.EndLine > 0 || in.Tail > 0 {
			n.Args = append(n.Args, answer.ArgInt("end_line", int64(wanted)))
		}
		if o.revision != answer.None {
			n.Args = append(n.Args, answer.ArgText("revision", o.revision))
		}
		if !in.LineNumbers {
			n.Args = append(n.Args, answer.ArgBool("line_numbers", false))
		}
		o.Next = n
	} else if len(o.cut) > 0 {
		o.Stopped = "chars"
		if !w.whole {
			o.Next = &answer.Next{Tool: "read_file", Why: "shows the first cut line whole", Args: []answer.Arg{
				answer.ArgText("path", o.path), answer.ArgInt("start_line", int64(o.cut[0])), answer.ArgInt("end_line", int64(o.cut[0]))}}
			if o.revision != answer.None {
				o.Next.Args = append(o.Next.Args, answer.ArgText("revision", o.revision))
			}
			if !in.LineNumbers {
				o.Next.Args = append(o.Next.Args, answer.ArgBool("line_numbers", false))
			}
		}
	}
	return nil
}

// window takes lines out of a region until the last one, the end of what the
// region shows whole, or the budget.
type window struct {
	c       *Call
	region  secrets.Text
	at      int // next byte of the region
	visible int // bytes of the region from which lines are taken
	line    int // next line
	last    int
	stripCR bool
	whole   bool                // one line was asked for: it is not cut at the line limit
	rest    func() (int, error) // characters of the region's last line behind the region; nil when it ends the file
	cut     []int
	plain   int    // where the lines begin that were taken just as they are
	out     joiner // what was taken otherwise
	mixed   bool   // out is used
}

// text returns the lines taken, each ended by a newline, except that the last line
// of a file may lack one. Mostly it is one piece of the region.
func (w *window) text() secrets.Text {
	if w.mixed {
		return w.out.text()
	}
	return w.region.Slice(w.plain, w.at)
}

// mix gives up the one piece: what was taken so far is copied.
func (w *window) mix() {
	if !w.mixed {
		w.mixed = true
		w.out.add(w.region.Slice(w.plain, w.at))
	}
}

func (w *window) take() error {
	budget := w.c.Limits.ContentChars()
	prose, structured := 0, 0
	w.plain = w.at
	for w.line <= w.last && w.at < len(w.region.Raw) {
		end, next := len(w.region.Raw), len(w.region.Raw)
		if i := strings.IndexByte(w.region.Raw[w.at:], '\n'); i >= 0 {
			end, next = w.at+i, w.at+i+1
			if w.stripCR && end > w.at && w.region.Raw[end-1] == '\r' {
				end--
			}
		}
		limit := w.c.Limits.ReadMaxLineChars
		if w.whole {
			limit = budget
		}
		shown := w.at + answer.RunePrefix(w.region.Raw[w.at:end], limit)
		if shown > w.visible && prose > 0 {
			return nil // the first line is shown even when the region ends in it
		}
		shown = max(min(shown, w.visible), w.at)
		piece := w.region.Slice(w.at, shown)
		cost := answer.Cost(piece)
		// A number, a tab and a newline in prose; a tenth of an object and a
		// newline in the structured half.
		overhead := digits(w.line) + 5
		if prose+cost+overhead > budget || structured+cost+overhead > budget {
			if prose > 0 {
				return nil
			}
			for cost := answer.Cost(piece); cost+overhead > budget; cost = answer.Cost(piece) {
				n := utf8.RuneCountInString(piece.Raw)
				shown = w.at + answer.RunePrefix(piece.Raw, min(n-1, n*budget/(cost+overhead)))
				piece = w.region.Slice(w.at, shown)
			}
			cost = answer.Cost(piece)
		}
		// The last line of a file may lack its newline and still be taken as it is.
		asIs := shown == end && (next == end+1 || next == end && w.rest == nil)
		if !asIs {
			w.mix()
		}
		if w.mixed {
			w.out.add(piece)
		}
		if shown < end {
			w.cut = append(w.cut, w.line)
			more := utf8.RuneCountInString(w.region.Raw[shown:end])
			if next == len(w.region.Raw) && end == next && w.rest != nil {
				n, err := w.rest()
				if err != nil {
					return err
				}
				more += n
			}
			mark := " … [+" + strconv.Itoa(more) + " chars]"
			w.out.word(mark)
			cost += utf8.RuneCountInString(mark)
		}
		if w.mixed {
			w.out.word("\n")
		}
		prose += cost + overhead
		structured += cost + overhead
		w.at = next
		w.line++
	}
	return nil
}
