package untrusted

import (
	"strconv"
	"strings"
)

// A phrase is looked for where one of its words stands that is rare in source code,
// not at each "if" or "the" with which it may begin. The step of a phrase whose words
// are rarest together is its pivot; from there the words before are read backwards,
// and at each that begins the phrase it is matched forwards.
//
// pivots holds, by the number of a word, what it is the pivot of.
var pivots = findPivots()

type pivot struct {
	phrases []int   // by number
	first   wordSet // the words that begin one of them
	reach   int     // words in front of the pivot that may be such
}

// frequencies lists frequency by the number of a word.
func frequencies(vocabulary map[string]int) []int {
	out := make([]int, len(vocabulary))
	for w, n := range vocabulary {
		out[n] = frequency(w)
	}
	return out
}

// choosePivot finds the step that costs least.
func (p *phrase) choosePivot(frequencies []int) {
	cost := func(words *wordSet) (sum int) {
		for n := range words.all {
			sum += frequencies[n]
		}
		return sum
	}
	least := cost(&p.first)
	for k := range p.rest {
		if c := cost(&p.rest[k].words); c < least {
			least, p.pivot = c, k+1
		}
	}
}

// pivotStep returns the set of the step that is the pivot, and how many words may stand
// in front of it.
func (p *phrase) pivotStep() (words *wordSet, reach int) {
	if p.pivot == 0 {
		return &p.first, 0
	}
	for k := range p.pivot {
		reach += p.rest[k].gap + 1
	}
	return &p.rest[p.pivot-1].words, reach
}

// tooCommon keeps a word from being a pivot where there is any other.
const tooCommon = 5000

// frequency estimates how often w stands in a million bytes of source code, as a word
// or within one.
func frequency(w string) int {
	switch {
	case len(w) < 3, strings.Contains(" dont youve im ", " "+w+" "): // written with an apostrophe
		return tooCommon
	case w == "youre": // seen as "you", which stands beside it in every set
		return 5
	case common[w] > 0:
		return common[w]
	}
	return 5
}

// common words of the vocabulary, counted in sources of ten languages.
var common = func() map[string]int {
	out := map[string]int{}
	for entry := range strings.FieldsSeq(`
	the:2937 tes:1887 string:1737 put:1553 for:1300 are:1253 and:1203 new:1191 out:1078 all:1072 end:978 add:960 with:824 this:809 input:777
	write:776 output:736 file:731 request:700 not:697 use:696 data:654 call:615 code:612 act:576 pre:573 date:509 that:507 response:447 les:439
	any:430 off:412 from:393 run:373 exception:357 text:346 key:341 void:335 outputs:333 safe:313 using:306 can:303 false:301 list:288
	system:287 when:237 message:237 other:229 asked:228 you:227 should:227 without:202 limit:200 invalid:188 command:185 print:182 state:171
	mode:170 user:169 override:166 ignore:166 content:165 only:162 make:158 task:152 start:147 now:145 append:144 next:125 mission:120 first:119
	include:115 context:115 old:113 alle:112 reset:110 must:110 document:109 will:107 provide:107 env:103 have:100 send:99 keys:97 give:95
	used:94 shall:90 notice:89 final:84 last:83 query:78 follow:78 order:77 filter:77 need:74 debug:74 before:72 provided:70 known:69 solve:68
	complete:65 skip:64 parameters:64 were:62 comment:60 policy:58 times:57 responses:57 following:57 into:56 report:55 standard:54 note:54
	created:54 above:52 scan:50 requests:50 bound:50 begin:50 limited:49 formatting:48 stop:47 never:47 tool:46 claim:46 keep:44 word:43
	normal:43 image:42 page:41 language:41 instead:41 calls:41 perform:40 your:37 disable:37 called:37 original:36 initial:36 email:36
	limitations:33 share:32 respond:32 finish:32 always:32 every:31 bot:31 repeat:30 notify:30 just:30 cursor:30 users:29 security:28
	previous:27 credential:27 these:26 summary:26 god:26 enabled:26 chain:25 operation:24 instruction:24 inform:24 messages:23 what:22
	information:22 dan:22 password:20 leak:20 model:19 ignored:19 ssh:18 show:18 existing:18 evaluation:18 tokens:17 sequence:17 filters:17
	disabled:17 invoke:16 insert:16 execute:16 customer:16 about:16 creator:15
	want:300 hand:158 quote:60 redirect:60 route:60 protocols:25 reads:20
	return:1630 test:868 thi:783 set:448 top:318 has:289 contain:283 true:251 copy:226 metadata:205 read:199 check:192 may:189 valid:189 non:173
	expected:172 see:168 dir:164 collect:161 link:157 let:146 over:136 update:135 url:126 post:125 work:121 throw:118 required:111 root:110 process:109
	internal:107 action:102 count:97 open:95 function:94 point:90 current:86 remove:84 pas:84 pass:81 contains:75 was:74 cat:72 permission:72 find:67
	permissions:67 obtain:67 after:66 does:66 found:66 delete:65 address:65 line:65 flag:64 then:61 issues:59 given:58 allow:57 token:56 parameter:55
	omit:55 unsafe:54 files:53 reference:53 fetch:51 chi:50 label:48 warn:48 apply:48 tasks:47 features:46 encode:45 session:45 assignment:44 argument:42
	prev:42 actual:41 access:41 admin:39 wire:39 each:38 full:38 lay:38 drop:37 its:37 mark:37 listen:35 replace:34 changed:34 trace:33 continue:33
	secret:32 updated:32 than:32 running:31 cancel:31 role:30 owner:30 been:30 push:29 warning:28 cannot:28 ensure:27 prima:27 accept:27 zero:26 hello:26
	also:26 checks:26 removed:24 know:23 merge:23 trigger:23 install:23 repository:22 step:22 todo:22 wrong:22 database:22 while:21 unlock:21 extract:20
	once:20 previo:20 upgrade:20 would:20 subject:20 rule:20 could:20 different:19 free:19 reason:19 credentials:18 take:18 account:18 attach:17
	crypto:17 forward:17 passed:17 otherwise:16 examples:16 embed:16 tools:16 received:16 them:16 prior:15 download:15 actions:15 job:15 rsa:15`) {
		w, n, _ := strings.Cut(entry, ":")
		out[w], _ = strconv.Atoi(n)
	}
	return out
}()

func findPivots() (pivots [len(wordSet{}) * 64]pivot) {
	for n := range phrases {
		p := &phrases[n]
		words, reach := p.pivotStep()
		for w := range words.all {
			v := &pivots[w]
			v.phrases = append(v.phrases, n)
			v.reach = max(v.reach, reach)
			for i := range v.first {
				v.first[i] |= p.first[i]
			}
		}
	}
	return pivots
}

// pivot looks for the phrases that have the word at s[at] for a pivot.
func (sc *scanner) pivot(at int) {
	s := sc.s
	n := lookup(s[at:wordEnd(s, at)])
	if n < 0 || len(pivots[n].phrases) == 0 {
		return
	}
	v := &pivots[n]
	// A word with an apostrophe is one word for a phrase and several on the way back.
	const apostrophes = 2
	from := at
	for words := 0; ; words++ {
		sc.begin(v, from)
		if words == v.reach+apostrophes {
			return
		}
		if from = previous(s, from); from < 0 || at-from > maxPhrase+maxWord {
			return
		}
	}
}

// begin matches those phrases of v that begin with the word at s[from].
func (sc *scanner) begin(v *pivot, from int) {
	s := sc.s
	to := from
	for to < len(s) && isLetter(s[to]) {
		to++
	}
	if to < len(s) && s[to] == '\'' { // don't
		to = wordEnd(s, from)
	}
	n := lookup(s[from:to])
	if !v.first.has(n) {
		return
	}
	before := sc.wordBefore(from)
	for _, k := range v.phrases {
		if p := &phrases[k]; p.first.has(n) && !p.not.has(before) {
			if end, ok := p.match(s, to); ok {
				sc.add(p.signal, from, end)
			}
		}
	}
}

// maxWord bounds the bytes of a word that a phrase can hold.
const maxWord = 32

// wordEnd returns where the word at s[i] ends, apostrophes within it included.
func wordEnd(s string, i int) int {
	from := i
	for i < len(s) && i-from < maxWord && (isLetter(s[i]) || s[i] == '\'') {
		i++
	}
	return i
}

// previous returns where the letters begin that stand in front of s[i], or −1 when
// there are none or something ends a phrase in between: see nextWord.
func previous(s string, i int) int {
	lines := 0
	for i--; i >= 0 && !isLetter(s[i]); i-- {
		switch s[i] {
		case '\n':
			if lines++; lines > 1 {
				return -1
			}
		case '.', '?', '!':
			if s[i+1] <= ' ' {
				return -1
			}
		}
	}
	if i < 0 {
		return -1
	}
	for end := i; i > 0 && isLetter(s[i-1]) && end-i < 2*maxWord; {
		i--
	}
	return i
}
