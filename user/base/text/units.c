#include "base/text/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct unit {
	const char *name;
	double factor;
};

static int parse(const char *text, const struct unit *units, double limit, uint64_t *ret)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || !isfinite(value))
		return -EINVAL;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		value *= units->factor;
		if (value > limit)
			return -ERANGE;
		*ret = (uint64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

int duration_parse(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {{"", 1e9},     {"ns", 1},     {"us", 1e3},
					    {"ms", 1e6},   {"s", 1e9},    {"m", 60e9},
					    {"min", 60e9}, {"h", 3600e9}, {NULL, 0}};

	return parse(text, units, 9e18, ret_ns);
}

int size_parse(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {{"", 1},
					    {"b", 1},
					    {"k", 1024.0},
					    {"kb", 1024.0},
					    {"kib", 1024.0},
					    {"m", 1048576.0},
					    {"mb", 1048576.0},
					    {"mib", 1048576.0},
					    {"g", 1073741824.0},
					    {"gb", 1073741824.0},
					    {"gib", 1073741824.0},
					    {NULL, 0}};

	return parse(text, units, 9e18, ret_bytes);
}

static char *format(double value, const struct unit *units, char *buf)
{
	while (units[1].name && value >= units[1].factor * 0.9995)
		units++;
	value /= units->factor;
	snprintf(buf, UNITS_TEXT_MAX, "%.*f %s",
		 units->factor == 1 || value >= 99.95 ? 0
		 : value >= 9.995                     ? 1
						      : 2,
		 value, units->name);
	return buf;
}

char *duration_format(uint64_t ns, char buf[UNITS_TEXT_MAX])
{
	static const struct unit units[] = {{"ns", 1},  {"us", 1e3},   {"ms", 1e6},
					    {"s", 1e9}, {"min", 60e9}, {NULL, 0}};
	/* Up to ten minutes stay in seconds. */
	static const struct unit seconds[] = {{"s", 1e9}, {NULL, 0}};

	if (ns >= 60 * NS_PER_S && ns < 600 * NS_PER_S)
		return format((double)ns, seconds, buf);
	return format((double)ns, units, buf);
}

char *size_format(uint64_t bytes, char buf[UNITS_TEXT_MAX])
{
	static const struct unit units[] = {
		{"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {NULL, 0}};

	return format((double)bytes, units, buf);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_tick_ns(void)
{
	struct timespec tick;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &tick)
		       ? 0
		       : (uint64_t)tick.tv_sec * NS_PER_S + (uint64_t)tick.tv_nsec;
}

uint64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
