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
// or the beginning of one.
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
	the:2957 test:2379 tes:2379 return:2033 string:1475 new:1364 request:1349 for:1142 want:1108 read:1025 write:976 thi:849 this:831 with:799
	response:797 get:745 set:735 got:724 url:718 file:697 add:697 not:656 and:642 end:641 are:626 content:618 use:571 mode:560 true:515 flag:502
	that:482 can:473 let:470 point:447 data:447 run:439 any:422 function:404 void:371 unsafe:362 dir:357 from:353 copy:351 all:342 ran:334
	call:323 context:312 using:304 code:295 false:292 make:287 throw:286 pre:280 out:278 date:273 key:268 input:257 has:251 off:250 command:248
	other:231 cancel:230 after:225 check:220 should:219 system:217 without:213 top:213 send:204 non:199 message:199 append:192 when:190 over:190
	post:188 limit:188 else:187 private:185 state:182 invalid:181 act:179 token:175 list:175 continue:167 reset:166 user:164 link:164
	requests:163 require:162 protocol:158 override:157 next:156 must:151 export:147 files:146 session:144 permission:141 will:140 valid:140
	start:140 does:139 used:138 rsa:138 first:138 contain:134 red:133 only:132 you:131 print:131 count:131 text:127 raw:125 transfer:120
	parameter:120 found:120 internal:119 output:118 listen:118 ignore:118 encode:116 prior:113 was:111 safe:111 then:110 last:110 before:110
	its:109 trace:108 which:107 may:107 include:107 have:106 shall:105 root:105 need:105 including:104 provide:103 notice:102 contains:101
	give:100 actual:100 zero:99 protocols:98 old:98 job:97 given:97 exception:96 cat:96 priority:93 open:92 hello:92 rewrite:91 issues:91
	work:90 query:90 put:90 document:87 pas:85 accept:84 rights:81 final:80 cookies:80 provided:79 initial:79 required:78 merge:78 skip:76
	called:76 push:75 disable:75 report:74 keep:74 did:74 follow:73 order:72 image:72 wrote:71 keys:71 pass:70 parameters:70 begin:68 address:68
	reading:67 than:66 otherwise:66 now:66 download:65 debug:65 yes:64 finish:64 chi:64 comment:63 been:63 normal:61 filter:61 action:60 who:59
	task:59 crypto:59 prev:58 free:58 following:58 change:58 note:57 memory:57 formatting:57 current:57 argument:56 replace:55 remove:55
	console:55 above:55 subject:54 stop:54 limited:54 into:54 calls:54 bot:54 times:53 purpose:53 update:51 grant:51 env:51 claim:51 route:50
	hereby:50 granted:50 just:47 they:46 received:46 delete:46 also:46 agent:46 language:45 discard:45 assign:45 todo:44 reads:44 once:44
	metadata:44 instead:44 exact:44 tool:43 each:43 while:42 saw:42 never:42 checks:42 always:42 scan:41 fetch:40 permissions:39 limitations:39
	bound:39 where:38 wants:38 abort:38 password:37 cannot:37 access:37 these:36 take:35 summary:35 methods:35 complete:35 repeat:34 original:34
	created:34 canceled:34 site:33 product:33 users:32 responses:32 allowed:32 standard:31 perform:31 upgrade:30 qua:30 our:30 maximum:30 lay:30
	full:30 them:29 running:29 modified:29 know:29 might:28 instruction:28 god:28 email:28 drop:28 warn:27 reason:27 operation:27 would:26
	their:26 share:26 page:26 inform:26 what:25 nothing:25 insert:25 information:25 immediately:25 filters:25 apply:25 contents:24 respond:23
	reference:23 parsing:23 made:23 every:23 enabled:23 different:23 could:23 candidate:23 word:22 needs:22 includes:22 ensure:22 between:22
	authority:22 ordered:21 high:21 forward:21 dump:21 api:21 about:21 were:20 vendor:20 treat:20 reply:20 customer:20 curl:20 bypass:20
	below:20 upload:19 trigger:19 say:19 role:19 hijacked:19 sequence:18 previous:18 previo:18 longer:18 execute:18 exactly:18 another:18
	systems:17 people:17 les:17 ignored:17 credential:17 assume:17 those:16 real:16 parses:16 leak:16 invoke:16 embed:16 cursor:16 magic:15
	changed:15`) {
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
