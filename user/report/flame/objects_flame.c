/* Allocations as call chains: the callers that a site knows, outermost first, then the class. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"
#include "log/format/object_record.h"
#include "report/flame/export.h"
#include "report/flame/profile_head.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/protobuf/profile_format.h"

#define TEXT_BYTES 1024
#define DEPTH_MAX (OBJECT_FRAMES_MAX + 1)

/* A frame is a class that is allocated, or the method of a site's frame. */
struct flame_frame {
	uint32_t class;       /* if it is one */
	uint32_t site, frame; /* else; site may be INDEX_NONE */
	bool is_class;
};

struct flame_frames {
	struct keymap map;
	struct flame_frame *rows;
	uint32_t capacity;
};

static const char *frame_text(const struct object_names *n, const struct flame_frame *f, char *buf,
			      size_t size)
{
	return f->is_class ? object_class_text(n, f->class, buf, size)
			   : object_method_text(n, f->site, f->frame, buf, size);
}

static uint32_t depth_of(const struct object_names *n, const struct object_kind *k)
{
	uint32_t count = k->site == INDEX_NONE ? 0 : n->sites[k->site].frame_count;

	return count < OBJECT_FRAMES_MAX ? count : OBJECT_FRAMES_MAX;
}

/* The class, and what allocates it, the innermost first; how many these are. */
static uint32_t chain_of(const struct object_names *n, const struct object_kind *k,
			 struct flame_frame chain[DEPTH_MAX])
{
	uint32_t depth = depth_of(n, k), count = depth ? depth : 1;

	chain[0] = (struct flame_frame){.class = k->class, .is_class = true};
	for (uint32_t i = 0; i < count; i++) /* without frames: one that says so */
		chain[i + 1] = (struct flame_frame){.site = k->site, .frame = i};
	return count + 1;
}

int report_objects_collapsed(const struct objects_input *in, FILE *out)
{
	const struct object_names *n = object_replay_names(in->replay);
	struct flame_frame chain[DEPTH_MAX];
	char text[TEXT_BYTES];

	for (uint32_t i = 1; i < n->kind_count; i++) {
		uint32_t count = chain_of(n, &n->kinds[i], chain);

		if (!n->kinds[i].of.bytes)
			continue;
		while (count-- > 0) {
			collapsed_put(frame_text(n, &chain[count], text, sizeof(text)), out);
			putc(count ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", n->kinds[i].of.bytes);
	}
	return 0;
}

/* The number of a frame; frames of one method have one. 0 or -ENOMEM. */
static int frame_number(struct flame_frames *g, const struct object_names *n,
			const struct flame_frame *f, uint32_t *ret)
{
	struct keymap_key key = {.a = f->is_class};
	uint32_t known = g->map.count;
	int err;

	if (f->is_class)
		key.b = f->class;
	else if (f->site != INDEX_NONE && n->sites[f->site].frame_count)
		key.b = 1 + (uint64_t)n->frames[n->sites[f->site].first_frame + f->frame].method;
	else
		key.c = f->site != INDEX_NONE;
	err = keymap_add_row(&g->map, key, &g->rows, &g->capacity, sizeof(*g->rows), ret);
	if (!err && *ret == known)
		g->rows[*ret] = *f;
	return err;
}

static int put_samples(const struct objects_input *in, const struct profile_format *format,
		       void *profile, struct flame_frames *g)
{
	const struct object_names *n = object_replay_names(in->replay);
	struct flame_frame chain[DEPTH_MAX];
	uint32_t numbers[DEPTH_MAX];
	int err = 0;

	for (uint32_t i = 1; i < n->kind_count && !err; i++) {
		const struct object_tally *of = &n->kinds[i].of;
		struct profile_sample s = {.frames = numbers, .values = {of->count, of->bytes}};

		if (!of->count)
			continue;
		s.count = chain_of(n, &n->kinds[i], chain);
		for (uint32_t k = 0; k < s.count && !err; k++)
			err = frame_number(g, n, &chain[k], &numbers[k]);
		if (!err)
			err = format->sample(profile, &s);
	}
	return err;
}

static int put_frames(const struct objects_input *in, const struct profile_format *format,
		      void *profile, const struct flame_frames *g)
{
	const struct object_names *n = object_replay_names(in->replay);
	char text[TEXT_BYTES];
	int err = 0;

	for (uint32_t i = 0; i < g->map.count && !err; i++)
		err = format->frame(profile, &(struct profile_frame_text){
						     frame_text(n, &g->rows[i], text, sizeof(text)),
						     "", 0});
	return err ? err : format->end(profile);
}

int report_objects_profile(const struct objects_input *in, const struct session_log *log,
			   const struct profile_format *format, FILE *out)
{
	struct profile_head head = {
		.values = {{"alloc_objects", "count"}, {"alloc_space", "bytes"}},
		.period_unit = {"space", "bytes"},
		.what = "objects that were allocated, all of them",
	};
	struct flame_frames g = {0};
	void *profile;
	int err = -ENOMEM;

	profile_head_set(&head, log);
	profile = format->open(&head, out);
	if (profile)
		err = put_samples(in, format, profile, &g);
	if (!err)
		err = put_frames(in, format, profile, &g);
	format->free(profile);
	keymap_free(&g.map);
	free(g.rows);
	return err;
}
