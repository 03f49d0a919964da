#include "record/kernel/features/refusal.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "base/privilege.h"
#include "record/kernel/features/kernel_try.h"

/* PROC_USER_INIT_INO, include/linux/proc_ns.h: the same in every kernel. */
#define USER_NS_INITIAL "user:[4026531837]"

static bool in_user_namespace(void)
{
	char ns[64];
	ssize_t n = readlink("/proc/self/ns/user", ns, sizeof(ns) - 1);

	if (n < 0)
		return false;
	ns[n] = 0;
	return strcmp(ns, USER_NS_INITIAL) != 0;
}

/* SECCOMP_MODE_FILTER. */
static bool has_seccomp_filter(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = !strcmp(line, "Seccomp:\t2\n");
	fclose(f);
	return found;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level, (void)format, (void)ap;
	return 0;
}

int cpus_possible(unsigned max, unsigned *ret, char *why, size_t size)
{
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int count = libbpf_num_possible_cpus();

	libbpf_set_print(before);
	if (count < 0) {
		snprintf(why, size, "%s cannot be read (%s): mount /sys, read-only is enough",
			 "/sys/devices/system/cpu/possible", strerror(-count));
		return count;
	}
	if ((unsigned)count > max) {
		snprintf(why, size, "this machine has %d CPUs, spoor can follow %u", count, max);
		return -ENOTSUP;
	}
	*ret = (unsigned)count;
	return 0;
}

bool refusal_is(int err)
{
	return err == -EPERM || err == -EACCES || (err == -ENOSYS && has_seccomp_filter());
}

struct refusal refusal_find(void)
{
	if (in_user_namespace())
		return (struct refusal){
			"spoor is in a user namespace, and the kernel lets nobody in one use BPF, "
			"whatever the capabilities are",
			"run spoor on the host, or in a container without a user namespace"};
	if (!privilege_have(CAP_SYS_ADMIN) &&
	    (!privilege_have(CAP_BPF) || !privilege_have(CAP_PERFMON)))
		return (struct refusal){
			"it needs the capabilities CAP_BPF and CAP_PERFMON (or root)",
			"run spoor as root, or with the capabilities named under \"capabilities\""};
	if (has_seccomp_filter())
		return (struct refusal){
			"spoor has the capabilities, but a seccomp filter does not let it",
			"allow bpf() and perf_event_open() in the container's seccomp profile"};
	return (struct refusal){
		"spoor has the capabilities: a security module, or the kernel's lockdown",
		"see the kernel's log, and what \"lockdown\" says"};
}

void refusal_of_load(int err, char *why, size_t size)
{
	if (err != -EACCES && refusal_is(err)) /* EACCES is the verifier's word */
		snprintf(why, size,
			 "the kernel does not let this user load BPF programs: %s; `spoor doctor` "
			 "says more",
			 refusal_find().why);
	else if (kernel_try_loop() == -EOPNOTSUPP)
		snprintf(why, size,
			 "this kernel has no bpf_loop(), which spoor's programs need: use Linux "
			 "5.17 or later");
	else
		snprintf(why, size,
			 "the kernel refuses the BPF programs (%s); `spoor doctor` says what is "
			 "missing, SPOOR_DEBUG_BPF=1 shows the kernel's own words",
			 strerror(-err));
}
