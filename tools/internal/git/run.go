package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mcp-devserver/sandbox"
)

// process is one running git. Reads go through out; close ends it in any case.
type process struct {
	repo   *Repo
	cmd    *exec.Cmd
	caller context.Context // as start got it
	ctx    context.Context // ends with the caller's, or at the deadline of this process
	cancel context.CancelFunc
	stop   func() bool
	in     io.WriteCloser
	pipe   io.ReadCloser
	out    *bufio.Reader
	once   sync.Once
	err    error
	timeUp bool // the context had ended before the process did
}

// errTooMuch reports that git wrote more than Options.MaxOutput.
var errTooMuch = errors.New("git: output limit reached")

// start runs one row of the table. args may hold only what this package made
// itself: flags, numbers, full object ids and, after "--", checked paths.
// The caller must close the process.
func (r *Repo) start(ctx context.Context, c *command, args ...string) (*process, error) {
	if err := r.same(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, r.git.opt.Timeout)
	dir, at := r.stand()
	argv := []string{"--git-dir=" + at + "/" + r.gitDir, "--work-tree=."}
	if c.alone {
		// No repository: git would read its configuration, includes and all.
		argv = []string{"--git-dir=" + os.DevNull}
	}
	argv = append(argv, globalArgs...)
	argv = append(argv, c.name)
	argv = append(argv, c.args...)
	argv = append(argv, args...)
	cmd := exec.CommandContext(ctx, r.git.opt.Binary, argv...)
	cmd.Dir = dir
	if r.git.held != nil {
		cmd.ExtraFiles = []*os.File{r.git.held}
	}
	cmd.Env = environment(r.drivers, os.Getenv)
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.Stdin, cmd.Stderr = r.git.null, r.git.null
	setGroup(cmd)
	p := &process{repo: r, cmd: cmd, caller: caller, ctx: ctx, cancel: cancel}
	var err error
	if c.stdin {
		cmd.Stdin = nil
		if p.in, err = cmd.StdinPipe(); err != nil {
			cancel()
			return nil, err
		}
	}
	if p.pipe, err = cmd.StdoutPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		late := ctx.Err() != nil
		cancel()
		if late {
			return nil, p.ended()
		}
		return nil, r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": 127})
	}
	limit(cmd.Process.Pid, r.git.opt.Timeout)
	// A descendant that left the process group could hold the pipe open; the
	// read end is closed too, so no reader outlives the deadline.
	p.stop = context.AfterFunc(ctx, func() {
		_ = killGroup(cmd.Process)
		_ = p.pipe.Close()
		if p.in != nil {
			_ = p.in.Close()
		}
	})
	p.out = bufio.NewReaderSize(p.pipe, 64<<10)
	return p, nil
}

// stand says where a git works, and how it names the root from there: never the
// work tree. Beside the repository git opens what it takes for files of the work
// tree: .gitattributes of each folder and .mailmap, and files themselves instead
// of blobs, while it looks for renames. It does so by name, over links, and would
// wait for pipes. Where no folder is without names, the one of refs has to do:
// all that lies there has been looked at.
func (r *Repo) stand() (dir, at string) {
	if r.git.held != nil || r.common == "" {
		return r.git.dir, r.git.at
	}
	refs := r.common + "/refs"
	return filepath.Join(r.git.dir, filepath.FromSlash(refs)), strings.Repeat("../", strings.Count(refs, "/")) + ".."
}

// close ends the process, whatever its state, and reaps it. The error is nil
// only if git ended by itself with status 0.
func (p *process) close() error {
	p.once.Do(func() {
		if p.in != nil {
			_ = p.in.Close()
		}
		// Everything wanted has been read. At end of output git is about to exit
		// by itself; anywhere else it is told to stop.
		if _, err := p.out.Peek(1); err != io.EOF {
			_ = killGroup(p.cmd.Process)
		}
		err := p.cmd.Wait()
		p.stop()
		if p.ctx.Err() != nil {
			err, p.timeUp = p.ended(), true
		}
		p.err = err
		p.cancel()
	})
	return p.err
}

// abort ends the process at once, without waiting for more output.
func (p *process) abort() {
	_ = killGroup(p.cmd.Process)
	_ = p.close()
}

// read reads what git writes up to max bytes, then ends the process.
func (p *process) read(max int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(p.out, max+1))
	if n > max {
		p.abort()
		return nil, errTooMuch
	}
	cerr := p.close()
	if cerr != nil {
		return nil, cerr
	}
	return b.Bytes(), err
}

// output runs a command to its end. A refusal by git is exit status in
// *exec.ExitError; see failed.
func (r *Repo) output(ctx context.Context, c *command, stdin string, args ...string) ([]byte, error) {
	p, err := r.start(ctx, c, args...)
	if err != nil {
		return nil, err
	}
	if c.stdin {
		go func() {
			_, _ = io.WriteString(p.in, stdin)
			_ = p.in.Close()
		}()
	}
	b, err := p.read(r.git.opt.MaxOutput)
	if err == nil {
		// An answer is only worth having if it came from the repository that was
		// looked at.
		err = r.same()
	}
	return b, err
}

// ended says why the process's time is over: the caller's own reason, or
// timeout when the deadline of this one process was it.
func (p *process) ended() error {
	if p.caller.Err() != nil {
		return context.Cause(p.caller)
	}
	return p.repo.git.ws.Refuse(sandbox.Timeout, sandbox.Args{"s": int64(p.repo.git.opt.Timeout / time.Second)})
}

// failed turns whatever a run returned into an answer. Only the exit status is
// looked at: git's words quote the repository.
func (r *Repo) failed(err error) error {
	var d *sandbox.Denial
	var x *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &d):
		return err
	case errors.Is(err, errTooMuch):
		return r.git.ws.Refuse(sandbox.ResultTooLarge, nil)
	case errors.As(err, &x):
		return r.git.ws.Refuse(sandbox.GitFailed, sandbox.Args{"exit_code": x.ExitCode()})
	}
	return err
}

// exitCode is git's exit status in err, or -1.
func exitCode(err error) int {
	var x *exec.ExitError
	if errors.As(err, &x) {
		return x.ExitCode()
	}
	return -1
}
