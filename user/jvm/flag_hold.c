#include "jvm/jvm.h"
#include "jvm/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * A flag such as DTraceMonitorProbes is one byte in the target. Turning it on is easy; what must
 * not fail is putting it back, even if the recorder is killed. So a guardian, a small process of
 * its own, writes the byte and then waits for the end of the recorder, which it notices as the end
 * of a socket; there it puts the byte back and ends too. It has its own session and ignores the
 * signals that end a recorder (a Ctrl-C or a service manager reaches both). It is forked first and
 * writes afterwards: there is no moment in which the flag is on without a guardian. Should only
 * the guardian be killed, the recorder does its work. Only if both are killed with SIGKILL does the
 * flag stay on: then the JVM computes the arguments of nops at contended monitors (measured: no
 * cost; 22.5 and 22.6 ns for a synchronized section), until the next recorder, who takes it for
 * the user's own setting.
 *
 * Recorders do not know of each other, may see the target under different pids, and may each have
 * their own /tmp and /run. What all of them can open is the target's libjvm.so: the same inode for
 * all. So they meet in locks on it, which leave nothing behind and need no right to write:
 * - flock() on the file is the short mutex around a change of the flag.
 * - a read lock on one byte, far behind the file's end, says "there is a holder": which byte
 * follows from the target and from whether the flag was off (kind 0) or on (kind 1) before all
 * holders. A read lock may be held by many; to ask whether a write lock would be possible tells
 * whether there is any. Whoever comes while there is a holder of kind 0 is of kind 0 as well,
 * although the flag is on; the last of kind 0 to leave writes 0. The locks are
 * open-file-description locks (Linux 3.15): they belong to an open file, the guardian's, not to a
 * process, so that other opens and closes of libjvm.so, as libelf does, do not drop them.
 *
 * /proc/PID/mem is bound to the address space when it is opened, so the guardian can never write
 * into a process that has got the number of a target that ended.
 */

#define MUTEX_DEADLINE_MS 5000
#define MUTEX_RETRY_NS 1000000

enum { SOCKET_FD = 0, MEM_FD = 1, LOCK_FD = 2, GUARD_FDS = 3 };
enum kind { WAS_OFF, WAS_ON };

/* A byte of a target, and where holders of it meet. */
struct held {
	int mem;  /* /proc/PID/mem, writable */
	int lock; /* libjvm.so */
	uint64_t addr;
	off_t at; /* of the lock byte of kind WAS_OFF; the other's is the next */
};

struct jvm_flag_hold {
	pid_t guard;
	int socket;
	/* The guardian's, shared: should it be killed, its work can still be done here. */
	struct held held;
	enum kind kind;
};

/* What the guardian says: after it has written the flag, and after it has put it back. */
struct guard_word {
	int32_t err;
	uint32_t was_on;
};

static off_t lock_offset(const struct jvm *j)
{
	/*
	 * JVMs that share a libjvm.so may have been started in the same clock tick, or be number 1
	 * in their containers, but hardly both at the same random address. All of it looks alike
	 * from everywhere.
	 */
	const uint64_t parts[] = {j->start_ticks, (uint64_t)j->ns_pid, j->lib.start};
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (int bit = 0; bit < 64; bit += 8)
			hash = (hash ^ (parts[i] >> bit & 0xff)) * 0x100000001b3;
	/* Behind any real file's end, even, and not negative. */
	return (off_t)(hash >> 2 & ~1ull) | (1ll << 60);
}

static int lock_set(int fd, short type, off_t at)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static bool others_hold(int fd, off_t at)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Without the mutex (somebody else's lock, or a file system without any) it goes on: it is held for
 * microseconds. */
static void mutex_take(int fd)
{
	const struct timespec pause = {.tv_nsec = MUTEX_RETRY_NS};

	for (int ms = 0; ms < MUTEX_DEADLINE_MS; ms++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return;
		nanosleep(&pause, NULL);
	}
}

static int byte_read(const struct held *h, unsigned char *ret)
{
	ssize_t n = pread(h->mem, ret, 1, (off_t)h->addr);

	if (n == 1)
		return *ret > 1 ? -EINVAL : 0;
	return n ? -errno : -ESRCH;
}

static int byte_write(const struct held *h, unsigned char value)
{
	ssize_t n = pwrite(h->mem, &value, 1, (off_t)h->addr);

	if (n == 1)
		return 0;
	return n ? -errno : -ESRCH;
}

static int flag_take(const struct held *h, enum kind *ret)
{
	enum kind kind = WAS_OFF;
	unsigned char byte;
	int err;

	mutex_take(h->lock);
	err = byte_read(h, &byte);
	if (!err && byte && !others_hold(h->lock, h->at))
		kind = WAS_ON;
	/* A file system without locks: the only holder then, as far as can be known. */
	if (!err)
		lock_set(h->lock, F_RDLCK, h->at + kind);
	if (!err && !byte)
		err = byte_write(h, 1);
	flock(h->lock, LOCK_UN);
	if (!err)
		*ret = kind;
	return err;
}

static int flag_give_back(const struct held *h, enum kind kind)
{
	int err = 0;

	mutex_take(h->lock);
	lock_set(h->lock, F_UNLCK, h->at + kind);
	if (kind == WAS_OFF && !others_hold(h->lock, h->at))
		err = byte_write(h, 0);
	flock(h->lock, LOCK_UN);
	return err == -ESRCH ? 0 : err;
}

static void guard_say(int err, enum kind kind)
{
	struct guard_word word = {.err = err, .was_on = kind == WAS_ON};

	/* Nobody may be listening any more. */
	(void)!send(SOCKET_FD, &word, sizeof(word), MSG_NOSIGNAL);
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

/* Descriptors 0 to 2 are the guardian's three; all others, and so the recorder's output, are
 * closed. */
static int guard_fds(int sock, const struct held *h)
{
	const int from[GUARD_FDS] = {[SOCKET_FD] = sock, [MEM_FD] = h->mem, [LOCK_FD] = h->lock};
	int high[GUARD_FDS];

	for (int i = 0; i < GUARD_FDS; i++) {
		high[i] = fcntl(from[i], F_DUPFD, GUARD_FDS);
		if (high[i] < 0)
			return -errno;
	}
	for (int i = 0; i < GUARD_FDS; i++)
		if (dup2(high[i], i) < 0)
			return -errno;
	return syscall(SYS_close_range, GUARD_FDS, ~0u, 0) ? -errno : 0;
}

/* Runs between fork and _exit: system calls only. */
static __attribute__((noreturn)) void guard_run(int sock, const struct held *recorders)
{
	const struct held h = {
		.mem = MEM_FD, .lock = LOCK_FD, .addr = recorders->addr, .at = recorders->at};
	enum kind kind = WAS_OFF;
	char byte;
	int err;

	if (guard_fds(sock, recorders))
		_exit(1);
	setsid();
	signals_ignore();
	prctl(PR_SET_NAME, "spoor-guard");
	(void)!chdir("/");
	err = flag_take(&h, &kind);
	guard_say(err, kind);
	if (err)
		_exit(1);
	while (recv(SOCKET_FD, &byte, 1, 0) < 0 && errno == EINTR)
		;
	err = flag_give_back(&h, kind);
	guard_say(err, kind);
	_exit(err ? 1 : 0);
}

static int guard_hear(int sock, struct guard_word *ret)
{
	ssize_t n;

	do
		n = recv(sock, ret, sizeof(*ret), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret) ? ret->err : -ECHILD;
}

static void guard_reap(pid_t guard)
{
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
}

/* /proc/PID/mem for writing; certainly that of the JVM that j has open. */
static int memory_open_rw(const struct jvm *j, int *ret)
{
	struct process_lib again;
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)j->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (process_lib(j->pid, "libjvm.so", &again) || again.start != j->lib.start ||
	    again.inode != j->lib.inode || !jvm_alive(j))
		err = -ESRCH;
	if (err)
		close(fd);
	else
		*ret = fd;
	return err;
}

static void held_close(struct held *h)
{
	if (h->mem >= 0)
		close(h->mem);
	if (h->lock >= 0)
		close(h->lock);
}

static int held_open(const struct jvm *j, const char *name, struct held *ret)
{
	struct held h = {.mem = -1, .lock = -1, .at = lock_offset(j)};
	bool on;
	int err;

	/* Refuses what is no bool before anything is started. */
	err = jvm_flag_read(j, name, &on);
	if (!err)
		err = memory_open_rw(j, &h.mem);
	if (err)
		return err;
	h.addr = flag_find(&j->flags, name)->addr;
	h.lock = open(j->path, O_RDONLY | O_CLOEXEC);
	if (h.lock < 0) {
		err = -errno;
		held_close(&h);
		return err;
	}
	*ret = h;
	return 0;
}

int jvm_flag_writable(const struct jvm *j, const char *name)
{
	int err, mem;
	bool on;

	err = jvm_flag_read(j, name, &on);
	if (!err)
		err = memory_open_rw(j, &mem);
	if (!err)
		close(mem);
	return err;
}

int jvm_flag_hold(struct jvm *j, const char *name, struct jvm_flag_hold **ret, bool *ret_was_on)
{
	struct jvm_flag_hold *h = malloc(sizeof(*h));
	int sock[2] = {-1, -1}, err;
	struct guard_word word;

	if (!h)
		return -ENOMEM;
	*h = (struct jvm_flag_hold){.socket = -1, .held = {.mem = -1, .lock = -1}};
	err = held_open(j, name, &h->held);
	if (!err && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock))
		err = -errno;
	if (err)
		goto fail;
	h->socket = sock[0];
	h->guard = fork();
	if (h->guard < 0)
		err = -errno;
	if (!h->guard)
		guard_run(sock[1], &h->held);
	close(sock[1]);
	if (err)
		goto fail;
	err = guard_hear(h->socket, &word);
	if (err) {
		guard_reap(h->guard);
		goto fail;
	}
	h->kind = word.was_on ? WAS_ON : WAS_OFF;
	*ret = h;
	if (ret_was_on)
		*ret_was_on = word.was_on;
	return 0;
fail:
	if (h->socket >= 0)
		close(h->socket);
	held_close(&h->held);
	free(h);
	return err;
}

int jvm_flag_release(struct jvm_flag_hold *h)
{
	struct guard_word word;
	int err;

	if (!h)
		return 0;
	shutdown(h->socket, SHUT_WR);
	err = guard_hear(h->socket, &word);
	if (err == -ECHILD)
		err = flag_give_back(&h->held, h->kind);
	close(h->socket);
	guard_reap(h->guard);
	held_close(&h->held);
	free(h);
	return err;
}
