#include "jvm/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/strbuf.h"
#include "jvm/jvm.h"
#include "jvm/target/process.h"

#define COMMAND_MAX (128 * 1024) /* a class path makes it long */
#define LISTED_MAX 8

struct found {
	pid_t pids[LISTED_MAX];
	size_t count;
	bool hidden; /* some may not be looked at */
};

static void consider(struct found *f, pid_t pid, const char *name, char *command)
{
	int present;

	if (pid == getpid() || process_command(pid, command, COMMAND_MAX) || !strstr(command, name))
		return;
	present = jvm_present(pid);
	f->hidden |= present == -EACCES || present == -EPERM;
	if (present != 1)
		return;
	if (f->count < LISTED_MAX)
		f->pids[f->count] = pid;
	f->count++;
}

static int say(const struct found *f, const char *name, char why[JVM_FIND_WHY_MAX])
{

	if (!f->count) {
		snprintf(why, JVM_FIND_WHY_MAX,
			 "no JVM has '%.100s' in its command line%s; `jps -l` or `pgrep -a java` "
			 "lists them",
			 name,
			 f->hidden ? " (some processes may not be looked at without root)" : "");
		return -ESRCH;
	}
	snprintf(why, JVM_FIND_WHY_MAX, "%zu JVMs have '%.100s' in their command line: ", f->count,
		 name);
	for (size_t i = 0; i < f->count && i < LISTED_MAX; i++)
		buffer_add(why, JVM_FIND_WHY_MAX, "%s%d", i ? ", " : "", (int)f->pids[i]);
	buffer_add(why, JVM_FIND_WHY_MAX, "%s; choose one with -p PID",
		   f->count > LISTED_MAX ? ", ..." : "");
	return -ENOTUNIQ;
}

int jvm_find(const char *name, pid_t *ret, char why[JVM_FIND_WHY_MAX])
{
	char *command = malloc(COMMAND_MAX);
	DIR *proc = opendir("/proc");
	struct found f = {.count = 0};
	struct dirent *entry;
	int err = 0;

	if (!command || !proc) {
		err = command ? -errno : -ENOMEM;
		snprintf(why, JVM_FIND_WHY_MAX, "/proc cannot be read: %s", strerror(-err));
	}
	while (!err && (entry = readdir(proc))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0)
			consider(&f, (pid_t)pid, name, command);
	}
	if (proc)
		closedir(proc);
	free(command);
	if (err)
		return err;
	if (f.count != 1)
		return say(&f, name, why);
	*ret = f.pids[0];
	return 0;
}
