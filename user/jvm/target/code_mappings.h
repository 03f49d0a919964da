/* jvm/target/code_mappings.h: the executable mappings of files in a process, as they were read
 * last. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "jvm/target/process.h"

/* Zero, but for the process. The file of a mapping may be anything. */
struct code_mappings {
	pid_t pid;
	struct process_lib *rows; /* by address, as the kernel has them */
	uint32_t count, capacity;
	uint64_t looked_ns, code_kb; /* when, and what process_code() said then */
};

/* The one that an address is in; lent until the next call. NULL: there is none. Where none is
 * known and a library has been loaded since, the mappings are read again; it is looked for that
 * each 20 ms at most. */
const struct process_lib *code_mappings_find(struct code_mappings *m, uint64_t pc);
void code_mappings_clear(struct code_mappings *m);
