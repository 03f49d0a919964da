/* analyze/profile/vm_work.h: what the VM's own threads work at. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/vm/phases.h"

struct event;

enum vm_work_kind {
	VM_WORK_NONE,
	VM_WORK_PHASE,     /* of a collection; id: a row of phases */
	VM_WORK_OPERATION, /* id: a string, 0: not known */
	VM_WORK_COMPILING, /* id: a method */
};

#define VM_WORK_DEPTH_MAX 8 /* VM operations nest */

/* All zero at first. */
struct vm_work {
	struct phases phases;
	struct vm_work_operation {
		uint64_t thread, operation;
	} operations[VM_WORK_DEPTH_MAX]; /* that are under way */
	uint32_t depth;
	bool pause; /* of a collection, likewise */
	uint64_t pause_operation;
};

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int vm_work_add(struct vm_work *w, const struct event *e);
/* Events are missing: nothing is known to be under way. */
void vm_work_hole(struct vm_work *w);
/* What the thread works at after the last event. gc_worker: it helps in collections, by its name:
 * then a pause's is its work, too. */
enum vm_work_kind vm_work_of(const struct vm_work *w, uint64_t thread, bool gc_worker,
			     uint64_t *ret_id);
/* Whether the name is one that HotSpot gives threads that do a collection's work in parallel. */
bool vm_work_is_gc_worker(const char *thread_name);
void vm_work_free(struct vm_work *w);
