/* jvm/jvm_state.h: struct jvm, for the files of jvm/ only. */
#pragma once

#include "jvm/elf/libjvm.h"
#include "jvm/elf/parser.h"
#include "jvm/jvm.h"
#include "jvm/layout/code_layout.h"
#include "jvm/layout/flags.h"
#include "jvm/layout/layout.h"
#include "jvm/layout/versions/versions.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"
#include "jvm/target/process.h"

struct jvm {
	pid_t pid, ns_pid;
	uint64_t start_ticks;
	int pidfd;
	struct mem mem;
	struct process_lib lib;
	struct libjvm elf;
	uint64_t symbols[VMSYM_COUNT]; /* addresses in the target */
	int file;                      /* of libjvm.so; -1: not opened yet */
	struct parser *parser;
	struct vmstructs *vms; /* NULL: not relocated yet */
	uint32_t major;                    /* the feature release; 0: not known */
	const struct jdk_version *version; /* NULL: there is no table for it */
	struct flag_table flags;
	struct layout_source source;
	struct jvm_layout layout;
	struct code_layout code;
	const char *code_missing; /* NULL: code is filled, or vms is not there; static */
	const char *missing;      /* what an unknown layout lacks; static */
};
