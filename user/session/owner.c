/*
 * Who makes up a log chooses every byte of it; who runs spoor as root on a file in /tmp may think
 * that the file is root's own. perf asks the same question of its files. It is asked before
 * anything of the file is read: whoever exchanges the file after that gains no more than if there
 * were no question, and what reads logs has no rights to give away.
 */
#include "session/owner.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "log/read/paths.h"

static int check(void *ctx, const char *path, bool of_folder)
{
	struct stat st;

	(void)ctx;
	(void)of_folder;
	if (!strcmp(path, "-") || stat(path, &st) || !st.st_uid || st.st_uid == geteuid())
		return 0;
	msg_error("%s: it belongs to user %u, neither to you nor to root, who may have made it up; "
		  "--force reads it all the same",
		  path, st.st_uid);
	return -EPERM;
}

int owner_check(const char *arg)
{
	const char *why;

	return log_paths_each(arg, check, NULL, &why) == -EPERM ? -EPERM : 0;
}
