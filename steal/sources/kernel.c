/*
 * Whether a thread's CPU time has in it what was stolen while it was on the CPU.
 *
 * With CONFIG_PARAVIRT_TIME_ACCOUNTING, update_rq_clock_task() takes steal out of the run queue's
 * task clock, from which sum_exec_runtime is made, and with it the CPU times in /proc; it keeps
 * rq::prev_steal_time_rq for that. Without it (Debian's 6.1 kernel), they grow on while the CPU is
 * not running. The kernel's own type information says whether the field is there, and anybody may
 * read that. The boot parameter no-steal-acc leaves the field, and turns off what it is for
 * (kvm.c: activate_jump_labels).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "steal/sources/kernel.h"
#include "steal/sources/procfile.h"
#include "steal/sources/source.h"

#define PATH_MAX_HERE 512
#define CHUNK 65536

/* 1: the file has these bytes in it; 0: it has not; or negative errno. */
static int file_has(const char *path, const char *what, size_t length)
{
	char chunk[CHUNK];
	size_t kept = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (!found && (n = read(fd, chunk + kept, sizeof(chunk) - kept)) > 0) {
		size_t have = kept + (size_t)n;

		found = memmem(chunk, have, what, length) != NULL;
		/* It may begin at the end of one chunk. */
		kept = have < length - 1 ? have : length - 1;
		memmove(chunk, chunk + have - kept, kept);
	}
	close(fd);
	return found;
}

static bool accounting_is_off(const char *root)
{
	char path[PATH_MAX_HERE];
	static const char option[] = "no-steal-acc";

	snprintf(path, sizeof(path), "%s/proc/cmdline", root);
	return file_has(path, option, sizeof(option) - 1) == 1;
}

bool steal_kernel_cpu_has_steal_at(const char *root, const char **how)
{
	static const char field[] = "\0prev_steal_time_rq";
	static const char option[] = "\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y";
	char path[PATH_MAX_HERE];
	struct utsname kernel;
	int found;

	*how = "the kernel's type information";
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	found = file_has(path, field, sizeof(field));
	if (found < 0 && !uname(&kernel)) {
		*how = "the kernel's configuration";
		snprintf(path, sizeof(path), "%s/boot/config-%s", root, kernel.release);
		found = file_has(path, option, sizeof(option) - 1);
	}
	if (found < 0) {
		*how = "assumed";
		return true;
	}
	if (found && accounting_is_off(root)) {
		*how = "the boot parameter no-steal-acc";
		return true;
	}
	return !found;
}

bool steal_kernel_cpu_has_steal(const char **how)
{
	return steal_kernel_cpu_has_steal_at("", how);
}
