/*
 * Preloaded into spoor: the nth allocation, or the nth call of the C library that stands for a system call, fails. Each
 * process counts from what its parent had counted. FAIL_FILE is a file of struct fail, shared with the test: a hit must
 * make no system call of its own, for a process may have confined itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct fail {
	uint64_t allocation, call;   /* which is to fail; 0: none */
	uint64_t allocations, calls; /* how many there were, at most, in one process */
	uint64_t hits;
	char name[40]; /* of the last that failed */
};

static struct fail *shared;
static __thread int inside;
static uint64_t allocations, calls;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

static int hit(const char *name, uint64_t *count, uint64_t which, uint64_t *most)
{
	uint64_t n;

	if (!shared || inside)
		return 0;
	n = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	if (n > *most)
		*most = n;
	if (n != which)
		return 0;
	__atomic_add_fetch(&shared->hits, 1, __ATOMIC_RELAXED);
	strncpy(shared->name, name, sizeof(shared->name) - 1);
	return 1;
}

static int no_memory(const char *name)
{
	if (!shared || !hit(name, &allocations, shared->allocation, &shared->allocations))
		return 0;
	errno = ENOMEM;
	return 1;
}

static int fails(const char *name, int error)
{
	if (!shared || !hit(name, &calls, shared->call, &shared->calls))
		return 0;
	errno = error;
	return 1;
}

void *malloc(size_t size)
{
	return no_memory("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return no_memory("calloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
	return size && no_memory("realloc") ? NULL : __libc_realloc(p, size);
}

/* RESULT NAME(PARAMETERS), which is called with ARGUMENTS; it fails with ERROR. */
#define CALL(result, name, error, parameters, arguments)                                           \
	result name parameters                                                                     \
	{                                                                                          \
		static result(*real) parameters;                                                   \
                                                                                                   \
		if (!real) {                                                                       \
			inside++;                                                                  \
			real = (result(*) parameters)dlsym(RTLD_NEXT, #name);                      \
			inside--;                                                                  \
		}                                                                                  \
		return fails(#name, error) ? (result)-1 : real arguments;                          \
	}

/* The mode is there or not: handing on what may be garbage does no harm. */
#define OPEN(name, parameters, last, arguments)                                                    \
	int name parameters                                                                        \
	{                                                                                          \
		static int (*real)(int, const char *, int, mode_t);                                \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, last);                                                                \
		mode = va_arg(ap, mode_t);                                                         \
		va_end(ap);                                                                        \
		if (!real) {                                                                       \
			inside++;                                                                  \
			real = (int (*)(int, const char *, int, mode_t))dlsym(RTLD_NEXT,           \
									      "openat");           \
			inside--;                                                                  \
		}                                                                                  \
		return fails(#name, EMFILE) ? -1 : real arguments;                                 \
	}

OPEN(open, (const char *path, int flags, ...), flags, (AT_FDCWD, path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), flags, (AT_FDCWD, path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), flags, (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), flags, (at, path, flags, mode))

CALL(ssize_t, read, EIO, (int fd, void *to, size_t n), (fd, to, n))
CALL(ssize_t, __read_chk, EIO, (int fd, void *to, size_t n, size_t room), (fd, to, n, room))
CALL(ssize_t, pread, EIO, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
CALL(ssize_t, pread64, EIO, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
CALL(ssize_t, write, ENOSPC, (int fd, const void *from, size_t n), (fd, from, n))
CALL(ssize_t, pwrite, EIO, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
CALL(ssize_t, pwrite64, EIO, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at))
CALL(void *, mmap, ENOMEM, (void *at, size_t n, int prot, int flags, int fd, off_t offset),
     (at, n, prot, flags, fd, offset))
CALL(int, socketpair, EMFILE, (int family, int type, int protocol, int fds[2]),
     (family, type, protocol, fds))
CALL(ssize_t, send, ECONNRESET, (int fd, const void *from, size_t n, int flags),
     (fd, from, n, flags))
CALL(ssize_t, recv, EIO, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
CALL(ssize_t, sendmsg, ECONNRESET, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
CALL(ssize_t, recvmsg, EIO, (int fd, struct msghdr *m, int flags), (fd, m, flags))
CALL(pid_t, fork, EAGAIN, (void), ())
CALL(pid_t, waitpid, ECHILD, (pid_t pid, int *status, int options), (pid, status, options))
CALL(int, epoll_create1, EMFILE, (int flags), (flags))
CALL(int, epoll_ctl, ENOMEM, (int fd, int how, int other, struct epoll_event *e),
     (fd, how, other, e))
CALL(int, poll, ENOMEM, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
CALL(int, pipe2, EMFILE, (int fds[2], int flags), (fds, flags))
CALL(int, dup, EMFILE, (int fd), (fd))
CALL(int, fsync, EIO, (int fd), (fd))
CALL(int, ftruncate, EIO, (int fd, off_t n), (fd, n))
CALL(int, fstat, EIO, (int fd, struct stat *ret), (fd, ret))
CALL(int, stat, EACCES, (const char *path, struct stat *ret), (path, ret))
CALL(int, memfd_create, EMFILE, (const char *name, unsigned flags), (name, flags))
CALL(int, unlink, EACCES, (const char *path), (path))
CALL(int, sched_setaffinity, EINVAL, (pid_t pid, size_t n, const void *set), (pid, n, set))

/* bpf(), perf_event_open(), pidfd_open() and others that the C library does not name. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real) {
		inside++;
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
		inside--;
	}
	if (number != SYS_gettid && number != SYS_futex &&
	    fails(number == SYS_bpf ? "bpf" : "syscall", EPERM))
		return -1;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAIL_FILE");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	shared = at == MAP_FAILED ? NULL : at;
}
