/* tests/unit/sys_fail.h: makes the nth call of a system function fail; ld --wrap sends calls here. */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* To be included by exactly one file of a test program, which the Makefile names in SYS_FAIL. */
enum sys_call {
	SYS_WRITE,
	SYS_FSYNC,
	SYS_CLOSE,
	SYS_UNLINK,
	SYS_RENAMEAT2,
	SYS_LINK,
	SYS_PTHREAD_CREATE,
	SYS_COUNT
};

ssize_t __real_write(int fd, const void *bytes, size_t count);
int __real_fsync(int fd);
int __real_close(int fd);
int __real_unlinkat(int dir, const char *path, int flags);
int __real_renameat2(int from, const char *path, int to, const char *name, unsigned flags);
int __real_linkat(int from, const char *path, int to, const char *name, int flags);
int __real_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
int __wrap_fsync(int fd);
int __wrap_close(int fd);
int __wrap_unlinkat(int dir, const char *path, int flags);
int __wrap_renameat2(int from, const char *path, int to, const char *name, unsigned flags);
int __wrap_linkat(int from, const char *path, int to, const char *name, int flags);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

static struct {
	atomic_int err;    /* of errno; 0: nothing fails */
	atomic_ulong left; /* calls that still succeed */
	atomic_bool failed;
} sys_fail[SYS_COUNT];

static _Atomic size_t sys_write_most; /* bytes that one write takes; 0: no limit */
static void (*_Atomic sys_fsync_hook)(void);

/* Of the calls from now on, number n fails (from 0), and only that one. */
static inline void sys_fail_at(enum sys_call call, unsigned long n, int err)
{
	sys_fail[call].left = n;
	sys_fail[call].failed = false;
	sys_fail[call].err = err;
}

/* Nothing fails any more. True if this call has. */
static inline bool sys_fail_off(enum sys_call call)
{
	sys_fail[call].err = 0;
	return sys_fail[call].failed;
}

static inline bool sys_fail_now(enum sys_call call)
{
	int err = sys_fail[call].err;

	if (!err || sys_fail[call].failed || sys_fail[call].left--)
		return false;
	sys_fail[call].failed = true;
	errno = err;
	return true;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
	size_t most = sys_write_most;

	if (sys_fail_now(SYS_WRITE))
		return -1;
	return __real_write(fd, bytes, most && count > most ? most : count);
}

int __wrap_fsync(int fd)
{
	void (*hook)(void) = sys_fsync_hook;

	if (hook)
		hook();
	return sys_fail_now(SYS_FSYNC) ? -1 : __real_fsync(fd);
}

/* As the kernel has it: of files only, and the descriptor is gone, whatever is said. */
int __wrap_close(int fd)
{
	struct stat st;
	bool is_folder = !fstat(fd, &st) && S_ISDIR(st.st_mode);
	int done = __real_close(fd);

	return !is_folder && sys_fail_now(SYS_CLOSE) ? -1 : done;
}

int __wrap_unlinkat(int dir, const char *path, int flags)
{
	return sys_fail_now(SYS_UNLINK) ? -1 : __real_unlinkat(dir, path, flags);
}

int __wrap_renameat2(int from, const char *path, int to, const char *name, unsigned flags)
{
	return sys_fail_now(SYS_RENAMEAT2) ? -1 : __real_renameat2(from, path, to, name, flags);
}

int __wrap_linkat(int from, const char *path, int to, const char *name, int flags)
{
	return sys_fail_now(SYS_LINK) ? -1 : __real_linkat(from, path, to, name, flags);
}

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	return sys_fail_now(SYS_PTHREAD_CREATE) ? errno
						: __real_pthread_create(ret, attr, run, arg);
}
