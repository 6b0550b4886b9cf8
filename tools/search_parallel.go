package tools

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"

	"mcp-devserver/sandbox"
	"mcp-devserver/tools/internal/walk"
)

// Files are searched by workers and taken over in path order, so that the
// answer does not depend on how many there are. A worker does not know how
// many matches lie in the files before its own; it assumes the least that is
// known, gathers no less than is needed, and take cuts that down to what a
// search of one file after the other would have given.

const (
	maxWorkers  = 8
	batchFiles  = 32 // files handed to a worker at once, when a search has run for a while
	batchDirs   = 8  // folders kept open for them
	aheadHits   = 1000
	pendingHits = 4096 // matches gathered and not taken over; beyond, they are only counted
)

// cores is how many processors the process may use. A server adds to the
// runtime's number later, for quick requests; more workers than cores would only
// get in each other's way.
var cores = runtime.GOMAXPROCS(0)

// fate is what became of a file.
type fate uint8

const (
	fateSearched fate = iota
	fateBinary
	fateTooLarge
	fateUnreadable
	fateSlow    // the pattern took too long on it
	fateLate    // time was up before the end of the file
	fateGone    // gone since it was listed
	fateRefused // no memory
)

// outcome is what the search of one file gave.
type outcome struct {
	fileResult
	fate    fate
	size    int64
	numbers bool // matches were counted and not gathered
	err     error
	panic   any
}

// scan searches one file after another. Its fields stand in front of those of
// the search, which others write.
type scan struct {
	*search
	base    int  // matches before this file, or the least of them that is known
	exact   bool // base is no estimate
	numbers bool
	keep    int
	names   bool // definitions are named
	buf     []byte
}

type job struct {
	path string
	nth  int // files that the globs let through before it
	file walk.Kept
	met  walk.Stats // what the walk had met on the way to the file
	out  outcome
}

type batch struct {
	jobs []job
	dirs int
	done bool
}

func (b *batch) release() {
	for i := range b.jobs {
		b.jobs[i].file.Release()
	}
}

// crew is the workers of a search. Whoever sees that few batches are ready walks
// on until there are enough, the others search what is ready, and whoever has
// searched a batch takes over what is next in order and done. So there are no
// more threads than workers, and seldom does one wait for another: to wake a
// thread takes longer than to search a dozen files.
type crew struct {
	s       *search
	ctx     context.Context
	stop    context.CancelFunc
	workers int

	next  func() (*batch, bool) // walks until the next batch has come together
	yield func(*batch) bool
	cur   *batch // coming together
	seq   int    // batches that have

	mu      sync.Mutex
	moved   sync.Cond // a batch is ready or was taken over, or no more will be
	ready   []*batch  // that nobody searches yet
	ring    []*batch  // all that were not taken over, oldest first
	walking bool      // a worker walks
	walked  bool      // to the end
	taking  bool      // a worker takes over
	over    bool      // nothing more is wanted
	err     error
	panic   any
	free    []*batch // done with
}

// newCrew takes memory for as many workers as the cores of the machine and the
// budget allow; one has its share already.
func (s *search) newCrew(ctx context.Context) (c *crew, release func()) {
	n := s.call.Limits.SearchWorkers
	if n <= 0 {
		n = min(cores, maxWorkers)
	}
	n = min(n, max(int(s.call.Memory.size/(8*workerBytes)), 1)) // large files need memory, too
	var held []func()
	workers := 1
	for ; workers < n; workers++ {
		r, ok := s.call.Memory.try(workerBytes)
		if !ok {
			break
		}
		held = append(held, r)
	}
	s.own = int64(workers) * workerBytes
	c = &crew{s: s, workers: workers, cur: &batch{}}
	c.moved.L = &c.mu
	c.ctx, c.stop = context.WithCancel(ctx)
	return c, func() {
		c.stop()
		for _, r := range held {
			r()
		}
	}
}

// Batches: below the first number somebody walks, up to the second; the third
// are under way at once, and keep folders open.
func (c *crew) few() int    { return c.workers }
func (c *crew) enough() int { return 2 * c.workers }
func (c *crew) window() int { return 3*c.workers + 2 }

// run searches the files that walk gives to add. When it returns, the walk has
// ended, to its end or because nothing more was wanted, and so have the workers.
func (c *crew) run(walk func()) error {
	next, end := iter.Pull(func(yield func(*batch) bool) {
		c.yield = yield
		walk()
		if len(c.cur.jobs) > 0 {
			c.send()
		}
	})
	c.next = next
	var others sync.WaitGroup
	c.work(func() {
		for range c.workers - 1 {
			others.Go(func() { c.work(nil) })
		}
	})
	others.Wait()
	end()
	for _, b := range append(c.ring, c.cur) {
		b.release()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	return c.err
}

// add hands a file over, in path order. It is called by the walk, and false ends
// that.
func (c *crew) add(path string, k walk.Kept, met walk.Stats) bool {
	b := c.cur
	if n := len(b.jobs); n == 0 || !b.jobs[n-1].file.Beside(k) {
		b.dirs++
	}
	b.jobs = append(b.jobs, job{path: path, nth: c.s.considered - 1, file: k, met: met})
	if len(b.jobs) < min(batchFiles, 1<<min(c.seq/c.workers, 10)) && b.dirs < batchDirs {
		return true
	}
	return c.send()
}

// send hands the batch to the worker that walks.
func (c *crew) send() bool {
	b := c.cur
	c.mu.Lock()
	if n := len(c.free); n > 0 {
		c.cur, c.free = c.free[n-1], c.free[:n-1]
	} else {
		c.cur = &batch{jobs: make([]job, 0, batchFiles)}
	}
	c.mu.Unlock()
	c.seq++
	return c.yield(b)
}

// pull returns a batch to search, or nil when there is none or it is not wanted.
func (c *crew) pull() *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.over {
		if len(c.ready) < c.few() && !c.walking && !c.walked {
			c.walk()
		}
		if len(c.ready) > 0 {
			b := c.ready[0]
			c.ready = c.ready[1:]
			return b
		}
		if c.walked {
			return nil
		}
		c.moved.Wait()
	}
	return nil
}

// walk makes batches ready.
func (c *crew) walk() {
	c.walking = true
	for len(c.ready) < c.enough() && len(c.ring) < c.window() && !c.over && !c.walked {
		b := c.step()
		if b == nil {
			c.walked = true
			c.moved.Broadcast()
			break
		}
		c.ring, c.ready = append(c.ring, b), append(c.ready, b)
		c.moved.Signal()
	}
	c.walking = false
}

// step walks without c.mu.
func (c *crew) step() *batch {
	c.mu.Unlock()
	defer c.mu.Lock()
	b, _ := c.next()
	return b
}

// work is a worker. more, if set, is called when there is a first batch: a
// small folder needs no other worker.
func (c *crew) work(more func()) {
	defer func() {
		if v := recover(); v != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.panic = v
			c.finish(nil)
		}
	}()
	sc := &scan{search: c.s}
	for b := c.pull(); b != nil; b = c.pull() {
		if more != nil {
			more()
			more = nil
		}
		for i := range b.jobs {
			sc.job(c.ctx, &b.jobs[i])
		}
		c.settle(b)
	}
}

// finish ends the search; c.mu is held.
func (c *crew) finish(err error) {
	c.over, c.err = true, err
	c.stop()
	c.moved.Broadcast()
}

// settle takes over what is done and next in order, unless another worker does.
func (c *crew) settle(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.done = true
	if c.taking {
		return
	}
	c.taking = true
	for !c.over && len(c.ring) > 0 && c.ring[0].done {
		b := c.ring[0]
		c.ring = c.ring[1:]
		if full, err := c.take(b); full || err != nil {
			c.finish(err)
		}
		clear(b.jobs)
		*b = batch{jobs: b.jobs[:0]}
		c.free = append(c.free, b)
		c.moved.Broadcast()
	}
	c.taking = false
}

// take takes over one batch, without c.mu.
func (c *crew) take(b *batch) (full bool, err error) {
	c.mu.Unlock()
	defer c.mu.Lock()
	defer b.release()
	for i := range b.jobs {
		if err = c.s.take(c.ctx, &b.jobs[i]); err != nil {
			break
		}
		if full = c.s.full(); full {
			break
		}
	}
	return full, err
}

// job searches a file with what is known of those before it.
func (s *scan) job(ctx context.Context, j *job) {
	defer func() {
		if v := recover(); v != nil {
			j.out = outcome{panic: v} // the search fails, not the process
		}
	}()
	if err := ctx.Err(); err != nil {
		j.out.fate, j.out.err = fateLate, err
		return
	}
	s.base, s.exact = int(s.known.found.Load()), false
	s.numbers = s.first-s.base > aheadHits || s.known.pending.Load() > pendingHits
	s.keep, s.names = int(s.known.keep.Load()), s.known.symbols.Load() < symbolFiles
	s.open(ctx, j)
	s.known.pending.Add(int64(len(j.out.hits)))
}

func (s *scan) open(ctx context.Context, j *job) {
	f, err := j.file.Open()
	if err != nil {
		var d *sandbox.Denial
		j.out.fate = fateUnreadable
		if errors.As(err, &d) && d.Code == sandbox.NotFound {
			j.out.fate = fateGone
		}
		return
	}
	defer f.Close()
	s.file(ctx, f, j.path, &j.out)
}

// again searches a file with all that comes before it known.
func (s *search) again(ctx context.Context, j *job) {
	sc := &scan{search: s, base: s.found, exact: true, keep: s.keep, names: s.symbols < symbolFiles}
	j.out = outcome{}
	sc.open(ctx, j)
}

// take takes over what one file gave. Files come in path order.
func (s *search) take(ctx context.Context, j *job) error {
	o := &j.out
	if o.panic != nil {
		panic(o.panic)
	}
	s.known.pending.Add(-int64(len(o.hits)))
	if o.fate == fateSlow && !o.exact && s.in.OutputMode == modeContent && s.found+o.count > s.first+s.limit {
		o.fate = fateSearched // enough was found before that
	}
	if s.in.OutputMode == modeContent && (o.fate == fateSearched || o.fate == fateLate || o.fate == fateSlow && s.found < s.first) {
		if s.cut(o); o.numbers && s.found+o.count > s.first || o.err == errAgain {
			s.again(ctx, j)
			s.cut(o)
		}
	}
	switch o.fate {
	case fateSearched:
		o.whole = !o.stopped
		s.searched++
		s.add(j)
	case fateBinary:
		s.skipped.binary++
	case fateTooLarge:
		s.skipped.tooLarge++
		s.tooLong = s.tooLong || o.size <= s.call.Limits.SearchFileBytes
	case fateUnreadable:
		s.skipped.unreadable++
	case fateSlow:
		if s.found < s.first {
			s.begun(j)
		}
		s.skipped.timeout++
		if len(s.slow) < slowNamed {
			s.slow = append(s.slow, j.path)
		}
	case fateRefused:
		return o.err
	case fateLate:
		s.lateAt = j.path
		// What was found in a file that is known to be text stands.
		before, stands := s.found, o.size <= wholeFile && o.count > 0
		if stands {
			s.searched++
			s.add(j)
		}
		s.late(j, before, stands)
		if err := ctx.Err(); err != nil {
			return err
		}
		return context.DeadlineExceeded
	}
	s.last, s.met = j.path, j.met
	s.goOn, s.goesOn = place{j.nth + 1, max(s.first-s.found, 0)}, true
	s.known.found.Store(int64(s.found))
	s.known.keep.Store(int32(s.keep))
	s.known.symbols.Store(int32(s.symbols))
	return nil
}

// begun takes over what was found before the pattern took too long in a file in
// which the page begins, or that lies before it: offset counts it, unless the
// file was given up for the page before, too, and then that would have named the
// file behind it.
func (s *search) begun(j *job) {
	n := j.out.count
	if n == 0 || s.in.OutputMode == modeContent && s.found+n <= s.first {
		s.unsure++
	}
	s.add(j)
}

// errAgain marks a file that was searched further than it would have been had
// the matches before it been known, in a way that shows.
var errAgain = errors.New("searched too far")

// cut leaves of a file what belongs to the page.
func (s *search) cut(o *outcome) {
	last := s.first + s.limit - s.found // number of the last match that is shown
	if o.count > last {
		if !o.exact && (o.longLines > 0 || o.lossy) {
			o.err = errAgain
		}
		o.count, o.stopped = last+1, true
	}
	if !o.numbers && len(o.hits) > 0 {
		from := 0
		if !o.exact {
			from = min(max(s.first-s.found, 0), len(o.hits))
			if from > 0 && o.lossy {
				o.err = errAgain
			}
		}
		to := len(o.hits)
		if !o.exact {
			to = max(min(to, last), from)
		}
		o.hits, o.exact = o.hits[from:to], true
	}
	if s.keep == 0 {
		for i := range o.hits {
			o.hits[i].before, o.hits[i].after = nil, nil
		}
	}
	if o.named && len(o.hits) > 0 {
		if s.symbols < symbolFiles {
			s.symbols++
			return
		}
		for i := range o.hits {
			o.hits[i].symbol = ""
		}
	}
}
