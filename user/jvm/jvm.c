#include "jvm/jvm.h"

#include "base/arch/arch.h"
#include "base/privilege.h"
#include "jvm/jvm_state.h"
#include "jvm/target/confined.h"
#include "jvm/target/mapped_file.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBJVM "libjvm.so"

static int why(char **ret_why, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns err, with its sentence. */
static int why(char **ret_why, int err, const char *format, ...)
{
	va_list ap;

	if (!ret_why)
		return err;
	va_start(ap, format);
	if (vasprintf(ret_why, format, ap) < 0)
		*ret_why = NULL;
	va_end(ap);
	return err;
}

static int no_process(pid_t pid, char **ret_why)
{
	return why(ret_why, -ESRCH,
		   "there is no process %d here (a process in a container has another number "
		   "outside of it: look for it with 'pgrep -a java')",
		   (int)pid);
}

/*
 * /proc/PID's files ask for ptrace rights, and mem, of mode 0600, for those of its owner too. Which
 * of these capabilities this process lacks: "" if it has them, and so somebody else refuses.
 * of_file: its library is not at its path any more, and is looked for in map_files.
 */
static void missing_name(pid_t pid, bool of_file, char *ret, size_t size)
{
	char path[32];
	struct stat st;
	bool other;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	other = stat(path, &st) || st.st_uid != geteuid();
	snprintf(ret, size, "%s%s%s", privilege_have(CAP_SYS_PTRACE) ? "" : ", CAP_SYS_PTRACE",
		 !other || privilege_have(CAP_DAC_OVERRIDE) ? "" : ", CAP_DAC_OVERRIDE",
		 !of_file || privilege_have(CAP_CHECKPOINT_RESTORE) || privilege_have(CAP_SYS_ADMIN)
			 ? ""
			 : ", CAP_CHECKPOINT_RESTORE");
}

static int no_permission(pid_t pid, int err, bool of_file, char **ret_why)
{
	char missing[80], own[CONFINED_MAX], its[CONFINED_MAX];

	missing_name(pid, of_file, missing, sizeof(missing));
	if (!missing[0] && confined_apart(pid, own, its))
		return why(ret_why, err,
			   "process %d may not be read (%s), although spoor has the capabilities: "
			   "AppArmor or SELinux confines spoor as '%s', and the process as '%s'; "
			   "run spoor under the same, or under one that may trace the other",
			   (int)pid, strerror(-err), own, its);
	if (!missing[0])
		return why(
			ret_why, err,
			"process %d may not be read (%s), although spoor has the capabilities: a "
			"seccomp profile, AppArmor or SELinux refuses it, or the process is in "
			"another user namespace",
			(int)pid, strerror(-err));
	return why(ret_why, err,
		   "process %d may not be read by this user (%s): run spoor as root or as the "
		   "JVM's user, or give it what it lacks: %s",
		   (int)pid, strerror(-err), missing + 2);
}

static int ended(pid_t pid, char **ret_why)
{
	return why(ret_why, -ESRCH, "process %d has ended", (int)pid);
}

static int other(pid_t pid, int err, char **ret_why)
{
	return why(ret_why, err, "process %d cannot be looked at: %s", (int)pid, strerror(-err));
}

static int process_why(pid_t pid, int err, char **ret_why)
{
	switch (err) {
	case -ESRCH:
		return no_process(pid, ret_why);
	case -EACCES:
	case -EPERM:
		return no_permission(pid, err, false, ret_why);
	default:
		return other(pid, err, ret_why);
	}
}

static int pid_open(pid_t pid, struct jvm *j, char **ret_why)
{
	struct process_stat stat;
	int err;

	if (pid <= 0)
		return no_process(pid, ret_why);
	j->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (j->pidfd < 0) {
		err = -errno;
		/* A thread's number: EINVAL, from Linux 6.9 on ENOENT. */
		if (err == -EINVAL || err == -ENOENT)
			return why(ret_why, -EINVAL,
				   "%d is the number of a thread: give the number of its process",
				   (int)pid);
		if (err == -EPERM || err == -ENOSYS)
			return why(ret_why, err,
				   "process %d cannot be followed: the system call pidfd_open is "
				   "refused (%s), by a seccomp profile if this is a container: "
				   "allow it, or use seccomp=unconfined",
				   (int)pid, strerror(-err));
		return process_why(pid, err, ret_why);
	}
	err = process_stat(pid, &stat);
	if (err == -ESRCH && !kill(pid, 0))
		err = -EACCES; /* hidden by the mount option hidepid */
	if (err)
		return process_why(pid, err, ret_why);
	if (stat.state == 'Z' || stat.state == 'X')
		return ended(pid, ret_why);
	j->start_ticks = stat.start_ticks;
	if (process_ns_pid(pid, &j->ns_pid))
		j->ns_pid = pid;
	return 0;
}

static int lib_open(struct jvm *j, char **ret_why)
{
	pid_t pid = j->pid;
	int err = process_lib(pid, LIBJVM, &j->lib);

	if (err == -ENOENT)
		return why(ret_why, -ENOEXEC,
			   "process %d is not a JVM: it has no " LIBJVM
			   " loaded (list JVMs with 'pgrep -a java')",
			   (int)pid);
	if (err)
		return process_why(pid, err, ret_why);
	/* Forked while there is nothing in memory yet. */
	err = parser_new(&j->parser);
	if (err)
		return why(ret_why, err, "the parser process cannot be started: %s",
			   strerror(-err));
	j->file = mapped_file_open(pid, &j->lib);
	err = j->file < 0 ? j->file : 0;
	if (!err)
		err = parser_libjvm(j->parser, j->file, &j->elf);
	if (err == -ENOENT && j->file >= 0)
		return why(ret_why, -ENOTSUP,
			   "the JVM in process %d exports no vmStructs (%s): it is not HotSpot, or "
			   "was stripped of them; spoor needs an OpenJDK HotSpot build",
			   (int)pid, j->lib.path);
	if (err == -EACCES || err == -EPERM)
		return no_permission(pid, err, true, ret_why);
	if (err)
		return why(ret_why, err, "the file %s of process %d cannot be read%s: %s",
			   j->lib.path, (int)pid,
			   j->lib.deleted ? ", it was deleted or replaced after the JVM's start"
					  : "",
			   parser_error_text(err));
	for (int i = 0; i < VMSYM_COUNT; i++)
		j->symbols[i] = j->lib.start - j->elf.first_vaddr + j->elf.symbols[i];
	return 0;
}

static int memory_open(struct jvm *j, char **ret_why)
{
	struct process_lib again;
	struct process_stat stat;
	int err = mem_open(j->pid, &j->mem);

	if (err)
		return process_why(j->pid, err, ret_why);
	/* The number may have gone to another process between the looks, or the process may have
	 * exec'd. */
	if (process_stat(j->pid, &stat) || stat.start_ticks != j->start_ticks || !jvm_alive(j))
		return ended(j->pid, ret_why);
	if (process_lib(j->pid, LIBJVM, &again) || again.start != j->lib.start ||
	    again.inode != j->lib.inode)
		return why(ret_why, -ESRCH, "process %d is starting another program", (int)j->pid);
	return 0;
}

static const char code_no_walker[] = "spoor does not know its frames on this architecture";

static void support_of(const struct jvm *j, const char *missing, struct jvm_support *ret)
{
	const struct support_facts facts = {
		.major = j->major,
		.version = j->version,
		.layout = &j->layout,
		.code_missing = j->code_missing,
		.no_walker = j->code_missing == code_no_walker ? ARCH_JVM.said : NULL,
		.missing = missing,
	};

	support_find(&facts, ret);
}

static void refused(const struct jvm *j, char **ret_why)
{
	struct jvm_support s;

	support_of(j, j->missing ? j->missing : "a part of vmStructs", &s);
	why(ret_why, -ENOTSUP, "the JVM in process %d cannot be recorded: %s", (int)j->pid,
	    s.text[JVM_LIMIT_VERSION]);
}

void jvm_support(const struct jvm *j, struct jvm_support *ret)
{
	if (j->vms)
		support_of(j, NULL, ret);
	else
		*ret = (struct jvm_support){.level = JVM_FULL};
}

int jvm_open(pid_t pid, struct jvm **ret, char **ret_why)
{
	struct jvm *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return why(ret_why, -ENOMEM, "out of memory");
	j->pid = pid;
	j->pidfd = -1;
	j->mem.fd = -1;
	j->file = -1;
	layout_clear(&j->layout);
	err = pid_open(pid, j, ret_why);
	if (!err)
		err = lib_open(j, ret_why);
	if (!err)
		err = memory_open(j, ret_why);
	if (err)
		goto fail;
	err = jvm_layout_refresh(j);
	if (err == -ESRCH)
		ended(pid, ret_why);
	else if (err == -ENOTSUP)
		refused(j, ret_why);
	else if (err < 0)
		other(pid, err, ret_why);
	if (err < 0)
		goto fail;
	*ret = j;
	return 0;
fail:
	jvm_close(j);
	return err;
}

void jvm_close(struct jvm *j)
{
	if (!j)
		return;
	mem_close(&j->mem);
	if (j->pidfd >= 0)
		close(j->pidfd);
	if (j->file >= 0)
		close(j->file);
	parser_free(j->parser);
	flag_table_free(&j->flags);
	vmstructs_free(j->vms);
	free(j);
}

int jvm_present(pid_t pid)
{
	struct process_lib lib;
	int err = process_lib(pid, LIBJVM, &lib);

	if (err)
		return err == -ENOENT ? 0 : err;
	return 1;
}

pid_t jvm_pid(const struct jvm *j)
{
	return j->pid;
}

const char *jvm_libjvm_name(const struct jvm *j)
{
	return j->lib.path;
}

int jvm_libjvm_file(const struct jvm *j)
{
	return j->file;
}

int jvm_libjvm_hooks(const struct jvm *j)
{
	return j->elf.hooks;
}

struct parser *jvm_parser(const struct jvm *j)
{
	return j->parser;
}

int jvm_pidfd(const struct jvm *j)
{
	return j->pidfd;
}

bool jvm_alive(const struct jvm *j)
{
	struct pollfd p = {.fd = j->pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

/* /proc/PID/mem stays with the address space that was there: nothing can be read of one that is
 * gone. A process that is ending, too, may have none for a while; then it has no mappings. */
bool jvm_replaced(const struct jvm *j)
{
	bool other = false;
	char byte, *maps;

	if (jvm_read(j, j->lib.start, &byte, sizeof(byte)) != -ESRCH || !jvm_alive(j))
		return false;
	if (!process_file(j->pid, "maps", &maps, NULL)) {
		other = *maps;
		free(maps);
	}
	return other;
}

const struct jvm_layout *jvm_layout(const struct jvm *j)
{
	return &j->layout;
}

static void version_find(struct jvm *j)
{
	uint64_t at;

	/* VERSION_FEATURE, from the build on (share/runtime/vm_version.cpp, 11 to 25). */
	if (vmstructs_address(j->vms, "Abstract_VM_Version", "_vm_major_version", &at) ||
	    mem_u32(&j->mem, at, &j->major))
		j->major = 0;
	j->version = jdk_version_find(j->major);
}

/* Without call chains a JVM is still worth looking at. */
static void code_load(struct jvm *j)
{
	const struct code_rules *rules = j->version ? j->version->code : NULL;
	const char *missing = "spoor has no table of this version's code";

	if (j->major < ARCH_JVM.walks_first || j->major > ARCH_JVM.walks_last)
		missing = code_no_walker;
	else if (rules && !code_layout_load(j->vms, rules, &j->code, &missing))
		missing = NULL;
	j->code_missing = missing;
}

/*
 * The dynamic loader maps libjvm.so before it relocates it, and a table that is being relocated
 * ends early. The launcher loads it in its only thread and runs the VM in a second one: one thread,
 * nothing to read yet.
 */
static int tables_load(struct jvm *j)
{
	static const struct layout_rules none;
	struct process_stat stat;
	int err = process_stat(j->pid, &stat);

	if (err || stat.threads < 2)
		return err ? err : -EAGAIN;
	err = vmstructs_load(&j->mem, j->symbols, &j->vms);
	if (err) {
		j->missing = "readable tables";
		return err == -EPROTO || err == -EFAULT ? -ENOTSUP : err;
	}
	version_find(j);
	err = layout_load(j->vms, j->version ? &j->version->layout : &none, &j->layout, &j->source,
			  &j->missing);
	if (!err)
		err = flag_table_load(&j->mem, j->vms, &j->flags);
	if (err == -ENOTSUP && !j->missing)
		j->missing = "JVMFlag::flags";
	if (err) {
		vmstructs_free(j->vms);
		j->vms = NULL;
		return err;
	}
	code_load(j);
	return 0;
}

/* Whether objects are moved only while Java threads stand still. */
static bool collector_stops(const struct jvm *j)
{
	static const char *const flags[] = {"UseG1GC", "UseSerialGC", "UseParallelGC"};
	bool is = false;

	for (size_t i = 0; !is && i < sizeof(flags) / sizeof(*flags); i++)
		if (flag_bool(&j->mem, &j->flags, flags[i], &is))
			is = false;
	return is;
}

int jvm_layout_refresh(struct jvm *j)
{
	bool oops = false, klass = false, compact = false, table = false, z = false,
	     generations = true;
	int err = j->vms ? 0 : tables_load(j);

	if (err)
		return err == -EAGAIN ? 0 : err;
	if (!j->layout.ready) {
		err = flag_bool(&j->mem, &j->flags, "UseCompressedOops", &oops);
		/* From JDK 26 on they may be all that there is. */
		if (flag_bool(&j->mem, &j->flags, "UseCompressedClassPointers", &klass))
			klass = true;
		flag_bool(&j->mem, &j->flags, "UseCompactObjectHeaders", &compact);
		if (err == -ESRCH)
			return err;
		j->missing = "a class pointer in its objects' headers "
			     "(-XX:+UseCompactObjectHeaders is on)";
		j->layout.mark_klass_shift = compact ? layout_mark_klass_shift(j->vms) : 0;
		if (compact && !j->layout.mark_klass_shift)
			return -ENOTSUP;
		j->missing = NULL;
		flag_bool(&j->mem, &j->flags, "UseZGC", &z);
		flag_bool(&j->mem, &j->flags, "ZGenerational", &generations);
		j->layout.colored_oops =
			z && generations &&
			vmstructs_field_type(j->vms, "ZGlobalsForVMStructs", "_ZPointerLoadShift");
		j->layout.stops_to_move = collector_stops(j);
		flag_bool(&j->mem, &j->flags, "UseShenandoahGC", &j->layout.forwards);
		flag_bool(&j->mem, &j->flags, "UseObjectMonitorTable", &table);
		j->layout.monitor_table = table;
	}
	return layout_refresh(&j->mem, &j->source, oops, klass, &j->layout);
}

const struct code_layout *jvm_code_layout(const struct jvm *j, const char **ret_missing)
{
	if (ret_missing)
		*ret_missing = j->code_missing;
	return j->vms && !j->code_missing ? &j->code : NULL;
}

int jvm_code_refresh(struct jvm *j)
{
	bool compiles;
	int n;

	if (!j->vms)
		return 0;
	if (j->code_missing)
		return -ENOTSUP;
	n = code_layout_refresh(&j->mem, j->vms, &j->code);
	if (n || !code_layout_usable(&j->code))
		return n;
	/* -Xint: an nmethod will never come. */
	return j->layout.ready && !flag_bool(&j->mem, &j->flags, "UseCompiler", &compiles) &&
	       !compiles;
}

const struct mem *jvm_mem(const struct jvm *j)
{
	return &j->mem;
}

void jvm_libjvm_text(const struct jvm *j, uint64_t *ret_low, uint64_t *ret_high, uint64_t *ret_bias)
{
	uint64_t bias = j->lib.start - j->elf.first_vaddr;

	*ret_low = j->elf.text_low + bias;
	*ret_high = j->elf.text_high + bias;
	*ret_bias = bias;
}

int jvm_read(const struct jvm *j, uint64_t addr, void *ret, size_t len)
{
	return j->mem.read(&j->mem, addr, ret, len);
}

int jvm_flag_read(const struct jvm *j, const char *name, bool *ret)
{
	return flag_bool(&j->mem, &j->flags, name, ret);
}
