//go:build !unix

package security

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
