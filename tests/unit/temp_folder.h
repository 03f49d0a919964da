/* tests/unit/temp_folder.h: a folder of a test's own, with the name of a log in it. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct temp {
	char dir[64];
	char path[96]; /* of a log in it, which is not there yet */
};

static inline int temp_begin(struct temp *t)
{
	snprintf(t->dir, sizeof(t->dir), "/tmp/spoor-test-XXXXXX");
	if (!mkdtemp(t->dir))
		return -1;
	snprintf(t->path, sizeof(t->path), "%s/a.spoor", t->dir);
	return 0;
}

/* The files in a folder: how many, and their bytes, if that is not NULL; then gone, if asked for. */
static inline unsigned temp_files(const char *path, bool delete, uint64_t *ret_bytes)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned count = 0;
	uint64_t bytes = 0;
	struct stat st;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (!fstatat(dirfd(dir), entry->d_name, &st, 0))
			bytes += (uint64_t)st.st_size;
		if (delete)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	if (ret_bytes)
		*ret_bytes = bytes;
	return count;
}

#define TEMP_STRANGER 65534

/* What a stranger may lay: in a folder to which everybody may write, a link to another folder. Only
 * root can make it; false: we are not. */
struct temp_trap {
	char open[80], link[96], victim[80];
};

static inline bool temp_trap_begin(const struct temp *t, struct temp_trap *ret)
{
	snprintf(ret->open, sizeof(ret->open), "%s/open", t->dir);
	snprintf(ret->link, sizeof(ret->link), "%s/link", ret->open);
	snprintf(ret->victim, sizeof(ret->victim), "%s/victim", t->dir);
	return !geteuid() && !mkdir(ret->victim, 0700) && !mkdir(ret->open, 0700) &&
	       !chmod(ret->open, 01777) && !symlink(ret->victim, ret->link) &&
	       !lchown(ret->link, TEMP_STRANGER, TEMP_STRANGER);
}

static inline void temp_trap_end(struct temp_trap *trap)
{
	unlink(trap->link);
	temp_files(trap->victim, true, NULL);
	rmdir(trap->victim);
	rmdir(trap->open);
}

static inline int temp_end(struct temp *t)
{
	temp_files(t->dir, true, NULL);
	return rmdir(t->dir);
}

/* For cmocka. */
static inline int temp_setup(void **state)
{
	struct temp *t = calloc(1, sizeof(*t));

	if (!t || temp_begin(t)) {
		free(t);
		return -1;
	}
	*state = t;
	return 0;
}

static inline int temp_teardown(void **state)
{
	int err = temp_end(*state);

	free(*state);
	return err;
}
