/* record/kernel/object_switch.h: switches a patched JVM's object events on while it is held. */
#pragma once

#include <stdbool.h>

#include "jvm/elf/usdt.h"

struct jvm;

struct object_switch {
	int start, exact;      /* links or perf events; -1: none */
	struct usdt_list list; /* the JVM's probes, once they have been read */
};

#define OBJECT_SWITCH_NONE ((struct object_switch){.start = -1, .exact = -1})

/*
 * Raises the semaphores of jvm-hooks/probes.h, objects__start and, if exact, objects__exact before
 * that; the JVM looks at them each SPOOR_OBJECTS_LOOK_MS. The kernel lowers them when this process
 * ends, however it ends. -ENOENT: the JVM has no such probes. -EOPNOTSUPP: the kernel has neither
 * links nor perf events on uprobes. Others as parser_usdt(), bpf(2), perf_event_open(2); nothing is
 * raised then. May be raised again when it has been lowered, always of the same JVM.
 */
int object_switch_raise(const struct jvm *j, bool exact, struct object_switch *s);
/* Accepts what is not raised. */
void object_switch_lower(struct object_switch *s);
/* Lowers it; what it knows of the JVM is freed. */
void object_switch_free(struct object_switch *s);
