/* log/read/paths.h: the files that an argument of a command line stands for. */
#pragma once

#include <stdbool.h>

#define LOG_PATHS_NONE "there is no log (*.spoor) in this folder"

/*
 * A file, a folder (all *.spoor in it, by name), a pattern such as "app-*.spoor" that the shell has
 * not replaced as it was quoted, or "-". on gets each path, lent for the call, and whether it
 * was found in a folder or by a pattern, so that the user has not named it; what it returns,
 * if not 0, ends it. 0, that, or why the argument stands for nothing: then *ret_why is a static
 * sentence, or "" if the error says it.
 */
int log_paths_each(const char *arg, int (*on)(void *ctx, const char *path, bool of_folder),
		   void *ctx, const char **ret_why);
/*
 * A pipe, a device, ...: it may give nothing for ever, or give for ever. Only where a user has
 * named it is it opened.
 */
bool log_path_is_special(const char *path);
