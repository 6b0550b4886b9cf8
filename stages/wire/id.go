package wire

import (
	"bytes"
	"strconv"
	"strings"
)

// ID is the token of a request id as it was sent: a JSON string, or a number whose value is an integer. It is echoed byte for
// byte: 9007199254740993 stays what it is, and "7" is not 7.
type ID []byte

// Token reports whether raw may be an id or a progress token: a string or an integer-valued number of at most [MaxToken]
// bytes, the quotes of a string not counted.
func Token(raw []byte) bool {
	switch Kind(raw) {
	case '"':
		return len(raw)-2 <= MaxToken
	case '0':
		if len(raw) > MaxToken {
			return false
		}
		_, _, _, ok := integer(raw)
		return ok
	}
	return false
}

// Key returns a text that is equal for two ids exactly when they name the same request: strings by their characters, numbers by
// their value.
func (id ID) Key() string {
	if s, ok := String(id); ok {
		return "s" + s
	}
	neg, digits, zeros, ok := integer(id)
	if !ok {
		return ""
	}
	if digits == "" {
		return "n0"
	}
	sign := "n"
	if neg {
		sign = "n-"
	}
	return sign + digits + "e" + strconv.Itoa(zeros)
}

// Integer reports whether the JSON number raw has an integer value, and returns that value in plain digits when it has at most
// max of them.
func Integer(raw []byte, max int) (plain string, ok bool) {
	neg, digits, zeros, ok := integer(raw)
	if !ok || len(digits)+zeros > max {
		return "", false
	}
	if digits == "" {
		return "0", true
	}
	plain = digits + strings.Repeat("0", zeros)
	if neg {
		plain = "-" + plain
	}
	return plain, true
}

// integer splits a JSON number with an integer value into its sign, its digits without zeros at either end, and the number of
// zeros that follow them. It works on digits alone, so that neither precision nor a huge exponent matters.
func integer(raw []byte) (neg bool, digits string, zeros int, ok bool) {
	if Kind(raw) != '0' {
		return false, "", 0, false
	}
	neg = raw[0] == '-'
	raw = bytes.TrimPrefix(raw, []byte("-"))
	exp := 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		exp = exponent(raw[i+1:])
		raw = raw[:i]
	}
	whole, frac, _ := bytes.Cut(raw, []byte("."))
	frac = bytes.TrimRight(frac, "0")
	all := append(append(make([]byte, 0, len(whole)+len(frac)), whole...), frac...)
	zeros = exp - len(frac)
	trimmed := bytes.TrimRight(all, "0")
	zeros += len(all) - len(trimmed)
	digits = string(bytes.TrimLeft(trimmed, "0"))
	if digits == "" {
		return false, "", 0, true
	}
	return neg, digits, zeros, zeros >= 0
}

// exponent reads the digits after e, held within bounds that no message reaches otherwise.
func exponent(b []byte) int {
	const most = 1 << 24
	n, err := strconv.Atoi(strings.TrimPrefix(string(b), "+"))
	switch {
	case err == nil && n >= -most && n <= most:
		return n
	case b[0] == '-':
		return -most
	default:
		return most
	}
}

// Whole reports whether the JSON number raw has an integer value.
func Whole(raw []byte) bool {
	_, _, _, ok := integer(raw)
	return ok
}
