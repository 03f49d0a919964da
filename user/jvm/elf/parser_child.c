#include "jvm/elf/elf_file.h"
#include "jvm/elf/elf_symbols.h"
#include "jvm/elf/libjvm.h"
#include "jvm/elf/parser_wire.h"
#include "jvm/elf/usdt.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/privilege.h"
#include "base/sandbox.h"

/*
 * The side of parser.c that has no rights. The zygote waits for its only child, the parser, which
 * takes requests from the socket that both have inherited; when the parser dies the zygote says so
 * and forks the next. Neither has a capability, a descriptor but the socket and the files that come
 * with requests, the right to gain any by exec, or a system call that could open, send or signal
 * something; memory and time are limited.
 */

#define MEMORY_MAX (256ul << 20)
#define FILES_MAX 16
#define DEATHS_MAX 64 /* then there is no next: nobody should fork for ever */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

enum { SOCKET_FD = 0, FIRST_FREE_FD = 1, STDERR_FD = 2 };

/* What the parser may do: read what it is given, answer, allocate, end. */
#define PARSER_CALLS                                                                               \
	SYS_read, SYS_pread64, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_close, SYS_fstat,         \
		SYS_newfstatat, SYS_fcntl, SYS_lseek, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap,   \
		SYS_mprotect, SYS_madvise, SYS_futex, SYS_getrandom, SYS_setitimer,                \
		SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group

/* What the zygote may do beyond that: fork, wait, and make a parser out of the child. */
#define ZYGOTE_CALLS                                                                               \
	SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_getpid, SYS_getppid,  \
		SYS_rt_sigaction, SYS_prctl

static int sandbox(const int *calls, size_t count)
{
#ifdef SANITIZED /* a report opens, reads and writes */
	(void)calls;
	(void)count;
	return sandbox_command(SANDBOX_READS);
#else
	int err = sandbox_know_only(calls, count);

	return err == -EINVAL ? 0 : err; /* a kernel without seccomp */
#endif
}

static int limit(int what, rlim_t value)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		return -errno;
	if (value > now.rlim_max)
		value = now.rlim_max;
	return setrlimit(what, &(struct rlimit){value, value}) ? -errno : 0;
}

static int limits_set(void)
{
	int err = limit(RLIMIT_CORE, 0);

#ifndef SANITIZED /* whose shadow takes terabytes of addresses */
	if (!err)
		err = limit(RLIMIT_AS, MEMORY_MAX);
	if (!err)
		err = limit(RLIMIT_FSIZE, 0);
#endif
	return err ? err : limit(RLIMIT_NOFILE, FILES_MAX);
}

/* All descriptors but the socket are closed, and so the recorder's output. */
static int descriptors_keep(int sock)
{
	if (sock != SOCKET_FD && dup2(sock, SOCKET_FD) < 0)
		return -errno;
#ifdef SANITIZED
	return close_from(STDERR_FD + 1);
#else
	return close_from(FIRST_FREE_FD);
#endif
}

/* A Ctrl-C or a service manager reaches all of a group: these two end with the recorder. */
static void signals_set(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	static const int deadly[] = {SIGALRM, SIGCHLD, SIGXCPU, SIGXFSZ, SIGSEGV, SIGBUS, SIGABRT};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
#ifndef SANITIZED
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		signal(deadly[i], SIG_DFL);
#else
	signal(deadly[0], SIG_DFL);
#endif
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* --- the parser -------------------------------------------------------------------------- */

struct answer {
	char *bytes;
	size_t len;
};

static int answer_copy(const void *bytes, size_t len, struct answer *ret)
{
	ret->bytes = malloc(len);
	if (!ret->bytes)
		return -ENOMEM;
	memcpy(ret->bytes, bytes, len);
	ret->len = len;
	return 0;
}

static int libjvm_answer(int file, struct answer *ret)
{
	struct libjvm lib;
	struct elf_file f;
	int err = elf_file_open(file, &f);

	if (err)
		return err;
	err = libjvm_read(&f, &lib);
	elf_file_close(&f);
	return err ? err : answer_copy(&lib, sizeof(lib), ret);
}

static int usdt_answer(int file, int (*read)(struct elf_file *, char **, size_t *),
		       struct answer *ret)
{
	struct elf_file f;
	int err = elf_file_open(file, &f);

	if (err)
		return err;
	err = read(&f, &ret->bytes, &ret->len);
	elf_file_close(&f);
	return err;
}

static int rule_answer(struct unwind **slot, int file, uint64_t vaddr, struct answer *ret)
{
	struct parser_rule_answer flat;
	struct unwind_rule r;
	int err = *slot ? 0 : unwind_open(file, slot);

	if (!err)
		err = unwind_rule(*slot, vaddr, &r);
	if (err)
		return err;
	flat = (struct parser_rule_answer){.cfa_from_fp = r.cfa_from_fp,
					   .fp_saved = r.fp_saved,
					   .cfa_offset = r.cfa_offset,
					   .fp_offset = r.fp_offset,
					   .return_kept = r.return_kept,
					   .return_offset = r.return_offset};
	return answer_copy(&flat, sizeof(flat), ret);
}

static int symbols_open(int file, struct elf_symbols **ret)
{
	struct elf_file f;
	int err = elf_file_open(file, &f);

	if (err)
		return err;
	err = elf_symbols_read(&f, ret);
	elf_file_close(&f);
	return err;
}

static int symbol_answer(struct elf_symbols **slot, int file, uint64_t vaddr, struct answer *ret)
{
	struct elf_symbol symbol = {0};
	int err = *slot ? 0 : symbols_open(file, slot);

	if (!err)
		err = elf_symbols_find(*slot, vaddr, &symbol);
	return err ? err : answer_copy(&symbol, sizeof(symbol), ret);
}

/* What stays open between requests. */
struct slots {
	struct unwind *rules[PARSER_SLOTS];
	struct elf_symbols *symbols[PARSER_SYMBOL_SLOTS];
};

static int answer_make(const struct parser_request *q, int file, struct slots *slots,
		       struct answer *ret)
{
	switch (q->kind) {
	case PARSER_LIBJVM:
		return libjvm_answer(file, ret);
	case PARSER_USDT:
		return usdt_answer(file, usdt_flat_read, ret);
	case PARSER_FUNCTIONS:
		return usdt_answer(file, usdt_flat_functions, ret);
	case PARSER_RULE:
		return q->slot < PARSER_SLOTS
			       ? rule_answer(&slots->rules[q->slot], file, q->vaddr, ret)
			       : -EINVAL;
	case PARSER_SYMBOL:
		return q->slot < PARSER_SYMBOL_SLOTS
			       ? symbol_answer(&slots->symbols[q->slot], file, q->vaddr, ret)
			       : -EINVAL;
	default:
		return -EINVAL;
	}
}

static void answer_send(const struct parser_request *q, int err, const struct answer *a)
{
	struct parser_packet p = {.head = {.seq = q->seq, .err = err, .size = (uint32_t)a->len}};
	size_t at = 0;

	do {
		size_t n = a->len - at < PARSER_CHUNK ? a->len - at : PARSER_CHUNK;

		p.head.at = (uint32_t)at;
		if (n)
			memcpy(p.bytes, a->bytes + at, n);
		if (send(SOCKET_FD, &p, sizeof(p.head) + n, MSG_NOSIGNAL) < 0)
			_exit(0);
		at += n;
	} while (at < a->len);
}

/* The request's file; -1: the other end is closed, or it is no request. */
static int request_take(struct parser_request *ret)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = {ret, sizeof(*ret)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int file;

	if (recvmsg(SOCKET_FD, &m, MSG_CMSG_CLOEXEC) != sizeof(*ret))
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&file, CMSG_DATA(c), sizeof(file));
	return file;
}

/* The timer ends the process: nothing that a file makes the parser do can hold it off. */
static void timer_set(unsigned ms)
{
	const struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static __attribute__((noreturn)) void parser_run(pid_t zygote)
{
	static const int calls[] = {PARSER_CALLS};
	struct slots slots = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != zygote || sandbox(calls, sizeof(calls) / sizeof(*calls)))
		_exit(1);
	for (;;) {
		struct parser_request q;
		struct answer a = {0};
		int file = request_take(&q), err;

		if (file < 0)
			_exit(0);
		timer_set(q.deadline_ms);
		err = answer_make(&q, file, &slots, &a);
		if (err > 0 || a.len > PARSER_ANSWER_MAX)
			err = -E2BIG;
		if (err)
			a.len = 0;
		answer_send(&q, err, &a);
		timer_set(0);
		free(a.bytes);
		close(file);
	}
}

/* --- the zygote -------------------------------------------------------------------------- */

static int zygote_confine(int sock, int parent)
{
	static const int calls[] = {PARSER_CALLS, ZYGOTE_CALLS};
	int err = descriptors_keep(sock);

	signals_set();
	prctl(PR_SET_NAME, "spoor-parser");
	if (!err)
		err = privilege_drop_all();
	if (!err)
		err = limits_set();
	/* Nobody of the same user may trace it. It is also without effect on what /proc shows. */
	if (!err && prctl(PR_SET_DUMPABLE, 0))
		err = -errno;
	/* Set last: a change of rights takes it back. */
	if (!err && prctl(PR_SET_PDEATHSIG, SIGKILL))
		err = -errno;
	if (!err && getppid() != parent)
		err = -ESRCH;
	return err ? err : sandbox(calls, sizeof(calls) / sizeof(*calls));
}

void parser_zygote_run(int sock, int parent)
{
	struct parser_head died = {.seq = PARSER_DIED};
	pid_t self = getpid(), child;
	int status;

	if (zygote_confine(sock, parent))
		_exit(1);
	for (int deaths = 0; deaths < DEATHS_MAX; deaths++) {
		child = fork();
		if (!child)
			parser_run(self);
		if (child < 0)
			_exit(1);
		while (waitpid(child, &status, 0) < 0)
			if (errno != EINTR)
				_exit(1);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			_exit(0);
		died.err = status;
		send(SOCKET_FD, &died, sizeof(died), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	_exit(1);
}
