#include "base/text/format.h"

#include <stdio.h>
#include <string.h>

char *count_format(uint64_t count, char buf[FORMAT_MAX])
{
	char digits[FORMAT_MAX];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = buf;

	for (int i = 0; i < length; i++) {
		if (i && !((length - i) % 3))
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

static char *share(uint64_t part, uint64_t whole, int digits, double least, char *buf)
{
	double pct = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		strcpy(buf, "-");
	else if (!part || part == whole)
		strcpy(buf, part ? "100 %" : "0 %");
	else if (pct < least)
		snprintf(buf, FORMAT_MAX, "<%.*f %%", digits, least);
	else if (pct > 100 - least && pct < 100) /* not all: never rounded up to all */
		snprintf(buf, FORMAT_MAX, ">%.*f %%", digits, 100 - least);
	else
		snprintf(buf, FORMAT_MAX, "%.*f %%", digits, pct);
	return buf;
}

char *share_format(uint64_t part, uint64_t whole, char buf[FORMAT_MAX])
{
	return share(part, whole, 1, 0.1, buf);
}

char *share_round(uint64_t part, uint64_t whole, char buf[FORMAT_MAX])
{
	return share(part, whole, 0, 1, buf);
}

char *mean_format(uint64_t total_ns, uint64_t count, char buf[FORMAT_MAX])
{
	return count ? duration_format(total_ns / count, buf) : strcpy(buf, "-");
}

char *time_format(uint64_t ns, char buf[FORMAT_MAX])
{
	return ns ? duration_format(ns, buf) : strcpy(buf, "0");
}
