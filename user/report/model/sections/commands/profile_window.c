#include "report/model/sections/commands/profile_window.h"

#include "analyze/profile/profile.h"
#include "log/format/header_fields.h"
#include "session/time_range.h"

void profile_window_set(struct profile_options *o, const json_t *header, const struct range *r)
{
	uint64_t begin_ns = header_begin_ns(header);

	*o = (struct profile_options){
		.from_ns = r->from ? r->from_ns : 0,
		.to_ns = r->to ? r->to_ns : UINT64_MAX,
		/* A later part of a recording does not begin at 0, nor what is read of one. */
		.from_begin = begin_ns <= header_number(header, NULL, "start_mono_ns") &&
			      (!r->from || r->read_from_ns <= begin_ns),
	};
}
