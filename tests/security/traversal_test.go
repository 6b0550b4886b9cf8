package security

import (
	"strings"
	"testing"
)

const (
	noSuch  = "no file is called so"
	inside  = "what it reads lies inside"
	missDir = "the kernel looks the missing folder up first"
)

// TestTraversal spells the way out in the path itself.
func TestTraversal(t *testing.T) {
	sent := attack(t, []attempt{
		{"dot dot", nil, "../OUT/s", outside, ""},
		{"dot dot, the folder", nil, "../OUT", outside, ""},
		{"dot dot, a folder below", nil, "../OUT/sub", outside, ""},
		{"dot dot, by size", nil, "../OUT/big", outside, ""},
		{"dot dot alone", nil, "..", outside, "the parent holds folders only"},
		{"dot dot and a slash", nil, "../", outside, "the parent holds folders only"},
		{"dot dot behind a folder", []string{"a/"}, "a/../../OUT/s", outside, ""},
		{"dot dot behind two folders", []string{"a/b/"}, "a/b/../../../OUT/s", outside, ""},
		{"dot dot in the middle", []string{"a/b/"}, "a/../a/../../OUT/s", outside, ""},
		{"dot dot behind a missing folder", nil, "gone/../../OUT/s", outside, missDir},
		{"dot dot behind a file", []string{"f = x"}, "f/../../OUT/s", outside, "a file is no folder"},
		{"many dot dots", nil, strings.Repeat("../", 40) + "etc/passwd", outside, ""},
		{"very many dot dots", nil, strings.Repeat("../", 1000) + "etc", outside, ""},
		{"dot dot with dots and slashes", nil, ".//..///./OUT/s", outside, ""},
		{"dot dot with a slash behind", nil, "../OUT/", outside, ""},
		{"dot dot with a dot behind", nil, "../OUT/.", outside, ""},
		{"dot dot, up again at the end", nil, "../OUT/sub/..", outside, ""},
		{"leaves and comes back", []string{"s = in"}, "../ws/s", outside, inside},
		{"leaves twice and comes back", []string{"s = in"}, "../../zaphod/ws/s", outside, inside},
		{"absolute", nil, "OUT/s", outside, ""},
		{"absolute, the folder", nil, "OUT", outside, ""},
		{"absolute, the root of the system", nil, "/", outside, "it holds no secret of ours"},
		{"absolute, a file of the system", nil, "/etc/passwd", outside, ""},
		{"absolute, two slashes", nil, "//etc/passwd", outside, ""},
		{"absolute, through the root", nil, "WS/../OUT/s", outside, ""},
		{"absolute, the root twice", nil, "WS/../ws/../OUT/s", outside, ""},
		{"absolute, doubled slash", nil, "WS//../OUT/s", outside, ""},
		{"absolute, dots in the root", nil, "/./WS/./../OUT/s", outside, ""},
		{"absolute, only the parent", nil, "WS/..", outside, "the parent holds folders only"},
		{"absolute, process", nil, "/proc/self/environ", outside, "its content is that of this process"},
		{"absolute, process root", nil, "/proc/self/root/etc/passwd", outside, ""},
		{"absolute, descriptor", nil, "/proc/self/fd/0", outside, "nothing to read there"},
		{"absolute, device", nil, "/dev/zero", outside, ""},
		{"URI", nil, "file://OUT/s", outside, noSuch},
		{"URI in upper case", nil, "FILE:///etc/passwd", outside, noSuch},
		{"URI with a host", nil, "file://localhost/etc/passwd", outside, noSuch},
		{"URI of another host", nil, "file://evil.example/x", outside, noSuch},
		{"URI with encoded dots", nil, "file://WS/%2e%2e/OUT/s", outside, noSuch},
		{"URI with an encoded slash", nil, "file://WS/..%2fOUT%2Fs", outside, noSuch},
		{"URI encoded twice", nil, "file://WS/%252e%252e/OUT/s", missing, noSuch},
		{"URI with an encoded NUL", nil, "file://WS/a%00/../../OUT/s", invalid, noSuch},
		{"URI with a broken escape", nil, "file:///%zz", invalid, noSuch},
		{"another scheme", nil, "http://x/../../../../OUT/s", outside, missDir},
		{"encoded dots", nil, "%2e%2e/OUT/s", missing, noSuch},
		{"encoded slash", nil, "..%2fOUT/s", missing, noSuch},
		{"encoded dots twice", nil, "%252e%252e/OUT/s", missing, noSuch},
		{"overlong encoding", nil, "%c0%ae%c0%ae/OUT/s", missing, noSuch},
		{"overlong slash", nil, "..%c0%afOUT/s", missing, noSuch},
		{"encoded by %u", nil, "%u002e%u002e/OUT/s", missing, noSuch},
		{"HTML entities", nil, "&#46;&#46;/OUT/s", missing, noSuch},
		{"backslashes", nil, `..\OUT\s`, append([]string{"outside_workspace"}, missing...), noSuch},
		{"backslash and slash", nil, `..\../OUT/s`, append([]string{"outside_workspace"}, missing...), noSuch},
		{"drive", nil, `C:\Windows\win.ini`, outside, noSuch},
		{"drive with slashes", nil, "c:/Windows/win.ini", outside, noSuch},
		{"UNC", nil, `\\host\share\x`, outside, noSuch},
		{"device name space", nil, `\\?\C:\x`, outside, noSuch},
		{"four dots", nil, "..../OUT/s", missing, noSuch},
		{"dots and slashes that a filter joins", nil, "....//....//OUT/s", missing, noSuch},
		{"dot dot with a space", nil, ".. /OUT/s", missing, noSuch},
		{"dot dot with a space before", nil, " ../OUT/s", missing, noSuch},
		{"full width dots", nil, "．．/OUT/s", missing, noSuch},
		{"two dot leader", nil, "‥/OUT/s", missing, noSuch},
		{"one dot leaders", nil, "․․/OUT/s", missing, noSuch},
		{"division slash", nil, "..∕OUT∕s", missing, noSuch},
		{"full width slash", nil, "..／OUT／s", missing, noSuch},
		{"zero width space in the dots", nil, ".\u200b./OUT/s", missing, noSuch},
		{"NUL", nil, "a\x00/../../OUT/s", invalid, noSuch},
		{"NUL behind", nil, "../OUT/s\x00.txt", invalid, noSuch},
		{"newline", nil, "a\n/../../OUT/s", invalid, noSuch},
		{"carriage return", nil, "a\r/../../OUT/s", invalid, noSuch},
		{"escape", nil, "\x1b[2J../OUT/s", invalid, noSuch},
		{"C1 control", nil, "\u0085../OUT/s", invalid, noSuch},
		{"home", nil, "~/.bashrc", missing, noSuch},
		{"home of another", nil, "~root/x", missing, noSuch},
		{"home and dot dot", nil, "~/../../OUT/s", outside, missDir},
		{"variable", nil, "$HOME/x", missing, noSuch},
		{"variable and dot dot", nil, "${PWD}/../../OUT/s", outside, missDir},
		{"command", nil, "$(echo ..)/OUT/s", missing, noSuch},
		{"glob for the parent", nil, ".[.]/OUT/s", missing, noSuch},
		{"quoted", nil, `"../OUT/s"`, missing, noSuch},
		{"too long", nil, strings.Repeat("a/", 2100), []string{"invalid_path", "-32602"}, noSuch},
		{"name too long", nil, strings.Repeat("a", 300), invalid, noSuch},
		{"option", nil, "--output=../OUT/s", append([]string{"outside_workspace"}, missing...), noSuch},
		{"pathspec magic", nil, ":(top,glob)../**", append([]string{"outside_workspace"}, missing...), noSuch},
		{"pathspec that excludes", nil, ":!x", missing, noSuch},
	})
	// The doors times the attempts above, and again with the target gone.
	if want := 80 * len(doors); sent < want && !traced() {
		t.Errorf("%d calls, expected at least %d", sent, want)
	}
}

// TestSiblings: a folder whose name begins with that of the root is not in it.
func TestSiblings(t *testing.T) {
	evil := "../ws-evil/s = " + outsideText
	attack(t, []attempt{
		{"by dot dot", []string{evil}, "../ws-evil/s", outside, ""},
		{"by dot dot, the folder", []string{evil}, "../ws-evil", outside, ""},
		{"absolute", []string{evil}, "WS-evil/s", outside, ""},
		{"absolute, the folder", []string{evil}, "WS-evil", outside, ""},
		{"absolute, with a slash", []string{evil}, "WS-evil/", outside, ""},
		{"one letter more", []string{"../wsx/s = " + outsideText}, "WSx/s", outside, ""},
		{"a dot more", []string{"../ws./s = " + outsideText}, "WS./s", outside, ""},
		{"a space more", []string{"../ws /s = " + outsideText}, "WS /s", outside, ""},
		{"another case", []string{"../WS/s = " + outsideText}, "../WS/s", outside, "the name below is another one"},
		{"by a link", []string{evil, "l => ../ws-evil/s"}, "l", outside, ""},
		{"by an absolute link", []string{evil, "l => WS-evil/s"}, "l", outside, ""},
		{"by an absolute link, the folder", []string{evil, "l => WS-evil"}, "l", outside, ""},
		{"by a URI", []string{evil}, "file://WS-evil/s", outside, noSuch},
	})
}
