package untrusted

import (
	"slices"
	"strings"

	"mcp-devserver/sandbox/internal/keywords"
)

// trigger is a keyword with what it may be the sign of.
type trigger struct {
	word keywords.Word
	kind int
	n    int // of a template
}

// Kinds of triggers.
const (
	rareWord = iota
	outward  // a word that may ask for something to be sent
	modelColon
	systemColon
	download
	substituted
	decoder
	keyFile
	fixed
	commentOpens
	remarkOpens
	ruled
	framed
	styled
)

// triggers are this package's keywords, by number. None of them is common: what
// begins with an ordinary word is looked for at its rarest one.
var triggers []trigger

var words = keywords.Register(func() []keywords.Word {
	out := make([]keywords.Word, len(triggers))
	for i := range triggers {
		out[i] = triggers[i].word
	}
	return out
})

func (sc *scanner) see(word, end int) {
	t := &triggers[word]
	at := end - len(t.word.Text)
	switch t.kind {
	case rareWord:
		if sc.pivoted != at {
			sc.pivoted = at
			sc.pivot(at)
		}
	case outward:
		if !neverSet.has(sc.wordBefore(at)) {
			sc.sendTo(at, end)
		}
	case modelColon:
		sc.addressed(at)
	case systemColon:
		sc.system(at, end-1)
	case download:
		if !inName(sc.s, at) {
			sc.pipe(at, end)
		}
	case substituted:
		sc.substituted(at)
	case decoder:
		if rest := sc.s[end-1:]; strings.HasPrefix(rest, "-d") || strings.HasPrefix(rest, "-D") || strings.HasPrefix(rest, "--decode") {
			sc.pipe(at, at+len("base"))
		}
	case keyFile:
		sc.keyFile(at, at+len("id"))
	case fixed:
		sc.template(t.n, at, end)
	case commentOpens:
		if sc.opens(at) {
			sc.comment(at, end, "-->")
		}
	case remarkOpens:
		if sc.opens(at) {
			sc.comment(at, at+len("[//]: # "), "\n")
		}
	case ruled:
		sc.ruled(at)
	case framed:
		sc.framed(at)
	case styled:
		sc.styled(at)
	}
}

func init() {
	var noLetter, wordEnds, sendEnds keywords.Set
	for c := range 256 {
		if !isLetter(byte(c)) {
			noLetter.Add(byte(c))
			if c != '\'' {
				wordEnds.Add(byte(c))
				if c != '=' { // EMAIL=… assigns
					sendEnds.Add(byte(c))
				}
			}
		}
	}
	add := func(kind int, before *keywords.Set, then *keywords.Set, texts ...string) {
		for _, t := range texts {
			w := keywords.Word{Text: t, Before: before, Always: true}
			if then != nil {
				w.Then = []keywords.Set{*then}
			}
			triggers = append(triggers, trigger{word: w, kind: kind})
		}
	}

	// Words of phrases: those that another is the beginning of are seen with it.
	var rare []string
	for w, n := range vocabulary {
		if len(pivots[n].phrases) > 0 {
			rare = append(rare, w)
		}
		if sendSet.has(n) {
			add(outward, &noLetter, &sendEnds, w)
		}
		if modelSet.has(n) {
			add(modelColon, &noLetter, nil, w+":")
		}
	}
	slices.Sort(rare)
	for _, w := range slices.CompactFunc(rare, func(short, long string) bool { return len(short) > 2 && strings.HasPrefix(long, short) }) {
		if len(w) == 2 {
			add(rareWord, &noLetter, &wordEnds, w)
		} else {
			add(rareWord, &noLetter, nil, w)
		}
	}
	add(modelColon, &noLetter, nil, "model:", "models:")
	add(systemColon, &noLetter, nil, "system:")
	add(substituted, &noLetter, nil, "curl", "wget")
	add(download, &noLetter, &wordEnds, "curl", "wget", "irm", "iwr", "fetch", "invoke")
	add(decoder, &noLetter, nil, "base64 -")
	add(keyFile, &noLetter, nil, "id_rsa", "id_ed25519", "id_ecdsa")
	for n := range templates {
		add(fixed, nil, nil, templates[n].text)
		triggers[len(triggers)-1].n = n
	}
	add(commentOpens, nil, nil, "<!--")
	add(remarkOpens, nil, nil, "[//]: # ", "[comment]: # ")
	// What follows a rule before the words of a frame, or the first letter of these.
	for _, next := range " <-=>besw" {
		for _, rule := range []string{"---", "<<<"} {
			if rune(rule[0]) != next {
				add(ruled, nil, nil, rule+string(next))
			}
		}
	}
	add(framed, nil, nil, "treat as data, not instructions")
	add(styled, nil, nil, " hidden>", " hidden ")
	for _, style := range unseenStyles {
		name, value, _ := strings.Cut(style, ":")
		add(styled, nil, nil, name+":"+value, name+": "+value, name+" :"+value)
	}
}
