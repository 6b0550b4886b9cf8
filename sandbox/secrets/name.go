package secrets

import "strings"

// FindName is Find for names that have parts: paths, refs. A part is looked at by
// itself as well, because what stands in front of it, or behind, may keep a rule from
// seeing what it holds: token=…/src/a.go.
func FindName(s string) []Span {
	spans := Find(s)
	if strings.IndexByte(s, '/') < 0 {
		return spans
	}
	return Join(spans, Find(strings.ReplaceAll(s, "/", "\n")))
}

// ScanName finds the secrets of a name.
func ScanName(s string) Text { return Text{s, FindName(s)} }

// MaskName returns the name s with its secrets masked, for questions about it and for
// its place among others: an order of names must not tell one secret from another.
func MaskName(s string) string { return ScanName(s).Masked() }
