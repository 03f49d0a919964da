#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agct.h"

static int registers_read(struct tracee *t, struct user_regs_struct *r)
{
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, r))
		return -errno;
	t->regs = (struct tracee_regs){.pc = r->rip,
				       .sp = r->rsp,
				       .fp = r->rbp,
				       .bcp = r->r13,
				       .method = r->rbx,
				       .link = r->rax};
	return 0;
}

/* Until it stops by this signal; others are delivered. */
static int await(struct tracee *t, int signal)
{
	struct user_regs_struct regs;
	int status;

	while (waitpid(t->tid, &status, __WALL) == t->tid) {
		int stopped = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!stopped)
			return -ESRCH;
		if (stopped == signal && !(status >> 16))
			return registers_read(t, &regs);
		if (ptrace(PTRACE_CONT, t->tid, NULL, status >> 16 ? 0 : stopped))
			return -errno;
	}
	return -errno;
}

int tracee_stop(struct tracee *t, pid_t pid, pid_t tid, struct agct *shared)
{
	*t = (struct tracee){.pid = pid, .tid = tid, .shared = shared, .agct = shared};
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || syscall(SYS_tgkill, pid, tid, SIGPROF))
		return -errno;
	return await(t, SIGPROF);
}

/*
 * The handler is entered as for a signal that has just come, and left where it traps: all registers are put back. So
 * no sigreturn is stepped through, and a system call that was interrupted is begun anew as without us.
 */
int tracee_ask(struct tracee *t)
{
	static unsigned char extended[65536]; /* SSE, AVX and so on */
	struct iovec state = {extended, sizeof(extended)};
	struct user_regs_struct before;
	int err = registers_read(t, &before);

	if (err)
		return err;
	t->shared->tid = t->tid;
	t->shared->count = 0;
	if (ptrace(PTRACE_GETREGSET, t->tid, NT_X86_XSTATE, &state) ||
	    ptrace(PTRACE_CONT, t->tid, NULL, SIGPROF))
		return -errno;
	err = await(t, SIGTRAP);
	t->shared->tid = 0;
	if (err)
		return err;
	if (ptrace(PTRACE_SETREGS, t->tid, NULL, &before) ||
	    ptrace(PTRACE_SETREGSET, t->tid, NT_X86_XSTATE, &state))
		return -errno;
	return registers_read(t, &before);
}

int tracee_step(struct tracee *t)
{
	const unsigned long trap_flag = 0x100, pushf = 0x9c;
	struct user_regs_struct regs;
	unsigned long next;
	int status;

	errno = 0;
	next = (unsigned long)ptrace(PTRACE_PEEKDATA, t->tid, t->regs.pc, NULL);
	if (errno || ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL) ||
	    waitpid(t->tid, &status, __WALL) != t->tid)
		return -errno;
	if (!WIFSTOPPED(status))
		return -ESRCH;
	if (WSTOPSIG(status) != SIGTRAP || status >> 16) {
		ptrace(PTRACE_DETACH, t->tid, NULL, status >> 16 ? 0 : WSTOPSIG(status));
		t->tid = 0;
		return -EINTR;
	}
	if (registers_read(t, &regs))
		return -errno;
	/* The flag that it is stepped by has been pushed too, and popf would set it when we are gone. */
	if ((next & 0xff) == pushf) {
		next = (unsigned long)ptrace(PTRACE_PEEKDATA, t->tid, t->regs.sp, NULL);
		ptrace(PTRACE_POKEDATA, t->tid, t->regs.sp, next & ~trap_flag);
	}
	return 0;
}

void tracee_leave(struct tracee *t)
{
	if (t->tid)
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
	t->tid = 0;
}
