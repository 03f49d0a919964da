/* cmd/max_memory.h: how much memory a command that reads logs may use. */
#pragma once

#include <stdbool.h>

struct argp_state;

enum { MAX_MEMORY_KEY = 0x5180 };

/* A row of a command's table of options. */
#define MAX_MEMORY_OPTION                                                                          \
	{                                                                                          \
		"max-memory", MAX_MEMORY_KEY, "SIZE", 0,                                           \
			"Give up rather than use more memory than SIZE; if not given, 4G, or "     \
			"half of the machine's if that is less",                                   \
			0                                                                          \
	}

/* What holds without the option. To be called before the command runs. */
void max_memory_default(void);
/* For a parser of options. True: the key was that of the row above, and holds from now on. */
bool max_memory_option(int key, const char *arg, struct argp_state *state);

/* strerror(-err), and what a user can do where there is no memory. Static. */
const char *max_memory_error(int err);
