package git

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const zeros = "0000000000000000000000000000000000000001"

func TestParseCommit(t *testing.T) {
	head := "tree " + zeros + "\n"
	who := "author A. Dev <dev@example.com> 1000000000 +0200\ncommitter C <c@example.com> 1000000001 -0700\n"
	for _, c := range []struct {
		name, raw            string
		author, subject, msg string
		parents              int
		lossy                bool
	}{
		{"plain", head + who + "\nsubject\n\nbody\n", "A. Dev", "subject", "subject\n\nbody\n", 0, false},
		{"two parents", head + "parent " + zeros + "\nparent " + zeros + "\n" + who + "\nm", "A. Dev", "m", "m", 2, false},
		{"a parent in the message", head + who + "\nm\nparent " + zeros + "\nauthor Forged <f> 1 +0000\n", "A. Dev", "m parent " + zeros + " author Forged <f> 1 +0000", "m\nparent " + zeros + "\nauthor Forged <f> 1 +0000\n", 0, false},
		{"a second author", head + who + "author Forged <f@x> 1 +0000\n\nm", "A. Dev", "m", "m", 0, false},
		{"a parent after the author", head + who + "parent " + zeros + "\n\nm", "A. Dev", "m", "m", 0, false},
		{"signature with blank lines", head + who + "gpgsig -----BEGIN PGP SIGNATURE-----\n \n author Forged <f> 1 +0000\n -----END PGP SIGNATURE-----\n\nm", "A. Dev", "m", "m", 0, false},
		{"merged tag", head + who + "mergetag object " + zeros + "\n type commit\n tag v1\n tagger T <t> 1 +0000\n \n words\n\nm", "A. Dev", "m", "m", 0, false},
		{"encoding", head + who + "encoding ISO-8859-1\n\nfen\xeatre\n", "A. Dev", "fenêtre", "fenêtre\n", 0, false},
		{"encoding by another name", head + who + "encoding windows-1252\n\n\x93x\x94\n", "A. Dev", "“x”", "“x”\n", 0, false},
		{"encoding of a name", head + "author Andr\xe9 <a> 1 +0000\nencoding latin1\n\nm", "André", "m", "m", 0, false},
		{"encoding not known", head + who + "encoding x-klingon\n\nfen\xeatre\n", "A. Dev", "fenêtre", "fenêtre\n", 0, true},
		{"UTF-7 stays as it is written", head + who + "encoding UTF-7\n\nghp+AF8-x\n", "A. Dev", "ghp+AF8-x", "ghp+AF8-x\n", 0, true},
		{"not UTF-8 and no encoding", head + who + "\nfen\xeatre\n", "A. Dev", "fenêtre", "fenêtre\n", 0, true},
		{"Shift_JIS", head + who + "encoding Shift_JIS\n\n\x93\xfa\x96\x7b\n", "A. Dev", "日本", "日本\n", 0, false},
		{"NUL", head + who + "\na\x00b\x00c\n", "A. Dev", "abc", "abc\n", 0, false},
		{"blank lines first", head + who + "\n\n\n  \nsubject\nmore\n\n\nbody\n\n", "A. Dev", "subject more", "\n\n  \nsubject\nmore\n\n\nbody\n\n", 0, false},
		{"no message", head + who, "A. Dev", "", "", 0, false},
		{"no author", head + "\nm", "", "m", "m", 0, false},
		{"author without brackets", head + "author Nobody\n\nm", "Nobody", "m", "m", 0, false},
		{"author of brackets", head + "author >< 1 +0000\n\nm", ">< 1 +0000", "m", "m", 0, false},
		{"separators", head + "author A|B;C\x1f <x|y> 1 +0000\n\nsubj | ; \t \x1f \x1e end\n\nbody\n", "A|B;C\x1f", "subj | ; \t \x1f \x1e end", "subj | ; \t \x1f \x1e end\n\nbody\n", 0, false},
		{"empty", "", "", "", "", 0, false},
	} {
		k := parseCommit(zeros, []byte(c.raw))
		if k.Author.Name != c.author || k.Subject() != c.subject || k.Message != c.msg || len(k.Parents) != c.parents || k.Lossy != c.lossy {
			t.Errorf("%s: author %q, subject %q, message %q, %d parents, lossy %v", c.name, k.Author.Name, k.Subject(), k.Message, len(k.Parents), k.Lossy)
		}
	}
	k := parseCommit(zeros, []byte(head+who+"\ns\n\nbody one\n\nbody two\n"))
	if k.Author.Email != "dev@example.com" || !k.Author.When.Equal(time.Unix(1000000000, 0)) || k.Committer.Name != "C" || k.Body() != "body one\n\nbody two" || k.Tree != zeros {
		t.Errorf("%+v", k)
	}
	for _, when := range []string{"99999999999999999999", "-99999999999999", "x", "", "253402300800"} {
		if k := parseCommit(zeros, []byte("author A <a> "+when+" +0000\n\n")); !k.Author.When.IsZero() {
			t.Errorf("%s: %v", when, k.Author.When)
		}
	}
}

// The oracle is git's own reading, through a format whose fields NUL separates.
func TestCommitsAgainstGitLog(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `
		printf 'subj | ; \t \037 \036 end\n\nbody\nDate: forged\n' | GIT_AUTHOR_NAME='A|B;C' git commit -q --allow-empty -F -
		printf 'caf\303\251\n' | git -c i18n.commitEncoding=ISO-8859-1 commit -q --allow-empty -F -
		printf '\n\n  leading\nsecond line\n\n\nbody\n\nmore\n' | git commit -q --allow-empty --cleanup=verbatim -F -
		git checkout -q -b side HEAD~2; git commit -q --allow-empty -m side; git checkout -q main; git merge -q -m 'merge side' side`)
	out := f.sh(`git log --topo-order --format=%H%x00%an%x00%ae%x00%at%x00%s%x00%b%x00%P%x00%x01`)
	r := f.repo()
	ctx := context.Background()
	n := 0
	for rec := range strings.SplitSeq(out, "\x01") {
		f := strings.Split(strings.TrimPrefix(rec, "\n"), "\x00")
		if len(f) < 7 {
			continue
		}
		n++
		c, err := r.Commit(ctx, f[0])
		if err != nil {
			t.Fatal(err)
		}
		if c.Author.Name != f[1] || c.Author.Email != f[2] || c.Subject() != f[4] || c.Body() != strings.Trim(f[5], "\n") || strings.Join(c.Parents, " ") != f[6] {
			t.Errorf("%+v\ngit: %q", c, f)
		}
	}
	if n != 7 {
		t.Errorf("%d commits", n)
	}
}

func TestCommitErrors(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits)
	r := f.repo()
	ctx := context.Background()
	blob := strings.TrimSpace(f.sh("git rev-parse HEAD:a.txt"))
	for _, id := range []string{blob, zeros, "HEAD", ""} {
		if _, err := r.Commit(ctx, id); code(err) != "git_failed" {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{f.head(), zeros, "HEAD"} {
		if _, err := r.Blob(ctx, id, 0); code(err) != "git_failed" {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := r.BlobSize(ctx, id); code(err) != "git_failed" {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := r.BlobHead(ctx, id, 5); code(err) != "git_failed" {
			t.Errorf("%q: %v", id, err)
		}
	}
	if b, err := r.BlobHead(ctx, blob, 2); err != nil || string(b) != "on" {
		t.Errorf("%q %v", b, err)
	}
	if b, err := r.BlobHead(ctx, blob, 100); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
	if b, err := r.Blob(ctx, blob, 0); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
}

// A commit object of 20 MiB is not read; its neighbours are.
func TestHugeCommit(t *testing.T) {
	f := newFixture(t)
	f.sh(twoCommits + `{ git cat-file commit HEAD | sed '/^$/,$d'; echo; head -c 20000000 /dev/zero | tr '\0' x; } > "$OUT/c"; git update-ref refs/heads/huge $(git hash-object -t commit -w --stdin < "$OUT/c")`)
	huge := strings.TrimSpace(f.sh("git rev-parse huge"))
	r := f.repo()
	var got []*Commit
	err := r.Commits(context.Background(), []string{f.head(), huge, f.head()}, func(c *Commit) error { got = append(got, c); return nil })
	if err != nil || len(got) != 3 || !got[1].Oversized || got[1].Message != "" || got[0].Subject() != "second" || got[2].Subject() != "second" {
		t.Errorf("%v %v", got, err)
	}
}

func TestLookup(t *testing.T) {
	f := newFixture(t)
	f.sh(`mkdir -p d/e; echo x > d/e/f.txt; ln -s e/f.txt d/link; echo '#!' > run; chmod +x run; git init -q -b main sub; git -C sub -c user.name=x -c user.email=y commit -q --allow-empty -m x; git add . 2>/dev/null; git commit -qm first`)
	r := f.repo()
	for path, mode := range map[string]uint32{".": ModeTree, "d": ModeTree, "d/e": ModeTree, "d/e/f.txt": ModeFile, "d/link": ModeLink, "run": ModeExec, "sub": ModeGitlink,
		"D": 0, "d/e/f.txt/x": 0, "d/link/x": 0, "sub/x": 0, "nope": 0, "d//e": 0, "d/../d": 0} {
		e, ok, err := r.Lookup(context.Background(), f.head(), path)
		if err != nil || e.Mode != mode || ok != (mode != 0) {
			t.Errorf("%s: %o %v %v", path, e.Mode, ok, err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add("tree " + zeros + "\nauthor A <a> 1 +0000\nencoding utf-16\n\nm\n")
	f.Add("author <> \nencoding \xff\n\n")
	f.Add("gpgsig\n x\n\nencoding iso-2022-jp\n")
	f.Fuzz(func(t *testing.T, raw string) {
		c := parseCommit(zeros, []byte(raw))
		for _, s := range []string{c.Message, c.Author.Name, c.Author.Email, c.Committer.Name} {
			if strings.Contains(s, "\x00") || !utf8.ValidString(s) {
				t.Errorf("%q", s)
			}
		}
		if strings.Contains(c.Subject(), "\n") {
			t.Errorf("subject %q", c.Subject())
		}
		a, b, x, y := SplitMessage(c.Message)
		if a > b || x > y || b > x && x != y {
			t.Errorf("%d %d %d %d in %q", a, b, x, y, c.Message)
		}
	})
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa"), 20)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n != 20 && n != 32 {
			return
		}
		list, err := parseTree(b, n)
		for _, e := range list {
			if err == nil && len(e.ID) != 2*n {
				t.Errorf("%+v", e)
			}
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add(":100644 100644 " + zeros + " " + zeros + " R100\x00a\x00b\x00")
	f.Add(zeros + "\x00:000000 100644 " + zeros + " " + zeros + " A\x00:odd name\x00")
	f.Fuzz(func(t *testing.T, s string) {
		rawTokens(s, func(id string) {
			if !isID(id) {
				t.Errorf("%q", id)
			}
		}, func(c Change) {
			if c.Path == "" || c.OldPath == "" {
				t.Errorf("%+v", c)
			}
		})
	})
}

func FuzzBlame(f *testing.F) {
	f.Add(zeros + " 1 1 2\nauthor x\n\tline\n" + zeros + " 2 2\n\tline\n")
	f.Fuzz(func(t *testing.T, s string) {
		list, _ := parseBlame(s)
		for _, b := range list {
			if b.Start < 1 || b.End < b.Start || !isID(b.Commit) {
				t.Errorf("%+v", b)
			}
		}
	})
}
