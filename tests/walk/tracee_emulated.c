/*
 * A thread of a JVM that qemu-user emulates is a thread of qemu, of which ptrace has the registers of this machine: so the
 * agent says where it is, and what the JVM knows of it, from within its signal handler, and stays there until it is left.
 * The memory is qemu's own, at the same addresses (guest_base is 0).
 */
#include "tracee.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agct.h"

#define STOP_TRIES 20000 /* of 100 us */

static int await(struct tracee *t)
{
	const struct agct *a = t->agct;

	for (int i = 0; i < STOP_TRIES; i++) {
		int stopped = __atomic_load_n(&a->stopped, __ATOMIC_ACQUIRE);

		if (stopped < 0)
			return -ENOTSUP;
		if (stopped) {
			t->regs = (struct tracee_regs){.pc = a->pc,
						       .sp = a->sp,
						       .fp = a->fp,
						       .bcp = a->bcp,
						       .method = a->method,
						       .link = a->link};
			return 0;
		}
		usleep(100);
	}
	tracee_leave(t);
	return -ESRCH;
}

int tracee_stop(struct tracee *t, pid_t pid, pid_t tid, struct agct *shared)
{
	*t = (struct tracee){.pid = pid, .tid = tid, .shared = shared, .agct = shared};
	shared->count = 0;
	shared->step = 0;
	__atomic_store_n(&shared->stopped, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->tid, tid, __ATOMIC_RELEASE);
	if (syscall(SYS_tgkill, pid, tid, SIGPROF))
		return -errno;
	return await(t);
}

int tracee_ask(struct tracee *t)
{
	(void)t; /* it has been asked */
	return 0;
}

int tracee_step(struct tracee *t)
{
	__atomic_store_n(&t->shared->stopped, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&t->shared->step, 1, __ATOMIC_RELEASE);
	return await(t);
}

void tracee_leave(struct tracee *t)
{
	__atomic_store_n(&t->shared->tid, 0, __ATOMIC_RELEASE);
	t->tid = 0;
}
