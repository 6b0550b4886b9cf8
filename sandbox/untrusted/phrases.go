package untrusted

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// A phrase is a row of words with gaps: what a signal sounds like in English.
//
//	"ignore|disregard ~2 previous|prior ~3 instructions|rules"
//
// Each item is a set of words; ~n before it allows up to n words in between. Words
// are compared without case and without apostrophes. !word at the front means that
// the phrase does not count behind that word. A name in capitals stands for a set.
type phrase struct {
	signal int
	first  wordSet
	not    wordSet // words that must not stand right before
	rest   []step
	end    string // the bytes of which one must follow the last word; "" = anything
	pivot  int    // the step whose words make the phrase be looked for: 0 is first, n is rest[n-1]
}

type step struct {
	gap   int
	words wordSet
}

// wordSet is a set of words by their number in the vocabulary.
type wordSet [20]uint64

func (w *wordSet) add(n int)      { w[n>>6] |= 1 << (n & 63) }
func (w *wordSet) has(n int) bool { return n >= 0 && w[n>>6]>>(n&63)&1 != 0 }

// all yields the numbers in the set, in order.
func (w *wordSet) all(yield func(n int) bool) {
	for i, b := range w {
		for ; b != 0; b &= b - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(b)) {
				return
			}
		}
	}
}

var sets = map[string]string{
	"DROP":  "ignore|disregard|forget|override|bypass|ignoring|disregarding|forgetting|overriding|neglect|discard|overlook|skip",
	"PRIOR": "previous|prev|prior|above|earlier|preceding|foregoing|before|previously|former|past|initial|original",
	"ORDERS": "instructions|instruction|iunstructions|rules|guidelines|guideline|directions|directives|prompts|prompt|commands|orders|requests|request|restrictions|" +
		"constraints|policies|policy|protocols|guardrails|programming|limitations|regulations|context|conversation|tasks|assignments|messages",
	"STRICT": "instructions|guidelines|directives|guardrails|programming|rules|restrictions|directions|prompts",
	"MODEL":  "ai|llm|llms|agent|agents|assistant|assistants|copilot|claude|chatgpt|gpt|gemini|cursor|summarizer|chatbot|codex",
	"TELL":   "tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|reveal|disclose",
	"USER":   "user|human|operator|anyone|anybody",
	"SECRET": "secret|secrets|credential|credentials|password|passwords|confidential|classified|ssh|tokens|passphrase|conversation|history|env|keys",
	"SEND":   "send|post|upload|forward|transmit|email|exfiltrate|leak|submit|mail",
}

var phrases, vocabulary = compile(slices.Concat(firstPhrases, morePhrases, asidePhrases))

// spoken is a phrase as it is written here.
type spoken struct {
	signal int
	text   string
	end    string
}

var firstPhrases = []spoken{
	{override, "!will !to !can !may !should !must !would !not !you DROP ~2 PRIOR ~3 ORDERS", ""},
	{override, "!will !to !can !may !should !would !not !you DROP ~1 ORDERS ~1 above|before|earlier|previously", ""},
	{override, "!will !can !may !should !would !not DROP ~1 all|any|your ~2 previous|prior|preceding|earlier ~2 ORDERS|information", ""},
	{override, "!will !can !may !should !would !not DROP ~1 your ~1 STRICT", ""},
	{override, "!will !to !can !may !should !would !not !you DROP all|any|the ~1 safety|security ~1 ORDERS", ""},
	{override, "!will !to !can !may !should !would !not !you forget|ignore|disregard ~1 everything ~4 PRIOR", ""},
	{override, "!will !to !can !may !should !would !not !you ignore|disregard|forget ~1 above|previous and|instead|directions", ""},
	{override, "!will !to !can !may !should !would !not !you ignore|disregard|forget all|any|these|your instructions|rules|guidelines|guardrails|safety|filters", ""},
	{override, "not|dont|never|stop follow|following|obey ~2 PRIOR ~2 ORDERS", ""},
	{override, "not|dont follow any ~2 STRICT", ""},
	{override, "new instructions|instruction", ":*"},
	{override, "!will !to !can !may !should !would !not forget ~1 everything ~5 told|said|talked", ""},
	{override, "!will !to !can !may !should !would !not forget ~1 all the rules|assignments|instructions|tasks", ""},
	{override, "focus|concentrate on ~1 your|the new|next task", ""},
	{override, "previous|prior ~2 STRICT ~3 ignored|disregarded|irrelevant|void", ""},
	{override, "override instructions|system ~1 to disable|bypass", ""},
	{override, "important|new new|important instructions", ""},
	{override, "note|notes|attention|instruction|instructions|message|dear|notice to|for|all ~1 MODEL ~4 file|code|page|text|repository|document|readme|comment", ":,"},
	{override, "note|attention|instructions|message|notice to|for|all ~1 MODEL", ":,"},
	{override, "note|attention|instructions|message|notice to|for|all ~1 MODEL agents|assistants|models|agent|assistant", ":,"},
	{override, "if youre|you ~1 a|an ai|llm|language", ""},

	{override, "!will !can !may !should !would !not !you !we !or forget everything", ",.;:!"},
	{override, "!will !can !may !should !would !not !you forget about ~1 everything|that", ",.;!"},
	{override, "!will !can !may !should !would !not !you !to forget about ~1 everything and|you|i", ""},
	{override, "!will !can !may !should !would !not !you !to forget|ignore|disregard ~1 the|any|these rules|guidelines|guardrails|filters just|and|i|instead|give", ""},
	{override, "!will !can !may !should !would !not !you !to forget|ignore|disregard ~1 the rules|guidelines|guardrails", ",!"},
	{override, "!will !can !may !would !not !you !to ignore|disregard instructions", ",;."},
	{override, "!will !can !may !would !not !you !to ignore|disregard instructions|guidelines and|run|just|print|say", ""},
	{override, "must|now|should|to forget|ignore|disregard ~1 PRIOR instructions|context|prompt|prompts|directions|directives", ""},
	{override, "!will !can !may !would !not !you !to ignore|disregard my|the ~1 previous|prior|last|above|earlier question|request|message|task|query|text", ""},
	{override, "!will !can !may !would !not !you !to ignore the ~1 webpage|page|image|document|content|text|question|article|email ~1 and|write|instead|state|say|print|just", ""},
	{override, "!will !can !may !would !not !to ignore|disregard all other|provided ~1 instructions|context|examples|text|input|evidence|information", ""},
	{override, "!will !can !may !would !not ignore|disregard all formatting|safety|ethical|content|provided rules|guidelines|filters|policies|context", ""},
	{override, "!will !can !may !would !not forget|ignore|overlook|disregard ~1 all|everything ~2 youve|you ~2 instructed|told|taught|learned", ""},
	{override, "!will !can !may !would !not forget|ignore any|all ~3 notion|notions|rules|guidelines ~4 rules|guidelines|restrictions", ""},
	{override, "set|put|lay|cast aside ~2 everything|previous|prior|earlier|original ~4 told|instructions|rules|guidelines|directives", ""},
	{override, "no longer follow|obey|heed ~3 PRIOR ~2 ORDERS", ""},
	{override, "you ~1 have new instructions|orders|directives", ""},
	{override, "leave|put all|everything ~1 previous|prior|above ~3 behind|aside", ""},
	{override, "instructions|rules|guidelines|prompt|directions ~3 are|is|be|were ~1 false|invalid|irrelevant|void", ""},
	{override, "instructions|guidelines|directives ~4 should|must|can|to be ignored|disregarded|overridden", ""},
	{override, "instructions are ~3 ignored|disregarded", ""},
	{override, "all|allprevious previous|instructions ~1 instructions|are ~1 are|false false|invalid|void|wrong", ""},
	{override, "end ~1 out|outdated|old|of ~1 of|date|instructions ~1 date|instructions ~1 instructions", "%#=*-"},
	{override, "begin|start|your new instructions", "#:*.=\""},
	{override, "follow|obey|execute my|these instructions|commands|orders|every ~2 regardless|without|instead|command", ""},
	{override, "obey|abide ~1 my ~1 every ~1 command|order|commands|orders", ""},
	{override, "regardless of ~1 any|all|pre|previous ~2 existing|previous|prior ~1 guidelines|instructions|restrictions|rules|input|context", ""},
	{override, "not follow the|your ~1 normal|usual|standard|original|system ~1 prompt|rules|guidelines|instructions", ""},
	{override, "stop everything now|just|and", ""},
	{override, "stop everything", "!"},
	{override, "include|repeat|write|insert|add|append|put ~3 in|at|to ~3 your|any response|responses|reply|answer|output|summary|outputs", ".:,"},
	{override, "include|insert|put in|at ~3 your response|responses|reply|answer|output|summary the|this|a", ""},
	{override, "the end of your response|responses|reply|answer|output|summary", ""},
	{override, "repeat|print|say|write|output ~2 the word|words|sequence|sentence|phrase|string ~6 times", ""},
	{override, "next|now|please|instead please|repeat|print|output ~2 the following sentence|text|string|phrase", ""},
	{override, "before you can ~1 solve|complete|do|finish the|my task|tasks", ""},
	{override, "important message from|for ~1 me|you|assistant|ai|the|claude", ""},
	{override, "if ~1 youre|you ~2 told|asked|instructed to summarize|summarise|answer|review|translate|classify", ",:"},
	{override, "told|asked|instructed to summarize|summarise ~6 repeat|instead|say|output|print|include", ""},
	{override, "visible|readable to|only ~1 to|llm|llms|ai|models ~1 scan|only|llm|llms|ai|models|assistants", ""},
	{override, "invisible to humans|people|readers|users", ""},
	{override, "override ~3 scoring|evaluation|judgment|moderation|review|safety and|to|output", ""},
	{override, "if ~1 asked|questioned ~1 say|report|state|claim|answer that", ""},
	{override, "respond|reply|answer|speak ~6 from now on", ".,!"},
	{override, "from now on you ~1 will|must|are|should|can", ""},
	{override, "assistant|ai|llm|agent|model|chatbot should|must|shall|will ~1 say|claim|pretend|ignore|recommend|never|always ~6 are|is|the|that|and|to", ""},
	{override, "ignoriere|ignorieren|vergiss|vergessen|missachte|missachten ~4 anweisungen|befehle|regeln|anweisung|befehl|vorherigen|bisherigen|aufgaben|vorgaben", ""},
	{override, "vergiss|vergessen|ignoriere alles|alle ~3 davor|vorher|bisher|bisherige|zuvor|obige|gesagt|wurde", ""},
	{override, "ignora|olvida|ignore|olvide|ignorar|olvidar ~3 instrucciones|ordenes|reglas|indicaciones", ""},
	{override, "ignorez|oubliez|oublie|ignore|ignorer ~1 toutes|les|vos|tes ~2 instructions|consignes|regles|directives", ""},
	{override, "ignora|dimentica|ignorare|dimenticare ~3 istruzioni|regole|indicazioni", ""},
	{override, "ignore|ignora|esqueca|esquece|ignorar ~3 instrucoes|regras|orientacoes", ""},

	{tools, "assistant|ai|llm|agent|chatbot should|must|shall ~1 call|invoke|run|use|execute ~4 before|without|first|to|immediately|silently", ""},

	{exfiltration, "!not !never !dont share|give|tell|send|relay|list|expose|summarize ~2 your|the ~1 system|initial|initials|original|hidden prompt|instructions", ""},
	{exfiltration, "!not !never !dont reveal|print|output|repeat|leak|disclose|show|list ~3 your|initial ~1 initial|initials|original|hidden|secret ~1 instructions|prompt|reasoning", ""},
	{exfiltration, "your|systems|the|hidden ~1 parameters|prompt and instructions", ""},
	{exfiltration, "!not !never !dont reveal|spill|leak|disclose|show|tell ~3 chain|hidden|secret|secrets of|you|about thought|have|chatgpt|yourself", ""},
	{exfiltration, "what is|are your secret|hidden|system|initial key|password|prompt|instructions", ""},
	{exfiltration, "usernames|passwords and passwords|usernames in your database", ""},
	{exfiltration, "provide|confirm|tell|give|need ~4 the password", ".?!"},

	{authority, "you are ~1 a no|without limits|limit|restrictions ~1 ai|model|assistant", ""},
	{authority, "you are operating in ~2 mode", ""},
	{authority, "safe|safety|ethics|content mode|filter|filters off|disabled|deactivated", ""},
	{authority, "an unrestricted|uncensored|unfiltered|jailbroken ai|bot|llm|model|assistant|chatbot", ""},
	{authority, "not restricted|bound|limited|constrained by ~1 the|any|your|those ~1 rules|guidelines|policies|restrictions ~1 above|of|or", ""},
	{authority, "as an ai developed|created|made by|trained ~2 im|i", ""},
	{authority, "entering|initiating|activate|activating|running a|the|an|now|security|into ~3 override|reset|upgrade|verification|maintenance|developer|admin mode|reset|upgrade|override", "',.:>!?"},
	{authority, "now|entering entering|security security|override ~1 override|mode mode", ">"},
	{authority, "i am the ultimate|only|final|highest authority", ""},

	{tools, "before using|calling|running|invoking this|any|other|the tool|tools", ""},
	{tools, "when this tool is called|used|invoked you must|should", ""},
	{tools, "execute|perform|make|run the|this following tool call|calls", ""},
	{tools, "must|always ~2 call|use|invoke ~2 tool ~1 first|before|always", ""},

	{exfiltration, "!not !never !dont reveal|print|output|repeat|leak|disclose|show ~2 system prompt", ""},
	{exfiltration, "!not !never !dont give|share|provide|tell|show|send me ~1 with|your|all|the|a|secret|confidential ~5 SECRET", ""},
	{exfiltration, "!not !never !dont share|provide|give|disclose|reveal|leak|output ~2 confidential|classified|secret|secrets ~1 company|information|data|documents|patient|financial|customer|government", ""},
	{exfiltration, "!not !never !dont reveal|spill|leak|disclose all|your|the secrets|passwords|credentials", ""},

	{secrecy, "not|dont|never|without ~1 TELL ~3 USER", ""},
	{secrecy, "hide|keep|conceal ~2 secret|hidden|from from|the ~1 USER", ""},
	{secrecy, "hide|conceal this|it|these|that from ~1 USER", ""},
	{secrecy, "this is a secret operation|task|instruction|mission", ""},

	{authority, "developer|debug|god|dan|system|unrestricted|admin mode enabled|activated|on|unlocked", ""},
	{authority, "system|admin|priority|instruction|administrator override", ":"},
	{authority, "you are now a|an|dan|operating|acting|known", ""},
	{authority, "i am|m your developer|creator|administrator|admin|owner", ""},
	{authority, "im your developer|creator|administrator|admin|owner", ""},
	{authority, "without any restrictions|limitations|limits ~1 filters|hesitation|restrictions|guidelines", ""},
	{authority, "do anything now", ""},
	{authority, "act|acting as dan", ""},
	{authority, "begin reprogramming", ""},
	{authority, "chat is an exception to", ""},
}

// compile numbers the words.
func compile(rows []spoken) (out []phrase, vocabulary map[string]int) {
	vocabulary = map[string]int{}
	parse := func(item string) (w wordSet) {
		for word := range strings.SplitSeq(item, "|") {
			if s, ok := sets[word]; ok {
				for word := range strings.SplitSeq(s, "|") {
					w.add(number(vocabulary, word))
				}
				continue
			}
			w.add(number(vocabulary, word))
		}
		return w
	}
	for _, row := range rows {
		p := phrase{signal: row.signal, end: row.end}
		gap, begun := 0, false
		for item := range strings.FieldsSeq(row.text) {
			switch {
			case item[0] == '!':
				p.not.add(number(vocabulary, item[1:]))
			case item[0] == '~':
				gap = int(item[1] - '0')
			case !begun:
				p.first, begun = parse(item), true
			default:
				p.rest = append(p.rest, step{gap, parse(item)})
				gap = 0
			}
		}
		out = append(out, p)
	}
	often := frequencies(vocabulary)
	for i := range out {
		out[i].choosePivot(often)
	}
	return out, vocabulary
}

func number(vocabulary map[string]int, word string) int {
	n, ok := vocabulary[word]
	if !ok {
		n = len(vocabulary)
		vocabulary[word] = n
	}
	return n
}

// maxPhrase bounds the bytes from the first word of a phrase to the last.
const maxPhrase = 240

// match reports where phrase p, whose first word ends at s[i], ends.
func (p *phrase) match(s string, i int) (end int, ok bool) {
	limit := min(len(s), i+maxPhrase)
	for k := range p.rest {
		st := &p.rest[k]
		found := false
		for skipped := 0; skipped <= st.gap; skipped++ {
			from, to := nextWord(s, i, limit)
			if from == to {
				return 0, false
			}
			n := lookup(s[from:to])
			i = to
			if st.words.has(n) {
				found = true
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	if p.end != "" && (i >= len(s) || strings.IndexByte(p.end, s[i]) < 0) {
		return 0, false
	}
	return i, true
}

// nextWord finds the next word behind s[i], or nothing when a sentence, a paragraph
// or an item of a list ends first.
func nextWord(s string, i, limit int) (from, to int) {
	lines := 0
	for i < limit && !isLetter(s[i]) {
		switch s[i] {
		case '\n':
			if lines++; lines > 1 {
				return i, i
			}
		case '.', '?', '!':
			if i+1 < len(s) && s[i+1] <= ' ' {
				return i, i
			}
		case '-':
			if lines > 0 && i+1 < len(s) && s[i+1] == ' ' {
				return i, i
			}
		}
		i++
	}
	from = i
	for i < len(s) && i-from < 32 && (isLetter(s[i]) || s[i] == '\'') {
		i++
	}
	return from, i
}

// setOf makes a set for use outside of phrases.
func setOf(item string) (w wordSet) {
	if s, ok := sets[item]; ok {
		item = s
	}
	for word := range strings.SplitSeq(item, "|") {
		w.add(number(vocabulary, word))
	}
	return w
}

// lookup returns the number of a word, −1 when no phrase holds it.
func lookup(w string) int {
	var b [16]byte
	n := 0
	for i := range len(w) {
		if w[i] == '\'' {
			continue
		}
		if n == len(b) || w[i] >= 0x80 {
			return -1
		}
		b[n] = w[i] | 0x20
		n++
	}
	word := packed{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
	for at := word.hash(); ; at++ {
		e := &numbers[at%tableSize]
		if e.number == 0 {
			return -1
		}
		if e.word == word {
			return int(e.number) - 1
		}
	}
}

// packed is a word of at most 16 letters; no word of the vocabulary is longer.
type packed [2]uint64

func (p packed) hash() uint64 {
	x := (p[0] ^ p[1]*0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
	return x >> 48
}

// numbers is the vocabulary as a table with free places behind taken ones: a third of
// the cost of a map, for words that mostly are not in it.
const tableSize = 4096

var numbers [tableSize]struct {
	word   packed
	number uint16 // 1 + the word's; 0: free
}

func index(vocabulary map[string]int) {
	if 2*len(vocabulary) > tableSize {
		panic("untrusted: the table of words is too small")
	}
	for w, n := range vocabulary {
		var b [16]byte
		if copy(b[:], w) < len(w) {
			panic("untrusted: the word " + w + " is too long")
		}
		word := packed{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
		at := word.hash()
		for numbers[at%tableSize].number != 0 {
			at++
		}
		numbers[at%tableSize].word, numbers[at%tableSize].number = word, uint16(n+1)
	}
}

// isLetter includes every byte of a character without ASCII likeness.
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }
