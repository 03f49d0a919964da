/*
 * What spoor may do is cut down in steps, each as soon as what needs more is done.
 *
 * A command that reads logs has no capability at all, may neither start programs nor open sockets,
 * and can write to its output only. This also holds for root: a log's author who took over such a
 * command would be root without capabilities, still the owner of root's files, but Landlock keeps
 * it from changing any.
 *
 * A recorder has what attaching takes until it is attached, then what it takes to look for marks
 * and to open the target's files anew. What has been opened before (the target's memory, BPF maps,
 * the log) needs nothing.
 */
#include "cmd/rights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/privilege.h"
#include "base/sandbox.h"
#include "base/text/msg.h"
#include "record/kernel/features/kernel_try.h"
#include "record/kernel/features/uprobe_multi.h"

#define KEEP_MAX 16

struct keep {
	cap_value_t caps[KEEP_MAX];
	size_t count;
};

static void keep_add(struct keep *k, cap_value_t cap)
{
	k->caps[k->count++] = cap;
}

static int cut_down(const struct keep *k)
{
	int err = privilege_keep(k->caps, k->count);

	if (err)
		msg_error("spoor cannot give up rights that it does not need: %s; nothing was done",
			  strerror(-err));
	return err;
}

/* A kernel without seccomp filters (EINVAL) or Landlock has to do without them. */
static int confined(int err)
{
	if (!err || err == -EINVAL || err == -ENOSYS || err == -EOPNOTSUPP)
		return 0;
	msg_error("spoor cannot confine itself: %s; nothing was done", strerror(-err));
	return err;
}

/* The folder that path is in; the caller's. */
static char *folder_of(const char *path)
{
	char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;

	if (!copy)
		return NULL;
	if (slash) {
		slash[slash == copy ? 1 : 0] = 0;
		return copy;
	}
	free(copy);
	return strdup(".");
}

/* --- commands that read logs ----------------------------------------------------------------- */

/* An argument need not be a path: what does not exist is looked for in its folder, as a pattern's
 * matches will be. */
static bool is_out_of_reach(const char *arg)
{
	int err = privilege_access_without(arg, R_OK);
	char *folder;

	if (err == -ENOENT) {
		folder = folder_of(arg);
		err = folder ? privilege_access_without(folder, R_OK | X_OK) : 0;
		free(folder);
	}
	return err == -EACCES;
}

int rights_read_and_send(char *const argv[])
{
	struct keep k = {.count = 0};

	/* For root itself only: who got capabilities from a file or a service reads what is his. */
	if (!getuid() && privilege_have(CAP_DAC_READ_SEARCH))
		for (size_t i = 1; argv[i] && !k.count; i++)
			if (is_out_of_reach(argv[i]))
				keep_add(&k, CAP_DAC_READ_SEARCH);
	return cut_down(&k);
}

int rights_filter(void)
{
	return confined(sandbox_command(SANDBOX_READS));
}

int rights_read_only(char *const argv[])
{
	int err = rights_read_and_send(argv);

	return err ? err : rights_filter();
}

int rights_send(void)
{
	int err = rights_none();

	err = err ? err : confined(sandbox_write_only(NULL, 0));
	return err ? err : confined(sandbox_command(SANDBOX_SENDS));
}

int rights_write_to(const char *output)
{
	const char *temporary = getenv("TMPDIR"), *paths[4];
	char *folder = NULL;
	size_t n = 0;
	int err;

	paths[n++] = temporary && *temporary ? temporary : "/tmp";
	paths[n++] = "/dev/null";
	if (output && strcmp(output, "-")) {
		folder = folder_of(output);
		if (!folder) {
			msg_error("out of memory");
			return -ENOMEM;
		}
		paths[n++] = output;
		paths[n++] = folder;
	}
	err = confined(sandbox_write_only(paths, n));
	free(folder);
	return err;
}

/* --- record, steal, doctor ------------------------------------------------------------------- */

/*
 * CAP_SYS_ADMIN contains CAP_BPF and CAP_PERFMON, for those who were not given these (they are
 * newer: Linux 5.8), and sets uprobes as perf events, which is how it is done before Linux 6.10.
 */
static bool admin_needed(void)
{
	return !privilege_have(CAP_BPF) || !privilege_have(CAP_PERFMON) ||
	       !uprobe_multi_supported();
}

int rights_attach(void)
{
	struct keep k = {
		.caps = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE,
			 CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SYS_RESOURCE, CAP_KILL},
		.count = 8,
	};
	int err;

	/* Clocks are opened once, and then only switched on and off. */
	if (admin_needed() || kernel_clock_is_for_admin())
		keep_add(&k, CAP_SYS_ADMIN);
	err = cut_down(&k);
	return err ? err : confined(sandbox_command(SANDBOX_RECORDS));
}

/* Parts and dumps are made while it records: also in a folder that is somebody else's. */
static bool folder_is_foreign(const char *path)
{
	char *folder = folder_of(path);
	bool foreign = folder && privilege_access_without(folder, W_OK | X_OK) == -EACCES;

	free(folder);
	return foreign;
}

int rights_record(const struct log_writer_options *log, bool later_files, bool kill_command)
{
	struct keep k = {
		.caps = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE,
			 CAP_DAC_READ_SEARCH},
		.count = 5,
	};

	if (admin_needed())
		keep_add(&k, CAP_SYS_ADMIN);
	if (later_files && folder_is_foreign(log->path))
		keep_add(&k, CAP_DAC_OVERRIDE);
	if (kill_command)
		keep_add(&k, CAP_KILL);
	return cut_down(&k);
}

int rights_none(void)
{
	return cut_down(&(struct keep){.count = 0});
}
