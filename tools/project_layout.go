package tools

import (
	"mcp-devserver/sandbox/answer"
	"mcp-devserver/tools/internal/walk"
)

type manifestRef struct {
	path, name answer.Ref
	kind       answer.Word
}

type projectOverviewOut struct {
	answer.Frame
	name, path      answer.Ref
	isRoot          bool
	files           int
	bytes           int64
	ignored, denied int
	stats           walk.Stats
	git             *projectGit
	languages       []*languageSum
	manifests       []manifestRef
	entries, tests  []answer.Ref
	ci, docs        []answer.Ref
	agents          []answer.Ref
	tree            answer.Ref
}

func (o *projectOverviewOut) Head(j *answer.JSON, p *answer.Prose) {
	j.Text("name", o.name)
	j.Text("path", o.path)
	j.Int("files", int64(o.files))
	j.Int("bytes", o.bytes)
	j.Int("ignored", int64(o.ignored))
	j.Int("denied", int64(o.denied))

	p.Outside(o.name)
	if !o.isRoot {
		p.Word(" · ")
		p.Outside(o.path)
	}
	p.Word(" · ")
	plural(p, o.files, " file", " files")
	p.Word(" · ")
	p.Word(answer.Word(sizeWords(o.bytes)))
	if o.bytes >= 1000 {
		p.Word(" (")
		p.Int(o.bytes)
		p.Word(" bytes)")
	}
	p.Word(" · ignored ")
	p.Int(int64(o.ignored))
	p.Word(" · denied ")
	p.Int(int64(o.denied))
}

func (o *projectOverviewOut) Body(j *answer.JSON, p *answer.Prose) {
	if !p.Safe(o.name) {
		p.Word("name: ")
		p.Name(o.name)
		p.Word("\n")
	}
	if !o.isRoot && !p.Safe(o.path) {
		p.Word("path: ")
		p.Name(o.path)
		p.Word("\n")
	}
	if o.git != nil {
		o.git.put(j, p)
	}
	j.Array("languages")
	for i, l := range o.languages {
		j.Object("")
		j.Word("name", answer.Word(l.name))
		j.Int("files", int64(l.files))
		j.Int("bytes", l.bytes)
		j.End()
		if i == 0 {
			p.Word("languages: ")
		} else {
			p.Word(", ")
		}
		p.Word(answer.Word(l.name))
		p.Word(" ")
		plural(p, l.files, " file ", " files ")
		p.Int(l.bytes)
		p.Word(" bytes")
	}
	j.End()
	if len(o.languages) > 0 {
		p.Word("\n")
	}
	if len(o.manifests) > 0 {
		j.Array("manifests")
		p.Word("manifests: ")
		for i, m := range o.manifests {
			j.Object("")
			j.Text("path", m.path)
			j.Word("kind", m.kind)
			if i > 0 {
				p.Word(", ")
			}
			p.Name(m.path)
			p.Word(" (")
			p.Word(m.kind)
			if m.name != answer.None {
				j.Text("name", m.name)
				p.Word(" ")
				p.Name(m.name)
			}
			p.Word(")")
			j.End()
		}
		j.End()
		p.Word("\n")
	}
	for _, l := range []struct {
		key, label answer.Word
		list       []answer.Ref
	}{
		{"entry_points", "entry points: ", o.entries}, {"tests", "tests: ", o.tests}, {"ci", "ci: ", o.ci},
		{"docs", "docs: ", o.docs}, {"instruction_files", "instruction files (not quoted): ", o.agents},
	} {
		if len(l.list) == 0 {
			continue
		}
		j.Array(l.key)
		p.Word(l.label)
		for i, r := range l.list {
			j.Text("", r)
			if i > 0 {
				p.Word(", ")
			}
			p.Name(r)
		}
		j.End()
		p.Word("\n")
	}
	j.Text("tree", o.tree)
	p.Word("\n")
	p.Text(o.tree)
	p.Word("\n")
}

func (g *projectGit) put(j *answer.JSON, p *answer.Prose) {
	j.Object("git")
	p.Word("git: ")
	if g.branch != answer.None {
		j.Text("branch", g.branch)
		p.Word("branch ")
		p.Name(g.branch)
		p.Word(" ")
	}
	if g.head != "" {
		j.Word("head", g.head)
		p.Word("at ")
		p.Word(g.head)
		p.Word(" ")
	}
	j.Bool("detached", g.detached)
	if g.detached {
		p.Word("(detached) ")
	}
	for i, n := range []struct {
		key answer.Word
		n   int
	}{{"staged", g.staged}, {"modified", g.modified}, {"untracked", g.untracked}, {"conflicted", g.conflicted}} {
		j.Int(n.key, int64(n.n))
		if i > 0 {
			p.Word(",")
		}
		p.Word(" ")
		p.Int(int64(n.n))
		p.Word(" ")
		p.Word(n.key)
	}
	j.End()
	p.Word("\n")
}
