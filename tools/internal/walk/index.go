package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"sort"
	"strings"
	"unsafe"

	"mcp-devserver/sandbox"
)

// Limits of an index file. One of a million files has about 100 MB.
const (
	maxIndexBytes   = 128 << 20
	maxIndexEntries = 1 << 20
	maxIndexNames   = 256 << 20 // of all names together, once they are spelled out
)

// index is the set of names that a repository tracks, in bytewise order.
type index struct {
	names string
	ends  []uint32 // of each name in names
	links map[string]struct{}
	fold  bool // names are in lower case
}

var (
	errIndex    = errors.New("walk: not an index that can be read")
	errIndexAsk = errors.New("walk: the index can be read by git alone") // split, sparse, SHA-256 or newer than this reader
)

func (x *index) len() int { return len(x.ends) }

func (x *index) name(i int) string {
	from := uint32(0)
	if i > 0 {
		from = x.ends[i-1]
	}
	return x.names[from:x.ends[i]]
}

// has reports whether rel is tracked: a file by its name, a folder when something below it is, or when it is a
// repository of its own.
func (x *index) has(rel string, dir bool) bool {
	if x == nil {
		return false
	}
	if x.fold {
		rel = sandbox.LowerASCII(rel)
	}
	if !dir {
		i := sort.Search(x.len(), func(i int) bool { return x.name(i) >= rel })
		return i < x.len() && x.name(i) == rel
	}
	if _, ok := x.links[rel]; ok {
		return true
	}
	below := rel + "/"
	i := sort.Search(x.len(), func(i int) bool { return x.name(i) >= below })
	return i < x.len() && strings.HasPrefix(x.name(i), below)
}

const (
	flagExtended = 0x4000
	flagName     = 0x0FFF
	modeGitlink  = 0o160000
	modeFolder   = 0o040000
)

// parseIndex reads versions 2 to 4 with SHA-1 names. Entries are in order, which the look-up relies on; one that is not
// makes the file unreadable. The checksum at the end is not verified: whoever can write the file can compute it.
func parseIndex(b []byte) (*index, error) {
	const hash = 20
	if len(b) < 12+hash || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return nil, errIndexAsk
	}
	end := len(b) - hash
	const fixed = 40 + hash + 2
	if count > maxIndexEntries || int64(count)*fixed > int64(end) {
		return nil, errIndex
	}
	x := &index{ends: make([]uint32, 0, count), links: map[string]struct{}{}}
	var names []byte
	if version < 4 {
		names = make([]byte, 0, max(end-12-int(count)*fixed, 0))
	}
	last := 0 // where the previous name starts
	stage := -1
	at := 12
	for n := uint32(0); n < count; n++ {
		if end-at < fixed {
			return nil, errIndex
		}
		mode := binary.BigEndian.Uint32(b[at+24:])
		flags := binary.BigEndian.Uint16(b[at+40+hash:])
		head := fixed
		if flags&flagExtended != 0 {
			if head += 2; version == 2 || end-at < head {
				return nil, errIndex
			}
		}
		p := at + head
		start := len(names)
		if version == 4 {
			strip, size := offsetVarint(b[p:end])
			if size == 0 || strip > uint64(start-last) {
				return nil, errIndex
			}
			p += size
			names = append(names, names[last:start-int(strip)]...)
		}
		z := bytes.IndexByte(b[p:end], 0)
		if z < 0 {
			return nil, errIndex
		}
		names = append(names, b[p:p+z]...)
		p += z + 1
		if len(names) > maxIndexNames {
			return nil, errIndex
		}
		name := names[start:]
		if size := int(flags & flagName); len(name) == 0 || size < flagName && size != len(name) || size == flagName && len(name) < flagName {
			return nil, errIndex // with another length of hashes nothing of this holds
		}
		if mode == modeFolder {
			return nil, errIndexAsk
		}
		thisStage := int(flags >> 12 & 3)
		if n > 0 {
			if c := bytes.Compare(names[last:start], name); c > 0 || c == 0 && stage >= thisStage {
				return nil, errIndex
			}
		}
		stage = thisStage
		if mode == modeGitlink {
			x.links[string(name)] = struct{}{}
		}
		last = start
		x.ends = append(x.ends, uint32(len(names)))
		if version < 4 { // padded with NUL to a multiple of eight
			p = at + (head+z+8)&^7
			if p > end {
				return nil, errIndex
			}
		}
		at = p
	}
	for at < end {
		if end-at < 8 {
			return nil, errIndex
		}
		size := binary.BigEndian.Uint32(b[at+4:])
		if b[at] < 'A' || b[at] > 'Z' { // it changes what the entries mean: "link", "sdir" and what may come
			return nil, errIndexAsk
		}
		if uint64(size) > uint64(end-at-8) {
			return nil, errIndex
		}
		at += 8 + int(size)
	}
	x.names = unsafe.String(unsafe.SliceData(names), len(names)) // nothing writes to them any more
	return x, nil
}

// offsetVarint reads git's variable-length number; size is 0 when there is none.
func offsetVarint(b []byte) (v uint64, size int) {
	for i, c := range b {
		if i == 5 { // no name is so long
			return 0, 0
		}
		if i > 0 {
			v++
		}
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// listIndex makes an index of names as git lists them. links are those that are repositories of their own.
func listIndex(names, links []string) *index {
	x := &index{ends: make([]uint32, 0, len(names)), links: make(map[string]struct{}, len(links))}
	if !sort.StringsAreSorted(names) {
		names = append([]string(nil), names...)
		sort.Strings(names)
	}
	var b strings.Builder
	for _, n := range names {
		if b.Len()+len(n) > maxIndexNames {
			break
		}
		b.WriteString(n)
		x.ends = append(x.ends, uint32(b.Len()))
	}
	x.names = b.String()
	for _, l := range links {
		x.links[l] = struct{}{}
	}
	return x
}

// folded returns the index with names in lower case.
func (x *index) folded() *index {
	names := make([]string, x.len())
	for i := range names {
		names[i] = sandbox.LowerASCII(x.name(i))
	}
	links := make([]string, 0, len(x.links))
	for l := range x.links {
		links = append(links, sandbox.LowerASCII(l))
	}
	y := listIndex(names, links)
	y.fold = true
	return y
}

// repo is a repository that the walk is in. Its index is read when a rule first leaves something out.
type repo struct {
	base  string // the folder that holds .git
	fold  bool   // core.ignoreCase is set
	asked bool
	index *index // nil: nothing is known to be tracked
}

// tracked reports whether git tracks path, which a rule leaves out.
func (w *walker) tracked(r *repo, p string, dir bool) bool {
	if r == nil {
		return false
	}
	if !r.asked {
		r.asked = true
		if r.index = w.readIndex(r.base); r.fold && r.index != nil {
			r.index = r.index.folded()
		}
	}
	if r.base != "." {
		p = p[len(r.base)+1:]
	}
	return r.index.has(p, dir)
}

// readIndex reads the index of the repository at base through the door, or has git list it. When neither can be done,
// rules alone decide, and the statistics say so.
func (w *walker) readIndex(base string) *index {
	door, err := w.ws.GitDoor()
	if err != nil {
		w.stats.IndexLost++
		return nil
	}
	defer door.Close()
	x, err := doorIndex(door, base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil && base == "." && w.opts.Tracked != nil {
		var names, links []string
		if names, links, err = w.opts.Tracked(w.ctx); err == nil {
			return listIndex(names, links)
		}
	}
	if err != nil {
		w.stats.IndexLost++
		return nil
	}
	return x
}

// doorIndex finds and reads the index of the repository at base.
func doorIndex(door *sandbox.GitDoor, base string) (*index, error) {
	dir, err := gitDir(door, base)
	if err != nil {
		return nil, err
	}
	b, err := door.Read(path.Join(dir, "index"), maxIndexBytes)
	if err != nil {
		return nil, err
	}
	return parseIndex(b)
}

// gitDir finds the folder that holds the data of the repository at base.
func gitDir(door *sandbox.GitDoor, base string) (string, error) {
	dir := path.Join(base, ".git")
	info, _, err := door.Stat(dir)
	if err != nil {
		return "", err
	}
	if info.Kind == sandbox.KindFile { // a submodule or another work tree says where its data is
		b, err := door.Read(dir, 8192)
		if err != nil {
			return "", err
		}
		to, ok := strings.CutPrefix(string(b), "gitdir: ")
		if !ok {
			return "", errIndex
		}
		to = strings.TrimRight(to, "\r\n")
		if path.IsAbs(to) {
			if dir, ok = door.Beneath(to); !ok {
				return "", sandbox.ErrOutside
			}
		} else {
			dir = path.Join(base, to)
		}
	}
	return dir, nil
}
