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

#include "base/version.h"
#include "log/text.h"
#include "report/export_tree.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static const char *const profile_names[] = {
	[EXPORT_WAITER] = "waiters: where threads were blocked",
	[EXPORT_OWNER] = "owners: where the holders of the locks were meanwhile",
	[EXPORT_BOTH] = "waiters, and on top of each the owners it was blocked by",
};
_Static_assert(sizeof(profile_names) / sizeof(*profile_names) == EXPORT_SIDE_COUNT, "every side");

/*
 * Takes over value; NULL is that there was no memory for it. Not by json_dumps(): jansson 2.14 does
 * not notice when its buffer cannot grow for an object's key.
 */
static int put_json(json_t *value, FILE *out)
{
	int err = value ? json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY) : -1;

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
	for (uint32_t i = 0; i < frames->places.count && !err; i++) {
		if (i)
			fputs(",\n", out);
		err = put_json(frame_json(&frames->rows[i]), out);
	}
	fputs("]}", out);
	return err;
}

static int put_profile(const struct export_tree *tree, enum export_side side, FILE *out)
{
	uint32_t *chain = malloc((tree->depth_max + 1) * sizeof(*chain)), count;

	if (!chain)
		return -ENOMEM;
	fprintf(out,
		"{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"nanoseconds\",\"startValue\":0,"
		"\"endValue\":%" PRIu64 ",\"samples\":[",
		profile_names[side], tree->nodes[0].total_ns);
	for (uint32_t i = 0; i < tree->leaf_count && !ferror_unlocked(out); i++) {
		count = export_tree_chain(tree, tree->leaves[i], chain);
		for (uint32_t k = 0; k < count; k++)
			fprintf(out, "%s%" PRIu32, k ? "," : i ? ",\n[" : "[", chain[k]);
		putc_unlocked(']', out);
	}
	fputs("],\n\"weights\":[", out);
	for (uint32_t i = 0; i < tree->leaf_count; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", tree->nodes[tree->leaves[i]].self_ns);
	fputs("]}", out);
	free(chain);
	return 0;
}

static int put_file(struct export_frames *frames, const struct export_tree *trees,
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
