#include "record/doctor/doctor_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf/wire/wire_steal.h"
#include "record/kernel/features/kernel_facts.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/features/kernel_try.h"
#include "record/kernel/features/refusal.h"
#include "record/kernel/sampler.h"
#include "steal/sources/hypervisor.h"

/*
 * A kernel is not asked for its version or its configuration where it can be asked for the thing
 * itself: a program like spoor's is loaded, a uprobe like spoor's is attached (to a function of
 * spoor that nothing calls). Only a user without the rights gets no such answer; then the checks
 * say so, and the capabilities say what is needed.
 */

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"
/* PROC_PID_INIT_INO, include/linux/proc_ns.h: the same in every kernel. */
#define PID_NS_INITIAL "pid:[4026531836]"

/* The first line of a small file; false: it cannot be read. */
static bool line_read(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	ret[n] = 0;
	ret[strcspn(ret, "\n")] = 0;
	return true;
}

/* The kernel refuses what no user may do who lacks a right: which one? */
static int refused(struct checks *c, const char *check, int err, const char *what)
{
	struct refusal r = refusal_find();

	return check_add(c, check, CHECK_MISSING, r.todo, "this user may not %s (%s): %s", what,
			 strerror(-err), r.why);
}

/* What the kernel can do is tried, as distributions give theirs what newer ones have. */
static int check_version(struct checks *c)
{
	struct utsname u;

	uname(&u);
	if (kernel_try_loop() == -EOPNOTSUPP)
		return check_add(
			c, "kernel", CHECK_MISSING, "use Linux 5.17 or later (Debian 12 has 6.1)",
			"Linux %s has no bpf_loop(), which spoor's programs need", u.release);
	return check_add(c, "kernel", CHECK_OK, NULL, "Linux %s, %s", u.release, u.machine);
}

static int check_btf(struct checks *c)
{
	if (access(BTF_PATH, R_OK))
		return check_add(c, "btf", CHECK_MISSING,
				 "use a kernel with CONFIG_DEBUG_INFO_BTF=y (those of all large "
				 "distributions are), and mount /sys",
				 BTF_PATH ": %s; spoor's programs take the kernel's layout from it",
				 strerror(errno));
	return check_add(c, "btf", CHECK_OK, NULL, BTF_PATH);
}

static int check_ring(struct checks *c)
{
	int err = kernel_try_ring();

	if (!err)
		return check_add(c, "bpf", CHECK_OK, NULL,
				 "the bpf system call works, and has ring buffers");
	if (refusal_is(err))
		return refused(c, "bpf", err, "use the bpf system call");
	return check_add(c, "bpf", CHECK_MISSING,
			 "use a kernel with CONFIG_BPF_SYSCALL=y, 5.8 or later",
			 "no BPF ring buffer can be made: %s", strerror(-err));
}

static int check_sched(struct checks *c)
{
	int err = kernel_try_sched();

	if (!err)
		return check_add(c, "scheduler", CHECK_OK, NULL,
				 "programs can be attached to the scheduler (tp_btf/sched_switch)");
	if (refusal_is(err))
		return refused(c, "scheduler", err, "attach a program to the scheduler");
	return check_add(c, "scheduler", CHECK_MISSING,
			 "use a kernel with CONFIG_DEBUG_INFO_BTF=y and CONFIG_FTRACE=y",
			 "no program can be attached to the scheduler (tp_btf/sched_switch): %s",
			 strerror(-err));
}

static const char *how_hit(bool call)
{
	return call ? "call" : "trap";
}

static int check_uprobe(struct checks *c)
{
	int err = kernel_try_uprobe();
	char nop10[64] = "none can be set";
	struct probe_cost cost;

	if (!err)
		err = kernel_try_kprobe();
	if (!err && !kernel_try_cost(&cost)) {
		if (cost.nop10_ns)
			snprintf(nop10, sizeof(nop10), "%u ns (%s)", cost.nop10_ns,
				 how_hit(cost.nop10_call));
		if (!cost.nop5_ns)
			return check_add(c, "uprobes", CHECK_OK, NULL,
					 "probes can be set in a process; a hit costs %u ns (trap)",
					 cost.nop1_ns);
		return check_add(c, "uprobes", CHECK_OK, NULL,
				 "probes can be set in a process; a hit costs %u ns at a 1-byte "
				 "nop (trap), %u ns at one of 5 bytes (%s), of 10 bytes: %s",
				 cost.nop1_ns, cost.nop5_ns, how_hit(cost.nop5_call), nop10);
	}
	if (!err)
		return check_add(c, "uprobes", CHECK_OK, NULL, "probes can be set in a process");
	if (refusal_is(err))
		return refused(c, "uprobes", err, "set probes in a process");
	return check_add(c, "uprobes", CHECK_MISSING,
			 "use a kernel with CONFIG_UPROBE_EVENTS=y, and mount /sys",
			 "no probe can be set in a process: %s", strerror(-err));
}

static bool cap_have(cap_t caps, cap_value_t which)
{
	cap_flag_value_t value = CAP_CLEAR;

	return !cap_get_flag(caps, which, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

/*
 * Uprobes as perf events need CAP_SYS_ADMIN on some kernels (seen on 6.18); on others CAP_PERFMON
 * suffices, as it does for uprobe_multi links. Which kernel this is, is found out by trying.
 */
static int check_capabilities(struct checks *c)
{
	cap_t caps = cap_get_proc();
	bool admin, bpf, perfmon, ptrace, override;
	const char *foreign;

	if (!caps)
		return -ENOMEM;
	admin = cap_have(caps, CAP_SYS_ADMIN);
	bpf = admin || cap_have(caps, CAP_BPF);
	perfmon = admin || cap_have(caps, CAP_PERFMON);
	ptrace = cap_have(caps, CAP_SYS_PTRACE);
	override = cap_have(caps, CAP_DAC_OVERRIDE);
	foreign = ptrace && override ? NULL
		  : ptrace           ? "CAP_DAC_OVERRIDE"
		  : override         ? "CAP_SYS_PTRACE"
				     : "CAP_SYS_PTRACE and CAP_DAC_OVERRIDE";
	cap_free(caps);
	if (!bpf || !perfmon)
		return check_add(
			c, "capabilities", CHECK_MISSING,
			"run spoor as root, or from a service that gives it these "
			"capabilities as ambient ones (docs/security.md); setcap on a "
			"file that all may execute would give them to every user",
			"missing:%s%s%s%s%s", bpf ? "" : " CAP_BPF (load programs)",
			bpf || perfmon ? "" : ",", perfmon ? "" : " CAP_PERFMON (attach them)",
			foreign ? "; for other users' JVMs also " : "", foreign ? foreign : "");
	/* If not even a map can be made, it is something else: check_ring() says what. */
	if (!admin && !kernel_try_ring() && refusal_is(kernel_try_uprobe()))
		return check_add(
			c, "capabilities", CHECK_MISSING,
			"run spoor as root, or with CAP_SYS_ADMIN",
			"missing: CAP_SYS_ADMIN (this kernel does not let CAP_PERFMON set probes)");
	if (foreign) {
		char todo[96];

		snprintf(todo, sizeof(todo), "add %s to record other users' JVMs", foreign);
		return check_add(c, "capabilities", CHECK_WARNING, todo,
				 "enough for the JVMs of this user");
	}
	return check_add(c, "capabilities", CHECK_OK, NULL, "all that are needed");
}

static int check_lockdown(struct checks *c)
{
	char text[128];
	bool known = line_read(LOCKDOWN_PATH, text, sizeof(text));
	int err = known ? 0 : errno;
	struct kernel_facts k;

	/* The file is not to be seen in a container. */
	kernel_facts_read(&k);
	if (kernel_reads_limits(k.reads))
		return check_add(
			c, "lockdown", CHECK_WARNING,
			"boot with lockdown=integrity, or without secure boot's lockdown",
			"%s", kernel_reads_limits(k.reads));
	if (!known)
		return check_add(c, "lockdown", CHECK_OK, NULL,
				 "none that matters (" LOCKDOWN_PATH ": %s)", strerror(err));
	return check_add(c, "lockdown", CHECK_OK, NULL, "%s", text);
}

/* Where it is refused, a recording works, but for what the clocks are for. */
static int check_clock(struct checks *c)
{
	int err = kernel_try_clock();

	if (!err)
		return check_add(c, "clock", CHECK_OK, NULL,
				 "perf_event_open() gives CPUs and threads a clock");
	return check_add(c, "clock", CHECK_WARNING,
			 kernel_clock_is_for_admin()
				 ? "give spoor CAP_SYS_ADMIN, which it gives up once it records, "
				   "or set kernel.perf_event_paranoid to 2"
				 : "allow perf_event_open() in the container's seccomp profile",
			 "perf_event_open() is refused (%s): record --sample has its own timers "
			 "and the kernel's ticks, but no event=cpu-clock%s",
			 strerror(-err),
			 sampler_needs_clock() ? ", and as the kernel's ticks are rare, owners of "
						 "locks that keep their CPU are not looked at "
						 "meanwhile"
					       : "");
}

/* Two settings that only matter to a user without the capabilities; to name them saves a search. */
static int check_sysctls(struct checks *c)
{
	char paranoid[16] = "?", unprivileged[16] = "?";

	line_read("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	line_read("/proc/sys/kernel/unprivileged_bpf_disabled", unprivileged, sizeof(unprivileged));
	if (!geteuid() || !kernel_try_kprobe())
		return 0;
	return check_add(
		c, "settings", CHECK_WARNING, NULL,
		"kernel.perf_event_paranoid=%s, kernel.unprivileged_bpf_disabled=%s: changing them "
		"is not enough, programs at the scheduler need the capabilities",
		paranoid, unprivileged);
}

static int check_steal(struct checks *c)
{
	const char *hypervisor = hypervisor_name();
	struct kernel_facts k;
	int err = check_add(c, "hypervisor", CHECK_OK, NULL, "%s%s", hypervisor,
			    strcmp(hypervisor, "none") ? "" : ": nothing steals time here");

	if (err)
		return err;
	kernel_facts_read(&k);
	if (k.steal.clock != WIRE_STEAL_NONE)
		return check_add(c, "steal", CHECK_OK, NULL, "exact, in ns (%s)", k.steal.name);
	return check_add(
		c, "steal", CHECK_WARNING,
		"use a kernel with CONFIG_PARAVIRT_TIME_ACCOUNTING=y for stolen time per thread",
		"neither the scheduler nor the hypervisor keeps a steal clock here: stolen time is "
		"not split by thread, only /proc/stat's ticks per CPU are recorded");
}

static int check_pid_namespace(struct checks *c)
{
	char ns[64];
	ssize_t n = readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1);

	if (n < 0)
		return check_add(c, "pid-namespace", CHECK_WARNING, "mount /proc",
				 "/proc/self/ns/pid: %s", strerror(errno));
	ns[n] = 0;
	if (!strcmp(ns, PID_NS_INITIAL))
		return check_add(c, "pid-namespace", CHECK_OK, NULL, "spoor is in the initial one");
	return check_add(c, "pid-namespace", CHECK_OK, NULL,
			 "spoor is in a container's (%s): it sees the processes that are in it, so "
			 "a JVM of another container must share it",
			 ns);
}

int check_kernel(struct checks *c)
{
	static int (*const checks[])(struct checks *) = {
		check_version, check_btf, check_ring, check_sched,
		check_uprobe, check_capabilities, check_clock, check_sysctls,
		check_lockdown, check_steal, check_pid_namespace,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(checks) / sizeof(*checks); i++)
		err = checks[i](c);
	return err;
}
