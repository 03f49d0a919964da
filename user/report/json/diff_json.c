#include <errno.h>

#include "base/text/json_put.h"
#include "base/text/strbuf.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/diff/diff_report.h"

static json_t *sentences_json(const struct diff_input *in)
{
	static void (*const all[])(const struct diff_input *,
				   struct strbuf *) = {diff_sentence_blocked, diff_sentence_other};
	json_t *o = json_array();

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct strbuf text = {0};

		all[i](in, &text);
		if (text.used || text.err)
			json_add(&o, text.err ? NULL : json_string(strbuf_text(&text)));
		strbuf_free(&text);
	}
	return o;
}

static json_t *likeness_json(const struct diff_input *in, bool owners)
{
	struct call_likeness l = diff_likeness(in, owners);
	json_t *o = json_object();

	json_put(&o, "overlap", json_real(l.overlap));
	json_put(&o, "hot_before_in_after", json_real(l.hot_before));
	json_put(&o, "hot_after_in_before", json_real(l.hot_after));
	return o;
}

static json_t *chains_json(const struct diff_input *in)
{
	json_t *o = json_object();

	json_put(&o, "waiters", likeness_json(in, false));
	json_put(&o, "owners", likeness_json(in, true));
	return o;
}

int report_diff_json(const struct diff_input *in, FILE *out)
{
	json_t *o = json_object();
	unsigned hidden;
	int err;

	json_put(&o, "per", json_string(diff_per_name(in->comparison->per)));
	json_put(&o, "logs", findings_take_json(diff_section_logs(in)));
	json_put(&o, "verdict", json_string(diff_verdict_name(diff_verdict(in))));
	json_put(&o, "sentences", sentences_json(in));
	json_put(&o, "call_chains", chains_json(in));
	for (int part = 0; part < MEASURE_PART_COUNT; part++)
		json_put(&o, diff_part_name(part),
			 findings_take_json(diff_section_rows(in, part, &hidden)));
	json_put(&o, "not_known", findings_take_json(diff_section_not_known(in)));
	err = o ? json_dump_write(o, out) : -ENOMEM;
	json_decref(o);
	return err;
}
