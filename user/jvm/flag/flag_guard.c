#include "jvm/flag/flag_guard.h"

#include "base/io.h"
#include "base/privilege.h"
#include "base/sandbox.h"
#include "jvm/flag/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Turning a flag on is easy; what must not fail is putting it back, even if the recorder is killed.
 * So another process does both: it writes the byte, waits for the end of the recorder, and writes
 * it again. There is no moment in which the flag is on without the guardian. Whatever ends the
 * recorder should not end the guardian:
 * - Signals: a session of its own, and the signals that end a recorder are ignored.
 * - cgroup.kill, and what uses it or does the like (systemd's final SIGKILL, docker kill, the
 * logind session's end, memory.oom.group): it moves to the top of each cgroup hierarchy that it can
 * write to. The top has no limit, no kill and no freeze. The other cgroup to be in would be the
 * target's own cgroup: there it would count against the target's pids.max and memory, be frozen
 * with it, and the target's manager would find a process that it did not start; the top cannot harm
 * the target. Moving takes 0.1 ms. Where cgroupfs is read-only (most containers), doctor says so.
 * - The OOM killer: oom_score_adj is -1000 if CAP_SYS_RESOURCE allows that.
 * - Its own faults, and what it could be misused for: no capability, no_new_privs, and a seccomp
 * filter of the few calls that it makes. The right to write into the target is the open descriptor:
 * the kernel asks for it when /proc/PID/mem is opened, not when it is written (tried on 6.18
 * without any capability, as root and as another user). The descriptor is bound to the address
 * space: a process that gets the number of a target that ended is never written to. It is forked
 * before the recorder has read anything: its memory is the C library's and the dynamic linker's,
 * shared with the recorder but for a few pages, and it knows no file of the recorder's.
 *
 * The recorder's end is seen in two ways: the socket's end, and its pidfd, as another child of the
 * recorder may have inherited the socket.
 *
 * Should the guardian be killed, the recorder does its work: the two share the open file, and so
 * the lock. If both are killed at once, or the pid namespace they are in ends, the flag stays on;
 * JVMFlag::_flags still says that nobody set it, and the next recorder, or spoor doctor --repair,
 * turns it off.
 */

#define LOOK_MS 1000    /* how often it looks whether the flag is on */
#define ANSWER_MS 10000 /* of a machine that is very busy */
#define RETURN_MS 2000  /* then the recorder does it; late is a guardian that was stopped */

enum { SOCKET_FD = 0, PARENT_FD = 1, GUARD_FDS = 2 };

struct flag_guard {
	pid_t pid;
	int pidfd;
	int socket;
	bool gone; /* reaped */
};

/* What the recorder says, with the descriptors of mem and the target's pidfd. */
struct request {
	uint64_t addr, origin;
};

/* What the guardian says: after it has turned the flag on, and after it has put it back. */
struct answer {
	int32_t err;
	uint32_t kind; /* enum flag_kind */
	uint32_t found_off;
};

/* --- the guardian ------------------------------------------------------------------------- */

static void answer_send(int err, enum flag_kind kind, uint32_t found_off)
{
	struct answer a = {.err = err, .kind = kind, .found_off = found_off};

	/* Nobody may be listening any more. */
	(void)!send(SOCKET_FD, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void signals_ignore(void)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE, SIGUSR1,
				      SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Descriptors 0 and 1 are the guardian's two; all others, and so the recorder's output, are closed.
 */
static int descriptors_keep(int sock, int parent)
{
	const int from[GUARD_FDS] = {[SOCKET_FD] = sock, [PARENT_FD] = parent};
	int high[GUARD_FDS];

	for (int i = 0; i < GUARD_FDS; i++) {
		high[i] = fcntl(from[i], F_DUPFD, GUARD_FDS);
		if (high[i] < 0)
			return -errno;
	}
	for (int i = 0; i < GUARD_FDS; i++)
		if (dup2(high[i], i) < 0)
			return -errno;
	return close_from(GUARD_FDS);
}

/* The lowest that is allowed: without CAP_SYS_RESOURCE that is what it was. */
static void oom_score_lower(void)
{
	static const char lowest[] = "-1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, lowest, strlen(lowest));
	close(fd);
}

static int rights_drop(void)
{
	static const int calls[] = {
#ifdef SYS_poll
		SYS_poll,
#endif
		SYS_ppoll,         SYS_recvmsg,   SYS_sendto,          SYS_pread64,
		SYS_pwrite64,      SYS_fcntl,     SYS_close,           SYS_exit_group,
		SYS_clock_gettime, SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall,
		SYS_rt_sigreturn,
	};
	int err = privilege_drop_all();

	if (!err)
		err = sandbox_allow_only(calls, sizeof(calls) / sizeof(*calls));
	return err == -EINVAL ? 0 : err; /* a kernel without seccomp */
}

/* 1: b and pidfd are what the recorder sent. 0: it has ended, or wants nothing. */
static int request_receive(struct flag_byte *b, int *ret_pidfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct request r;
	struct iovec io = {.iov_base = &r, .iov_len = sizeof(r)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int fds[2];
	ssize_t n;

	do
		n = recvmsg(SOCKET_FD, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	c = n == sizeof(r) ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(fds)))
		return 0;
	memcpy(fds, CMSG_DATA(c), sizeof(fds));
	*b = (struct flag_byte){.mem = fds[0], .addr = r.addr, .origin = r.origin};
	*ret_pidfd = fds[1];
	return 1;
}

enum woken { WOKEN_TIME, WOKEN_RECORDER, WOKEN_TARGET };

/* Waits for the recorder, for the target's end (pidfd, -1: none), or until it is time to look. */
static enum woken guard_wait(int pidfd)
{
	struct pollfd fds[] = {{.fd = SOCKET_FD, .events = POLLIN},
			       {.fd = PARENT_FD, .events = POLLIN},
			       {.fd = pidfd, .events = POLLIN}};
	int n;

	do
		n = poll(fds, sizeof(fds) / sizeof(*fds), pidfd < 0 ? -1 : LOOK_MS);
	while (n < 0 && errno == EINTR);
	if (n < 0 || fds[0].revents || fds[1].revents)
		return WOKEN_RECORDER;
	return fds[2].revents ? WOKEN_TARGET : WOKEN_TIME;
}

static __attribute__((noreturn)) void guard_run(int sock, int parent)
{
	enum flag_kind kind = FLAG_WAS_ON;
	uint32_t found_off = 0;
	struct flag_byte b;
	enum woken woken;
	int pidfd, err;

	setsid();
	signals_ignore();
	prctl(PR_SET_NAME, "spoor-guard");
	(void)!chdir("/");
	oom_score_lower();
	cgroup_leave();
	prctl(PR_SET_DUMPABLE, 0);
	if (descriptors_keep(sock, parent) || rights_drop())
		_exit(1);
	guard_wait(-1);
	if (!request_receive(&b, &pidfd))
		_exit(0);
	err = flag_byte_take(&b, &kind);
	answer_send(err, kind, 0);
	if (err)
		_exit(1);
	while ((woken = guard_wait(pidfd)) == WOKEN_TIME) {
		err = flag_byte_keep(&b, &kind);
		found_off += err == 1;
	}
	if (woken == WOKEN_TARGET)
		_exit(0);
	found_off += flag_byte_keep(&b, &kind) == 1;
	err = flag_byte_give_back(&b, kind);
	answer_send(err, kind, found_off);
	_exit(err ? 1 : 0);
}

/* --- the recorder ------------------------------------------------------------------------- */

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int flag_guard_start(struct flag_guard **ret)
{
	struct flag_guard *g = malloc(sizeof(*g));
	int sock[2] = {-1, -1}, self = -1, err = 0;

	if (!g)
		return -ENOMEM;
	*g = (struct flag_guard){.pid = -1, .pidfd = -1, .socket = -1};
	self = pidfd_of(getpid());
	if (self < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		err = -errno;
	if (!err) {
		g->socket = sock[0];
		g->pid = fork();
		err = g->pid < 0 ? -errno : 0;
	}
	if (!err && !g->pid)
		guard_run(sock[1], self);
	if (!err) {
		g->pidfd = pidfd_of(g->pid);
		err = g->pidfd < 0 ? -errno : 0;
	}
	if (sock[1] >= 0)
		close(sock[1]);
	if (self >= 0)
		close(self);
	if (err)
		flag_guard_free(g);
	else
		*ret = g;
	return err;
}

/* Readable within ms. */
static bool wait_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* It ends by itself when the socket ends, unless somebody has stopped it. */
static void guard_end(struct flag_guard *g, int ms)
{
	if (g->pid <= 0 || g->gone)
		return;
	if (g->pidfd < 0 || !wait_readable(g->pidfd, ms))
		kill(g->pid, SIGKILL);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g->gone = true;
}

void flag_guard_free(struct flag_guard *g)
{
	if (!g)
		return;
	if (g->socket >= 0)
		close(g->socket);
	guard_end(g, RETURN_MS);
	if (g->pidfd >= 0)
		close(g->pidfd);
	free(g);
}

static int request_send(const struct flag_guard *g, const struct flag_byte *b, int pidfd)
{
	const int fds[2] = {b->mem, pidfd};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control = {0};
	struct request r = {.addr = b->addr, .origin = b->origin};
	struct iovec io = {.iov_base = &r, .iov_len = sizeof(r)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	return sendmsg(g->socket, &m, MSG_NOSIGNAL) == sizeof(r) ? 0 : -ECHILD;
}

static int answer_receive(const struct flag_guard *g, int ms, struct answer *ret)
{
	ssize_t n;

	if (!wait_readable(g->socket, ms))
		return -ECHILD;
	do
		n = recv(g->socket, ret, sizeof(*ret), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret) ? ret->err : -ECHILD;
}

int flag_guard_give(struct flag_guard *g, const struct flag_byte *b, int pidfd, enum flag_kind *ret)
{
	struct answer a;
	int err = request_send(g, b, pidfd);

	if (!err)
		err = answer_receive(g, ANSWER_MS, &a);
	if (err == -ECHILD) {
		/* It may have been killed in between: then what is on has been left behind. */
		guard_end(g, 0);
		flag_byte_repair(b);
	}
	if (!err)
		*ret = (enum flag_kind)a.kind;
	return err;
}

int flag_guard_return(struct flag_guard *g, struct flag_guard_end *ret)
{
	struct answer a;
	int err;

	shutdown(g->socket, SHUT_WR);
	err = answer_receive(g, RETURN_MS, &a);
	guard_end(g, err == -ECHILD ? 0 : RETURN_MS);
	if (err != -ECHILD)
		*ret = (struct flag_guard_end){.kind = (enum flag_kind)a.kind,
					       .found_off = a.found_off};
	return err;
}
