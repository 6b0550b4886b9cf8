package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// slowPattern passes the guard and matches nothing, which no prefilter sees: it
// takes lookarounds as met. Every line of slow() costs the engine microseconds.
const slowPattern = `[a-z]+[0-9]+[a-z0-9]+ [a-z0-9]+(?!.|$)`

// slowly are the settings under which a search may take its time.
var slowly = []string{"MCP_SEARCH__DEADLINE_MS=60000", "MCP_LIMITS__CALL_TIMEOUT_MS=120000", "MCP_LIMITS__RATE_LIMIT=false"}

func slowSearch(id string) string {
	return call(id, "search_code", fmt.Sprintf(`{"pattern":%q}`, slowPattern))
}

// slow is a folder in which one slow search takes seconds of processor time;
// eight at once occupy the server for much longer than any test waits.
var slow = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(workspace), "slow")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789  "
	b := make([]byte, 100<<10)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
		if i%77 == 76 {
			b[i] = '\n'
		}
	}
	for i := range 240 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d.txt", i)), b, 0o644); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("here\n"), 0o644)
})

// slowly8 starts a server and keeps all its workers busy, with calls 1 to 8.
func slowly8(t *testing.T, settings ...string) (*child, string) {
	t.Helper()
	dir, err := slow()
	if err != nil {
		t.Fatal(err)
	}
	c := stdio(t, dir, append(settings, slowly...)...)
	c.exchange(discover(`"up"`), 1)
	for i := 1; i <= 8; i++ {
		c.send(slowSearch(fmt.Sprint(i)))
	}
	return c, dir
}
