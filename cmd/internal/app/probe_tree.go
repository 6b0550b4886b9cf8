package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// The tree that the probes below are made on: what lies beside the workspace
// says outsideMark, what lies in it says insideMark.
const (
	outsideMark = "lies outside the workspace"
	insideMark  = "lies inside the workspace"
	probePause  = 2 * time.Second
)

// TreeAttack plants links, a pipe and a swap in a temporary folder, serves that
// folder with the settings in force, and tries to get out of it. The folder is
// gone when it returns. An error says that the tree could not be made.
func TreeAttack(ctx context.Context, c *Config, b Build) (probes []Probe, err error) {
	base, err := os.MkdirTemp("", "mcp-devserver-probe-")
	if err != nil {
		return nil, errors.New("no temporary folder can be made")
	}
	defer func() {
		if os.RemoveAll(base) != nil {
			err = errors.Join(err, errors.New("the temporary folder could not be removed"))
		}
	}()
	root, outside := filepath.Join(base, "ws"), filepath.Join(base, "outside")
	try := func(f func() error) {
		if err == nil && f() != nil {
			err = errors.New("the tree of the probes cannot be made in the temporary folder")
		}
	}
	for _, dir := range []string{root, outside, filepath.Join(root, "swapped")} {
		try(func() error { return os.Mkdir(dir, 0o700) })
	}
	for _, f := range []struct{ name, text string }{
		{filepath.Join(outside, "file"), outsideMark}, {filepath.Join(root, "swapped", "file"), insideMark}, {filepath.Join(root, ".env"), outsideMark},
	} {
		try(func() error { return os.WriteFile(f.name, []byte(f.text+"\n"), 0o600) })
	}
	for _, l := range []struct{ name, to string }{
		{"link", "../outside/file"}, {"absolute", filepath.Join(outside, "file")}, {"folder", "../outside"}, {"withheld", ".env"}, {"away", "../outside"},
	} {
		try(func() error { return os.Symlink(l.to, filepath.Join(root, l.name)) })
	}
	pipe := true
	try(func() error {
		perr := makePipe(filepath.Join(root, "pipe"))
		if errors.Is(perr, errors.ErrUnsupported) {
			pipe, perr = false, nil
		}
		return perr
	})
	if err != nil {
		return nil, err
	}

	here := *c
	// Rules of the operator are about other names, and git is not needed.
	here.Workspace, here.RateLimit, here.Deny, here.GitEnabled = root, false, nil, false
	a, err := New(&here, b, zerolog.Nop(), "probe")
	if err != nil {
		return nil, errors.New("the temporary folder cannot be served")
	}
	defer a.Close(context.WithoutCancel(ctx))
	a.attacking.Store(true)

	for _, p := range []struct{ trick, tool, args, code string }{
		{"link to a file outside", "read_file", `{"path":"link"}`, "outside_workspace"},
		{"absolute link outside", "read_file", `{"path":"absolute"}`, "outside_workspace"},
		{"link to a folder outside", "read_file", `{"path":"folder/file"}`, "outside_workspace"},
		{"link to a folder outside, listed", "list_directory", `{"path":"folder"}`, "outside_workspace"},
		{"link to a folder outside, searched", "search_code", `{"path":"folder","pattern":"outside"}`, "outside_workspace"},
		{"link to a withheld file", "read_file", `{"path":"withheld"}`, "denied_path"},
	} {
		probes = append(probes, a.refused(ctx, p.trick, p.tool, p.args, p.code))
	}
	p := Probe{Trick: "search of a folder with links outside"}
	r, err := a.Call(ctx, "search_code", `{"pattern":"lies outside"}`)
	switch {
	case err != nil || r.Denied || r.Invalid:
		p.Saw = "a failure"
	case strings.Contains(string(r.Result), outsideMark) || strings.Contains(r.Text, outsideMark):
		p.Saw = "what lies outside"
	default:
		p.Held, p.Saw = true, "nothing of it"
	}
	probes = append(probes, p)
	if pipe {
		start := time.Now()
		p := a.refused(ctx, "pipe that nobody writes to", "read_file", `{"path":"pipe"}`, "special_file")
		if took := time.Since(start); took > probePause {
			p.Held, p.Saw = false, fmt.Sprintf("an answer after %d ms", took.Milliseconds())
		}
		probes = append(probes, p)
	}
	return append(probes, a.raced(ctx, root)), nil
}

// raced reads a file while the folder that holds it is exchanged for a link
// that leads outside, and back.
func (a *App) raced(ctx context.Context, root string) Probe {
	p := Probe{Trick: "folder exchanged for a link outside during reads"}
	stop := make(chan struct{})
	var attacker sync.WaitGroup
	attacker.Go(func() {
		dir, link, aside := filepath.Join(root, "swapped"), filepath.Join(root, "away"), filepath.Join(root, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Each step may fail when the one before did; the next round mends it.
			_ = os.Rename(dir, aside)
			_ = os.Rename(link, dir)
			_ = os.Rename(dir, link)
			_ = os.Rename(aside, dir)
		}
	})
	defer attacker.Wait()
	defer close(stop)
	const rounds = 300
	met := 0
	for range rounds {
		r, err := a.Call(ctx, "read_file", `{"path":"swapped/file"}`)
		switch {
		case err != nil || r.Invalid:
			p.Saw = "a failure"
			return p
		case strings.Contains(string(r.Result), outsideMark) || strings.Contains(r.Text, outsideMark):
			p.Saw = "what lies outside"
			return p
		case r.Denied:
			met++
		}
	}
	p.Held, p.Saw = true, fmt.Sprintf("%d of %d reads refused, none went outside", met, rounds)
	return p
}
