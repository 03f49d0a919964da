#include "session/time_range.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"

#define SINCE_MOST_NS (3660 * 24 * 3600 * NS_PER_S)

/* "10s", "1m30s": since the recording began. */
static int parse_since(const char *text, uint64_t *ret)
{
	uint64_t sum = 0, part;
	char one[32];

	if (!*text)
		return -EINVAL;
	while (*text) {
		size_t length = strspn(text, "0123456789.");

		while (isalpha((unsigned char)text[length]))
			length++;
		if (!length || length >= sizeof(one))
			return -EINVAL;
		memcpy(one, text, length);
		one[length] = '\0';
		if (duration_parse(one, &part) || part > SINCE_MOST_NS)
			return -EINVAL;
		sum += part;
		if (sum > SINCE_MOST_NS)
			return -EINVAL;
		text += length;
	}
	*ret = sum;
	return 0;
}

/* The day, if it is not given, is that of the recording's begin. In ns since 1970 UTC. */
static int parse_moment(const char *text, uint64_t start_wall_ns, uint64_t *ret)
{
	time_t start = (time_t)(start_wall_ns / NS_PER_S), t;
	bool utc = *text && text[strlen(text) - 1] == 'Z';
	bool dated = strchr(text, 'T') != NULL;
	struct tm tm;
	char *end;

	utc ? gmtime_r(&start, &tm) : localtime_r(&start, &tm);
	end = strptime(text, dated ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &tm);
	if (!end || strcmp(end, utc ? "Z" : ""))
		return -EINVAL;
	tm.tm_isdst = -1;
	t = utc ? timegm(&tm) : mktime(&tm);
	if (!dated && t < start)
		t += 24 * 3600; /* past midnight */
	if (t < 0)
		return -EINVAL;
	*ret = (uint64_t)t * NS_PER_S;
	return 0;
}

static const char *end_name(const struct range *r)
{
	return r->until ? "until" : "to";
}

int range_time_check(const char *text)
{
	uint64_t ns;

	return parse_since(text, &ns) ? parse_moment(text, 0, &ns) : 0;
}

static uint64_t resolve(const char *text, const json_t *header)
{
	uint64_t mono = header_number(header, NULL, "start_mono_ns");
	uint64_t wall = header_number(header, NULL, "start_wall_ns");
	uint64_t ns = 0;

	if (!parse_since(text, &ns))
		return mono + ns;
	parse_moment(text, wall, &ns);
	return ns > wall ? mono + (ns - wall) : mono - (wall - ns < mono ? wall - ns : mono);
}

/* A recorder that has too little of a CPU is late with its samples. */
static uint64_t margin(const struct range *r, const json_t *header)
{
	uint64_t sample_ns = header_number(header, "record", "window_ns");

	if (!r->samples || sample_ns > SINCE_MOST_NS)
		return 0;
	return r->samples * (sample_ns ? sample_ns : NS_PER_S) + NS_PER_S;
}

int range_resolve(struct range *r, const json_t *header)
{
	uint64_t more_ns = margin(r, header);

	r->from_ns = r->from ? resolve(r->from, header) : 0;
	r->to_ns = r->to ? resolve(r->to, header) : UINT64_MAX;
	r->read_from_ns = r->from_ns > more_ns ? r->from_ns - more_ns : 0;
	r->read_to_ns = r->to_ns < UINT64_MAX - more_ns ? r->to_ns + more_ns : UINT64_MAX;
	if ((r->from ? r->from_ns : header_number(header, NULL, "start_mono_ns")) < r->to_ns)
		return 0;
	msg_error("nothing is between --from %s and --%s %s", r->from ? r->from : "0s", end_name(r),
		  r->to ? r->to : "the end");
	return -EINVAL;
}
