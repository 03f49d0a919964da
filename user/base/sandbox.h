/* base/sandbox.h: seccomp filters: which system calls this process can still make. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * All need no_new_privs or CAP_SYS_ADMIN, hold for the calling thread and all that it starts, and
 * cannot be taken back. They make system calls only, so that a process may use them between fork
 * and exec. At most 120 calls. 0 or a negative errno: -EINVAL, a kernel without
 * CONFIG_SECCOMP_FILTER.
 */

/* Any other call ends the process with SIGSYS; so does any call of another architecture's table. */
int sandbox_allow_only(const int *calls, size_t count);
/* Any other call fails with ENOSYS, as on a kernel that does not know it: for code whose calls
 * depend on the C library. One of another table ends the process. */
int sandbox_know_only(const int *calls, size_t count);
enum sandbox_kind {
	SANDBOX_READS,
	SANDBOX_RECORDS, /* loads BPF programs, and sends signals */
	SANDBOX_SENDS,   /* makes sockets */
};

/* What a command does not need once it works on somebody else's bytes fails with EPERM: exec,
 * tracing, sockets, namespaces, mounts, modules, keys, devices, clocks. */
int sandbox_command(enum sandbox_kind kind);

/*
 * From here on this process can make, change and remove files only at, or beneath, the count paths;
 * what it has open stays open. A path that cannot be opened is left out. Needs no_new_privs.
 * -EOPNOTSUPP, -ENOSYS: a kernel without Landlock (5.13).
 */
int sandbox_write_only(const char *const *paths, size_t count);
