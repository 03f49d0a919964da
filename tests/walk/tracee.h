/* tests/walk/tracee.h: a thread of a JVM that is stopped, asked where it is (agent.c), and stepped. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

struct agct;

struct tracee {
	pid_t pid, tid;
	struct user_regs_struct regs; /* where it is stopped */
	const struct agct *agct;      /* what the JVM says; after tracee_ask */
	struct agct *shared;
};

/* Stops the thread where it is. shared: the file of the agent. -ESRCH: it has ended. */
int tracee_stop(struct tracee *t, pid_t pid, pid_t tid, struct agct *shared);
/* Lets the JVM say where the thread is; it is where it was afterwards. */
int tracee_ask(struct tracee *t);
/* One instruction. -EINTR: a signal came instead; the thread has it before it and can only be left. */
int tracee_step(struct tracee *t);
/* Lets it run again. */
void tracee_leave(struct tracee *t);
