#include "cmd/parse.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>

unsigned parse_top(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || !n || n > 1000000)
		argp_error(state, "--top wants a number from 1 to 1000000, not '%s'", arg);
	return (unsigned)n;
}
