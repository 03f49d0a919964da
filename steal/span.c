#include "steal/audit.h"

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

/* Of stolen_ns of all CPUs. */
static uint64_t doubt_of(const struct steal_span *s)
{
	uint64_t doubt_ns = 0;

	if (s->resolution_ns <= 1)
		return 0;
	for (size_t i = 0; i < s->cpu_count; i++)
		doubt_ns += s->cpus[i].stolen_ns ? s->resolution_ns : 0;
	return doubt_ns;
}

struct steal_measure steal_measure(const struct steal_span *s, enum steal_method m)
{
	struct steal_measure ret = {.stolen_ns = s->stolen_ns,
				    .wanted_ns = s->busy_ns + s->stolen_ns,
				    .doubt_ns = doubt_of(s)};

	if (!s->of_process)
		return ret;
	ret.stolen_ns = s->threads_ns[m];
	ret.wanted_ns = 0;
	for (size_t i = 0; i < s->thread_count; i++)
		ret.wanted_ns += steal_apparent_ns(s, &s->threads[i], m);
	return ret;
}

bool steal_passed(const struct steal_measure *m, uint64_t ppm)
{
	if (m->stolen_ns <= m->doubt_ns)
		return false;
	return (unsigned __int128)(m->stolen_ns - m->doubt_ns) * 1000000 >
	       (unsigned __int128)m->wanted_ns * ppm;
}
