#include "session/session_log.h"

#include <stdio.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"

uint64_t session_log_start(const struct session_log *l)
{
	uint64_t start = header_number(l->header, NULL, "start_mono_ns");
	struct analysis_facts f;

	if (start)
		return start;
	analysis_facts(l->analysis, &f);
	return f.first_ns;
}

uint64_t session_log_duration(const struct session_log *l)
{
	uint64_t start = header_begin_ns(l->header);
	struct analysis_facts f;

	analysis_facts(l->analysis, &f);
	if (l->from_ns > start)
		start = l->from_ns;
	if (!start || start > f.last_ns)
		start = f.first_ns;
	if (l->to_ns && l->to_ns < f.last_ns)
		f.last_ns = l->to_ns; /* definitions can be of later */
	return f.last_ns > start ? f.last_ns - start : 0;
}

void session_log_damage(const struct session_log *l, char *buf, size_t size)
{
	char damaged[FORMAT_MAX], missing[FORMAT_MAX], skipped[FORMAT_MAX];

	snprintf(buf, size,
		 "the log is damaged or cut short: %s damaged and %s missing blocks, %s skipped; "
		 "the intact blocks are reported",
		 count_format(l->stats.blocks_damaged, damaged),
		 count_format(l->stats.blocks_missing, missing),
		 size_format(l->stats.bytes_skipped, skipped));
}
