#include "report/json/by_json.h"

#include <errno.h>

#include "base/text/json_put.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/sections/by_section.h"

/* row is for one group after the other. */
static int groups_write(const struct by_section *b, const struct group *parent,
			struct findings *row, FILE *out)
{
	int err = 0;

	fputc('[', out);
	for (uint32_t i = 0; i < parent->group_count && !err && !ferror(out); i++) {
		fputs(i ? ",{" : "{", out);
		findings_clear(row);
		by_section_group(b, &parent->groups[i], row);
		err = json_members_write(row && !row->err ? findings_row_json(row, 0) : NULL, out);
		fputs(",\"groups\":", out);
		if (!err)
			err = groups_write(b, &parent->groups[i], row, out);
		fputc('}', out);
	}
	fputc(']', out);
	return err;
}

static json_t *total_json(const struct group *root)
{
	static const char *const quantiles[LENGTH_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns",
								"p999_ns"};
	json_t *o = json_pack("{sIsIsI}", "count", (json_int_t)root->count, "blocked_ns",
			      (json_int_t)root->blocked_ns, "idle_ns", (json_int_t)root->idle_ns);

	for (unsigned i = 0; i < LENGTH_QUANTILES && root->count; i++)
		json_put(&o, quantiles[i], json_integer((json_int_t)root->quantile_ns[i]));
	json_put(&o, "after_wait_count", json_integer((json_int_t)root->after_wait_count));
	json_put(&o, "after_wait_ns", json_integer((json_int_t)root->after_wait_ns));
	return o;
}

int by_json_members(const struct by_section *b, FILE *out)
{
	const struct group *root = &b->root;
	json_t *o = json_object(), *aspects = json_array();
	struct findings *row = by_section_groups(b);
	int err = row ? 0 : -ENOMEM;

	for (unsigned i = 0; i < b->depth; i++)
		json_add(&aspects, json_string(aspect_get(b->by[i])->name));
	json_put(&o, "by", aspects);
	if (b->section.in->where)
		json_put(&o, "where", json_string(b->section.in->where));
	json_put(&o, "total", total_json(root));
	if (err)
		json_decref(o);
	else
		err = json_members_write(o, out);
	if (!err) {
		fputs(",\"groups\":", out);
		err = groups_write(b, root, row, out);
	}
	findings_free(row);
	return err;
}

int report_by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out)
{
	struct by_section b;
	int err = by_section_open(in, by, depth, &b);

	if (err)
		return err;
	fputc('{', out);
	err = by_json_members(&b, out);
	fputs("}\n", out);
	by_section_close(&b);
	return err;
}
