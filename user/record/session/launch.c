#include "record/session/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm/jvm.h"

#define DESCENDANTS_MAX 4096

struct launch_user {
	uid_t uid;
	gid_t gid;
	char *name, *home; /* after the struct */
};

int launch_user_find(const char *name, struct launch_user **ret)
{
	char *end;
	unsigned long id;
	struct passwd *p;
	size_t name_size, home_size;
	struct launch_user *u;

	errno = 0;
	p = getpwnam(name);
	if (!p && *name >= '0' && *name <= '9') {
		id = strtoul(name, &end, 10);
		p = *end || id > UINT32_MAX ? NULL : getpwuid((uid_t)id);
	}
	if (!p)
		return -ENOENT;
	name_size = strlen(p->pw_name) + 1;
	home_size = strlen(p->pw_dir) + 1;
	u = malloc(sizeof(*u) + name_size + home_size);
	if (!u)
		return -ENOMEM;
	u->uid = p->pw_uid;
	u->gid = p->pw_gid;
	u->name = memcpy(u + 1, p->pw_name, name_size);
	u->home = memcpy(u->name + name_size, p->pw_dir, home_size);
	*ret = u;
	return 0;
}

uid_t launch_user_id(const struct launch_user *user)
{
	return user->uid;
}

/* Of the child, which has one thread. The groups go first: who has become the user may not set
 * them any more. */
static int become(const struct launch_user *u)
{
	if ((geteuid() != u->uid || !geteuid()) && initgroups(u->name, u->gid))
		return -errno;
	if (setresgid(u->gid, u->gid, u->gid) || setresuid(u->uid, u->uid, u->uid))
		return -errno;
	if (setenv("HOME", u->home, 1) || setenv("USER", u->name, 1) ||
	    setenv("LOGNAME", u->name, 1))
		return -errno;
	return 0;
}

int launch_start(char *const argv[], const struct launch_user *user, pid_t *ret)
{
	int report[2], err = 0;
	sigset_t none;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(report[0]);
		close(report[1]);
		return err;
	}
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		err = user ? become(user) : 0;
		if (!err) {
			execvp(argv[0], argv);
			err = -errno;
		}
		if (write(report[1], &err, sizeof(err)) != sizeof(err))
			_exit(127);
		_exit(127);
	}
	close(report[1]);
	/* Empty when exec has closed it: the command runs. */
	if (read(report[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(report[0]);
	*ret = pid;
	return err;
}

/* Appends the children of all threads of pid to list[*count..]. */
static void children(pid_t pid, pid_t *list, size_t *count)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", pid, entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		while (*count < DESCENDANTS_MAX && fscanf(f, "%d", &child) == 1)
			list[(*count)++] = child;
		fclose(f);
	}
	closedir(dir);
}

int launch_find_jvm(pid_t root, pid_t *ret)
{
	pid_t *list = malloc(DESCENDANTS_MAX * sizeof(*list));
	size_t count = 1;
	int found = 0;

	if (!list)
		return -ENOMEM;
	list[0] = root;
	for (size_t i = 0; i < count && !found; i++) {
		if (jvm_present(list[i]) == 1) {
			*ret = list[i];
			found = 1;
		} else {
			children(list[i], list, &count);
		}
	}
	free(list);
	return found;
}
