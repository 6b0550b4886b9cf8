package sandbox

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// maxConfigBytes bounds a configuration file that is looked into.
const maxConfigBytes = 256 << 10

// Flags puts into values what a file of git's configuration says of the keys that
// are in it ("core.ignorecase", in lower case), which are on or off. Nothing else
// is told of that file, because it may hold credentials, and what it includes is
// not looked into. Of a file with a fault, what stands before that counts. Errors
// as for Read.
func (g *GitDoor) Flags(rel string, values map[string]bool) error {
	if name := path.Base(rel); name != "config" && name != "config.worktree" {
		return fs.ErrPermission
	}
	b, err := g.readFile(rel, maxConfigBytes)
	if err != nil {
		return err
	}
	configEntries(b, func(key, value string, set bool) {
		if _, ok := values[key]; ok {
			values[key] = configBool(value, set)
		}
	})
	return nil
}

// configBool reads a value as git does; a key without one is true. What git would refuse is false.
func configBool(value string, set bool) bool {
	if !set {
		return true
	}
	switch v := LowerASCII(value); v {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	default:
		v = strings.TrimLeft(v, " \t\n\v\f\r")
		if v != "" && strings.IndexByte("kmg", v[len(v)-1]) >= 0 {
			v = v[:len(v)-1]
		}
		n, err := strconv.ParseInt(v, 0, 64)
		return err == nil && n != 0 && !strings.Contains(v, "_")
	}
}

// configEntries calls each with the entries of a configuration file, up to the first fault. Sections and names are in
// lower case.
func configEntries(b []byte, each func(key, value string, set bool)) {
	r := configReader{b: bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))}
	section := ""
	for {
		c := r.next()
		switch {
		case r.end:
			return
		case space(c):
		case c == '#' || c == ';':
			for r.next() != '\n' {
			}
		case c == '[':
			var ok bool
			if section, ok = r.section(); !ok {
				return
			}
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			name := []byte{c}
			for c = r.next(); nameByte(c); c = r.next() {
				name = append(name, c)
			}
			for c == ' ' || c == '\t' {
				c = r.next()
			}
			value, set := "", c != '\n'
			if set {
				var ok bool
				if c != '=' {
					return
				}
				if value, ok = r.value(); !ok {
					return
				}
			}
			each(section+"."+LowerASCII(string(name)), value, set)
		default:
			return
		}
	}
}

// configReader gives one character after the other; the end looks like the end of a line.
type configReader struct {
	b   []byte
	end bool
}

func (r *configReader) next() byte {
	if len(r.b) == 0 {
		r.end = true
		return '\n'
	}
	c := r.b[0]
	if r.b = r.b[1:]; c == '\r' && len(r.b) > 0 && r.b[0] == '\n' {
		c, r.b = '\n', r.b[1:]
	}
	return c
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-'
}

// section reads what follows "[": [name], [name.sub] or [name "sub"].
func (r *configReader) section() (string, bool) {
	var name []byte
	for {
		c := r.next()
		switch {
		case r.end:
			return "", false
		case c == ']':
			return LowerASCII(string(name)), true
		case nameByte(c) || c == '.':
			name = append(name, c)
			continue
		case !space(c):
			return "", false
		}
		for space(c) {
			if c == '\n' {
				return "", false
			}
			c = r.next()
		}
		if c != '"' {
			return "", false
		}
		sub := []byte(LowerASCII(string(name)) + ".")
		for {
			switch c = r.next(); c {
			case '"':
				return string(sub), r.next() == ']'
			case '\\':
				c = r.next()
			}
			if c == '\n' {
				return "", false
			}
			sub = append(sub, c)
		}
	}
}

// value reads what follows "=", to the end of the line.
func (r *configReader) value() (string, bool) {
	var v []byte
	quoted, comment := false, false
	kept := 0 // of v, without the space at its end
	for {
		c := r.next()
		switch {
		case c == '\n':
			return string(v[:kept]), !quoted
		case comment:
			continue
		case space(c) && !quoted:
			if len(v) > 0 {
				v = append(v, c)
			}
			continue
		case (c == ';' || c == '#') && !quoted:
			comment = true
			continue
		case c == '"':
			quoted = !quoted
			kept = len(v)
			continue
		case c == '\\':
			switch c = r.next(); c {
			case '\n':
				if r.end {
					return "", false
				}
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", false
			}
		}
		v = append(v, c)
		kept = len(v)
	}
}

// LowerASCII folds letters of ASCII, the only ones that git folds.
func LowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}
