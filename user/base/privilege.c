#include "base/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call, not libcap's functions, which need memory: who asks whether a right is there
 * wants to give it up, and must not take a lack of memory for a lack of the right. */
static int capabilities_get(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &head, data) ? -errno : 0;
}

bool privilege_have(cap_value_t which)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !capabilities_get(data) && data[CAP_TO_INDEX(which)].effective & CAP_TO_MASK(which);
}

/*
 * What an exec could bring back. The bounding set can only be shrunk by somebody with CAP_SETPCAP;
 * without, no_new_privs (Linux 3.5) is the guard: an exec then never adds a capability, not for a
 * program of root either (security/commoncap.c, cap_bprm_creds_from_file).
 */
static int exec_sets_drop(void)
{
	bool may = privilege_have(CAP_SETPCAP);

	for (cap_value_t c = 0; may && cap_get_bound(c) >= 0; c++)
		if (cap_drop_bound(c))
			return -errno;
	/* Kernels before 4.3 have no ambient set: nothing to reset. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

int privilege_keep(const cap_value_t *keep, size_t count)
{
	cap_t have = NULL, caps = NULL;
	cap_flag_value_t value;
	int err = 0;

	if (geteuid() != getuid() || getegid() != getgid()) {
		if (setresgid(getgid(), getgid(), getgid()) ||
		    setresuid(getuid(), getuid(), getuid()))
			return -errno;
	}
	err = exec_sets_drop();
	if (err)
		return err;
	have = cap_get_proc();
	caps = cap_init();
	if (!have || !caps)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		if (cap_get_flag(have, keep[i], CAP_PERMITTED, &value) || value != CAP_SET)
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &keep[i], CAP_SET) ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &keep[i], CAP_SET))
			err = -errno;
	}
	if (!err && cap_set_proc(caps))
		err = -errno;
	cap_free(caps);
	cap_free(have);
	return err;
}

int privilege_drop_all(void)
{
	return privilege_keep(NULL, 0);
}

/* System calls only: a thread that is being started has nobody to report an error to, and giving up
 * what one has cannot fail. */
void privilege_writer_thread(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (capabilities_get(data))
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= i ? 0 : 1u << CAP_DAC_OVERRIDE;
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	(void)!syscall(SYS_capset, &head, data);
}

int privilege_access_without(const char *path, int mode)
{
	cap_t have = cap_get_proc(), none = cap_dup(have);
	int err = 0;

	if (!have || !none || cap_clear_flag(none, CAP_EFFECTIVE))
		err = -ENOMEM;
	else if (cap_set_proc(none))
		err = -errno;
	if (!err) {
		err = faccessat(AT_FDCWD, path, mode, AT_EACCESS) ? -errno : 0;
		if (cap_set_proc(have))
			err = -errno;
	}
	cap_free(none);
	cap_free(have);
	return err;
}
