package secrets

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// alphabets of the generated parts of an example, by letter.
var alphabets = map[byte]string{
	'a': "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	'b': "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
	'd': "0123456789",
	'h': "0123456789abcdef",
	'l': "abcdefghijklmnopqrstuvwxyz0123456789",
	'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'w': "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
}

// expand turns the notation of the table into a text: {w36} into 36 bytes of
// alphabet w, {basic} into base64 of a login, ␠ into a space, \n into a line feed,
// «…» into the place of the secret.
func expand(line string, seed uint64) (text string, start, end int) {
	var b strings.Builder
	rnd := seed*0x9E3779B97F4A7C15 + 1
	draw := func(alphabet string) byte {
		rnd ^= rnd << 13
		rnd ^= rnd >> 7
		rnd ^= rnd << 17
		return alphabet[(rnd>>33)%uint64(len(alphabet))]
	}
	fill := func(kind byte, n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = draw(alphabets[kind])
		}
		// Short values must not miss a kind of byte by chance.
		if kind == 'w' || kind == 'b' {
			for i, a := range []string{alphabets['d'], "bcdfg", "QXZKJ", alphabets['d'], "vwxz"} {
				if i < n {
					out[i] = draw(a)
				}
			}
		}
		return string(out)
	}
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case strings.HasPrefix(rest, "«"):
			start, i = b.Len(), i+len("«")
		case strings.HasPrefix(rest, "»"):
			end, i = b.Len(), i+len("»")
		case strings.HasPrefix(rest, "␠"):
			b.WriteByte(' ')
			i += len("␠")
		case strings.HasPrefix(rest, `\n`):
			b.WriteByte('\n')
			i += 2
		case strings.HasPrefix(rest, "{basic}"):
			b.WriteString(base64.StdEncoding.EncodeToString([]byte("app:" + fill('w', 14))))
			i += len("{basic}")
		case rest[0] == '{' && len(rest) > 2 && alphabets[rest[1]] != "":
			close := strings.IndexByte(rest, '}')
			n, err := strconv.Atoi(rest[2:max(2, close)])
			if close < 0 || err != nil {
				b.WriteByte('{')
				i++
				break
			}
			b.WriteString(fill(rest[1], n))
			i += close + 1
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String(), start, end
}
