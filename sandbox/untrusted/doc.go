// Package untrusted marks text that third parties wrote: it finds what looks like
// an instruction to a language model, rates it, and makes the fence around it.
//
// # Start
//
//	hits := untrusted.Scan(text)
//	score := untrusted.Score(hits)           // of several texts: all their hits together
//	band := untrusted.Band(score)            // none, low, medium, high
//	nonce := untrusted.Nonce(func(n string) bool { return strings.Contains(text, n) })
//	fmt.Println(untrusted.Open(nonce)); …; fmt.Println(untrusted.Close(nonce))
//
// # Promises
//
// Text is never changed: a signal is a place in it. Matching sees through
// look-alikes, though: it works on a copy in which compatibility forms, letters of
// other scripts that look Latin, invisible characters and case are folded, and
// reports places in the original.
//
// Scan is linear. Plain ASCII without a suspicious phrase, the usual case, is read
// once and costs no allocation.
//
// A nonce holds 64 bits of a cryptographic generator and never occurs in what it
// fences, so nothing inside can close the fence.
//
// # Limits
//
// Signals are heuristics over phrases: English, and for the commonest request, to
// drop one's instructions, also German, Spanish, French, Italian and Portuguese.
// They are made so that ordinary documents, install instructions and files that
// instruct agents stay below the high band. New phrasing, further languages and
// plain requests without any of the phrases get through. A score of zero is no
// proof of innocence.
package untrusted
