#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "report/steal/steal_formats.h"

/* A UTF-8 name may be cut in its last character; only whole ones are text. */
char *steal_comm(const char comm[STEAL_COMM_MAX], char buf[STEAL_COMM_MAX])
{
	char *to = buf;

	for (const unsigned char *c = (const unsigned char *)comm; *c;) {
		size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 0;
		bool good = length && *c >= ' ' && *c != 127;

		for (size_t i = 1; good && i < length; i++)
			good = (c[i] & 0xc0) == 0x80;
		/* Of three bytes, some are too long for what they say, and some are halves of
		 * UTF-16 pairs. */
		if (good && length == 3)
			good = !(c[0] == 0xe0 && c[1] < 0xa0) && !(c[0] == 0xed && c[1] >= 0xa0);
		if (good)
			memcpy(to, c, length);
		else
			*to = '?';
		to += good ? length : 1;
		c += good ? length : 1;
	}
	*to = 0;
	return buf;
}

const char *steal_use_kind(const struct steal_use *u)
{
	if (u->tid == STEAL_TID_FOLDED)
		return "folded";
	if (!u->tid)
		return u->pid ? "ended" : "unseen";
	return "thread";
}

char *steal_use_name(const struct steal_use *u, char buf[STEAL_NAME_MAX])
{
	char comm[STEAL_COMM_MAX];

	steal_comm(u->comm, comm);
	if (u->tid == STEAL_TID_FOLDED)
		snprintf(buf, STEAL_NAME_MAX, "(threads that have ended)");
	else if (!u->tid && u->pid)
		snprintf(buf, STEAL_NAME_MAX, "(ended threads of %d %s)", u->pid, comm);
	else if (!u->tid)
		snprintf(buf, STEAL_NAME_MAX, "(not told apart)");
	else if (u->tid == u->pid)
		snprintf(buf, STEAL_NAME_MAX, "%s (%d)", comm, u->tid);
	else
		snprintf(buf, STEAL_NAME_MAX, "%s (%d of %d)", comm, u->tid, u->pid);
	return buf;
}

const char *steal_method_name(enum steal_method m)
{
	return m == STEAL_EXACT ? "exact" : "proportional";
}

const char *steal_fault_name(enum steal_fault f)
{
	static const char *const names[STEAL_FAULT_COUNT] = {
		[STEAL_WRAPPED] = "wrapped",     [STEAL_DECREASED] = "went_back",
		[STEAL_JUMPED] = "jumped",       [STEAL_CPU_OFFLINE] = "cpu_went",
		[STEAL_CPU_ONLINE] = "cpu_came", [STEAL_RESUMED] = "resumed",
		[STEAL_LATE] = "late",           [STEAL_EXCEEDED] = "exceeded",
		[STEAL_TWICE] = "twice",
	};

	return names[f];
}

char *steal_clock(const struct steal_report *r, uint64_t ns, char buf[STEAL_CLOCK_MAX])
{
	uint64_t wall_ns = ns + r->source->wall_ns;
	time_t s = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	if (!r->source->wall_ns || !localtime_r(&s, &tm)) {
		snprintf(buf, STEAL_CLOCK_MAX, "%.3f s", (double)ns / 1e9);
		return buf;
	}
	strftime(buf, STEAL_CLOCK_MAX, "%H:%M:%S", &tm);
	if (r->interval_ns % NS_PER_S)
		buffer_add(buf, STEAL_CLOCK_MAX, ".%03u",
			   (unsigned)(wall_ns % NS_PER_S / NS_PER_MS));
	return buf;
}
