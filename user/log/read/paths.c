#include "log/read/paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".spoor"

static int is_log(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = sizeof(SUFFIX) - 1;

	return entry->d_name[0] != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, SUFFIX);
}

static int each_entry(const char *folder, const char *name,
		      int (*on)(void *ctx, const char *path, bool of_folder), void *ctx)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return -ENOMEM;
	err = on(ctx, path, true);
	free(path);
	return err;
}

static int each_of_folder(const char *folder,
			  int (*on)(void *ctx, const char *path, bool of_folder), void *ctx,
			  const char **ret_why)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_log, alphasort), err = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		if (!err)
			err = each_entry(folder, entries[i]->d_name, on, ctx);
		free(entries[i]);
	}
	free(entries);
	if (count)
		return err;
	*ret_why = LOG_PATHS_NONE;
	return -ENOENT;
}

static int each_of_pattern(const char *pattern,
			   int (*on)(void *ctx, const char *path, bool of_folder), void *ctx,
			   const char **ret_why)
{
	glob_t found = {0};
	int err = glob(pattern, 0, NULL, &found);

	if (err == GLOB_NOSPACE) {
		err = -ENOMEM;
	} else if (err) {
		err = -ENOENT;
		*ret_why = "no file has a name like this";
	}
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		err = on(ctx, found.gl_pathv[i], true);
	globfree(&found);
	return err;
}

bool log_path_is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int log_paths_each(const char *arg, int (*on)(void *ctx, const char *path, bool of_folder),
		   void *ctx, const char **ret_why)
{
	struct stat st;

	*ret_why = "";
	if (!strcmp(arg, "-"))
		return on(ctx, arg, false);
	if (stat(arg, &st))
		return errno == ENOENT && strpbrk(arg, "*?[")
			       ? each_of_pattern(arg, on, ctx, ret_why)
			       : -errno;
	return S_ISDIR(st.st_mode) ? each_of_folder(arg, on, ctx, ret_why) : on(ctx, arg, false);
}
