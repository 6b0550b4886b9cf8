package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"mcp-devserver/cmd/internal/stdio"
	"mcp-devserver/pipeline"
)

// SelfAttackError says that an attack on the finished server got through.
type SelfAttackError struct{ Probes []Probe }

func (e *SelfAttackError) Error() string {
	var tricks []string
	for _, p := range e.Probes {
		tricks = append(tricks, p.Trick+" ("+p.Saw+")")
	}
	return "the server does not withstand its own attacks: " + strings.Join(tricks, "; ")
}

// ready attacks the server before it serves anybody.
func (a *App) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var through []Probe
	for _, p := range a.SelfAttack(ctx) {
		if !p.Held {
			through = append(through, p)
		}
	}
	if len(through) > 0 {
		return &SelfAttackError{through}
	}
	return nil
}

// ServeStdio serves one client over a pair of streams until its input ends or
// ctx does. The error is nil for both.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	err := stdio.Serve(ctx, a.stages.Line(), in, out, stdio.Options{MaxLine: int(a.config.RequestBytes)})
	return errors.Join(err, a.end())
}

// end closes what a transport has finished with: nobody waits for an answer
// any more.
func (a *App) end() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Close(ctx); err != nil && !errors.Is(err, pipeline.ErrShutdown) {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}
