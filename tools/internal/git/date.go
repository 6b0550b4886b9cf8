package git

import (
	"strconv"
	"strings"
	"time"

	"mcp-devserver/sandbox"
)

// ParseDate reads a date as a caller writes it and returns the first and the
// last second it stands for: a whole day (UTC) for "2026-01-31", "today" and
// "yesterday", one second otherwise. Forms: 2026-01-31, RFC 3339 (seconds and
// zone may be left out, meaning 0 and UTC), "now", "today", "yesterday",
// "N seconds|minutes|hours|days|weeks|months|years ago". Anything else is
// invalid_date; git, which takes any text for a date, is never asked.
func (g *Git) ParseDate(s string, now time.Time) (first, last time.Time, err error) {
	first, last, ok := parseDate(s, now)
	if !ok {
		err = g.ws.Refuse(sandbox.InvalidDate, sandbox.Args{"text": s})
	}
	return first, last, err
}

func parseDate(s string, now time.Time) (first, last time.Time, ok bool) {
	now = now.UTC().Truncate(time.Second)
	day := func(t time.Time) (time.Time, time.Time, bool) {
		t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		return t, t.AddDate(0, 0, 1).Add(-time.Second), true
	}
	at := func(t time.Time) (time.Time, time.Time, bool) {
		t = t.UTC().Truncate(time.Second)
		return t, t, true
	}
	switch text := strings.ToLower(strings.TrimSpace(s)); text {
	case "now":
		return at(now)
	case "today":
		return day(now)
	case "yesterday":
		return day(now.AddDate(0, 0, -1))
	default:
		if t, ok := ago(text, now); ok {
			return at(t)
		}
	}
	text := strings.TrimSpace(s)
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return day(t)
	}
	if len(text) >= 16 {
		// time.RFC3339 demands "T"; a blank is common, lower case allowed by the RFC.
		b := []byte(text)
		if b[10] == ' ' || b[10] == 't' {
			b[10] = 'T'
		}
		text = strings.TrimSuffix(string(b), "z")
		if len(text) < len(b) {
			text += "Z"
		}
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if t, err := time.Parse(layout, text); err == nil {
				return at(t)
			}
		}
	}
	return time.Time{}, time.Time{}, false
}

// maxAgo bounds N in "N days ago"; more than this is older than any commit.
const maxAgo = 100000

func ago(s string, now time.Time) (time.Time, bool) {
	f := strings.Fields(s)
	if len(f) != 3 || f[2] != "ago" {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(f[0])
	switch {
	case f[0] == "a" || f[0] == "an" || f[0] == "one":
		n = 1
	case err != nil || n < 0 || n > maxAgo || f[0][0] == '+':
		return time.Time{}, false
	}
	switch strings.TrimSuffix(f[1], "s") {
	case "second":
		return now.Add(-time.Duration(n) * time.Second), true
	case "minute":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "hour":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "day":
		return now.AddDate(0, 0, -n), true
	case "week":
		return now.AddDate(0, 0, -7*n), true
	case "month":
		return now.AddDate(0, -n, 0), true
	case "year":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
