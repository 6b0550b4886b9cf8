//go:build !linux

package sandbox

func (d *Dir) readLink(name string) (string, error) {
	text, err := d.h.root.Readlink(name)
	if err != nil {
		return "", classify(err)
	}
	return text, nil
}
