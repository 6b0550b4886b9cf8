package sandbox

import "testing"

func TestWallWords(t *testing.T) {
	for _, c := range []struct {
		wall        Wall
		whole, none bool
		words       string
	}{
		{Wall{}, false, true, "no Landlock; system calls: no filter"},
		{Wall{Filter: true}, false, false, "no Landlock; system calls: filtered on every thread"},
		{Wall{Landlock: 7}, false, false, "Landlock 7; system calls: no filter"},
		{Wall{Landlock: 2, Filter: true}, false, false, "Landlock 2, too old to keep files from being emptied; system calls: filtered on every thread"},
		{Wall{Landlock: 3, Filter: true}, true, false, "Landlock 3; system calls: filtered on every thread"},
	} {
		if c.wall.Whole() != c.whole || c.wall.None() != c.none || c.wall.String() != c.words {
			t.Errorf("%+v: %v, %v, %s", c.wall, c.wall.Whole(), c.wall.None(), c.wall)
		}
	}
}
