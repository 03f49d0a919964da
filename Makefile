# spoor: setup test-setup demo all test soak fuzz lint format web jdks jvm bench install uninstall dist; V=1 shows commands, O= names
# the build folder, SAN=1 adds ASan and UBSan, SAN=thread TSan, SPOOR_JVM names the patched JDK that the tests take (none:
# they do without), TEST_OPTIONS are for tests/run. ARCH=arm64 builds for another machine (docs/arm64.md).
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
PREFIX ?= /usr/local

# The one place that says for which architecture this is built: as uname -m has it, which is also its folder in bpf/vmlinux;
# and what libbpf and Debian call it. Another one than this machine's is compiled for with Debian's cross compiler, against
# Debian's libraries in CROSS_ROOT (make cross-setup), into a folder of its own.
MACHINE := $(shell uname -m)
ARCH ?= $(MACHINE)
override ARCH := $(patsubst amd64,x86_64,$(patsubst arm64,aarch64,$(ARCH)))
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(filter x86_64 aarch64,$(ARCH))))
DEBIAN_ARCH := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(ARCH)))
$(if $(BPF_ARCH),,$(error spoor is for x86_64 and aarch64 (arm64), not for $(ARCH)))
CROSS := $(if $(filter-out $(MACHINE),$(ARCH)),$(ARCH)-linux-gnu-)
CROSS_ROOT ?= $(if $(CROSS),$(or $(SPOOR_CROSS_CACHE),build/sysroot)/$(DEBIAN_ARCH))
O ?= build$(if $(CROSS),/$(DEBIAN_ARCH))

CC := $(CROSS)gcc
AR := $(CROSS)ar
CLANG := clang
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PYTHON := /usr/bin/python3
JAVAC ?= $(shell command -v javac)

# What sanitizers report are functions and lines: without the rest gcc and ld take a fifth less of the CPU.
CFLAGS ?= $(if $(SAN),-O1 -g1,-O2 -g)
SAN ?=
SAN_FLAGS := $(if $(SAN),$(if $(filter thread,$(SAN)),-fsanitize=thread,-fsanitize=address -fsanitize=undefined) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
# docs/security.md; tests/unit/test_hardening.py looks at the binary and at each object. The sanitizers do without FORTIFY, which would hide calls
# from them, and give variables that nothing has set a pattern instead of zero, so that tests see their use.
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE \
	$(if $(SAN),-ftrivial-auto-var-init=pattern,-ftrivial-auto-var-init=zero -D_FORTIFY_SOURCE=3) \
	$(if $(filter x86_64,$(ARCH)),-fcf-protection=full) $(if $(filter aarch64,$(ARCH)),-mbranch-protection=standard)
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code
SYSROOT := $(if $(CROSS),--sysroot=$(abspath $(CROSS_ROOT)))
override CC += $(SYSROOT)
CPPFLAGS += -D_GNU_SOURCE -Iuser -I. -I$(O)/gen
# Debug information names files as seen from the tree, so that any folder gives the same bytes.
ALL_CFLAGS = -std=gnu11 -ffile-prefix-map=$(CURDIR)=. $(CFLAGS) $(WARN) $(HARDEN) $(SAN_FLAGS) -MMD -MP
# The kernel's types are in the tree (CO-RE), and nothing else of the building machine's kernel is used.
BPF_FLAGS = -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -O2 -g -mcpu=v3 -Wall -Wno-unused-function -Werror \
	-ffile-prefix-map=$(CURDIR)=. -Ibpf/vmlinux/$(ARCH) -I. -idirafter /usr/include/$(MACHINE)-linux-gnu
# Static but for libc: one binary that runs on any machine with a glibc as new as this one's.
LIBS_LOG := -l:libmsgpackc.a -l:libjansson.a -l:libz.a -l:liblz4.a -l:libzstd.a -l:libcap.a -l:liblua5.4.a -l:libsqlite3.a -lm -lpthread
# Of libdw only the reader of .eh_frame is linked: it needs neither liblzma nor libbz2.
LIBS_ELF := -l:libdw.a -l:libelf.a -l:libz.a
LIBS := -Wl,--wrap=bpf_prog_load,--wrap=btf__load_vmlinux_btf -l:libbpf.a $(LIBS_ELF) $(LIBS_LOG) -lm

# user/record/kernel is the only room that needs libbpf; all but it and the commands is a library, with which unit tests
# and fuzz targets link without libbpf.
LIB_SRCS := $(sort $(wildcard $(foreach r,base ship log jvm jvm/layout heap analyze session record report report/model report/heap report/model/sections report/text report/web,user/$r/*.c user/$r/*/*.c) steal/*.c steal/*/*.c))
LIB_SRCS := $(filter-out user/record/kernel/%,$(LIB_SRCS))
BIN_SRCS := $(wildcard user/main.c user/cmd/*.c user/cmd/*/*.c user/cmd/*/*/*.c user/record/kernel/*.c user/record/kernel/*/*.c)
GEN_SRCS := $(O)/gen/log/schema_gen.c
GEN_HEADERS := $(addprefix $(O)/gen/,log/schema_gen.h bpf/wire/wire_families.h analyze/registry/found_rows.def \
	report/web/page_template.h report/heap/heap_template.h)
LIB_OBJS := $(LIB_SRCS:%.c=$(O)/%.o) $(GEN_SRCS:%.c=%.o)
BIN_OBJS := $(BIN_SRCS:%.c=$(O)/%.o)
# The audit of steal needs no JVM, and is an object of its own.
BPF_SRCS := $(wildcard bpf/probes/*.bpf.c)
BPF_OBJS := $(BPF_SRCS:%.bpf.c=$(O)/%.bpf.o)
UNIT_SRCS := $(wildcard tests/unit/*/*_test.c tests/unit/*/*/*_test.c)
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=$(O)/tests/unit/%)
FUZZ_SRCS := $(wildcard tests/fuzz/*_fuzz.c)
FUZZ_CORPUS_BINS := $(FUZZ_SRCS:tests/fuzz/%_fuzz.c=$(O)/tests/fuzz/%_corpus)
# The commands that read logs, for targets that run them: they need no libbpf.
READER_SRCS := user/cmd/parse.c $(wildcard user/cmd/read/*.c user/cmd/read/*/*.c)
READER_FUZZ := report export

.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: all setup test-setup cross-setup cross-packages demo demo-objects test unit unit-bins san tsan tsan-bins walk walk-arm64 fake mark fuzz fuzz-run lint analyze format web guide-pictures web-setup prometheus-setup podman-setup jdks jvm jvm-setup jvm-clean test-jvm bench \
	bench-programs steal-lab install uninstall dist soak clean FORCE

all: $(O)/spoor

# What a bare Debian 12 lacks, to build and run spoor, and beyond that to test it. apt is called only if something of it is
# missing. None of them starts a server: of Tomcat the tests take the jars, not the package tomcat10, which would listen on
# port 8080 of a developer's machine from its installation on.
# libcurl is not linked: any variant's headers will do, and none takes the place of another that is there.
CURL_HEADERS := $(if $(wildcard /usr/include/curl/curl.h /usr/include/*/curl/curl.h),,libcurl4-gnutls-dev)
PACKAGES := gcc libc6-dev make clang llvm bpftool libbpf-dev libdw-dev libelf-dev zlib1g-dev libcap-dev \
	libmsgpack-dev libjansson-dev systemtap-sdt-dev linux-libc-dev openjdk-17-jdk-headless python3 \
	procps util-linux liblz4-dev libzstd-dev liblua5.4-dev libsqlite3-dev $(CURL_HEADERS)
TEST_PACKAGES := git libcmocka-dev libcurl3-gnutls openssl python3-msgpack python3-zstandard python3-lz4 patch nodejs libcap2-bin systemd \
	e2fsprogs debootstrap tomcat10-common tomcat10-examples libservlet-api-java runc \
	golang-github-containers-common python3-yaml chromium fonts-dejavu-core golang-go protobuf-compiler
JVM_PACKAGES := gcc g++ libc6-dev make autoconf m4 zip unzip file patch xz-utils dpkg-dev systemtap-sdt-dev \
	openjdk-17-jdk-headless python3 $(if $(filter-out 17,$(JDK)),debootstrap)
# To build with ARCH=arm64, and to run what has been built: a compiler and an emulator are installed, the other machine's
# libraries are only unpacked, into CROSS_ROOT.
CROSS_PACKAGES := gcc-aarch64-linux-gnu qemu-user-static
CROSS_LIBRARIES := libc6-dev libgcc-12-dev linux-libc-dev $(filter lib%-dev zlib1g-dev systemtap-sdt-dev,$(PACKAGES)) \
	libcmocka-dev libcurl4-gnutls-dev
setup: WANTED := $(PACKAGES)
test-setup: WANTED := $(PACKAGES) $(TEST_PACKAGES)
cross-packages: WANTED := $(PACKAGES) $(CROSS_PACKAGES)
jvm-setup: WANTED := $(JVM_PACKAGES)
setup test-setup jvm-setup cross-packages:
	$(Q)missing=$$(for p in $(WANTED); do \
		dpkg-query -W -f '$${db:Status-Status}' $$p 2>/dev/null | grep -qx installed || echo $$p; done); \
	test -z "$$missing" && exit 0; echo "  APT  " $$missing; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o Dpkg::Use-Pty=0 $$missing >$(CURDIR)/.setup.log 2>&1 || { tail -n 30 .setup.log; exit 1; }; \
	rm -f .setup.log

cross-setup: cross-packages
	$(Q)$(PYTHON) -B deploy/cross/sysroot arm64 $(or $(SPOOR_CROSS_CACHE),build/sysroot)/arm64 $(sort $(CROSS_LIBRARIES))

# The recipes run make anew: what setup installs (javac, bpftool) is looked up after it.
demo: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)sh bench/demo/demo.sh $(O)

# The same with the object events of the patched JVM, which is made if there is none.
demo-objects: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(MAKE) --no-print-directory jvm
	$(Q)sh bench/demo/objects.sh $(O) $(O)/jvm/current

# Builds use all CPUs; so do the tests (tests/run -j).
JOBS ?= $(shell nproc)
test: test-setup
	$(Q)$(MAKE) -j$(JOBS) --no-print-directory all fake mark bench-programs
	$(Q)$(MAKE) -j$(JOBS) --no-print-directory O=$(O)/san SAN=1 SKELETONS=$(O) all unit-bins
	$(Q)$(MAKE) -j$(JOBS) --no-print-directory tsan-bins
	$(if $(SPOOR_JVM),,$(Q)$(MAKE) --no-print-directory jvm || \
		{ echo "The patched JVM cannot be made. make test SPOOR_JVM=none leaves out the tests that need it." >&2; exit 1; })
	$(Q)$(MAKE) --no-print-directory jdks || echo "  JDK   not all of JDKs 11, 21 and 25 can be fetched: their tests are skipped" >&2
	$(Q)$(MAKE) --no-print-directory web-setup || echo "  NPM   playwright-core, axe-core and speedscope cannot be fetched: the tests in a browser are skipped" >&2
	$(Q)$(MAKE) --no-print-directory podman-setup || echo "  APT   Podman cannot be fetched: the test with it is skipped" >&2
	$(Q)$(MAKE) --no-print-directory prometheus-setup || echo "  APT   Prometheus cannot be fetched: the tests with it are skipped" >&2
	$(Q)$(PYTHON) tests/run --build $(O) $(TEST_OPTIONS)

# Podman, for the test of the image, and what it needs beyond a machine with runc: unpacked, not installed.
podman-setup: test-setup
	$(Q)test -x $(O)/podman/usr/bin/podman && exit 0; echo "  APT   $(O)/podman"; mkdir -p $(O)/podman && \
	cd $(O)/podman && apt-get download -qq podman conmon libgpgme11 libassuan0 libsubid4 && \
	for p in *.deb; do dpkg -x $$p all || exit; done && mkdir -p usr/lib && mv all/usr/lib/*-linux-gnu usr/lib && \
	mv all/usr/bin usr && rm -r all *.deb

# Debian's Prometheus and VictoriaMetrics, which scrape spoor serve in the tests: unpacked, not installed, as their packages
# start servers.
prometheus-setup: test-setup
	$(Q)for p in prometheus victoria-metrics; do test -x $(O)/prometheus/usr/bin/$$p && continue; \
		echo "  APT   $(O)/prometheus ($$p)"; mkdir -p $(O)/prometheus && (cd $(O)/prometheus && \
		apt-get download -qq $$p && dpkg --fsys-tarfile $${p}_*.deb | tar -x ./usr/bin && rm $${p}_*.deb) || exit; done

# JDKs that Debian 12 does not have, for the tests: a Debian 13 root, in the build folder or in SPOOR_JDK_CACHE.
jdks: test-setup
	$(Q)$(PYTHON) -B tests/jdk/fetch $(or $(SPOOR_JDK_CACHE),$(O)/jdk)

# The page of spoor html, of web/src: to be made anew, and committed, when web/src changes.
web:
	$(Q)$(PYTHON) -B web/build

# The pictures of docs/guide.md, of the logs in docs/logs, as the page shows them now; those logs anew: bench/guide/record.
guide-pictures: web-setup all
	$(Q)SPOOR_BUILD=$(O) $(PYTHON) -B tests/web/guide_pictures.py

# What drives Debian's Chromium in the tests of the page: by npm, in the versions and with the sums of the lock file.
web-setup: test-setup
	$(Q)mkdir -p $(O)/web && cmp -s tests/web/package-lock.json $(O)/web/node_modules/.spoor-lock && exit 0; \
	command -v npm >/dev/null || apt-get install -y -qq --no-install-recommends npm >/dev/null; \
	echo "  NPM   $(O)/web"; cp tests/web/package.json tests/web/package-lock.json $(O)/web && \
	(cd $(O)/web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) && \
	cp tests/web/package-lock.json $(O)/web/node_modules/.spoor-lock

# A JDK with the probes of jvm-hooks/: docs/patched-jvm.md. The first time it is built for 10 minutes or more.
# JDK=21 and JDK=25: of those releases, in a root of the Debian that has them; JDK 17 is what the tests take.
JDK := 17
JVM_BUILD = $(PYTHON) -B jvm-hooks/build-jvm --jdk $(JDK) --cache $(or $(SPOOR_JVM_CACHE),$(O)/jvm)
JVM_LINK = $(O)/jvm/$(if $(filter 17,$(JDK)),current,jdk-$(JDK))
jvm: jvm-setup
	$(Q)$(JVM_BUILD) --link $(JVM_LINK) $(JVM_OPTIONS)
jvm-clean:
	$(Q)$(JVM_BUILD) --clean

# The tests that take a patched JVM, on that of JDK=21 or JDK=25, which make test does without.
JVM_TESTS := exact.Exact gc.PatchedGc holding.HoldingExact idle.TurnsExact jtreg.Patched patched_collectors patched_jvm phases.Phases \
	profile.ProfilePatched profile_states.StatesPatched red_zone.Patched spans.Patched stays virtual_exact wall.WallOnPatched
space := $() $()
test-jvm: test-setup
	$(Q)$(MAKE) -j$(JOBS) --no-print-directory all fake mark bench-programs
	$(Q)$(MAKE) --no-print-directory jvm JDK=$(JDK)
	$(Q)SPOOR_JVM=$(JVM_LINK) $(PYTHON) tests/run --build $(O) -k '$(subst $(space),|,$(JVM_TESTS:%=test_%))' $(TEST_OPTIONS) e2e

# A patched JVM, if there is one, takes turns with the stock one.
BENCH_JVM = $(if $(wildcard $(O)/jvm/current/bin/java),--jvm $(O)/jvm/current)
bench: setup
	$(Q)$(MAKE) --no-print-directory all mark
	$(Q)O=$(O) $(PYTHON) bench/run $(BENCH_JVM)
	$(Q)O=$(O) $(PYTHON) bench/pair $(BENCH_JVM)
	$(Q)O=$(O) $(PYTHON) bench/observer $(BENCH_JVM)
	$(Q)O=$(O) $(PYTHON) bench/mark
	$(Q)O=$(O) $(PYTHON) bench/diff
	$(Q)O=$(O) $(PYTHON) bench/top
	$(Q)$(MAKE) --no-print-directory $(LOG_BENCH) && O=$(O) $(PYTHON) bench/log
	$(Q)test -z "$(BENCH_JVM)" || { \
		$(PYTHON) bench/jvm "$$(dirname "$$(dirname "$$(readlink -f "$$(command -v javac)")")")" $(O)/jvm/current && \
		O=$(O) $(PYTHON) bench/run $(BENCH_JVM) --programs micro --rounds 3 --seconds 1.5 --warm-up 2 \
			--modes plain,usdt,none,patched,patched-spoor; }

$(O)/spoor: $(BIN_OBJS) $(O)/libspoor.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SAN_FLAGS) $(HARDEN_LD) $(LDFLAGS) -o $@ $(BIN_OBJS) $(O)/libspoor.a $(LIBS)

$(O)/libspoor.a: $(LIB_OBJS) $(O)/objects
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJS)

# The names of what is in the library: a source file that is new here, however old it is, is compiled, and one that is gone leaves.
$(O)/objects: FORCE
	$(Q)mkdir -p $(@D) && echo '$(LIB_OBJS)' | cmp -s - $@ || echo '$(LIB_OBJS)' >$@

$(O)/%.o: %.c $(O)/flags | $(GEN_HEADERS)
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(O)/gen/%.o: $(O)/gen/%.c $(O)/flags
	@echo "  CC    $<"
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -c -o $@ $<

# What everything in $(O) is compiled and linked with; written anew only if it changes, and then everything is made anew.
FLAGS := $(filter-out ccache,$(CC)) $(ALL_CFLAGS) $(filter-out -I$(O)/gen,$(CPPFLAGS)) $(HARDEN_LD) $(LDFLAGS) $(CLANG) $(BPF_FLAGS)
$(O)/flags: FORCE
	$(Q)mkdir -p $(@D) && echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS))' >$@

$(O)/user/record/kernel/bpf_session.o $(O)/user/record/kernel/fragment_ring.o $(O)/user/record/kernel/map_sizes.o $(O)/user/record/kernel/programs.o $(O)/user/record/kernel/sampler.o: $(O)/gen/spoor.skel.h
$(O)/user/record/kernel/steal_audit.o: $(O)/gen/audit.skel.h
$(O)/user/record/kernel/relay.o: $(O)/gen/relay.skel.h

$(O)/gen/log/schema_gen.c: $(O)/gen/log/schema_gen.h ;
$(O)/gen/log/schema_gen.h: schemas/events.in.json schemas/events.lock.json schemas/gen.py schemas/lock.py
	@echo "  GEN   $@"
	$(Q)mkdir -p $(@D) && $(PYTHON) schemas/gen.py schemas/events.in.json --c $(O)/gen/log

# The pages of spoor html and spoor heap page, as web/build makes them of web/src; what is in the tree is that, and lint compares.
$(O)/gen/report/web/page_template.h: web/page.html web/embed
	@echo "  GEN   $@"
	$(Q)mkdir -p $(@D) && $(PYTHON) web/embed web/page.html page_template >$@
$(O)/gen/report/heap/heap_template.h: web/heap.html web/embed
	@echo "  GEN   $@"
	$(Q)mkdir -p $(@D) && $(PYTHON) web/embed web/heap.html heap_template >$@

# The families of ring records are the headers that list kinds (bpf/wire/wire_kinds.h).
WIRE := $(sort $(wildcard bpf/wire/wire_*.h))
WIRE_LIST := ^\#define \(WIRE_[A-Z_]*_KINDS\)(KIND).*
$(O)/gen/bpf/wire/wire_families.h: FORCE
	$(Q)mkdir -p $(@D) && { echo '/* Made of the lists of kinds in bpf/wire/wire_*.h. */'; echo '#pragma once'; \
		grep -l '$(WIRE_LIST)' $(WIRE) | sed 's/.*/#include "&"/'; printf '#define WIRE_KINDS(KIND)'; \
		sed -n 's/$(WIRE_LIST)/ \1(KIND)/p' $(WIRE) | tr -d '\n'; echo; } >$@.new && \
		if cmp -s $@.new $@; then rm $@.new; else echo "  GEN   $@" && mv $@.new $@; fi

# The analyses are the rows that files of user/analyze define (user/analyze/registry/rows.def).
ANALYZE := $(sort $(filter-out user/analyze/registry/%,$(wildcard user/analyze/*/*.c)))
ANALYSIS_ROW := ^const struct analysis_row \([a-z0-9_]*\)_analysis = {$$
$(O)/gen/analyze/registry/found_rows.def: FORCE
	$(Q)mkdir -p $(@D) && { echo '/* Made of the rows that are defined in user/analyze. */'; \
		sed -n 's/$(ANALYSIS_ROW)/ANALYSIS(\U\1\E, \1)/p' $(ANALYZE) | LC_ALL=C sort; } >$@.new && \
		if cmp -s $@.new $@; then rm $@.new; else echo "  GEN   $@" && mv $@.new $@; fi

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/flags | $(O)/gen/bpf/wire/wire_families.h
	@echo "  BPF   $<"
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_FLAGS) -I$(O)/gen -MMD -MP -c -o $@ $<

$(O)/spoor.bpf.o: $(BPF_OBJS)
	@echo "  BPFLD $@"
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/audit.bpf.o: $(O)/bpf/audit/audit.bpf.o
	@echo "  BPFLD $@"
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/relay.bpf.o: $(O)/bpf/relay/relay.bpf.o
	@echo "  BPFLD $@"
	$(Q)$(BPFTOOL) gen object $@ $^

# What runs in the kernel is the same with and without sanitizers: SKELETONS names a build folder that has it made.
ifeq ($(SKELETONS),)
$(O)/gen/%.skel.h: $(O)/%.bpf.o
	@echo "  SKEL  $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@
else
$(O)/gen/%.skel.h: $(SKELETONS)/gen/%.skel.h
	@echo "  SKEL  $@"
	$(Q)mkdir -p $(@D) && cp $< $@
endif

# Unit tests are built and run with ASan and UBSan, in a build folder of their own.
unit:
	$(Q)$(MAKE) --no-print-directory O=$(O)/san SAN=1 unit-bins
	$(Q)$(PYTHON) tests/run --build $(O) unit
unit-bins: $(UNIT_BINS) $(FUZZ_CORPUS_BINS)

# The program itself, so built, against the fake JVM and the golden logs.
san:
	$(Q)$(MAKE) --no-print-directory fake
	$(Q)$(MAKE) --no-print-directory O=$(O)/san SAN=1 all
	$(Q)$(PYTHON) tests/run --build $(O) san

# What has threads, under ThreadSanitizer: those that decode ahead, that which writes, that which writes dumps.
TSAN_TESTS := $(addprefix log/log_,deliver flight_file order range reader roundtrip rotation writer) log/object_ahead record/flight_dumps
TSAN_SRCS := $(wildcard user/base/*.c user/base/*/*.c user/log/*/*.c) $(addprefix user/record/flight/,dumps.c trigger.c)
tsan: tsan-bins
	$(Q)$(PYTHON) tests/run --build $(O) tsan
tsan-bins:
	$(Q)$(MAKE) --no-print-directory O=$(O)/tsan SAN=thread LIB_SRCS='$(TSAN_SRCS)' \
		$(TSAN_TESTS:%=$(O)/tsan/tests/unit/%_test)

$(O)/tests/unit/%_test: $(O)/tests/unit/%_test.o $(O)/libspoor.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SAN_FLAGS) $(HARDEN_LD) $(LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup \
		$(addprefix -Wl$(comma)--wrap=,$(WRAP)) -o $@ $(filter %.o,$^) $(O)/libspoor.a $(LIBS_LOG) $(LIBS_ELF) -lcmocka -lm
comma := ,

# What fails on demand in these tests (tests/unit/sys_fail.h), and what they slow down.
SYS_FAIL := log/log_flight_file log/log_output record/flight_dumps
$(SYS_FAIL:%=$(O)/tests/unit/%_test): WRAP = write fsync close unlinkat renameat2 linkat pthread_create
$(O)/tests/unit/base/base_create_test: WRAP = mkdirat
$(O)/tests/unit/jvm/jvm_native_test: WRAP = clock_gettime
$(O)/tests/unit/log/log_deliver_test: WRAP = clock_gettime codec_compress

$(O)/tests/unit/bpf/hotspot_walk_test.o $(O)/tests/unit/bpf/hotspot_walk_arm64_test.o $(O)/tests/unit/record/fragments_test.o: \
	CPPFLAGS += -DIMAGES_OF='"$(CURDIR)/tests/unit"'

# Looks at running JVMs: where is the walker wrong, where does it give up? IMAGES=tests/unit/images records anew.
# WALK_ARCH=arm64: those that qemu-user emulates (make walk-arm64).
WALK_ARCH := x86_64
WALK_FLAGS := $(if $(filter arm64,$(WALK_ARCH)),-DARCH_JVM=arch_arm64 -DARCH_ARM64_WALKS_LAST=19 -DHS_FRAMES_ARM64 -DCODE_IS=45)
CPPFLAGS += $(WALK_FLAGS)
WALK_SRCS := $(filter-out tests/walk/agent.c $(if $(WALK_FLAGS),tests/walk/tracee_x86_64.c,tests/walk/tracee_emulated.c),\
	$(wildcard tests/walk/*.c))
walk: $(O)/tests/walk/walkimage
	$(Q)$(PYTHON) tests/walk/record.py --build $(O) $(if $(IMAGES),--images $(IMAGES))
# Of arm64's JDK 17 in emulation. IMAGES=tests/unit/images_arm64
WALK_ROOT := $(or $(SPOOR_CROSS_CACHE),build/sysroot)/arm64-jdk
walk-arm64: cross-packages
	$(Q)$(PYTHON) -B deploy/cross/sysroot arm64 $(WALK_ROOT) openjdk-17-jdk-headless
	$(Q)$(MAKE) --no-print-directory WALK_ARCH=arm64 O=$(O)/walk-arm64 $(O)/walk-arm64/tests/walk/walkimage
	$(Q)$(PYTHON) tests/walk/record.py --build $(O)/walk-arm64 --emulated $(WALK_ROOT) $(if $(IMAGES),--images $(IMAGES))
$(O)/tests/walk/walkimage: $(wildcard tests/walk/*.[ch] bpf/*/*.h) $(O)/libspoor.a
	@echo "  WALK  $@"
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 $(CFLAGS) $(WARN) $(SAN_FLAGS) $(CPPFLAGS) -o $@ \
		$(WALK_SRCS) $(O)/libspoor.a $(LIBS_LOG) $(LIBS_ELF) -lm

# A libjvm.so that fires HotSpot's probes over structures of its own, for tests that need no JVM.
FAKE := $(O)/tests/fake
FAKE_SRCS := $(filter-out %_main.c,$(wildcard tests/bpf/fakejvm*.c))
fake: $(FAKE)/fakejvm $(O)/tests/audit
$(FAKE)/libjvm.so: $(FAKE_SRCS) $(wildcard tests/bpf/*.h) bpf/wire/wire_probe.def
	@echo "  FAKE  $@"
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -pthread \
		-Wl,-soname,libjvm.so -o $@ $(FAKE_SRCS)
$(FAKE)/fakejvm: tests/bpf/fakejvm_main.c $(FAKE)/libjvm.so
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -pthread -o $@ $< -L$(FAKE) -l:libjvm.so -Wl,-rpath,'$$ORIGIN'

# The scheduler's source of steal time, sample by sample, as it is.
$(O)/tests/audit: tests/bpf/audit_main.c $(O)/user/record/kernel/steal_audit.o $(O)/user/record/kernel/features/steal_clock.o $(O)/user/record/kernel/features/refusal.o \
	$(O)/user/record/kernel/features/kernel_facts.o $(O)/user/record/kernel/features/kernel_reads.o $(O)/user/record/kernel/features/prog_load.o $(O)/user/record/kernel/features/vmlinux_btf.o \
	$(O)/user/record/kernel/features/kernel_try.o $(O)/user/record/kernel/features/uprobe_multi.o $(O)/libspoor.a
	@echo "  LINK  $@"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(CPPFLAGS) -o $@ $(filter-out %.h,$^) $(LIBS)

# Programs that are measured, or know what should be measured of them.
BENCH := $(O)/bench/steal_load $(O)/bench/switch_load
bench-programs: $(BENCH)
$(O)/bench/%: bench/%.c
	@echo "  BENCH $@"
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -pthread -o $@ $<

# What the log costs: these use the log library.
LOG_BENCH := $(O)/bench/heap_load $(O)/bench/log_load $(O)/bench/log_write $(O)/bench/scale_load
$(LOG_BENCH): $(O)/bench/%: bench/%.c $(O)/libspoor.a
	@echo "  BENCH $@"
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(CPPFLAGS) -o $@ $< $(O)/libspoor.a $(LIBS_LOG)

# Xen and Debian's own kernel in software emulation: docs/steal-lab.md.
steal-lab: test-setup
	$(Q)$(MAKE) --no-print-directory all fake bench-programs
	$(Q)$(PYTHON) tests/run --build $(O) -v lab

# For applications that mark their work (docs/spans.md): a jar that needs no spoor to run.
mark: $(O)/spoor-mark.jar
$(O)/spoor-mark.jar: $(shell find jvm-hooks/mark -type f)
	@echo "  JAR   $@"
	$(Q)mkdir -p $(@D) && CC="$(CC)" JAVAC="$(JAVAC)" sh jvm-hooks/mark/build $@ $(O)/mark

# What takes long: run before a release (docs/testing.md).
soak:
	$(Q)$(MAKE) --no-print-directory test TEST_OPTIONS="--soak $(TEST_OPTIONS)"
	$(Q)$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600
	$(Q)$(PYTHON) tests/soak/reproducible.py
	$(Q)$(PYTHON) tests/soak/fuzz_memory.py --seconds 1800
	$(Q)$(PYTHON) tests/soak/fuzz_logs.py --seconds 1800
	$(Q)$(PYTHON) tests/soak/growth.py --seconds 1800
	$(Q)$(PYTHON) tests/soak/fail_each.py --step 5

lint:
	$(Q)$(PYTHON) tests/run --build $(O) lint

# gcc's static analyzer over all C of the program: what it finds is answered in the file, or it fails.
analyze: all
	$(Q)$(PYTHON) tests/lint/analyze.py $(CC) -std=gnu11 $(CFLAGS) $(CPPFLAGS) -- $(LIB_SRCS) $(BIN_SRCS)

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

# Each target runs this long, from its corpus; a crash is left in $(O)/fuzz and belongs into the corpus. No log makes its
# reader ask for more than 32 MiB at once: twice the longest block (schemas/event-log.md).
FUZZ_SECONDS ?= 60
# 0: another one each time, to find what is new. CI has one, as it is to say what a change has done.
FUZZ_SEED ?= 0
FUZZ_JOBS ?= 2
FUZZ_BINS := $(FUZZ_SRCS:tests/fuzz/%.c=$(O)/fuzz/%)
FUZZ_CC = $(CLANG) -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-ftrivial-auto-var-init=pattern -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -MMD -MP $(CPPFLAGS)
FUZZ_OBJS := $(LIB_SRCS:%.c=$(O)/fuzz/%.o) $(GEN_SRCS:$(O)/%.c=$(O)/fuzz/%.o)
FUZZ_PACKAGE = libclang-rt-$(shell $(CLANG) -dumpversion | cut -d. -f1)-dev
fuzz: setup
	$(Q)dpkg-query -W -f '$${db:Status-Status}' $(FUZZ_PACKAGE) 2>/dev/null | grep -qx installed || \
		apt-get install -y -qq $(FUZZ_PACKAGE) >/dev/null
	$(Q)$(MAKE) --no-print-directory -j$(FUZZ_JOBS) fuzz-run
fuzz-run: $(FUZZ_BINS)
	$(Q)printf '%s\n' $(FUZZ_SRCS:tests/fuzz/%_fuzz.c=%) | xargs -P $(FUZZ_JOBS) -I NAME sh tests/fuzz/run \
		$(O)/fuzz NAME $(FUZZ_SECONDS) $(FUZZ_SEED)

$(O)/fuzz/%.o: %.c $(O)/flags | $(GEN_HEADERS)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) -fsanitize=fuzzer-no-link -c -o $@ $<
$(O)/fuzz/gen/%.o: $(O)/gen/%.c $(O)/flags
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) -fsanitize=fuzzer-no-link -c -o $@ $<
$(O)/fuzz/libspoor.a: $(FUZZ_OBJS)
	$(Q)rm -f $@ && ar rcs $@ $^
$(O)/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $(O)/fuzz/libspoor.a
	@echo "  FUZZ  $@"
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer -o $@ $< $(filter %.o,$^) $(O)/fuzz/libspoor.a $(LIBS_LOG) $(LIBS_ELF) -lm

$(READER_FUZZ:%=$(O)/fuzz/%_fuzz): $(READER_SRCS:%.c=$(O)/fuzz/%.o)

# The same targets, as a unit test goes through their corpora: without libFuzzer.
$(O)/tests/fuzz/%_corpus: $(O)/tests/fuzz/%_fuzz.o $(O)/tests/fuzz/corpus_main.o $(O)/libspoor.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(SAN_FLAGS) $(HARDEN_LD) $(LDFLAGS) -o $@ $(filter %.o,$^) $(O)/libspoor.a $(LIBS_LOG) $(LIBS_ELF) -lm
$(READER_FUZZ:%=$(O)/tests/fuzz/%_corpus): $(READER_SRCS:%.c=$(O)/%.o)

VERSION := $(shell sed -n 's/^.define SPOOR_VERSION "\(.*\)"/\1/p' user/base/version.h)
MAN := $(wildcard docs/man/*.1)
# What is installed: each file, and where.
INSTALLED := bin/spoor $(MAN:docs/man/%=share/man/man1/%) share/bash-completion/completions/spoor \
	share/java/spoor-mark.jar share/spoor/systemd/spoor@.service
install: all mark $(O)/spoor.bash
	$(Q)install -D $(O)/spoor $(DESTDIR)$(PREFIX)/bin/spoor
	$(Q)for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man1/$$(basename $$m); done
	$(Q)install -D -m 644 $(O)/spoor.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/spoor
	$(Q)install -D -m 644 $(O)/spoor-mark.jar $(DESTDIR)$(PREFIX)/share/java/spoor-mark.jar
	$(Q)install -D -m 644 deploy/systemd/spoor@.service $(DESTDIR)$(PREFIX)/share/spoor/systemd/spoor@.service
	$(Q)printf '  INST  %s\n' $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)

uninstall:
	$(Q)rm -f $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)
	$(Q)rmdir -p --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/share/spoor/systemd 2>/dev/null || :

# Completion of options, as the program's own --help has them.
$(O)/spoor.bash: $(O)/spoor deploy/completion/bash.py
	$(Q)$(PYTHON) deploy/completion/bash.py $(O)/spoor >$@

# The tree of the last commit; the same commit gives the same bytes.
dist:
	$(Q)git archive --format=tar --prefix=spoor-$(VERSION)/ HEAD | gzip -9n >spoor-$(VERSION).tar.gz
	@echo "  DIST  spoor-$(VERSION).tar.gz"

# But not the patched JVM, which takes long to build: rm -rf $(O).
clean:
	$(Q)test ! -d $(O) || find $(O) -mindepth 1 -maxdepth 1 ! -name jvm ! -name sysroot -exec rm -rf {} +

# Whole systems are in some of the folders: their own directories may end with .d.
-include $(shell test -d $(O) && find $(O) $(foreach d,jvm jdk lab sysroot arm64 web podman,-path $(O)/$d -prune -o) \
	-type f -name '*.d' -print)
