#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch/arch.h"

#define CALLS_MAX 120
#define HEAD 4 /* instructions before the list */

/*
 * The program: is it the architecture whose numbers these are? Is the number in the list? A jump
 * counts instructions and is a byte wide, hence CALLS_MAX. A process that makes a call of another
 * table has been taken over: it ends.
 */
static int filter_set(const int *calls, size_t count, unsigned listed, unsigned others)
{
	struct sock_filter f[HEAD + CALLS_MAX + 3];
	struct sock_fprog program = {.filter = f};
	size_t n = 0, last = HEAD + count;

	if (count > CALLS_MAX)
		return -E2BIG;
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, arch));
	f[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_HERE.audit, 0,
					    (unsigned char)(last + 2 - n - 1));
	n++;
	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, nr));
	f[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ARCH_HERE.calls_max,
					    (unsigned char)(last + 2 - n - 1), 0);
	n++;
	for (size_t i = 0; i < count; i++, n++)
		f[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
						    (unsigned char)(last + 1 - n - 1), 0);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? -errno : 0;
}

int sandbox_allow_only(const int *calls, size_t count)
{
	return filter_set(calls, count, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
}

int sandbox_know_only(const int *calls, size_t count)
{
	return filter_set(calls, count, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | ENOSYS);
}

int sandbox_command(enum sandbox_kind kind)
{
	/* The first are what makes sockets, the last what a recorder needs. */
	enum { FIRST_SENDS = 3, LAST_RECORDS = 3 };
	static const int calls[] = {
		SYS_socket,
		SYS_connect,
		SYS_bind,
#ifndef __SANITIZE_ADDRESS__ /* LeakSanitizer looks at its own threads */
		SYS_ptrace,
#endif
		SYS_execve,
		SYS_execveat,
		SYS_process_vm_writev,
		SYS_pidfd_getfd,
		SYS_kcmp,
		SYS_userfaultfd,
		SYS_io_uring_setup,
		SYS_setns,
		SYS_unshare,
		SYS_mount,
		SYS_umount2,
		SYS_move_mount,
		SYS_open_tree,
		SYS_fsopen,
		SYS_fsconfig,
		SYS_fsmount,
		SYS_pivot_root,
		SYS_chroot,
		SYS_init_module,
		SYS_finit_module,
		SYS_delete_module,
		SYS_kexec_load,
		SYS_kexec_file_load,
		SYS_reboot,
		SYS_swapon,
		SYS_swapoff,
		SYS_add_key,
		SYS_request_key,
		SYS_keyctl,
		SYS_mknodat,
		SYS_open_by_handle_at,
		SYS_settimeofday,
		SYS_clock_settime,
		SYS_clock_adjtime,
		SYS_adjtimex,
		SYS_personality,
		SYS_quotactl,
		SYS_acct,
		SYS_syslog,
		SYS_sethostname,
		SYS_setdomainname,
		SYS_bpf,
		SYS_perf_event_open,
		SYS_kill,
	};

	size_t first = kind == SANDBOX_SENDS ? FIRST_SENDS : 0;
	size_t end = sizeof(calls) / sizeof(*calls) - (kind == SANDBOX_RECORDS ? LAST_RECORDS : 0);

	return filter_set(calls + first, end - first, SECCOMP_RET_ERRNO | EPERM,
			  SECCOMP_RET_ALLOW);
}

/* --- Landlock -------------------------------------------------------------------------------- */

/* From the kernel's include/uapi/linux/landlock.h; Debian 12's headers are older. */
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_REMOVE (3ull << 4)    /* folders, files */
#define FS_MAKE (0x7full << 6)   /* devices, folders, files, sockets, fifos, links */
#define FS_TRUNCATE (1ull << 14) /* ABI 3, Linux 6.2 */
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_FILE (1ull << 8)
#define FS_OF_A_FILE (FS_WRITE_FILE | FS_TRUNCATE)
#define ABI_OF_TRUNCATE 3

static int beneath(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;
	int err = 0;

	if (rule.parent_fd < 0)
		return 0;
	if (fstat(rule.parent_fd, &st))
		err = -errno;
	rule.allowed_access = S_ISDIR(st.st_mode) ? access : access & FS_OF_A_FILE;
	/* A pipe, as /dev/stdout may be, takes no rule (EBADFD), and needs none. */
	if (!err && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) &&
	    errno != EBADFD)
		err = -errno;
	close(rule.parent_fd);
	return err;
}

int sandbox_write_only(const char *const *paths, size_t count)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = FS_EXECUTE | FS_WRITE_FILE |
								  FS_REMOVE | FS_MAKE};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	uint64_t access;
	int fd, err = 0;

	if (abi < 0)
		return -errno;
	if (abi >= ABI_OF_TRUNCATE)
		attr.handled_access_fs |= FS_TRUNCATE;
	access = FS_WRITE_FILE | FS_REMOVE | FS_MAKE_DIR | FS_MAKE_FILE |
		 (attr.handled_access_fs & FS_TRUNCATE);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; !err && i < count; i++)
		err = beneath(fd, paths[i], access);
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	close(fd);
	return err;
}
