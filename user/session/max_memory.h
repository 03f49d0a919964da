/* session/max_memory.h: how much memory a command that reads logs may use. */
#pragma once

#include <stdint.h>

/* What holds without the option. To be called before the command runs. */
void max_memory_default(void);
/* From now on. -EINVAL: less than 32 MiB. */
int max_memory_set(uint64_t bytes);

/* strerror(-err), and what a user can do where there is no memory. Static. */
const char *max_memory_error(int err);
