/*
 * The file format of https://www.speedscope.app, as its file-format-schema.json has it: frames,
 * shared by all profiles, and "sampled" profiles of chains and weights. It is written piece by
 * piece: one JSON value of all would be many times the size of the text.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "base/version.h"
#include "log/format/text.h"
#include "report/flame/export_tree.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static const char *const profile_names[] = {
	[EXPORT_WAITER] = "waiters: where threads were blocked",
	[EXPORT_OWNER] = "owners: where the holders of the locks were meanwhile",
	[EXPORT_BOTH] = "waiters, and on top of each the owners it was blocked by",
};
_Static_assert(sizeof(profile_names) / sizeof(*profile_names) == EXPORT_SIDE_COUNT, "every side");

/*
 * Takes over value; NULL is that there was no memory for it. Never json_dumps() in spoor: jansson
 * 2.14 does not notice when its buffer cannot grow for an object's key.
 */
static int put_json(json_t *value, FILE *out)
{
	int err = value ? print_json_value(out, value, JSON_COMPACT | JSON_ENCODE_ANY) : -1;

	json_decref(value);
	return err && !ferror(out) ? -ENOMEM : 0;
}

static json_t *frame_json(const struct export_frame *f)
{
	json_t *o = json_pack("{ss++++}", "name", f->before, f->outer, f->joint, f->name, f->after);
	bool failed = !o;

	if (*f->file)
		failed |= json_object_set_new(o, "file", json_string(f->file)) != 0;
	if (f->line)
		failed |= json_object_set_new(o, "line", json_integer((json_int_t)f->line)) != 0;
	if (!failed)
		return o;
	json_decref(o);
	return NULL;
}

static int put_frames(const struct export_frames *frames, FILE *out)
{
	int err = 0;

	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < frames->map.count && !err; i++) {
		if (i)
			fputs(",\n", out);
		err = put_json(frame_json(&frames->rows[i]), out);
	}
	fputs("]}", out);
	return err;
}

static int put_sample(struct export_tree *tree, uint32_t leaf, FILE *out)
{
	const uint32_t *chain;
	uint32_t count;
	int err = export_tree_chain(tree, leaf, &chain, &count);

	if (err)
		return err;
	putc_unlocked('[', out);
	for (uint32_t i = count; i-- > 0;) {
		fprintf(out, "%" PRIu32, chain[i]);
		putc_unlocked(i ? ',' : ']', out);
	}
	return 0;
}

static int put_profile(struct export_tree *tree, enum export_side side, FILE *out)
{
	int err = 0;

	print_json(out,
		   "{\"type\":\"sampled\",\"name\":%s,\"unit\":\"nanoseconds\",\"startValue\":0,"
		   "\"endValue\":%" PRIu64 ",\"samples\":[",
		   profile_names[side], tree->nodes[0].total_ns);
	for (uint32_t i = 0; i < tree->leaf_count && !err && !ferror_unlocked(out); i++) {
		if (i)
			fputs(",\n", out);
		err = put_sample(tree, tree->leaves[i], out);
	}
	fputs("],\n\"weights\":[", out);
	for (uint32_t i = 0; i < tree->leaf_count; i++) {
		if (i)
			putc_unlocked(',', out);
		fprintf(out, "%" PRIu64, tree->nodes[tree->leaves[i]].self_ns);
	}
	fputs("]}", out);
	return err;
}

static int put_file(struct export_frames *frames, struct export_tree *trees,
		    const enum export_side *sides, unsigned count, const char *title, FILE *out)
{
	const char *name = text_set_add(&frames->texts, title, strlen(title));
	int err;

	if (!name)
		return -ENOMEM;
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"spoor " SPOOR_VERSION "\",\"name\":",
	      out);
	err = put_json(json_string(name), out);
	fputs(",\"activeProfileIndex\":0,\n", out);
	if (!err)
		err = put_frames(frames, out);
	fputs(",\n\"profiles\":[", out);
	for (unsigned i = 0; i < count && !err; i++) {
		if (i)
			fputs(",\n", out);
		err = put_profile(&trees[i], sides[i], out);
	}
	fputs("]}\n", out);
	return err;
}

int export_speedscope(const struct export_input *in, const enum export_side *sides, unsigned count,
		      const char *title, FILE *out)
{
	struct export_tree trees[EXPORT_SIDE_COUNT] = {0};
	struct export_frames frames;
	int err = export_frames_init(&frames, in);

	for (unsigned i = 0; i < count && !err; i++)
		err = export_tree_init(&trees[i], &frames, sides[i]);
	if (!err)
		err = put_file(&frames, trees, sides, count, title, out);
	for (unsigned i = 0; i < count; i++)
		export_tree_free(&trees[i]);
	export_frames_free(&frames);
	return err;
}
