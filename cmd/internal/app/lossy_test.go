package app

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
)

// TestLossyUnread: a log that nobody reads holds up nobody, costs bounded
// memory, and says afterwards what is missing.
func TestLossyUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe() // nobody reads yet
		l := NewLossy(w)
		log := Logger(l, "info")
		for i := range 10_000 {
			log.Info().Int("i", i).Msg("a request")
		}
		begin := time.Now()
		l.Flush(500 * time.Millisecond)
		if took := time.Since(begin); took != 500*time.Millisecond {
			t.Errorf("Flush waited %v", took)
		}
		if len(l.held) > maxHeld {
			t.Errorf("%d bytes are held", len(l.held))
		}
		var got bytes.Buffer
		var reading sync.WaitGroup
		reading.Go(func() { io.Copy(&got, r) })
		l.Flush(time.Hour)
		w.Close()
		reading.Wait()
		kept, dropped := 0, 0
		for _, line := range strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n") {
			var m struct {
				Lines   int
				Message string
			}
			if err := json.Unmarshal([]byte(line), &m, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if m.Message == "a request" {
				kept++
			} else {
				dropped += m.Lines
			}
		}
		if dropped == 0 || kept+dropped != 10_000 {
			t.Errorf("%d lines came through, %d are said to be dropped", kept, dropped)
		}
	})
}

func TestLossyConcurrent(t *testing.T) {
	var got bytes.Buffer
	l := NewLossy(&got)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if n, err := l.Write([]byte("0123456789\n")); n != 11 || err != nil {
					t.Error(n, err)
				}
			}
		})
	}
	all.Wait()
	l.Flush(time.Minute)
	l.Flush(time.Minute)
	if want := strings.Repeat("0123456789\n", 800); got.String() != want {
		t.Errorf("%d bytes, want %d", got.Len(), len(want))
	}
}
