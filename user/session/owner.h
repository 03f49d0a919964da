/* session/owner.h: whose files a command reads. */
#pragma once

#include <stdbool.h>

/*
 * arg: as log_paths_each() takes it. 0 if all that it stands for belongs to this user or to root,
 * or cannot be looked at, which opening it will say. -EPERM: one belongs to somebody else, and that
 * has been said.
 */
int owner_check(const char *arg);
