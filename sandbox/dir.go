package sandbox

import "errors"

// Entry is one name in a folder, as the bytes on disk.
type Entry struct {
	Name string
	Kind Kind
}

// LinkState says where a link leads.
type LinkState uint8

const (
	LinkInside  LinkState = iota + 1 // to something in the workspace
	LinkOutside                      // out of the workspace
	LinkBroken                       // to nothing, in a circle, or out of reach
	LinkDenied                       // to something withheld
)

// Path is the folder's resolved path, relative to the root; "." is the root.
func (d *Dir) Path() string { return d.path }

// Denied matches a name in this folder against the denylist.
func (d *Dir) Denied(name string) (rule string, denied bool) {
	return d.ws.deny.last(d.folded, name, true)
}

// Passed is a name in an open folder that the denylist has let through. Only
// Pass makes one that can be opened.
type Passed struct {
	d    *Dir
	name string
}

var errPassed = errors.New("sandbox: no name that was passed")

// Pass matches a name against the denylist once, for a caller that opens it
// later. One that is denied, or no single name, does not open.
func (d *Dir) Pass(name string) (p Passed, denied bool) {
	if _, denied = d.Denied(name); denied || !singleName(name) {
		return Passed{}, denied
	}
	return Passed{d, name}, false
}

// refuse words a denial about a name in this folder. The name comes from the
// disk, so it is shown only if it is plain.
func (d *Dir) refuse(name string, err error) error {
	if _, ok := err.(*Denial); ok {
		return err
	}
	p := d.show(name)
	q := query{written: p}
	switch err {
	case errNotExist, errNotDir, errChanged:
		return d.ws.Refuse(NotFound, Args{"path": p})
	case errLink:
		return d.ws.Refuse(SpecialFile, Args{"path": p, "kind": "link"})
	}
	return d.ws.explain(&q, err)
}

// check passes single names that the denylist lets through.
func (d *Dir) check(name string) error {
	if !singleName(name) {
		return d.ws.Refuse(InvalidPath, nil)
	}
	if rule, no := d.Denied(name); no {
		return d.refuse(name, &deniedError{rule})
	}
	return nil
}

func singleName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '/' || name[i] == 0 {
			return false
		}
	}
	return true
}

// show gives the path of a name in this folder for a message.
func (d *Dir) show(name string) string {
	p := d.path
	if name != "" {
		p = join(d.path, name)
	}
	if SafeName(p) {
		return p
	}
	return "an entry"
}

func linkResult(m meta, err error) (to string, kind Kind, s LinkState) {
	if err == nil {
		return m.Path, m.Kind, LinkInside
	}
	if _, ok := err.(*deniedError); ok {
		return "", 0, LinkDenied
	}
	if err == errOutside {
		return "", 0, LinkOutside
	}
	return "", 0, LinkBroken
}

// wrongKind refuses what is not of the wanted kind.
func (d *Dir) wrongKind(name string, m *meta, want Kind) error {
	switch {
	case m.Kind == want:
		return nil
	case m.Kind == KindDirectory:
		return d.ws.Refuse(IsADirectory, Args{"path": d.show(name)})
	case m.Kind == KindFile:
		return d.ws.Refuse(NotADirectory, Args{"path": d.show(name)})
	case m.Kind == KindSymlink:
		return errLink
	}
	return d.ws.Refuse(SpecialFile, Args{"path": d.show(name), "kind": m.special})
}
