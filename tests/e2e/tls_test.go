package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificate makes a pair for loopback, in files outside any workspace.
func certificate(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "tls.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: bare}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}

// TestUnderTLS runs the tests of HTTP once more, encrypted.
func TestUnderTLS(t *testing.T) {
	underTLS = true
	defer func() { underTLS = false }()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"transcript", TestTranscript}, {"headers", TestHeaders}, {"door", TestDoor}, {"raw requests", TestRawRequests},
		{"streams", TestStreams}, {"disconnect", TestDisconnect}, {"tokens", TestTokens}, {"health", TestHealth},
		{"drain", TestDrain}, {"parallel clients", TestParallelClients},
	} {
		t.Run(c.name, c.test)
	}
}

// TestTLSVersions: nothing older than 1.2, and no clear text on the port.
func TestTLSVersions(t *testing.T) {
	underTLS = true
	defer func() { underTLS = false }()
	w := overHTTP(t, workspace)
	for _, c := range []struct {
		version uint16
		served  bool
	}{{tls.VersionTLS10, false}, {tls.VersionTLS11, false}, {tls.VersionTLS12, true}, {tls.VersionTLS13, true}} {
		old := w.secure.Clone()
		old.MinVersion, old.MaxVersion = c.version, c.version
		conn, err := tls.Dial("tcp", w.address, old)
		if err == nil {
			conn.Close()
		}
		if (err == nil) != c.served {
			t.Errorf("%s: %v", tls.VersionName(c.version), err)
		}
	}
	plain := &web{child: w.child, address: w.address, client: newClient()}
	if a, err := plain.raw(t, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"); err == nil && a.status != 400 {
		t.Errorf("clear text: %d", a.status)
	}
	if a := w.post(t, readMod); a.status != 200 {
		t.Errorf("after that: %d", a.status)
	}
}
