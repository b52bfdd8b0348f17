# One Makefile for everything; products go to build/ (build/sanitize/ with SANITIZE=1).
#   make run     packages, build, build/harness run scenarios/pfc-bidir.json, with its page
#   make test    packages, build, unit tests and the shorter end-to-end tests that need no guest: a minute and a half after the build
#   make check   packages, build, what a change must pass, on sanitized programs and guests too: a quarter of an hour on two cores
#   make check-all   what a release must pass: every test that this machine can run
#   make deb     packages of Debian, in build/packages; make rpm: of Rocky; make package-check: both in clean roots
# Others: all docs deps lint bench thread-check fuzz fuzz-long soft-lab virtual-connectx virtual-connectx-check virtual-check virtual-lab stage install uninstall clean

VERSION := 0.2.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
OBJCOPY ?= objcopy
ROOT    := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

B := build
ifeq ($(SANITIZE),1)
B := build/sanitize
SANITIZERS := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
OPTIMISE   := -O1
# A program starts in half of the time: addresses are known when it is linked, so that half a million of them need not be written and their
# pages copied; and the sanitizers' libraries are a part of it, where the compiler has them so.
LDFLAGS    += -no-pie $(if $(wildcard $(shell $(CC) -print-file-name=libasan.a)),-static-libasan -static-libubsan)
# what computes little is compiled in half of the time this way, and nothing is optimised away before it is looked at
build/sanitize/o/harness/% build/sanitize/o/reports/% build/sanitize/o/guest-setup/% build/sanitize/o/remote/% build/sanitize/o/nic-config/% \
build/sanitize/o/collectors/% build/sanitize/o/traffic/% build/sanitize/o/tests/% build/sanitize/o/virtual-connectx/tests/%: OPTIMISE := -O0
# with sanitizers the compiler knows less of ranges, and warns of what cannot happen
UNSURE     := -Wno-format-truncation -Wno-maybe-uninitialized -Wno-stringop-overflow
else ifeq ($(SANITIZE),thread)
B := build/thread
SANITIZERS := -fsanitize=thread -fno-omit-frame-pointer
OPTIMISE   := -O1
UNSURE     := -Wno-format-truncation -Wno-maybe-uninitialized -Wno-stringop-overflow
else ifeq ($(SANITIZE),fuzzer)
B := build/libfuzzer
CC := clang
# gcc has no check of implicit conversions that lose a value
SANITIZERS := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow,implicit-integer-truncation \
              -fno-sanitize-recover=undefined,float-cast-overflow,implicit-integer-truncation -fno-omit-frame-pointer
OPTIMISE   := -O1
# it copies and finds memory for each execution
virtual-connectx-tests-fuzz-kept_CFLAGS := -O2 -fno-sanitize=all
# a call for each comparison took half of the time; what inputs find in the same time is not less without them
build/libfuzzer/o/virtual-connectx/%: SANITIZERS += -fno-sanitize-coverage=trace-cmp
endif
ifndef OPTIMISE
OPTIMISE := -O2
# the simulator's loop: 5 % fewer instructions
build/o/sim/%: OPTIMISE := -O3
# what waits for hosts, guests and files is most of the build, and takes a third less of a processor this way
build/o/harness/% build/o/guest-setup/% build/o/remote/% build/o/nic-config/% build/o/tests/% build/o/virtual-connectx/tests/%: OPTIMISE := -O1
# the model of a search solves equations most of its time: half of it
build/o/harness/search/gaussian%: OPTIMISE := -O3
endif

# Lines for backtraces; CFLAGS="-O0 -g" has variables for a debugger too
CFLAGS   ?= $(OPTIMISE) -g1 -pipe
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
            -Wpointer-arith -Wvla -Werror
CPPFLAGS += -D_GNU_SOURCE -DHARNESS_VERSION='"$(VERSION)"' -I. -I/usr/include/libxml2
override CFLAGS += -std=c11 $(WARNINGS) $(UNSURE) $(SANITIZERS) -fstack-protector-strong -pthread
LDFLAGS  += $(SANITIZERS) -pthread

# make V=1 shows whole commands. make itself says what it does, and makes a folder once: a program for each took 3 % of the build.
Q := $(if $(V),,@)
nothing :=
say = $(if $(V),,$(info $(nothing)  $(1)   $(2)))

# ---- what is built -------------------------------------------------------------------------------------------------
# A room is a folder with all that is below it, and an archive of its .c files but the mains of programs.
PROGRAMS := harness virt-provision nic-config nic-sampler host-facts roce-traffic

harness_MAIN        := harness/main.c
virt-provision_MAIN := guest-setup/virt-provision/main.c
nic-config_MAIN     := nic-config/main.c
nic-sampler_MAIN    := collectors/nic-sampler.c
host-facts_MAIN     := collectors/host-facts.c
roce-traffic_MAIN   := traffic/main.c

# rooms that a program links, in order
harness_ROOMS        := harness reports verify sim remote lib
virt-provision_ROOMS := guest-setup remote lib
nic-config_ROOMS     := nic-config lib
nic-sampler_ROOMS    := collectors lib
host-facts_ROOMS     := collectors nic-config lib
roce-traffic_ROOMS   := traffic lib

harness_LIBS        := -lxml2 -lsqlite3 -ljansson -lz -ldl -lm
virt-provision_LIBS := -lxml2 -ljansson -ldl -lm
nic-config_LIBS     := -lmnl -ljansson -lz -lm
nic-sampler_LIBS    := -lmnl -ljansson -ldl -lm
host-facts_LIBS     := -lmnl -ljansson -ldl -lm
roce-traffic_LIBS   := -libverbs -lrdmacm -ljansson -ldl -lm
roce-traffic_LDFLAGS := -rdynamic

MAINS    := $(foreach p,$(PROGRAMS),$($(p)_MAIN))
ROOMS    := lib sim verify reports harness remote guest-setup nic-config collectors traffic virtual-connectx
# a guest has only the rooms that its programs need
SOURCES  := $(filter-out virtual-connectx/kernel/% virtual-connectx/tests/%,$(sort $(shell find $(wildcard $(ROOMS)) -name '*.c')))
of_room   = $(filter-out $(MAINS),$(filter $(1)/%,$(SOURCES)))
archive   = $(B)/lib$(1).a
present   = $(foreach r,$(1),$(if $(call of_room,$(r)),$(call archive,$(r))))
BUILT    := $(foreach p,$(PROGRAMS),$(if $(wildcard $($(p)_MAIN)),$(B)/$(p)))

UNIT     := $(filter-out tests/unit/virtual-connectx/%,$(wildcard tests/unit/*/test_*.c)) $(wildcard virtual-connectx/tests/unit/test_*.c)
BENCHES  := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))
FUZZERS  := $(filter-out tests/fuzz/virtual-connectx/%,$(wildcard tests/fuzz/*/fuzz_*.c)) $(wildcard virtual-connectx/tests/fuzz/fuzz_*.c)
FUZZ_HELPERS := tests/fuzz/scratch.c $(addprefix virtual-connectx/tests/fuzz/,base.c kept.c)
# what calls them: libFuzzer, or edits of their seeds
FUZZ_DRIVER := $(if $(filter fuzzer,$(SANITIZE)),libfuzzer,replay)

all: $(BUILT) links page-library

links: | $(B)
	@ln -sfn $(ROOT)/scenarios $(B)/scenarios
	@ln -sfn $(ROOT)/labs $(B)/labs

$(B):
	@mkdir -p $@
$(B)/%/:
	@mkdir -p $@

# Objects have a folder of their own: build/harness is a program.
O := $(B)/o
.SECONDEXPANSION:
$(O)/%.o: %.c Makefile | $$(@D)/
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $($(subst /,-,$*)_CFLAGS) -MMD -MP -c -o $@ $<

define archive_rule
$(call archive,$(1)): $(patsubst %.c,$(O)/%.o,$(call of_room,$(1)))
	@rm -f $$@
	$(Q)$(AR) rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call archive_rule,$(r))))

# The prefix of the installation is a part of these: they are compiled again for another one.
PREFIXED := $(O)/lib/formats/find.o $(O)/remote/places.o
$(PREFIXED): CPPFLAGS += -DHARNESS_PREFIX='"$(PREFIX)"'
$(PREFIXED): $(O)/prefix
$(O)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' >$@.new
	$(replace_new)

# What makes results is a part of this one: two builds of the same sources have the same identity, wherever and by whom they are made.
MAKES_RESULTS := $(sort $(shell find $(wildcard harness sim verify remote lib) -name '*.[ch]' -o -name '*.def'))
NAME_BUILD := $(O)/harness/run/results.o $(O)/harness/main.o
$(NAME_BUILD): CPPFLAGS += -DHARNESS_BUILD='"$(shell cat $(O)/build 2>/dev/null)"'
$(NAME_BUILD): $(O)/build
$(O)/build: FORCE
	@mkdir -p $(@D)
	@sha256sum $(MAKES_RESULTS) | sha256sum | cut -c1-12 >$@.new
	$(replace_new)

# The table of figures: reports/drawing/figures_NAME.c has figures_NAME[]. Tables are written anew only when a name comes or goes.
FIGURES     := $(sort $(notdir $(basename $(wildcard reports/drawing/figures_*.c))))
replace_new  = @cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(O)/reports/figures_table.c: FORCE
	@mkdir -p $(@D)
	@{ echo '#include "reports/drawing/figures.h"'; echo '#include <stddef.h>'; \
		$(foreach n,$(FIGURES),echo 'extern const struct figure $n[];';) \
		echo 'const struct figure *const figures[] = {'; $(foreach n,$(FIGURES),echo '    $n,';) echo '    NULL};'; } >$@.new
	$(replace_new)
$(O)/reports/figures_table.o: $(O)/reports/figures_table.c Makefile
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(call archive,reports): $(O)/reports/figures_table.o

# What pages contain of ours: reports/page/style.css, and the scripts as one
PAGE_FILES := reports/page/style.css $(sort $(wildcard reports/page/script/*.js))
$(O)/reports/page_files.c: reports/page/embed $(PAGE_FILES)
	@mkdir -p $(@D)
	$(Q)reports/page/embed $(PAGE_FILES) >$@.new
	@mv $@.new $@
$(O)/reports/page_files.o: $(O)/reports/page_files.c Makefile
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(call archive,reports): $(O)/reports/page_files.o

# The library that draws the pages' interactive figures, from the npm registry: without it they have pictures alone.
PAGE_LIBRARY := build/page-library
page-library:
	@$(if $(wildcard deps/fetch-page-library),deps/fetch-page-library --once $(PAGE_LIBRARY))

define program_rule
$(B)/$(1): $(patsubst %.c,$(O)/%.o,$($(1)_MAIN)) $(call present,$($(1)_ROOMS))
	$$(call say,LD,$$@)
	$(Q)$(CC) $(LDFLAGS) $$($(1)_LDFLAGS) -o $$@ $$^ $$($(1)_LIBS)
	$(if $(SANITIZERS),,$(Q)cd $(B) && $$(move_debug))
endef
# What debuggers read goes into .debug/, where they look for it: programs are copied to hosts, and are a third as large without it.
move_debug = mkdir -p .debug && $(OBJCOPY) --only-keep-debug $(@F) .debug/$(@F).debug && \
	$(OBJCOPY) --strip-debug --add-gnu-debuglink=.debug/$(@F).debug $(@F)
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

# All unit tests are one program, and all fuzzers another, linked with every archive. Each file is whole in itself, with a main() or
# a LLVMFuzzerTestOneInput(): the build gives that function the file's name, and writes the table of them.
ALL_ARCHIVES := $(call present,harness reports verify sim guest-setup remote collectors nic-config traffic virtual-connectx lib)
ALL_LIBS     := -lxml2 -lsqlite3 -lmnl -libverbs -lrdmacm -ljansson -lz -ldl -lm
objects_of    = $(patsubst %.c,$(O)/%.o,$(1))
link_all      = $(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(ALL_ARCHIVES) -Wl,--end-group

$(foreach t,$(UNIT),$(eval $(O)/$(basename $(t)).o: CPPFLAGS += -Dmain=$(notdir $(basename $(t)))))
$(call objects_of,$(UNIT)): UNSURE += -Wno-missing-prototypes
$(foreach t,$(FUZZERS),$(eval $(O)/$(basename $(t)).o: CPPFLAGS += -DLLVMFuzzerTestOneInput=$(notdir $(basename $(t)))))

define table_rule
$(O)/tests/$(1)_table.c: FORCE
	@mkdir -p $$(@D)
	@{ echo '#include "tests/$(1)/table.h"'; $$(foreach n,$(2),echo '$(1)_function $$(n);';) \
		echo 'const struct $(1)_entry $(1)_table[] = {'; $$(foreach n,$(2),echo '    {"$$(n)", $$(n)},';) \
		echo '    {0, 0}};'; } >$$@.new
	$$(replace_new)
$(O)/tests/$(1)_table.o: $(O)/tests/$(1)_table.c
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $$@ $$<
endef
$(eval $(call table_rule,unit,$(sort $(notdir $(basename $(UNIT))))))
$(eval $(call table_rule,fuzz,$(sort $(notdir $(basename $(FUZZERS))))))

$(B)/tests/unit: $(call objects_of,$(UNIT) tests/unit/unit.c) $(O)/tests/unit_table.o $(ALL_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_all) -lcmocka $(ALL_LIBS)
# one test alone: building all of them takes minutes
$(B)/tests/alone/%: $(O)/tests/alone/%.o $(ALL_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_all) -lcmocka $(ALL_LIBS)
unit_source = $(filter %/$(1).c,$(UNIT))
$(patsubst %.c,$(O)/tests/alone/%.o,$(notdir $(UNIT))): $(O)/tests/alone/%.o: $$(call unit_source,$$*) Makefile | $$(@D)/
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/fuzz/fuzz: $(call objects_of,$(FUZZERS) $(FUZZ_HELPERS) tests/fuzz/$(FUZZ_DRIVER).c) $(O)/tests/fuzz_table.o $(ALL_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_all) $(if $(filter libfuzzer,$(FUZZ_DRIVER)),-fsanitize=fuzzer) -lcmocka $(ALL_LIBS)
$(B)/bench/%: $(O)/bench/%.o $(O)/bench/reference.o $(ALL_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_all) $(ALL_LIBS)

unit: $(B)/tests/unit
# those that do less on sanitized programs, which have all of them
unit-longer: $(patsubst %.c,$(B)/tests/alone/%,$(notdir $(shell grep -lw SANITIZED $(UNIT) /dev/null)))
fuzzers: $(B)/fuzz/fuzz
.SECONDARY:

-include $(wildcard $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d $(O)/*/*/*/*/*.d)

# The virtual NIC's kernel module, for the newest headers in /usr/src or for KDIR's, and its unit tests by gcc and clang
virtual-connectx:
	@$(MAKE) --no-print-directory -C virtual-connectx $(if $(KDIR),KDIR=$(KDIR)) OUT=$(ROOT)/build/virtual-connectx
virtual-connectx-check:
	@$(MAKE) --no-print-directory -C virtual-connectx OUT=$(ROOT)/build/virtual-connectx check

# ---- what is done with it ------------------------------------------------------------------------------------------
deps:
	@deps/install-packages build

# what programs print in documents: models of NICs, tables of others, and the sections of options in the manuals
docs: all $(B)/tests/unit
	$(B)/harness schema nic-models --manual >docs/nic-models.md
	@UPDATE_DOCS=1 $(B)/tests/unit test_dcqcn test_completion test_counters >/dev/null
	@for p in $(notdir $(BUILT)); do \
		docs/fill-manual $(B)/$$p docs/$$p.1 >$(B)/manual && { cmp -s $(B)/manual docs/$$p.1 || cp $(B)/manual docs/$$p.1; } || exit; \
	done

# docs/silicon.tsv: measurements of NICs beside what is simulated of them; docs/silicon.md: its summary
silicon: all
	@docs/fill-silicon $(B)/harness $(B) && cp $(B)/silicon.md $(B)/silicon.tsv docs && grep '^\*\*' docs/silicon.md

deps-check:
	@deps/install-packages build check soft-lab

run: deps
	@$(MAKE) --no-print-directory all
	@$(B)/harness run scenarios/pfc-bidir.json

test: deps-check
	@tests/run --quick

check: deps-check deps-browser
	@tests/run

# Some hours on two cores
check-all: deps-check deps-browser
	@deps/install-packages lint package package-check
	@tests/run --all

deps-browser:
	@deps/install-packages browser || echo "make check: without a browser, the test of report pages is skipped"

lint:
	@deps/install-packages build lint
	@tests/lint

# The simulator's threads under ThreadSanitizer; another network or number of threads is added to the test
thread-check: deps
	@$(MAKE) --no-print-directory SANITIZE=thread build/thread/tests/alone/test_sim_threads
	@TSAN_OPTIONS=halt_on_error=1 build/thread/tests/alone/test_sim_threads

bench: deps
	@$(MAKE) --no-print-directory all $(BENCHES)
	@bench/run

# all cores, unless make was told how many
BUILD = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
# The guests' module comes first: its last steps are one after the other, and go beside the programs.
guest-module:
	@guest-setup/build-module >/dev/null

soft-lab: deps
	@deps/install-packages soft-lab
	@$(BUILD) all
	@guest-setup/soft-lab

# Every test on guests with virtual ConnectX; make check has the first of them
virtual-check: deps-check
	@tests/run --virtual

# While guests boot, what they do not need is built; the lab reads `built` when it is there.
virtual-lab: deps
	@deps/install-packages soft-lab
	@$(BUILD) links guest-module $(filter-out $(B)/harness,$(BUILT))
	@exec 3>&1; { $(BUILD) all >&3 && echo built; } | \
		guest-setup/soft-lab --lab --built-meanwhile $(or $(LAB),virtual-pair) $(SCENARIO) 3>&-

# Coverage-guided fuzzing with clang's libFuzzer: make fuzz FUZZER=fuzz_units SECONDS=60
fuzz:
	@test -n "$(filter %/$(FUZZER).c,$(FUZZERS))" || { echo "make fuzz: FUZZER=$(FUZZER) is not one of: $(notdir $(basename $(FUZZERS)))"; exit 2; }
	@$(MAKE) --no-print-directory SANITIZE=fuzzer fuzzers
	@tests/fuzz/run seconds $(or $(SECONDS),60) $(FUZZER)

# All fuzzers, 10^8 executions together: make fuzz-long JOBS=8; started again, it goes on where it was stopped
fuzz-long:
	@$(MAKE) --no-print-directory SANITIZE=fuzzer fuzzers
	@JOBS=$(or $(JOBS),$(shell nproc)) tests/fuzz/run long $(or $(EXECUTIONS),100000000)

# What is installed is laid out in $(STAGE) first; deps/install-files copies it and lists it, and `make uninstall` removes what is listed.
# Packages have the same. Modes do not depend on the umask.
INSTALL ?= install
STAGE    = $(B)/stage
SHARE    = $(STAGE)/share
UNITS    = $(STAGE)/lib/systemd/system
stage: all
	@rm -rf $(STAGE)
	@$(INSTALL) -d $(STAGE)/bin $(SHARE)/harness/scenarios $(SHARE)/harness/labs $(SHARE)/man/man1 $(SHARE)/man/man5 \
		$(SHARE)/doc/harness $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d $(UNITS)
	@$(INSTALL) -m 755 $(BUILT) $(STAGE)/bin
	@$(INSTALL) -m 644 scenarios/*.json $(SHARE)/harness/scenarios
	@$(INSTALL) -d $(SHARE)/harness/scenarios/burn-in && $(INSTALL) -m 644 scenarios/burn-in/*.json $(SHARE)/harness/scenarios/burn-in
	@$(INSTALL) -m 644 labs/*.json $(SHARE)/harness/labs
	@[ ! -e $(PAGE_LIBRARY)/LICENSE ] || { $(INSTALL) -d $(SHARE)/harness/page-library && \
		$(INSTALL) -m 644 $(PAGE_LIBRARY)/*.js $(PAGE_LIBRARY)/*.css $(PAGE_LIBRARY)/LICENSE $(SHARE)/harness/page-library; }
	@cp -R guest-setup patches $(SHARE)/harness/
	@find $(SHARE)/harness -name '*.[ch]' -delete
	@find $(SHARE)/harness -type d -empty -delete
	@# what guests build their own programs from, and the packages that the scripts ask for
	@cp -R Makefile lib nic-config collectors traffic virtual-connectx $(SHARE)/harness/
	@rm -r $(SHARE)/harness/virtual-connectx/tests $(SHARE)/harness/virtual-connectx/README.md
	@$(INSTALL) -D -m 755 deps/install-packages $(SHARE)/harness/deps/install-packages
	@$(INSTALL) -m 644 README.md LICENSE CHANGELOG.md $(filter-out docs/README.md,$(wildcard docs/*.md)) docs/silicon.tsv $(SHARE)/doc/harness
	@$(INSTALL) -m 644 docs/README.md $(SHARE)/doc/harness/index.md
	@sed -i 's|](docs/README.md|](index.md|g; s|](docs/|](|g' $(SHARE)/doc/harness/README.md $(SHARE)/doc/harness/CHANGELOG.md
	@$(INSTALL) -m 644 $(wildcard docs/*.1) $(SHARE)/man/man1
	@$(B)/harness schema scenario --manual >$(SHARE)/man/man5/harness-scenario.5
	@$(B)/harness schema lab --manual >$(SHARE)/man/man5/harness-lab.5
	@# manuals cite docs/NAME.md, which is installed, and say of which version they are
	@sed -i 's|docs/\([a-z-]*\.md\)|$(PREFIX)/share/doc/harness/\1|g; s|^\.Os$$|.Os harness $(VERSION)|' $(SHARE)/man/man?/*
	@for p in $(notdir $(BUILT)); do $(B)/$$p --completion bash >$(SHARE)/bash-completion/completions/$$p && \
		$(B)/$$p --completion zsh >$(SHARE)/zsh/site-functions/_$$p && $(B)/$$p --completion fish >$(SHARE)/fish/vendor_completions.d/$$p.fish || exit; done
	@for u in nic-sampler@.service nic-sampler.target; do sed 's|@PREFIX@|$(PREFIX)|' packaging/$$u >$(UNITS)/$$u || exit; done
	@chmod -R u=rwX,go=rX $(STAGE)

install: stage
	deps/install-files $(STAGE) $(DESTDIR)$(PREFIX)

uninstall:
	deps/install-files --remove $(DESTDIR)$(PREFIX)

# Packages of what is installed, in build/packages. Both are made of one build, with the options that distributions build with, and without
# this folder's name in it. Warnings are no errors: they differ with the compiler, and _FORTIFY_SOURCE has its own. REVISION tells packages of one version apart.
REVISION ?= 1
HARDENED := -fPIE -fstack-clash-protection -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$(ROOT)=/usr/src/harness
package-stage:
	@deps/install-packages build package
	@$(BUILD) SANITIZE= B=build/package PREFIX=/usr CFLAGS='$$(OPTIMISE) -g1 -pipe $(HARDENED)' WARNINGS='-Wall -Wno-unused-result' LDFLAGS='-pie -pthread -Wl,-z,relro,-z,now' stage

deb rpm: package-stage
	@packaging/build $@ build/package/stage $(VERSION) $(REVISION) build/packages

package-check: deb rpm
	@deps/install-packages package-check
	@tests/package-check build/packages

clean:
	rm -rf build

.DEFAULT_GOAL := all
.PHONY: FORCE all page-library guest-module docs silicon links unit unit-longer fuzzers fuzz fuzz-long deps deps-check run test check check-all deps-browser lint bench thread-check soft-lab virtual-connectx virtual-connectx-check virtual-check virtual-lab clean stage install uninstall package-stage deb rpm package-check
