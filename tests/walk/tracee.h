/* tests/walk/tracee.h: a thread of a JVM that is stopped, asked where it is (agent.c), and stepped: by
 * ptrace (tracee_x86_64.c), or, of one that runs in emulation, by its agent (tracee_emulated.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agct;

/* As struct hs_start has them. */
struct tracee_regs {
	uint64_t pc, sp, fp, bcp, method, link;
};

struct tracee {
	pid_t pid, tid;
	struct tracee_regs regs; /* where it is stopped */
	const struct agct *agct;      /* what the JVM says; after tracee_ask */
	struct agct *shared;
};

/* Stops the thread where it is. shared: the file of the agent. -ESRCH: it has ended. */
int tracee_stop(struct tracee *t, pid_t pid, pid_t tid, struct agct *shared);
/* Lets the JVM say where the thread is; it is where it was afterwards. */
int tracee_ask(struct tracee *t);
/* One instruction. -ENOTSUP: that cannot be had here. -EINTR: a signal came instead; the thread has it before it and can only be left. */
int tracee_step(struct tracee *t);
/* Lets it run again. */
void tracee_leave(struct tracee *t);
