//go:build !linux || portable

package sandbox

func (d *Dir) readLink(name string) (string, error) {
	if m, err := d.lstat(name); err != nil {
		return "", err
	} else if m.Kind != KindSymlink {
		return "", errChanged
	}
	text, err := d.h.root.Readlink(name)
	if err != nil {
		return "", classify(err)
	}
	return text, nil
}
