#include "report/flame/profile_flame.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/version.h"
#include "log/format/text.h"
#include "report/flame/export.h"
#include "report/model/sections/commands/profile_report.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_collapsed(const struct profile_tree *t, uint32_t *chain, FILE *out)
{
	for (uint32_t i = profile_tree_next(t, 0, true); i; i = profile_tree_next(t, i, true)) {
		uint32_t count = profile_chain_of(t, i, chain);

		if (!t->nodes[i].self.ns)
			continue;
		while (count--) {
			const struct profile_frame *f = &t->frames[chain[count]];

			collapsed_put(f->name, out);
			if (f->line)
				fprintf(out, ":%" PRIu64, f->line);
			putc_unlocked(count ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", t->nodes[i].self.ns);
	}
}

int profile_collapsed(const struct profile_input *in, FILE *out)
{
	struct profile_tree t;
	int err = profile_tree_make(in, &t);
	uint32_t *chain = err ? NULL : profile_chain_new(&t);

	if (chain)
		put_collapsed(&t, chain, out);
	else if (!err)
		err = -ENOMEM;
	free(chain);
	profile_tree_free(&t);
	return err;
}

static int put_json(json_t *value, FILE *out)
{
	int err = value ? print_json_value(out, value, JSON_COMPACT | JSON_ENCODE_ANY) : -ENOMEM;

	json_decref(value);
	return err && !ferror(out) ? -ENOMEM : 0;
}

static json_t *frame_json(const struct profile_frame *f)
{
	json_t *o = json_object();

	json_put(&o, "name", json_string(f->name));
	if (*f->file)
		json_put(&o, "file", json_string(f->file));
	if (f->line)
		json_put(&o, "line", json_integer((json_int_t)f->line));
	return o;
}

static void put_chains(const struct profile_tree *t, uint32_t *chain, FILE *out)
{
	const char *joint = "";
	bool more = false;

	fputs("\"samples\":[", out);
	for (uint32_t i = profile_tree_next(t, 0, true); i; i = profile_tree_next(t, i, true)) {
		uint32_t count = profile_chain_of(t, i, chain);

		if (!t->nodes[i].self.ns)
			continue;
		fputs(more ? ",\n" : "", out);
		more = true;
		for (putc_unlocked('[', out); count--;)
			print_text(out, "%" PRIu32 "%s", chain[count], count ? "," : "]");
	}
	fputs("],\n\"weights\":[", out);
	for (uint32_t i = profile_tree_next(t, 0, true); i; i = profile_tree_next(t, i, true)) {
		if (!t->nodes[i].self.ns)
			continue;
		print_text(out, "%s%" PRIu64, joint, t->nodes[i].self.ns);
		joint = ",";
	}
	fputs("]}]}\n", out);
}

int profile_speedscope(const struct profile_input *in, const char *title, FILE *out)
{
	struct profile_tree t;
	int err = profile_tree_make(in, &t);
	uint32_t *chain = err ? NULL : profile_chain_new(&t);

	if (!err && !chain)
		err = -ENOMEM;
	if (!err) {
		fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"spoor " SPOOR_VERSION
		      "\",\"name\":",
		      out);
		title = text_set_add(&t.texts, title, strlen(title));
		err = title ? put_json(json_string(title), out) : -ENOMEM;
		fputs(",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", out);
	}
	for (uint32_t i = 0; i < t.frame_map.count && !err; i++) {
		if (i)
			fputs(",\n", out);
		err = put_json(frame_json(&t.frames[i]), out);
	}
	if (!err) {
		print_json(out,
			   "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":%s,\"unit\":"
			   "\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRIu64 ",",
			   profile_only_running(in) ? "running: where threads were on a CPU"
						    : "where threads were, running or not",
			   t.all.ns);
		put_chains(&t, chain, out);
	}
	free(chain);
	profile_tree_free(&t);
	return err;
}
