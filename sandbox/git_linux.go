//go:build !portable

package sandbox

import "golang.org/x/sys/unix"

func (d *Dir) readLink(name string) (text string, err error) {
	err = d.fd.use(func(fd int) error {
		buf := make([]byte, 4096)
		n, err := retry(func() (int, error) { return unix.Readlinkat(fd, name, buf) })
		switch {
		case err == unix.EINVAL:
			return errChanged // no link any more
		case err != nil:
			return classify(err)
		case n == len(buf):
			return errTooLong
		}
		text = string(buf[:n])
		return nil
	})
	return text, err
}
