package transporttest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Case is a message with everything that must come back for it, in order. Each $ stands for a number that differs in
// each use of the case.
type Case struct {
	Name string
	In   string
	Want []string
}

// MaxMessage is the limit under which the transports run the cases.
const MaxMessage = 256 << 10

// Cases hold on every transport, alone and all at once.
func Cases() []Case {
	big := strings.Repeat("y", MaxMessage-100)
	return []Case{
		{"a request", `{"id":"$","do":"echo","text":"hello"}`, []string{`{"id":"$","text":"hello"}`}},
		{"newlines inside a string", `{"id":"$","do":"echo","text":"a\nb\r\nc"}`, []string{`{"id":"$","text":"a\nb\r\nc"}`}},
		{"characters beyond ASCII", `{"id":"ü$","do":"echo","text":"日本🙂"}`, []string{`{"id":"ü$","text":"日本🙂"}`}},
		{"a notification", `{"do":"note"}`, nil},
		{"a cancellation of nothing", `{"do":"cancel","text":"nobody"}`, nil},
		{"a failure", `{"id":"$","do":"fail","text":"why"}`, []string{`{"id":"$","error":"why"}`}},
		{"a panic", `{"id":"$","do":"panic","text":"secret"}`, []string{`{"id":"$","error":"internal"}`}},
		{"not JSON", `{"id":`, []string{`{"error":"not JSON"}`}},
		{"a message before the answer", `{"id":"$","do":"send","n":1}`, []string{`{"note":"$ 0"}`, `{"id":"$","text":""}`}},
		{"several", `{"id":"$","do":"send","n":5}`,
			[]string{`{"note":"$ 0"}`, `{"note":"$ 1"}`, `{"note":"$ 2"}`, `{"note":"$ 3"}`, `{"note":"$ 4"}`, `{"id":"$","text":""}`}},
		{"a long answer", `{"id":"$","do":"size","n":300000}`, []string{`{"id":"$","text":"` + strings.Repeat("x", 300000) + `"}`}},
		{"a long question", `{"id":"$","do":"echo","text":"` + big + `"}`, []string{`{"id":"$","text":"` + big + `"}`}},
		{"a slow answer", `{"id":"$","do":"sleep","text":"20ms"}`, []string{`{"id":"$","text":"20ms"}`}},
	}
}

// Transport takes one message to the line and returns what comes back. It is called concurrently.
type Transport func(in string) ([]string, error)

// Run drives the cases through a transport, one by one and then all together, several times.
func Run(t *testing.T, send Transport) {
	var uses atomic.Int64
	one := func(c Case, how string) {
		n := strconv.FormatInt(uses.Add(1), 10)
		want := slices.Clone(c.Want)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "$", n)
		}
		got, err := send(strings.ReplaceAll(c.In, "$", n))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, %s: %.200q %v, want %.200q", c.Name, how, got, err, want)
		}
	}
	for _, c := range Cases() {
		one(c, "alone")
	}
	var wg sync.WaitGroup
	for range 4 {
		for _, c := range Cases() {
			wg.Go(func() { one(c, "among others") })
		}
	}
	wg.Wait()
}

// Close closes the line within a minute, real or fake.
func (l *Line) Close(t testing.TB) {
	t.Helper()
	l.Release()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.Line.Close(ctx); err != nil {
		t.Error(err)
	}
	if n := l.InFlight(); n != 0 {
		t.Errorf("%d requests left in flight", n)
	}
}
