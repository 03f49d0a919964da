#include "session/holes.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "log/read/set.h"

#define CLOCK_MAX 64

/* 0: the log does not say when it was. */
static uint64_t wall_ns(const json_t *header, uint64_t ns)
{
	uint64_t wall = header_number(header, NULL, "start_wall_ns");

	return wall && ns ? wall + (ns - header_number(header, NULL, "start_mono_ns")) : 0;
}

static const char *clock_format(const json_t *header, uint64_t ns, char buf[CLOCK_MAX])
{
	uint64_t wall = wall_ns(header, ns);
	time_t s = (time_t)(wall / NS_PER_S);
	struct tm tm;

	if (wall && gmtime_r(&s, &tm))
		strftime(buf, CLOCK_MAX, "%Y-%m-%d %H:%M:%S UTC", &tm);
	else
		snprintf(buf, CLOCK_MAX, "%" PRIu64 " ns", ns);
	return buf;
}

static void hole_text(const json_t *header, const struct log_set_hole *hole,
		      char buf[HOLES_TEXT_MAX])
{
	char from[CLOCK_MAX], to[CLOCK_MAX], duration[FORMAT_MAX], numbers[64];

	if (hole->first == hole->last)
		snprintf(numbers, sizeof(numbers), "part %" PRIu64 " is", hole->first);
	else
		snprintf(numbers, sizeof(numbers), "parts %" PRIu64 " to %" PRIu64 " are",
			 hole->first, hole->last);
	duration_format(hole->to_ns > hole->from_ns ? hole->to_ns - hole->from_ns : 0, duration);
	snprintf(buf, HOLES_TEXT_MAX, "%s not there: %s to %s (%s)", numbers,
		 clock_format(header, hole->from_ns, from), clock_format(header, hole->to_ns, to),
		 duration);
}

static uint64_t last_part(const struct log_set *set)
{
	return log_set_file(set, log_set_count(set) - 1)->part;
}

bool holes_text(const json_t *header, const struct log_set *set, bool ended, unsigned n,
		char buf[HOLES_TEXT_MAX])
{
	const struct log_set_hole *holes;
	unsigned count = set ? log_set_holes(set, &holes) : 0;

	if (n < count) {
		hole_text(header, &holes[n], buf);
		return true;
	}
	if (n > count || !set || ended || !log_set_goes_on(set))
		return false;
	snprintf(buf, HOLES_TEXT_MAX,
		 "the recording goes on after part %" PRIu64 ": what came then is not there",
		 last_part(set));
	return true;
}

void holes_json(const json_t *header, const struct log_set *set, bool ended, json_t **o)
{
	json_t *parts = json_array(), *missing = json_array();
	const struct log_set_hole *holes;
	unsigned count = set ? log_set_holes(set, &holes) : 0;

	for (unsigned i = 0; set && i < log_set_count(set); i++)
		json_add(&parts, json_integer((json_int_t)log_set_file(set, i)->part));
	for (unsigned i = 0; i < count; i++)
		json_add(&missing,
			 json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "first",
				   (json_int_t)holes[i].first, "last", (json_int_t)holes[i].last,
				   "from_ns", (json_int_t)holes[i].from_ns, "to_ns",
				   (json_int_t)holes[i].to_ns, "from_wall_ns",
				   (json_int_t)wall_ns(header, holes[i].from_ns), "to_wall_ns",
				   (json_int_t)wall_ns(header, holes[i].to_ns)));
	if (set && last_part(set))
		json_put(o, "parts",
			 json_pack("{s:O, s:O, s:b}", "parts", parts, "missing", missing, "goes_on",
				   (int)(!ended && log_set_goes_on(set))));
	json_decref(parts);
	json_decref(missing);
}

uint64_t holes_missing_ns(const struct analysis *a, uint64_t from_ns, uint64_t to_ns)
{
	struct analysis_facts f;
	uint64_t sum_ns = 0;

	analysis_facts(a, &f);
	for (uint32_t i = 0; i < f.hole_count; i++) {
		uint64_t from = f.holes[i].from_ns > from_ns ? f.holes[i].from_ns : from_ns;
		uint64_t to = f.holes[i].to_ns < to_ns ? f.holes[i].to_ns : to_ns;

		sum_ns += to > from ? to - from : 0;
	}
	return sum_ns;
}

bool holes_missing_text(const struct analysis *a, char buf[HOLES_TEXT_MAX])
{
	char duration[FORMAT_MAX];
	struct analysis_facts f;

	analysis_facts(a, &f);
	if (!f.hole_count)
		return false;
	snprintf(buf, HOLES_TEXT_MAX,
		 "%s, in %" PRIu32 " hole%s of the log, is in no sum; what was open at an end of "
		 "one counts up to there as not ended, or from there on",
		 f.missing_ns ? time_format(f.missing_ns, duration) : "a time that is not known",
		 f.hole_count, f.hole_count == 1 ? "" : "s");
	return true;
}

void holes_missing_json(const struct analysis *a, json_t **o)
{
	struct analysis_facts f;
	json_t *holes;

	analysis_facts(a, &f);
	if (!f.hole_count)
		return;
	holes = json_array();
	for (uint32_t i = 0; i < f.hole_count; i++)
		json_add(&holes, json_pack("{s:I, s:I}", "from_ns", (json_int_t)f.holes[i].from_ns,
					   "to_ns", (json_int_t)f.holes[i].to_ns));
	json_put(o, "missing_ns", json_integer((json_int_t)f.missing_ns));
	json_put(o, "holes", holes);
}
