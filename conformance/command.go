package conformance

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
)

// Command returns a start function for [Stdio]: it runs argv with the
// environment of this process.
func Command(argv []string) func(context.Context) (*Process, error) {
	return func(context.Context) (*Process, error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			return nil, err
		}
		group(cmd)
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &Process{
			Stdin: stdin, Stdout: stdout, Stderr: stderr,
			// Not that of cmd, which would close streams that are still read.
			Wait: func() error { _, err := cmd.Process.Wait(); return err },
			Kill: func() {
				killGroup(cmd)
				for _, c := range []io.Closer{stdin, stdout, stderr} {
					_ = c.Close()
				}
			},
		}, nil
	}
}

// Split takes a command line apart as a shell does, as far as words and quotes
// go: nothing is expanded, and no shell runs.
func Split(s string) (argv []string, err error) {
	var word strings.Builder
	inWord, quoted := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted == '\'' && c != '\'', quoted == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quoted != 0 && c == quoted:
			quoted = 0
		case c == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			inWord = true
		case quoted == 0 && (c == '\'' || c == '"'):
			quoted, inWord = c, true
		case quoted == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if inWord {
				argv = append(argv, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quoted != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		argv = append(argv, word.String())
	}
	if len(argv) == 0 {
		return nil, errors.New("the command is empty")
	}
	return argv, nil
}
