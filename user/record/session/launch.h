/* record/session/launch.h: starts a command and finds the JVM in it or among its descendants. */
#pragma once

#include <sys/types.h>

struct launch_user;

/* The user called name, or with that number. -ENOENT: there is none. Freed with free(). */
int launch_user_find(const char *name, struct launch_user **ret);
uid_t launch_user_id(const struct launch_user *user);

/*
 * Starts argv with the caller's signal mask and handlers reset; as user, if that is not NULL: with
 * all of the user's groups, and HOME, USER and LOGNAME as they are for the user. Negative errno of
 * fork, exec, or of becoming the user (-EPERM).
 */
int launch_start(char *const argv[], const struct launch_user *user, pid_t *ret);

/*
 * Looks for a process with a libjvm.so: root itself or a descendant, the nearest first. 1: found;
 * 0: none yet. Called again and again until the command has ended.
 */
int launch_find_jvm(pid_t root, pid_t *ret);
