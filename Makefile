# What a contributor runs. .ci/run runs the same.

SHELL     := bash
GO        ?= go
ALL       := $(shell $(GO) list ./... 2>/dev/null)
# These run other programs, or this test binary once more behind the kernel's
# wall, where coverage cannot be written.
CLOCKED   := $(filter %/tests/e2e %/tests/security/wall, $(ALL))
OUTSIDE   := $(CLOCKED) $(filter %/tests/security %/internal/mutation, $(ALL))
PACKAGES  := $(filter-out $(OUTSIDE), $(ALL))
COVERPKG  := $(shell echo $(PACKAGES) | tr ' ' '\n' | grep -v -e /tests -e /internal/tooltest -e /internal/transporttest -e /internal/fixture | paste -sd, -)
COVERAGE  := 88

.PHONY: build test check race cover outside pins test-security test-e2e official clients bench bench-search quiet fuzz generate cross clean

build:
	$(GO) build -o bin/ ./cmd/mcp-devserver

# Everything: vet, staticcheck, formatting, race, coverage gate, clients of others.
test: check race cover outside pins clients

check:
	$(GO) vet -tags official ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck -tags official ./...
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt: the files above need formatting"; exit 1; }

race:
	$(GO) test -race -count=1 -timeout 15m $(PACKAGES)

# By itself, and without what pins measures: counted under the race detector, the tests take longer than in both runs.
cover:
	@set -o pipefail; $(GO) test -count=1 -timeout 15m -skip 'Cost|Linear|WalkTime' -covermode=set -coverpkg=$(COVERPKG) -coverprofile=coverage.out $(PACKAGES) | sed 's/coverage: .*//'
	@$(GO) tool cover -func=coverage.out | awk -v gate=$(COVERAGE) '/^total:/ { sub("%","",$$3); printf "coverage %s%%, gate %s%%\n", $$3, gate; exit ($$3 + 0 < gate) }'

# The tests that coverage cannot follow; those that watch other programs by the
# clock, one package at a time.
outside:
	$(GO) test -race -count=1 -timeout 15m $(filter-out $(CLOCKED), $(OUTSIDE))
	$(GO) test -race -count=1 -p 1 -timeout 15m $(CLOCKED)

# What the race detector and coverage would distort: pinned allocations, times
# against a floor, costs that must stay linear; and every mutant of conform and
# every attack, of which the race detector sees a part.
pins:
	$(GO) test -count=1 -p 1 -run 'Alloc|Walk|Cost|Linear' ./bench ./pipeline ./redos ./sandbox/... ./stages/... ./tools/...
	$(GO) test -count=1 ./cmd/internal/mutation ./tests/security

# The attacks alone; a failure is a security regression.
test-security:
	MCP_TEST_THOROUGH=1 $(GO) test -race -count=1 -timeout 40m ./sandbox/... ./redos/... ./tools/internal/git/... ./tests/security/...

# The built program, over a real pipe and a real socket.
test-e2e:
	$(GO) test -count=1 ./tests/e2e/... ./cmd/mcp-devserver/...

# Clients that others wrote, against the built program: the official TypeScript
# and Go clients, one of earlier revisions, and a bridge; and what they pay for
# answers, in tokens.
clients: build tests/clients/node/node_modules/.package-lock.json
	MCP_DEVSERVER=$(CURDIR)/bin/mcp-devserver node --test --test-reporter=spec --test-timeout=150000 tests/clients/node/*.test.mjs
	cd tests/clients/gosdk && $(GO) vet ./... && MCP_DEVSERVER=$(CURDIR)/bin/mcp-devserver $(GO) test -count=1 ./...
	cd tests/clients/tokens && $(GO) vet ./... && MCP_DEVSERVER=$(CURDIR)/bin/mcp-devserver $(GO) test -count=1 ./...

# Packages of a lockfile, installed when it changes. None runs a script.
%/node_modules/.package-lock.json: %/package-lock.json
	npm ci --prefix $* --ignore-scripts --no-audit --no-fund --loglevel=error

# The official conformance suite, with its own totals.
official: tests/official/node_modules/.package-lock.json
	$(GO) test -tags official -count=1 -v ./tests/official

# The protocol's requirements: against the server in process, against a real
# server process, and against the built program over HTTP.
conform:
	$(GO) run ./cmd/mcp-devserver --workspace . conform

conform-stdio: build
	bin/mcp-devserver conform --stdio "bin/mcp-devserver --workspace . serve"

# The same server gets the same verdicts, 200 times over each transport.
conform-repeat:
	$(GO) test -count=1 -timeout 60m ./cmd/internal/mutation -run TestSameVerdicts -runs 200

# Servers that others wrote. They are not conformant, so a verdict is success.
# Needs the network, node and npm.
conform-others: build
	cd tests/others/gosdk && $(GO) build -o ../../../bin/gosdk .
	cd tests/others/npm && npm ci --ignore-scripts --no-audit --no-fund
	@bin/gosdk -http 127.0.0.1:18491 & go=$$!; node tests/others/npm/server.mjs 18492 & npm=$$!; \
	trap 'kill $$go $$npm' EXIT; \
	for a in 18491 18492; do for i in $$(seq 100); do curl -s -o /dev/null http://127.0.0.1:$$a/mcp && break; sleep 0.1; done; done; \
	judge() { bin/mcp-devserver conform "$$@" || test $$? = 1; }; \
	judge --http http://127.0.0.1:18491/mcp && judge --stdio bin/gosdk && \
	judge --http http://127.0.0.1:18492/mcp && judge --stdio "node tests/others/npm/server.mjs" && \
	judge --stdio "node tests/others/npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js tests/others"

SMOKE_ADDRESS ?= 127.0.0.1:18480
smoke: build
	@bin/mcp-devserver --workspace . serve --transport http --listen $(SMOKE_ADDRESS) & server=$$!; \
	trap 'kill $$server; wait $$server' EXIT; \
	for i in $$(seq 100); do curl -sf http://$(SMOKE_ADDRESS)/readyz >/dev/null && break; sleep 0.1; done; \
	bin/mcp-devserver conform --http http://$(SMOKE_ADDRESS)/mcp

# Times and allocations of each stage and of the whole walk.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./bench/... ./pipeline/... ./stages/...

# Searches of a tree beside ripgrep's: wall and processor time, medians of runs
# in turn. SEARCH_LANG=c takes the patterns for trees of C.
RG          ?= $(shell command -v rg)
RUNS        ?= 5
SEARCH_LANG ?= go
bench-search: build
	@test -n "$(TREE)" -a -n "$(RG)" || { echo "usage: make bench-search TREE=/folder [RG=/path/to/rg] [RUNS=5] [SEARCH_LANG=go|c]"; exit 2; }
	@BENCH_TREE=$(abspath $(TREE)) BENCH_RG=$(RG) BENCH_OURS=$(CURDIR)/bin/mcp-devserver BENCH_LANG=$(SEARCH_LANG) BENCH_RUNS=$(RUNS) \
	  $(GO) test -v -count=1 -timeout 60m -run '^TestSearchBeside$$' ./bench | grep --line-buffered -v '^ok\|^PASS\|^=== \|^--- PASS'

# What is redacted in trees of ordinary source, outside of their tests: one place in
# 100,000 lines at most. Every place is printed.
quiet:
	@test -n "$(TREES)" || { echo "usage: make quiet TREES=/folder:/another"; exit 2; }
	@SECRETS_TREES=$(TREES) $(GO) test -v -count=1 -run '^TestQuiet$$' ./sandbox/secrets

# Every fuzz target for FUZZTIME.
FUZZTIME ?= 60s
fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

# Files that are made from tables in the code.
generate:
	$(GO) test ./cmd/internal/app ./cmd/internal/metrics ./cmd/internal/mutation ./tests -run TestGenerated -update

# The systems that we do not test on must still build.
cross:
	GOOS=darwin $(GO) build ./...
	GOOS=windows $(GO) build ./...
	CGO_ENABLED=0 $(GO) build ./...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) build ./...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) vet ./sandbox ./tests/security/wall

clean:
	rm -rf bin coverage.out
