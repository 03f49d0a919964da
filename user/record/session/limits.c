#include "record/session/limits.h"

#include <stdio.h>
#include <sys/resource.h>

void limits_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= files.rlim_max)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files); /* if not, it is as it was */
}

void limits_files_why(char *why, size_t size)
{
	struct rlimit files = {0};

	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(why, size,
		 "this process may have %llu files open at most, and a recording needs about %d: "
		 "raise that limit (ulimit -n 1024, or LimitNOFILE= of a systemd unit)",
		 (unsigned long long)files.rlim_cur, LIMITS_FILES);
}
