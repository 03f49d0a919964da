#include "steal/sources/pidstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pidstat_parse(const char *text, struct pidstat *ret)
{
	/* The name, in parentheses, may hold anything; what follows its last one is regular. */
	const char *name = strchr(text, '('), *rest = strrchr(text, ')');
	struct pidstat s = {0};
	uint64_t user, system;
	size_t length;
	char *end;
	long pid = strtol(text, &end, 10);

	if (!name || !rest || rest < name || pid <= 0 || pid > INT32_MAX || end + 1 != name)
		return -EPROTO;
	if (sscanf(rest + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %" SCNu64 " %*d %" SCNu64,
		   &s.state, &user, &system, &s.threads, &s.start_ticks) != 5)
		return -EPROTO;
	s.pid = (int32_t)pid;
	s.cpu_ticks = user + system;
	length = (size_t)(rest - name - 1);
	if (length >= sizeof(s.comm)) /* kernel threads have longer ones: "kworker/0:1-events" */
		length = sizeof(s.comm) - 1;
	memcpy(s.comm, name + 1, length);
	*ret = s;
	return 0;
}

int schedstat_parse(const char *text, uint64_t *ret_cpu_ns)
{
	uint64_t cpu, wait, turns;

	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &cpu, &wait, &turns) != 3)
		return -EPROTO;
	*ret_cpu_ns = cpu;
	return 0;
}
