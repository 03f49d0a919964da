#include "report/flame/profile_head.h"

#include "analyze/registry/analysis.h"
#include "base/version.h"
#include "log/format/header_fields.h"
#include "report/protobuf/profile_format.h"
#include "session/session_log.h"

void profile_head_set(struct profile_head *head, const struct session_log *log)
{
	uint64_t start_ns = header_number(log->header, NULL, "start_mono_ns"), from_ns;
	struct analysis_facts facts;

	analysis_facts(log->analysis, &facts);
	from_ns = facts.first_ns > start_ns ? facts.first_ns - start_ns : 0;
	head->time_ns = header_number(log->header, NULL, "start_wall_ns") + from_ns;
	head->duration_ns = facts.last_ns - facts.first_ns;
	head->process = header_text(log->header, "jvm", "command");
	head->pid = header_number(log->header, "jvm", "pid");
	head->spoor = SPOOR_VERSION;
}
