# One Makefile for everything; products go to build/ (build/sanitize/ with SANITIZE=1).
#   make run     packages, build, ./harness run scenarios/pfc-bidir.json, report
#   make check   packages, build, every test that this machine can run
# Others: all deps lint bench fuzz soft-lab install clean

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
ROOT    := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

B := build
ifeq ($(SANITIZE),1)
B := build/sanitize
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPTIMISE   := -O1
# with sanitizers the compiler knows less of ranges, and warns of what cannot happen
UNSURE     := -Wno-format-truncation -Wno-maybe-uninitialized -Wno-stringop-overflow
endif
OPTIMISE ?= -O2

CFLAGS   ?= $(OPTIMISE) -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
            -Wpointer-arith -Wvla -Werror
CPPFLAGS += -D_GNU_SOURCE -DHARNESS_VERSION='"$(VERSION)"' -DHARNESS_PREFIX='"$(PREFIX)"' -I. -I/usr/include/libxml2
override CFLAGS += -std=c11 $(WARNINGS) $(UNSURE) $(SANITIZERS) -fstack-protector-strong -pthread
LDFLAGS  += $(SANITIZERS) -pthread

# make V=1 shows whole commands
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))

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
harness_ROOMS        := harness reports sim remote lib
virt-provision_ROOMS := guest-setup remote lib
nic-config_ROOMS     := nic-config lib
nic-sampler_ROOMS    := collectors lib
host-facts_ROOMS     := collectors nic-config lib
roce-traffic_ROOMS   := traffic lib

harness_LIBS        := -lvirt -lxml2 -ljansson -lm
virt-provision_LIBS := -lvirt -lxml2 -ljansson -lm
nic-config_LIBS     := -lmnl -ljansson -lm
nic-sampler_LIBS    := -lmnl -ljansson -ldl -lm
host-facts_LIBS     := -lmnl -ljansson -ldl -lm
roce-traffic_LIBS   := -libverbs -lrdmacm -ljansson -ldl -lm
roce-traffic_LDFLAGS := -rdynamic

MAINS    := $(foreach p,$(PROGRAMS),$($(p)_MAIN))
ROOMS    := lib sim reports harness remote guest-setup nic-config collectors traffic
# a guest has only the rooms that its programs need
SOURCES  := $(sort $(shell find $(wildcard $(ROOMS)) -name '*.c'))
of_room   = $(filter-out $(MAINS),$(filter $(1)/%,$(SOURCES)))
archive   = $(B)/lib$(1).a
present   = $(foreach r,$(1),$(if $(call of_room,$(r)),$(call archive,$(r))))
BUILT    := $(foreach p,$(PROGRAMS),$(if $(wildcard $($(p)_MAIN)),$(B)/$(p)))

UNIT     := $(addprefix $(B)/tests/,$(notdir $(basename $(wildcard tests/unit/*/test_*.c))))
BENCHES  := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))
FUZZERS  := $(addprefix $(B)/fuzz/,$(notdir $(basename $(wildcard tests/fuzz/*/fuzz_*.c))))

all: $(BUILT) links

links: | $(B)
	@ln -sfn $(ROOT)/scenarios $(B)/scenarios
	@ln -sfn $(ROOT)/labs $(B)/labs

$(B):
	@mkdir -p $@

# Objects have a folder of their own: build/harness is a program.
O := $(B)/o
$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $($(subst /,-,$*)_CFLAGS) -MMD -MP -c -o $@ $<

define archive_rule
$(call archive,$(1)): $(patsubst %.c,$(O)/%.o,$(call of_room,$(1)))
	@rm -f $$@
	$(Q)$(AR) rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call archive_rule,$(r))))

define program_rule
$(B)/$(1): $(patsubst %.c,$(O)/%.o,$($(1)_MAIN)) $(call present,$($(1)_ROOMS))
	$$(call say,LD,$$@)
	$(Q)$(CC) $(LDFLAGS) $$($(1)_LDFLAGS) -o $$@ $$^ $$($(1)_LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

# A unit test links every archive; cmocka prints TAP.
ALL_ARCHIVES := $(call present,harness reports sim guest-setup remote collectors nic-config traffic lib)
ALL_LIBS     := -lvirt -lxml2 -lmnl -libverbs -lrdmacm -ljansson -ldl -lm
define unit_rule
$(B)/tests/$(notdir $(basename $(1))): $(O)/$(basename $(1)).o $(ALL_ARCHIVES)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$(Q)$(CC) $(LDFLAGS) -o $$@ $$< -Wl,--start-group $(ALL_ARCHIVES) -Wl,--end-group -lcmocka $(ALL_LIBS)
endef
$(foreach t,$(wildcard tests/unit/*/test_*.c),$(eval $(call unit_rule,$(t))))
$(B)/bench/%: $(O)/bench/%.o $(ALL_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(ALL_ARCHIVES) -Wl,--end-group $(ALL_LIBS)
# A fuzzer is a LLVMFuzzerTestOneInput; fuzz/replay.c drives it over files with any compiler.
define fuzz_rule
$(B)/fuzz/$(notdir $(basename $(1))): $(O)/$(basename $(1)).o $(O)/tests/fuzz/replay.o $(ALL_ARCHIVES)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$(Q)$(CC) $(LDFLAGS) -o $$@ $$(filter %.o,$$^) -Wl,--start-group $(ALL_ARCHIVES) -Wl,--end-group $(ALL_LIBS)
endef
$(foreach t,$(wildcard tests/fuzz/*/fuzz_*.c),$(eval $(call fuzz_rule,$(t))))

unit: $(UNIT)
fuzzers: $(FUZZERS)
.SECONDARY:

-include $(wildcard $(O)/*/*.d $(O)/*/*/*.d $(O)/*/*/*/*.d)

# ---- what is done with it ------------------------------------------------------------------------------------------
deps:
	@deps/install-packages build

deps-check:
	@deps/install-packages build check soft-lab

run: deps
	@$(MAKE) --no-print-directory all
	@cd $(B) && ./harness run scenarios/pfc-bidir.json

check: deps-check
	@tests/run

lint:
	@deps/install-packages build lint
	@tests/lint

bench: deps
	@$(MAKE) --no-print-directory all $(BENCHES)
	@bench/run

soft-lab: deps
	@deps/install-packages soft-lab
	@$(MAKE) --no-print-directory all
	@guest-setup/soft-lab

# Coverage-guided fuzzing with clang's libFuzzer: make fuzz FUZZER=fuzz_units SECONDS=60
# Some fuzzers include the source whose insides they try; it is not linked a second time.
FUZZ_SOURCE  = $(wildcard tests/fuzz/*/$(FUZZER).c)
FUZZ_INCLUDED = $(shell sed -n 's/^.include "\(.*\.c\)"$$/\1/p' $(FUZZ_SOURCE))
FUZZ_SOURCES = $(filter-out $(MAINS) $(FUZZ_INCLUDED),$(SOURCES))
fuzz:
	@mkdir -p build/libfuzzer build/corpus/$(FUZZER)
	clang $(CPPFLAGS) -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -pthread -o build/libfuzzer/$(FUZZER) \
		$(FUZZ_SOURCE) $(FUZZ_SOURCES) $(ALL_LIBS)
	build/libfuzzer/$(FUZZER) -max_total_time=$(or $(SECONDS),60) -timeout=10 build/corpus/$(FUZZER) tests/fuzz/seeds/$(FUZZER)

INSTALL ?= install
SHARE    = $(DESTDIR)$(PREFIX)/share
install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/harness/scenarios $(SHARE)/harness/labs $(SHARE)/man/man1 $(SHARE)/man/man5 \
		$(SHARE)/bash-completion/completions
	$(INSTALL) -m 755 $(BUILT) $(DESTDIR)$(PREFIX)/bin
	$(INSTALL) -m 644 scenarios/*.json $(SHARE)/harness/scenarios
	$(INSTALL) -m 644 labs/*.json $(SHARE)/harness/labs
	cp -R guest-setup $(SHARE)/harness/
	cp -R patches $(SHARE)/harness/
	find $(SHARE)/harness -name '*.[ch]' -delete
	find $(SHARE)/harness -type d -empty -delete
	# what guests build their own programs from
	cp -R Makefile lib nic-config collectors traffic $(SHARE)/harness/
	$(INSTALL) -m 644 $(wildcard docs/*.1) $(SHARE)/man/man1
	$(B)/harness schema scenario --manual >$(SHARE)/man/man5/harness-scenario.5
	$(B)/harness schema lab --manual >$(SHARE)/man/man5/harness-lab.5
	$(INSTALL) -m 644 harness/completion.bash $(SHARE)/bash-completion/completions/harness

clean:
	rm -rf build

.DEFAULT_GOAL := all
.PHONY: all links unit fuzzers fuzz deps deps-check run check lint bench soft-lab clean install
