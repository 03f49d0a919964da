/* tests/walk/agent_arm64.h: stops a thread in its own signal handler, and steps it by breakpoints: agent.c's, on arm64. */
#pragma once

/*
 * An instruction's next ones are known from it and the registers: one, or of a conditional branch two. There a
 * breakpoint is put, and taken off by whoever comes to it first, or once the thread has been left.
 */
#define BREAKPOINT 0xd4200000u /* brk 0 */

static struct {
	uint32_t *at[2];
	uint32_t was[2];
	int count; /* 0: none is set */
} breaks;
static int breaks_lock;

static void code_write(uint32_t *at, uint32_t word)
{
	__atomic_store_n(at, word, __ATOMIC_RELEASE);
	__builtin___clear_cache((char *)at, (char *)(at + 1));
}

static void breaks_clear(void)
{
	while (__atomic_exchange_n(&breaks_lock, 1, __ATOMIC_ACQUIRE))
		;
	while (breaks.count) {
		breaks.count--;
		code_write(breaks.at[breaks.count], breaks.was[breaks.count]);
	}
	__atomic_store_n(&breaks_lock, 0, __ATOMIC_RELEASE);
}

static int64_t signed_bits(uint32_t word, int low, int bits)
{
	return (int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits);
}

/* Of the instruction at pc: *ret_other is the same, or where else it may lead to. */
static uint64_t next_find(const mcontext_t *m, uint64_t *ret_other)
{
	uint32_t i = *(const uint32_t *)m->pc;
	uint64_t next = m->pc + 4;

	*ret_other = next;
	if ((i & 0x7c000000) == 0x14000000) /* b, bl */
		next = *ret_other = m->pc + (uint64_t)signed_bits(i, 0, 26) * 4;
	else if ((i & 0xff000010) == 0x54000000 || (i & 0x7e000000) == 0x34000000) /* b.c, cbz */
		*ret_other = m->pc + (uint64_t)signed_bits(i, 5, 19) * 4;
	else if ((i & 0x7e000000) == 0x36000000) /* tbz */
		*ret_other = m->pc + (uint64_t)signed_bits(i, 5, 14) * 4;
	else if ((i & 0xfe000000) == 0xd6000000) /* br, blr, ret */
		next = *ret_other = m->regs[i >> 5 & 31];
	return next;
}

static bool is_code(uint64_t pc)
{
	return pc >= shared->code_low && pc < shared->code_high && !(pc & 3);
}

static bool breaks_set(const mcontext_t *m)
{
	uint64_t next[2];

	if (!is_code(m->pc))
		return false;
	next[0] = next_find(m, &next[1]);
	if (!is_code(next[0]) || !is_code(next[1]))
		return false;
	for (int i = 0; i < 1 + (next[0] != next[1]); i++) {
		breaks.at[i] = (uint32_t *)next[i];
		breaks.was[i] = *breaks.at[i];
		breaks.count = i + 1;
		code_write(breaks.at[i], BREAKPOINT);
	}
	return true;
}

static void stop(void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	shared->pc = m->pc;
	shared->sp = m->sp;
	shared->fp = m->regs[29];
	shared->link = m->regs[30];
	shared->bcp = m->regs[22];
	shared->method = m->regs[12];
	__atomic_store_n(&shared->stopped, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shared->tid, __ATOMIC_ACQUIRE) == tid) {
		if (__atomic_exchange_n(&shared->step, 0, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&shared->stopped, 0, __ATOMIC_RELEASE);
			if (breaks_set(m))
				return;
			__atomic_store_n(&shared->stopped, -1, __ATOMIC_RELEASE);
		}
		usleep(20);
	}
}

/* Another thread that comes to a breakpoint waits until it is gone. */
static bool trap_is_own(const void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;

	while (__atomic_load_n(&shared->tid, __ATOMIC_ACQUIRE) != syscall(SYS_gettid)) {
		if (*(const volatile uint32_t *)m->pc != BREAKPOINT)
			return false;
		usleep(20);
	}
	breaks_clear();
	return true;
}

static int stops_begin(void)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};

	return sigaction(SIGTRAP, &action, NULL);
}

/* Called again and again. */
static void stops_end(void)
{
	if (!__atomic_load_n(&shared->tid, __ATOMIC_ACQUIRE))
		breaks_clear();
}
