/* analyze/stacks/idle_methods.h: methods in which threads wait for new work. */
#pragma once

#include <stdbool.h>

struct log_method;

/* Whether a thread that is blocked in it, or in what it calls, waits for new work: accept, select,
 * receive, and take or poll of a queue. By the JDK's names and those of well-known servers. */
bool idle_method(const struct log_method *m);
