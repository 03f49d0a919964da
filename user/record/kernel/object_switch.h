/* record/kernel/object_switch.h: switches a patched JVM's object events on while it is held. */
#pragma once

#include <stdbool.h>

struct jvm;

struct object_switch {
	int start, exact; /* links or perf events; -1: none */
};

#define OBJECT_SWITCH_NONE ((struct object_switch){-1, -1})

/*
 * Raises the semaphores of jvm-hooks/probes.h, objects__start and, if exact, objects__exact before
 * that; the JVM looks at them each SPOOR_OBJECTS_LOOK_MS. The kernel lowers them when this process
 * ends, however it ends. -ENOENT: the JVM has no such probes. -EOPNOTSUPP: the kernel has neither
 * links nor perf events on uprobes. Others as parser_usdt(), bpf(2), perf_event_open(2); nothing is
 * raised then.
 */
int object_switch_raise(const struct jvm *j, bool exact, struct object_switch *ret);
/* Accepts what is not raised. */
void object_switch_lower(struct object_switch *s);
