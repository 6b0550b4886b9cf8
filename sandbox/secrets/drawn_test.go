package secrets

import (
	"math/rand/v2"
	"testing"
)

// Passwords without a sign or a digit in between are not taken for names.
func TestDrawnLetters(t *testing.T) {
	for _, s := range []string{
		"password = \"XbdDvQripJfVFiqchXfv\"", "Server=db;Uid=app;Pwd={XbdDvQripJfVFiqchXf7};",
	} {
		if len(Find(s)) != 1 {
			t.Errorf("%s is shown", s)
		}
	}
	for _, s := range []string{
		"secret = \"testPrivateRSA2048Key\"", "secret = \"KubernetesCSIDriverSecretProvider\"", "token = \"XMLHttpRequestUploadToken\"",
		"token = \"getOrCreateHTTPSProxyByID\"", "password = \"newPasswordConfirmation\"",
		"secret = \"doNotGoToItsDb\"", "token = \"benutzerKennwortAktualisieren\"",
	} {
		if got := Find(s); got != nil {
			t.Errorf("%s is hidden", s)
		}
	}
}

// Of values drawn at random less than one in two hundred reads as a name, whatever
// their length.
func TestFewDrawnAreWordy(t *testing.T) {
	const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for _, alphabet := range []string{signs, signs[:52]} {
		r := rand.New(rand.NewPCG(1, 2))
		const all = 100_000
		wordy := 0
		for range all {
			var b [24]byte
			v := b[:16+r.IntN(9)]
			for i := range v {
				v[i] = alphabet[r.IntN(len(alphabet))]
			}
			if isWordy(string(v)) {
				wordy++
			}
		}
		t.Logf("of %d signs: %.3f %%", len(alphabet), 100*float64(wordy)/all)
		if wordy*200 > all {
			t.Errorf("of %d signs: %d of %d values read as names", len(alphabet), wordy, all)
		}
	}
}
