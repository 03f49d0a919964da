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

/* A measure, and what chance leaves of it. */
static void put_measure(json_t **o, const char *name, const struct call_measure *m,
			enum call_basis basis)
{
	static const char *const suffixes[] = {"_expected", "_least"};
	char key[64];

	json_put(o, name, json_real(m->value));
	for (int i = 0; i < 2 && basis; i++) {
		snprintf(key, sizeof(key), "%s%s", name, suffixes[i]);
		json_put(o, key, json_real(i ? m->least : m->expected));
	}
}

static json_t *consistency_json(const struct call_consistency *c)
{
	json_t *o = json_object();

	put_measure(&o, "overlap", &c->overlap, c->basis);
	json_put(&o, "overlap_lowest", json_real(c->lowest_overlap));
	put_measure(&o, "hot", &c->hot, c->basis);
	json_put(&o, "hot_lowest", json_real(c->lowest_hot));
	return o;
}

/* NULL: no memory. */
static json_t *agreement_json(const struct diff_input *in, enum diff_chains kind)
{
	struct call_agreement a;
	json_t *o = diff_chains_agreement(in, kind, &a) ? NULL : json_object();

	if (!o)
		return NULL;
	json_put(&o, "chance_basis", json_string(diff_basis_name(a.basis)));
	json_put(&o, "differs", a.basis ? json_boolean(a.differs) : json_null());
	put_measure(&o, "overlap", &a.overlap, a.basis);
	put_measure(&o, "hot_before_in_after", &a.hot_before, a.basis);
	put_measure(&o, "hot_after_in_before", &a.hot_after, a.basis);
	if (in->before->figures.count > 1)
		json_put(&o, "consistency_before", consistency_json(&a.before));
	if (in->after->figures.count > 1)
		json_put(&o, "consistency_after", consistency_json(&a.after));
	return o;
}

static json_t *chains_json(const struct diff_input *in)
{
	json_t *o = json_object();

	for (int kind = 0; kind < DIFF_CHAINS_COUNT; kind++)
		if (kind < DIFF_CHAINS_RUNNING || diff_chains_are_there(in, kind))
			json_put(&o, diff_chains_name(kind), agreement_json(in, kind));
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
