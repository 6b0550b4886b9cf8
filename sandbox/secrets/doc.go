// Package secrets says which bytes of a text are credentials, and replaces them.
//
// # Start
//
//	t := secrets.Scan(file)             // spans of the whole file
//	part := t.Slice(from, to)           // any cut: what was secret stays secret
//	var report secrets.Report
//	clean, _ := secrets.Redact(part, true, &report)
//
// # Promises
//
// A part of a secret is as secret as the whole: spans are found on the source and
// clipped when it is cut, so no choice of lines, bytes or context brings a secret
// out in pieces. Everything of a secret is hidden, its fixed prefix included.
//
// Masked gives a text to ask questions about: patterns evaluated on it cannot
// learn anything about a secret but its length and its lines.
//
// Find is linear in the length of the text and independent, in its order, of the
// number of rules; a text without hits costs no allocation. What is hidden at one
// place does not depend on text farther away than Reach.
//
// A text made to be expensive is not read at its price: a stretch of more than a
// hundred kilobytes that is little but words with which secrets begin is hidden as a
// whole, under a rule of its own, keyword-storm.
//
// Only line feeds survive inside a secret, so line numbers stay right. Redacting
// what has been redacted changes nothing, and text that was valid UTF-8 still is.
//
// # Limits
//
// Rules know shapes and names, not meaning. A random string assigned to a
// variable called x is not found; a password that is an ordinary word is taken
// for a label; a value built at run time from parts is seen part by part. A private
// key block that never ends hides at most Reach bytes behind its last BEGIN line,
// under a rule of its own, private-key-unterminated.
package secrets
