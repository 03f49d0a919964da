#include "steal/audit.h"

uint64_t steal_wanted_ns(const struct steal_span *s)
{
	return s->busy_ns + s->stolen_ns;
}

uint64_t steal_apparent_ns(const struct steal_span *s, const struct steal_use *u,
			   enum steal_method m)
{
	if (!s->cpu_has_steal)
		return u->cpu_ns + u->stolen_ns[m];
	/* The two counters are not read at the same moment. */
	return u->cpu_ns > u->stolen_ns[m] ? u->cpu_ns : u->stolen_ns[m];
}

uint64_t steal_corrected_ns(const struct steal_span *s, const struct steal_use *u,
			    enum steal_method m)
{
	return steal_apparent_ns(s, u, m) - u->stolen_ns[m];
}

bool steal_passed(uint64_t stolen_ns, uint64_t wanted_ns, uint64_t ppm, uint64_t doubt_ns)
{
	if (stolen_ns <= doubt_ns)
		return false;
	return (unsigned __int128)(stolen_ns - doubt_ns) * 1000000 >
	       (unsigned __int128)wanted_ns * ppm;
}

uint64_t steal_doubt_ns(const struct steal_span *s)
{
	uint64_t doubt_ns = 0;

	if (s->resolution_ns <= 1)
		return 0;
	for (size_t i = 0; i < s->cpu_count; i++)
		doubt_ns += s->cpus[i].stolen_ns ? s->resolution_ns : 0;
	return doubt_ns;
}
