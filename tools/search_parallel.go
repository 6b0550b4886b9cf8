package tools

import (
	"context"
	"errors"
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
	file walk.Kept
	met  walk.Stats // what the walk had met on the way to the file
	out  outcome
}

type batch struct {
	jobs []job
	dirs int
	done chan struct{}
}

// crew is the workers of a search and the files on their way.
type crew struct {
	s       *search
	ctx     context.Context
	stop    context.CancelFunc
	queue   chan *batch
	wg      sync.WaitGroup
	workers int
	cur     *batch
	ring    []*batch // handed out, oldest first
	free    []job    // the room of a batch that is done with
	seq     int
}

// newCrew starts no worker yet. It takes memory for as many as the cores of
// the machine and the budget allow; one has its share already.
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
	c.ctx, c.stop = context.WithCancel(ctx)
	return c, func() {
		for _, r := range held {
			r()
		}
	}
}

func (c *crew) window() int { return 2*c.workers + 2 }

// add hands a file over, in path order. full says that nothing more is wanted.
func (c *crew) add(path string, k walk.Kept, met walk.Stats) (full bool, err error) {
	b := c.cur
	if n := len(b.jobs); n == 0 || !b.jobs[n-1].file.Beside(k) {
		b.dirs++
	}
	b.jobs = append(b.jobs, job{path: path, file: k, met: met})
	if len(b.jobs) < min(batchFiles, 1<<min(c.seq/c.workers, 10)) && b.dirs < batchDirs {
		return false, nil
	}
	return c.send()
}

// send gives the batch to the workers and takes over what is done.
func (c *crew) send() (full bool, err error) {
	if c.queue == nil {
		c.queue = make(chan *batch, c.window())
		for range c.workers {
			c.wg.Go(c.work)
		}
	}
	b := c.cur
	b.done = make(chan struct{})
	c.cur = &batch{jobs: c.free}
	if c.free == nil {
		c.cur.jobs = make([]job, 0, batchFiles)
	}
	c.free = nil
	c.seq++
	c.ring = append(c.ring, b)
	c.queue <- b
	for len(c.ring) > 0 {
		if len(c.ring) < c.window() {
			select {
			case <-c.ring[0].done:
			default:
				return false, nil
			}
		}
		if full, err = c.next(); full || err != nil {
			return full, err
		}
	}
	return false, nil
}

// next takes over the oldest batch, once it is done.
func (c *crew) next() (full bool, err error) {
	b := c.ring[0]
	c.ring = c.ring[1:]
	<-b.done
	for i := range b.jobs {
		if !full && err == nil {
			err = c.s.take(c.ctx, &b.jobs[i])
			full = c.s.full()
		}
		b.jobs[i].file.Release()
	}
	if cap(b.jobs) >= batchFiles {
		clear(b.jobs)
		c.free = b.jobs[:0]
	}
	return full, err
}

// finish takes over what is still under way.
func (c *crew) finish() (err error) {
	full := false
	if len(c.cur.jobs) > 0 {
		full, err = c.send()
	}
	for !full && err == nil && len(c.ring) > 0 {
		full, err = c.next()
	}
	return err
}

// close ends what is still under way, waits for the workers and lets go of the
// files that were not taken over.
func (c *crew) close() {
	c.stop()
	if c.queue != nil {
		close(c.queue)
		c.wg.Wait()
	}
	for _, b := range append(c.ring, c.cur) {
		for i := range b.jobs {
			b.jobs[i].file.Release()
		}
	}
}

func (c *crew) work() {
	sc := &scan{search: c.s}
	for b := range c.queue {
		for i := range b.jobs {
			sc.job(c.ctx, &b.jobs[i])
		}
		close(b.done)
	}
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
	if s.in.OutputMode == modeContent && (o.fate == fateSearched || o.fate == fateLate) {
		if s.cut(o); o.numbers && s.found+o.count > s.first || o.err == errAgain {
			s.again(ctx, j)
			s.cut(o)
		}
	}
	switch o.fate {
	case fateSearched:
		o.whole = !o.stopped
		s.add(j.path, &o.fileResult)
	case fateBinary:
		s.skipped.binary++
	case fateTooLarge:
		s.skipped.tooLarge++
		s.tooLong = s.tooLong || o.size <= s.call.Limits.SearchFileBytes
	case fateUnreadable:
		s.skipped.unreadable++
	case fateSlow:
		s.skipped.timeout++
		if len(s.slow) < slowNamed {
			s.slow = append(s.slow, j.path)
		}
	case fateRefused:
		return o.err
	case fateLate:
		s.lateAt = j.path
		// What was found in a file that is known to be text stands.
		if o.size <= wholeFile && o.count > 0 {
			s.add(j.path, &o.fileResult)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return context.DeadlineExceeded
	}
	s.last, s.met = j.path, j.met
	s.known.found.Store(int64(s.found))
	s.known.keep.Store(int32(s.keep))
	s.known.symbols.Store(int32(s.symbols))
	return nil
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
