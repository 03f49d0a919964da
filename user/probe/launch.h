/* probe/launch.h: starts a command and finds the JVM in it or among its descendants. */
#pragma once

#include <sys/types.h>

/* Starts argv with the caller's signal mask and handlers reset. Negative errno of fork or exec. */
int launch_start(char *const argv[], pid_t *ret);

/*
 * Looks for a process with a libjvm.so: root itself or a descendant, the nearest first. 1: found;
 * 0: none yet. Called again and again until the command has ended.
 */
int launch_find_jvm(pid_t root, pid_t *ret);
