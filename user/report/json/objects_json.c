#include <errno.h>

#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/json/findings_json.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/objects_report.h"

static void put(json_t **o, const char *key, uint64_t n)
{
	json_put(o, key, json_integer((json_int_t)n));
}

static json_t *head_json(const struct objects_input *in)
{
	static const char *const ends[] = {
		[OBJECT_END_NONE] = "missing",
		[OBJECT_END_ENDED] = "ended",
		[OBJECT_END_KILLED] = "killed",
		[OBJECT_END_LEFT] = "left",
		[OBJECT_END_OFF] = "off",
	};
	const struct object_sums *s = object_replay_sums(in->replay);
	json_t *o = json_object();

	json_put(&o, "by", json_string(objects_by_names[in->by]));
	put(&o, "objects", s->count);
	put(&o, "bytes", s->bytes);
	put(&o, "left_out", s->left_out);
	put(&o, "left_out_bytes", s->left_out_bytes);
	put(&o, "at_edge", s->at_edge);
	put(&o, "at_edge_bytes", s->at_edge_bytes);
	put(&o, "carried", s->carried);
	put(&o, "carried_bytes", s->carried_bytes);
	put(&o, "found", s->found);
	put(&o, "found_bytes", s->found_bytes);
	json_put(&o, "survivors_known", json_boolean(objects_has_survivors(in)));
	put(&o, "moves", s->moves);
	put(&o, "unknown_moves", s->unknown_moves);
	put(&o, "unknown_class", s->unknown_class);
	put(&o, "no_place", s->no_place);
	put(&o, "tlabs", s->chains);
	put(&o, "tlabs_wrong", s->chains_wrong);
	put(&o, "checked", s->checked);
	put(&o, "checked_wrong", s->checked_wrong);
	put(&o, "overwritten", s->over);
	put(&o, "gaps", s->gaps);
	put(&o, "gap_bytes", s->gap_bytes);
	put(&o, "lost_bytes", s->lost_bytes);
	put(&o, "incomplete_collections", s->incomplete);
	json_put(&o, "incomplete_at_end", json_boolean(s->incomplete_now));
	put(&o, "switched_again", s->rings_again);
	put(&o, "unrecorded_ns", s->unrecorded_ns);
	put(&o, "forgotten", s->forgotten);
	put(&o, "uncertain_deaths", s->uncertain);
	put(&o, "holes", s->holes);
	put(&o, "bad_words", s->bad_words);
	put(&o, "lost_names", s->lost_names);
	put(&o, "refused", s->refused);
	put(&o, "wait_ns", s->wait_ns);
	put(&o, "log_bytes", in->log_bytes);
	json_put(&o, "damaged", json_boolean(in->damaged));
	json_put(&o, "end", json_string(ends[s->end]));
	return o;
}

int report_objects_json(const struct objects_input *in, FILE *out)
{
	json_t *o = head_json(in);
	int err;

	json_put(&o, "rows", findings_take_json(objects_section(in)));
	err = o ? print_json_value(out, o, JSON_COMPACT) : -ENOMEM;
	json_decref(o);
	fputc('\n', out);
	return err && !ferror(out) ? -ENOMEM : 0;
}
