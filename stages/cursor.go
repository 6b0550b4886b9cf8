package stages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// A cursor names a place in one published list of tools: a version, an offset, and the first bytes of a hash over both and over the
// list. It holds no secret: who forges one reaches another page of a public list. It outlives the process and the connection as
// long as the list stays the same; a cursor that was cut, changed, or made for another list is refused.
const (
	cursorVersion = 1
	cursorSum     = 8
	cursorLength  = 1 + 4 + cursorSum
)

func encodeCursor(offset int, list [32]byte) string {
	b := binary.BigEndian.AppendUint32([]byte{cursorVersion}, uint32(offset))
	sum := sha256.Sum256(append(list[:], b...))
	return base64.RawURLEncoding.EncodeToString(append(b, sum[:cursorSum]...))
}

// decodeCursor returns the offset of the first tool after the cursor s; ok is false unless encodeCursor made it for this list.
func decodeCursor(s string, list [32]byte) (offset int, ok bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(cursorLength) {
		return 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return 0, false
	}
	offset = int(binary.BigEndian.Uint32(b[1:5]))
	return offset, encodeCursor(offset, list) == s
}
