/* jvm/flag/cgroup.h: which cgroup a process is in, and the way out of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A cgroup file system that is mounted here. Lent for the call: procs is the path of the
 * cgroup.procs at its top, which for a process in a cgroup namespace is the namespace's.
 */
typedef void (*cgroup_take)(void *ctx, const char *procs, bool unified);

/* Calls take for each cgroup file system (version 2 and 1) that the text of /proc/PID/mountinfo has
 * mounted from its top; line by line, in its order. */
void cgroup_tops_each(const char *mountinfo, cgroup_take take, void *ctx);

/*
 * Moves the calling process to the top of each cgroup hierarchy, so that whatever is done to the
 * cgroup it was started in (cgroup.kill, a freeze, a limit) does not reach it. 0: it is at the top
 * of all of them now; or the first error: -EACCES, -EROFS, -ENOENT (none is mounted here).
 */
int cgroup_leave(void);

/* Whether cgroup_leave() could work, without doing it: 0, or its error. */
int cgroup_may_leave(void);

/* Whether the top that is seen from here is that of a container's namespace only. */
bool cgroup_is_namespaced(void);
