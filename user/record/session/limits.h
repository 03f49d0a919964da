/* record/session/limits.h: how many files this process may have open. */
#pragma once

#include <stddef.h>

/* What a recording opens, about: programs, maps, probes, mappings of the JVM. */
#define LIMITS_FILES 100

/* As many as this process may allow itself. */
void limits_raise_files(void);
/* Says that they were not enough (-EMFILE). */
void limits_files_why(char *why, size_t size);
