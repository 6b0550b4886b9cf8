package app

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is everything that an operator can set. Limits are already within
// their ceilings.
type Config struct {
	Environment string

	Workspace        string
	MaxFileBytes     int64
	MaxPathBytes     int64
	Deny             []string
	OSSandbox        string
	AllowRoot        bool
	AllowWritable    bool
	CrossMounts      bool
	MaxWalkEntries   int64
	MaxDepth         int64
	RespectGitignore bool

	ReadMaxLines     int64
	ReadMaxLineChars int64
	ListMaxEntries   int64

	SearchMaxMatches   int64
	SearchMaxFileBytes int64
	MaxPatternChars    int64
	MatchTimeout       time.Duration
	SearchDeadline     time.Duration
	SymbolMaxResults   int64

	GitEnabled       bool
	GitBinary        string
	GitTimeout       time.Duration
	GitMaxCommits    int64
	GitMaxOutput     int64
	GitShowEmail     bool
	GitAllowExternal bool

	MaxChars   int64
	Structured bool

	Redact     bool
	Scan       bool
	RegexGuard bool

	Workers       int64
	Queue         int64
	CallTimeout   time.Duration
	RequestBytes  int64
	JSONDepth     int64
	RateLimit     bool
	RatePerSecond int64
	RateBurst     int64

	HTTPAddress    string
	HTTPPath       string
	AuthTokens     []string
	AllowedOrigins []string
	AllowedHosts   []string
	TLSCertFile    string
	TLSKeyFile     string
	BehindProxy    bool
	TrustedProxies []string
	MaxConnections int64
	MaxHeaderBytes int64
	ReadTimeout    time.Duration
	WriteTimeout   time.Duration
	IdleTimeout    time.Duration
	ShutdownGrace  time.Duration
	ServerTiming   bool

	MetricsEnabled bool
	MetricsAddress string
	MetricsPublic  bool

	LogLevel string

	// Origin says for each setting where its value came from: "default",
	// "env", "flag" or "file"; NAME_FILE holds the file's path.
	Origin map[string]string
}

// Production reports whether the stricter refusals apply.
func (c *Config) Production() bool { return c.Environment == "production" }

// Problem is one reason not to start, in one line.
type Problem struct {
	Setting string // the variable or flag
	Found   string // what was found; never a secret
	Why     string
	Do      string // what to set
	Warn    bool   // it refuses in production only
}

// String is the line that an operator reads.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Setting)
	if p.Found != "" {
		b.WriteString(": found " + p.Found)
	}
	b.WriteString(": " + p.Why + "; " + p.Do)
	return b.String()
}

type kind uint8

const (
	kindText kind = iota
	kindList
	kindBool
	kindInt  // a whole number from its floor to the ceiling
	kindMS   // the same, in milliseconds
	kindEnum // one of the words
	kindSecrets
)

// setting is one row of the table that drives parsing, doctor, .env.example
// and docs/configuration.md.
type setting struct {
	name    string
	kind    kind
	initial string // default as an operator would write it
	ceiling int64
	words   []string
	about   string
	into    func(*Config) any
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

var settings = []setting{
	{"MCP_ENVIRONMENT", kindEnum, "development", 0, []string{"development", "production"}, "production turns warnings about weak settings into refusals to start", func(c *Config) any { return &c.Environment }},

	{"MCP_SANDBOX__WORKSPACE", kindText, "", 0, nil, "the one directory that is served, absolute; required unless --workspace is given", func(c *Config) any { return &c.Workspace }},
	{"MCP_SANDBOX__MAX_FILE_BYTES", kindInt, "1073741824", 4 * gib, nil, "largest file that a ranged read streams; a read without a range stops at 10 MiB", func(c *Config) any { return &c.MaxFileBytes }},
	{"MCP_SANDBOX__MAX_PATH_BYTES", kindInt, "4096", 4096, nil, "longest path accepted from a caller", func(c *Config) any { return &c.MaxPathBytes }},
	{"MCP_SANDBOX__DENY", kindList, "", 500, nil, "further names to withhold, comma-separated, in gitignore syntax; they add to the built-in ones and cannot take away", func(c *Config) any { return &c.Deny }},
	{"MCP_SANDBOX__OS_SANDBOX", kindEnum, "auto", 0, []string{"auto", "enforce", "external", "off"}, "second wall kept by the kernel (Landlock and a filter of system calls): auto raises what the kernel offers, enforce refuses to start unless that is all of it, external leaves it to a container, off goes without", func(c *Config) any { return &c.OSSandbox }},
	{"MCP_SANDBOX__ALLOW_ROOT", kindBool, "false", 0, nil, "accept running as uid 0 in production", func(c *Config) any { return &c.AllowRoot }},
	{"MCP_SANDBOX__ALLOW_WRITABLE", kindBool, "false", 0, nil, "accept a workspace that this process could write, over HTTP in production", func(c *Config) any { return &c.AllowWritable }},
	{"MCP_SANDBOX__CROSS_MOUNTS", kindBool, "false", 0, nil, "let listings and searches enter other file systems that are mounted in the workspace; a path that names one is always served", func(c *Config) any { return &c.CrossMounts }},
	{"MCP_SANDBOX__MAX_WALK_ENTRIES", kindInt, "100000", 2_000_000, nil, "entries that one listing, search or overview visits", func(c *Config) any { return &c.MaxWalkEntries }},
	{"MCP_SANDBOX__MAX_DEPTH", kindInt, "40", 100, nil, "levels of folders that a walk descends", func(c *Config) any { return &c.MaxDepth }},
	{"MCP_SANDBOX__RESPECT_GITIGNORE", kindBool, "true", 0, nil, "leave out what .gitignore leaves out, unless a call asks for it", func(c *Config) any { return &c.RespectGitignore }},

	{"MCP_READ__MAX_LINES", kindInt, "2000", 2000, nil, "lines that one read returns", func(c *Config) any { return &c.ReadMaxLines }},
	{"MCP_READ__MAX_LINE_CHARS", kindInt, "2000", 20_000, nil, "characters of a line before it is cut", func(c *Config) any { return &c.ReadMaxLineChars }},
	{"MCP_LIST__MAX_ENTRIES", kindInt, "2000", 2000, nil, "entries that one listing returns", func(c *Config) any { return &c.ListMaxEntries }},

	{"MCP_SEARCH__MAX_MATCHES", kindInt, "1000", 1000, nil, "matches that one search returns", func(c *Config) any { return &c.SearchMaxMatches }},
	{"MCP_SEARCH__MAX_FILE_BYTES", kindInt, "67108864", gib, nil, "larger files are skipped and counted", func(c *Config) any { return &c.SearchMaxFileBytes }},
	{"MCP_SEARCH__MAX_PATTERN_CHARS", kindInt, "1000", 1000, nil, "longest pattern", func(c *Config) any { return &c.MaxPatternChars }},
	{"MCP_SEARCH__MATCH_TIMEOUT_MS", kindMS, "100", 1000, nil, "time for one match of a regular expression", func(c *Config) any { return &c.MatchTimeout }},
	{"MCP_SEARCH__DEADLINE_MS", kindMS, "10000", 60_000, nil, "time for one search; what was found until then is returned", func(c *Config) any { return &c.SearchDeadline }},
	{"MCP_SYMBOLS__MAX_RESULTS", kindInt, "500", 500, nil, "symbols that one call returns", func(c *Config) any { return &c.SymbolMaxResults }},

	{"MCP_GIT__ENABLED", kindBool, "true", 0, nil, "git_log, git_diff and reads at a revision", func(c *Config) any { return &c.GitEnabled }},
	{"MCP_GIT__BINARY", kindText, "", 0, nil, "absolute path of git, outside the workspace; found on PATH at start when unset", func(c *Config) any { return &c.GitBinary }},
	{"MCP_GIT__TIMEOUT_MS", kindMS, "10000", 60_000, nil, "time for one run of git", func(c *Config) any { return &c.GitTimeout }},
	{"MCP_GIT__MAX_COMMITS", kindInt, "200", 200, nil, "commits that one call returns", func(c *Config) any { return &c.GitMaxCommits }},
	{"MCP_GIT__MAX_OUTPUT_BYTES", kindInt, "8388608", 64 * mib, nil, "output of one run of git before it is ended", func(c *Config) any { return &c.GitMaxOutput }},
	{"MCP_GIT__SHOW_EMAIL", kindBool, "false", 0, nil, "show e-mail addresses of authors", func(c *Config) any { return &c.GitShowEmail }},
	{"MCP_GIT__ALLOW_EXTERNAL", kindBool, "false", 0, nil, "serve a repository that keeps data outside the workspace (linked worktrees, alternates)", func(c *Config) any { return &c.GitAllowExternal }},

	{"MCP_OUTPUT__MAX_CHARS", kindInt, "40000", 400_000, nil, "characters of each half of an answer", func(c *Config) any { return &c.MaxChars }},
	{"MCP_OUTPUT__STRUCTURED", kindBool, "true", 0, nil, "send structuredContent and outputSchema; false suits clients that show the model only that half", func(c *Config) any { return &c.Structured }},

	{"MCP_SECURITY__REDACT", kindBool, "true", 0, nil, "replace secrets in answers", func(c *Config) any { return &c.Redact }},
	{"MCP_SECURITY__SCAN", kindBool, "true", 0, nil, "look for text that addresses a model", func(c *Config) any { return &c.Scan }},
	{"MCP_SECURITY__REGEX_GUARD", kindBool, "true", 0, nil, "refuse patterns that can backtrack exponentially", func(c *Config) any { return &c.RegexGuard }},

	{"MCP_LIMITS__WORKERS", kindInt, "8", 64, nil, "calls that run at one time", func(c *Config) any { return &c.Workers }},
	{"MCP_LIMITS__QUEUE", kindInt, "64", 1024, nil, "calls that wait; further ones are answered busy", func(c *Config) any { return &c.Queue }},
	{"MCP_LIMITS__CALL_TIMEOUT_MS", kindMS, "30000", 120_000, nil, "outer limit for one call, above the tools' own deadlines", func(c *Config) any { return &c.CallTimeout }},
	{"MCP_LIMITS__REQUEST_BYTES", kindInt, "1048576", 8 * mib, nil, "longest message accepted", func(c *Config) any { return &c.RequestBytes }},
	{"MCP_LIMITS__JSON_DEPTH", kindInt, "32", 64, nil, "deepest nesting accepted", func(c *Config) any { return &c.JSONDepth }},
	{"MCP_LIMITS__RATE_LIMIT", kindBool, "true", 0, nil, "limit the rate of tool calls", func(c *Config) any { return &c.RateLimit }},
	{"MCP_LIMITS__RATE_PER_SECOND", kindInt, "100", 100_000, nil, "calls a second, per process on stdio and per client on HTTP", func(c *Config) any { return &c.RatePerSecond }},
	{"MCP_LIMITS__RATE_BURST", kindInt, "200", 100_000, nil, "calls at once before the rate applies", func(c *Config) any { return &c.RateBurst }},

	{"MCP_HTTP__ADDRESS", kindText, "127.0.0.1:8080", 0, nil, "address that HTTP listens on", func(c *Config) any { return &c.HTTPAddress }},
	{"MCP_HTTP__PATH", kindText, "/mcp", 0, nil, "path of the endpoint", func(c *Config) any { return &c.HTTPPath }},
	{"MCP_HTTP__AUTH_TOKEN", kindSecrets, "", 2, nil, "bearer token that every request must carry; two, comma-separated, while one replaces the other", func(c *Config) any { return &c.AuthTokens }},
	{"MCP_HTTP__ALLOWED_ORIGINS", kindList, "", 50, nil, "origins accepted beside loopback ones, comma-separated", func(c *Config) any { return &c.AllowedOrigins }},
	{"MCP_HTTP__ALLOWED_HOSTS", kindList, "", 50, nil, "Host names accepted beside loopback ones, comma-separated", func(c *Config) any { return &c.AllowedHosts }},
	{"MCP_HTTP__TLS_CERT_FILE", kindText, "", 0, nil, "PEM certificate chain; with the key it turns TLS on", func(c *Config) any { return &c.TLSCertFile }},
	{"MCP_HTTP__TLS_KEY_FILE", kindText, "", 0, nil, "PEM private key", func(c *Config) any { return &c.TLSKeyFile }},
	{"MCP_HTTP__BEHIND_PROXY", kindBool, "false", 0, nil, "a proxy in front ends TLS", func(c *Config) any { return &c.BehindProxy }},
	{"MCP_HTTP__TRUSTED_PROXIES", kindList, "", 50, nil, "addresses or networks whose X-Forwarded-For tells clients apart for the rate limit, comma-separated", func(c *Config) any { return &c.TrustedProxies }},
	{"MCP_HTTP__MAX_CONNECTIONS", kindInt, "256", 65_536, nil, "connections open at one time", func(c *Config) any { return &c.MaxConnections }},
	{"MCP_HTTP__MAX_HEADER_BYTES", kindInt, "16384", mib, nil, "bytes of a request's headers", func(c *Config) any { return &c.MaxHeaderBytes }},
	{"MCP_HTTP__READ_TIMEOUT_MS", kindMS, "10000", 120_000, nil, "time in which a client must send a request", func(c *Config) any { return &c.ReadTimeout }},
	{"MCP_HTTP__WRITE_TIMEOUT_MS", kindMS, "30000", 120_000, nil, "time in which a client must take each write", func(c *Config) any { return &c.WriteTimeout }},
	{"MCP_HTTP__IDLE_TIMEOUT_MS", kindMS, "60000", 120_000, nil, "time a connection may stay idle", func(c *Config) any { return &c.IdleTimeout }},
	{"MCP_HTTP__SHUTDOWN_GRACE_MS", kindMS, "10000", 60_000, nil, "time for work in flight at shutdown", func(c *Config) any { return &c.ShutdownGrace }},
	{"MCP_HTTP__SERVER_TIMING", kindBool, "false", 0, nil, "send the time of each stage in a Server-Timing header; times tell a client about work that it did not ask for", func(c *Config) any { return &c.ServerTiming }},

	{"MCP_METRICS__ENABLED", kindBool, "false", 0, nil, "serve counts at GET /metrics, on a listener of their own", func(c *Config) any { return &c.MetricsEnabled }},
	{"MCP_METRICS__ADDRESS", kindText, "127.0.0.1:9464", 0, nil, "address that metrics listen on", func(c *Config) any { return &c.MetricsAddress }},
	{"MCP_METRICS__ALLOW_PUBLIC", kindBool, "false", 0, nil, "accept metrics, which ask for no token, on an address that other machines can reach, in production", func(c *Config) any { return &c.MetricsPublic }},

	{"MCP_LOG__LEVEL", kindEnum, "info", 0, []string{"trace", "debug", "info", "warn", "error"}, "what is logged to stderr", func(c *Config) any { return &c.LogLevel }},
}

// floors are limits below which no client could work with the server, and the
// server could not attack itself; 1 where nothing is said.
var floors = map[string]int64{
	"MCP_SANDBOX__MAX_PATH_BYTES":   256,
	"MCP_SEARCH__MAX_PATTERN_CHARS": 16,
	"MCP_OUTPUT__MAX_CHARS":         1000,
	"MCP_LIMITS__REQUEST_BYTES":     4096,
	"MCP_LIMITS__JSON_DEPTH":        8,
	"MCP_LIMITS__RATE_BURST":        16,
}

func (s *setting) floor() int64 { return max(1, floors[s.name]) }

// Load reads the settings from an environment of NAME=value lines. Flags win
// over it: their map goes from a setting's name to its value. All problems are
// returned at once; a setting that has one keeps its default.
func Load(environ []string, flags map[string]string) (*Config, []Problem) {
	c := &Config{Origin: map[string]string{}}
	var problems []Problem
	env := map[string]string{}
	for _, line := range environ {
		name, value, ok := strings.Cut(line, "=")
		if !ok || !strings.HasPrefix(name, "MCP_") {
			continue
		}
		if known(name) {
			env[name] = value
		} else if strings.Contains(name, "__") {
			problems = append(problems, unknown(name))
		}
	}
	for i := range settings {
		s := &settings[i]
		s.set(c, s.initial, false)
		value, from := s.initial, "default"
		direct, isDirect := env[s.name]
		file, isFile := env[s.name+"_FILE"]
		flag, isFlag := flags[s.name]
		switch {
		case isDirect && isFile:
			problems = append(problems, Problem{Setting: s.name, Why: "both it and " + s.name + "_FILE are set", Do: "set one of them"})
			continue
		case isFlag && s.kind == kindSecrets:
			problems = append(problems, Problem{Setting: s.name, Why: "a secret on the command line is visible to every user", Do: "set the variable or its _FILE form"})
			continue
		case isFlag:
			value, from = flag, "flag"
		case isDirect:
			value, from = direct, "env"
		case isFile:
			b, err := os.ReadFile(file)
			if err != nil {
				problems = append(problems, Problem{Setting: s.name + "_FILE", Found: strconv.Quote(file), Why: "the file cannot be read", Do: "name a readable file"})
				continue
			}
			value, from = strings.TrimRight(string(b), "\r\n"), "file"
			c.Origin[s.name+"_FILE"] = file
		}
		c.Origin[s.name] = from
		if p := s.set(c, value, from != "default"); p != nil {
			problems = append(problems, *p)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return strings.Compare(a.Setting, b.Setting) })
	return c, problems
}

func known(name string) bool {
	for i := range settings {
		s := &settings[i]
		if name == s.name || s.kind == kindSecrets && name == s.name+"_FILE" {
			return true
		}
	}
	return false
}

// unknown words the refusal of a variable that looks like ours. Its value may
// be a secret under a wrong name and is not shown.
func unknown(name string) Problem {
	best, distance := "", 1<<30
	for i := range settings {
		if d := editDistance(name, settings[i].name); d < distance {
			best, distance = settings[i].name, d
		}
	}
	do := "remove it"
	if distance <= max(3, len(name)/4) {
		do = "did you mean " + best + "?"
	}
	return Problem{Setting: plain(name), Why: "no such setting", Do: do}
}

// plain shows a name on one line.
func plain(name string) string {
	if q := strconv.QuoteToASCII(name); q[1:len(q)-1] != name {
		return q
	}
	return name
}

// set parses one value. given says that the operator wrote it: an empty value
// is a value then, not the default.
func (s *setting) set(c *Config, value string, given bool) *Problem {
	found := strconv.Quote(value)
	if s.kind == kindSecrets {
		found = fmt.Sprintf("%d characters", len(value))
	}
	bad := func(why, do string) *Problem { return &Problem{Setting: s.name, Found: found, Why: why, Do: do} }
	switch into := s.into(c).(type) {
	case *bool:
		if value != "true" && value != "false" {
			return bad("not a truth value", "set true or false")
		}
		*into = value == "true"
	case *int64:
		n, p := s.number(value, bad)
		if p != nil {
			return p
		}
		*into = n
	case *time.Duration:
		n, p := s.number(value, bad)
		if p != nil {
			return p
		}
		*into = time.Duration(n) * time.Millisecond
	case *[]string:
		list := split(value)
		if s.kind == kindSecrets && given && len(list) == 0 {
			return bad("empty", "set a token or leave the variable unset")
		}
		if int64(len(list)) > s.ceiling {
			return &Problem{Setting: s.name, Found: fmt.Sprintf("%d entries", len(list)), Why: "too many", Do: fmt.Sprintf("set at most %d", s.ceiling)}
		}
		*into = list
	case *string:
		if s.kind == kindEnum && !slices.Contains(s.words, value) {
			return bad("not one of its values", "set "+strings.Join(s.words, ", "))
		}
		if s.kind == kindText && given && value == "" {
			return bad("empty", "set it or leave it unset")
		}
		*into = value
	}
	return nil
}

func (s *setting) number(value string, bad func(why, do string) *Problem) (int64, *Problem) {
	unit := ""
	if s.kind == kindMS {
		unit = " milliseconds"
	}
	do := fmt.Sprintf("set %d to %d%s", s.floor(), s.ceiling, unit)
	if value == "" || strings.Trim(value, "0123456789") != "" && strings.Trim(strings.TrimPrefix(value, "-"), "0123456789") != "" {
		return 0, bad("not a whole number", do)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < s.floor() || n > s.ceiling {
		return 0, bad("out of range", do)
	}
	return n, nil
}

// Print writes the settings in the form of .env.example: a line NAME=value, or
// one behind a # for a default and for a secret.
func (c *Config) Print() string {
	var b strings.Builder
	for i := range settings {
		s := &settings[i]
		from := c.Origin[s.name]
		switch {
		case s.kind == kindSecrets:
			fmt.Fprintf(&b, "# %s: %s (%s)\n", s.name, s.show(c), from)
		case from == "default":
			fmt.Fprintf(&b, "# %s=%s\n", s.name, s.initial)
		default:
			fmt.Fprintf(&b, "%s=%s\n", s.name, plain(s.value(c)))
		}
	}
	return b.String()
}

func split(value string) []string {
	var list []string
	for _, part := range strings.Split(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// editDistance counts the single-character edits and swaps of neighbours
// between two names.
func editDistance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
