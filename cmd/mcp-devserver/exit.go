package main

import "errors"

// Exit codes, by what happened.
const (
	exitOK      = 0  // success; stdin ended
	exitDenied  = 1  // call: a denial; doctor: warnings; otherwise an unexpected failure
	exitUsage   = 2  // the command line or the arguments of a tool; doctor: would refuse to start; conform: no verdict
	exitRefused = 78 // the configuration: the server does not start (EX_CONFIG)
)

// errRefused marks reasons not to serve that show only in the finished server.
var errRefused = errors.New("refused")

// errNoVerdict says that conform found nothing to judge.
var errNoVerdict = errors.New("conform could not run")

// exitError ends the program with a code; what there was to say was said.
type exitError int

func (exitError) Error() string { return "exit" }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var code exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errUsage), errors.Is(err, errNoVerdict):
		return exitUsage
	case errors.Is(err, errRefused):
		return exitRefused
	}
	return exitDenied
}
