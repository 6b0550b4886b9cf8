package secrets

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// body is made-up base64 in lines of 64.
func body(lines int) []string {
	out := make([]string, lines)
	for i := range out {
		text, _, _ := expand("{b64}", uint64(i+1))
		out[i] = text
	}
	return out
}

const (
	keyBegin = "-----BEGIN RSA PRIVATE" + " KEY-----"
	keyEnd   = "-----END RSA PRIVATE" + " KEY-----"
)

func armoured(begin, end, sep string, lines []string) string {
	return begin + sep + strings.Join(lines, sep) + sep + end
}

// Disguises of a private key: nothing of its lines may stay.
func TestPrivateKeyDisguises(t *testing.T) {
	lines := body(20)
	swap := func(at int, with ...string) []string {
		return append(append(append([]string(nil), lines[:at]...), with...), lines[at:]...)
	}
	each := func(f func(i int, s string) string) []string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = f(i, l)
		}
		return out
	}
	pgp := "PGP PRIVATE" + " KEY BLOCK"
	for _, c := range []struct{ name, text string }{
		{"plain", armoured(keyBegin, keyEnd, "\n", lines)},
		{"carriage returns", armoured(keyBegin, keyEnd, "\r\n", lines)},
		{"indented", armoured("        "+keyBegin, keyEnd, "\n        ", lines)},
		{"YAML block", "key: |\n  " + armoured(keyBegin, keyEnd, "\n  ", lines) + "\nnext: 1"},
		{"escaped line feeds", `{"k":"` + armoured(keyBegin, keyEnd, `\n`, lines) + `"}`},
		{"twice escaped", `"{\"k\":\"` + armoured(keyBegin, keyEnd, `\\n`, lines) + `\"}"`},
		{"four times escaped", armoured(keyBegin, keyEnd, `\\\\n`, lines)},
		{"escaped carriage returns", armoured(keyBegin, keyEnd, `\r\n`, lines)},
		{"unicode escapes", armoured(keyBegin, keyEnd, `\u000a`, lines)},
		{"no line feeds", armoured(keyBegin, keyEnd, "", lines)},
		{"spaces for line feeds", armoured(keyBegin, keyEnd, " ", lines)},
		{"blank lines", armoured(keyBegin, keyEnd, "\n\n", lines)},
		{"added in a diff", "+" + armoured(keyBegin, keyEnd, "\n+", lines)},
		{"line numbers", armoured("1\t"+keyBegin, keyEnd, "\n17\t", lines)},
		{"string concatenation", "\"" + armoured(keyBegin, keyEnd, "\\n\" +\n\t\"", lines) + "\""},
		{"comment", "// " + armoured(keyBegin, keyEnd, "\n// ", lines)},
		{"headers", armoured(keyBegin, keyEnd, "\n", swap(0, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF", ""))},
		{"prose behind the header", armoured(keyBegin, keyEnd, "\n", swap(0, "This is the key of the build machine, please keep it.", "It was made by hand."))},
		{"prose in the middle", armoured(keyBegin, keyEnd, "\n", swap(9, "and now for something else entirely, which is not base64 at all"))},
		{"decoy BEGIN of the same label", armoured(keyBegin, keyEnd, "\n", swap(9, keyBegin))},
		{"decoy BEGIN of another label", armoured(keyBegin, keyEnd, "\n", swap(9, "-----BEGIN EC PRIVATE"+" KEY-----"))},
		{"decoy certificate", armoured(keyBegin, keyEnd, "\n", swap(9, "-----BEGIN CERTIFICATE-----"))},
		{"decoy END of another label", armoured(keyBegin, keyEnd, "\n", swap(9, "-----END EC PRIVATE"+" KEY-----"))},
		{"decoy END of a certificate", armoured(keyBegin, keyEnd, "\n", swap(9, "-----END CERTIFICATE-----"))},
		{"no END", keyBegin + "\n" + strings.Join(lines, "\n") + "\n"},
		{"cut in the middle of a line", keyBegin + "\n" + strings.Join(lines, "\n")[:64*12]},
		{"no END, escaped", `"` + keyBegin + `\n` + strings.Join(lines, `\n`) + `"`},
		{"no END, decoy BEGIN", keyBegin + "\n" + strings.Join(swap(9, keyBegin), "\n")},
		{"short lines", armoured(keyBegin, keyEnd, "\n", each(func(_ int, s string) string { return s[:16] + "\n" + s[16:32] }))},
		{"two blocks", armoured(keyBegin, keyEnd, "\n", lines[:10]) + "\ntext\n" + armoured(keyBegin, keyEnd, "\n", lines[10:])},
		{"OpenSSH", armoured("-----BEGIN OPENSSH PRIVATE"+" KEY-----", "-----END OPENSSH PRIVATE"+" KEY-----", "\n", lines)},
		{"SSH2", armoured("---- BEGIN SSH2 ENCRYPTED PRIVATE"+" KEY ----", "---- END SSH2 ENCRYPTED PRIVATE"+" KEY ----", "\n", lines)},
		{"PGP", armoured("-----BEGIN "+pgp+"-----", "-----END "+pgp+"-----", "\n", swap(0, "Version: GnuPG v2", ""))},
		{"PGP with checksum", armoured("-----BEGIN "+pgp+"-----", "-----END "+pgp+"-----", "\n", append(swap(0, ""), "=twTO"))},
	} {
		text := "before it\n" + c.text + "\nbehind it\n"
		clean, _ := Redact(Scan(text), true, nil)
		for i, l := range lines {
			if p := leaks(clean, l); p != "" && strings.Contains(text, l[:12]) {
				t.Errorf("%s: %q of line %d is in %.300q", c.name, p, i, clean)
				break
			}
		}
		if !strings.Contains(clean, "before it") || !strings.Contains(clean, "behind it") {
			t.Errorf("%s: text around the key is gone: %.200q", c.name, clean)
		}
		if got, want := strings.Count(clean, "\n"), strings.Count(text, "\n"); got != want {
			t.Errorf("%s: %d line feeds, want %d", c.name, got, want)
		}
	}
}

// What is public, or only speaks of keys, stays as it is.
func TestNotPrivateKeys(t *testing.T) {
	lines := body(20)
	for _, c := range []struct{ name, text string }{
		{"public key", armoured("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----", "\n", lines)},
		{"RSA public key", armoured("-----BEGIN RSA PUBLIC KEY-----", "-----END RSA PUBLIC KEY-----", "\n", lines)},
		{"certificate", armoured("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "\n", lines)},
		{"PGP public key", armoured("-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----", "\n", lines)},
		{"code that looks for one", "if strings.HasPrefix(s, \"" + keyBegin + "\") {\n\treturn parsePKCS1PrivateKeyFromPEM(s)\n}\n"},
		{"both marks in code", "const begin = \"" + keyBegin + "\"\nconst end = \"" + keyEnd + "\"\n"},
		{"an ellipsis", keyBegin + "\n...\n" + keyEnd},
		{"prose", "Put it between " + keyBegin + " and " + keyEnd + ", please."},
		{"words", "THE PRIVATE KEY IS SAFE"},
		{"a hash after code", "x := \"" + keyBegin + "\"\n" + strings.Repeat("y := compute(1, 2, 3)\n", 40) + "sum = " + lines[0]},
	} {
		if got := Find(c.text); got != nil {
			t.Errorf("%s: %s", c.name, show(c.text, got))
		}
	}
}

// A certificate behind a key stays, and so does everything behind a closed key.
func TestKeyThenCertificate(t *testing.T) {
	cert := armoured("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "\n", body(9))
	text := armoured(keyBegin, keyEnd, "\n", body(20)) + "\n" + cert
	clean, _ := Redact(Scan(text), true, nil)
	if !strings.HasSuffix(clean, cert) {
		t.Errorf("%q", clean)
	}
}

// Without END no more than Reach bytes are hidden, quickly, and the rule says so.
func TestUnterminatedKey(t *testing.T) {
	text := "x\n" + keyBegin + "\n" + strings.Join(body(3*Reach/65), "\n") + "\n"
	var spans []Span
	least := time.Hour
	for range 5 { // other work may hold the machine
		begun := time.Now()
		spans = Find(text)
		least = min(least, time.Since(begun))
	}
	most := 200 * time.Millisecond
	if raceEnabled {
		most *= 10
	}
	if len(spans) != 1 || spans[0].Rule != ruleOpenKey || spans[0].Start != 2 || spans[0].End != 2+blockReach {
		t.Fatalf("%v", spans)
	}
	if least > most {
		t.Errorf("took %v", least)
	}
	// A real END beyond Reach changes nothing.
	if again := Find(text + keyEnd); len(again) != 1 || again[0] != spans[0] {
		t.Errorf("%v", again)
	}
}

// What is hidden does not depend on text farther away than Reach: every window of
// a text, with Reach bytes around it, is masked as it is within the whole.
func TestReach(t *testing.T) {
	var b strings.Builder
	gap := strings.Repeat("some ordinary words of prose in a line\n", 8)
	for i := range 60 {
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "%s\n%s\n", keyBegin, strings.Join(body(40+i*37), "\n"))
		case 1:
			b.WriteString("-----BEGIN EC PRIVATE" + " KEY-----\n" + strings.Join(body(30), "\n") + "\n")
		case 2:
			b.WriteString(keyEnd + "\n")
		case 3:
			b.WriteString(strings.Repeat(gap, i%23))
		case 4:
			b.WriteString(strings.Join(body(1500), "\n") + "\n")
		case 5:
			b.WriteString(Rules()[i%len(Rules())].Fire[0].Text + "\n")
		}
	}
	text := b.String()
	whole := Scan(text).Masked()
	if len(text) < 4*Reach {
		t.Fatalf("%d bytes are too few to show anything", len(text))
	}
	for from := 0; from+4096 <= len(text); from += 61*1024 + 17 {
		to := from + 4096
		lo, hi := max(0, from-Reach), min(len(text), to+Reach)
		part := Scan(text[lo:hi]).Masked()[from-lo : to-lo]
		if part != whole[from:to] {
			t.Fatalf("[%d:%d) is masked differently without the far text", from, to)
		}
	}
}
