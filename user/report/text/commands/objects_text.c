/* The sentence first, then the table, then what is not known. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/text/findings_text.h"

#define NAME_BYTES 512

/* A class, and the site that allocates it. */
struct origin {
	uint32_t site, class;
	uint64_t bytes, survived;
};

struct origins {
	struct keymap map;
	struct origin *rows;
	uint32_t capacity;
	uint64_t survived; /* of all */
};

/* 0 or -ENOMEM. Of kinds that are chosen. */
static int origins_make(struct origins *o, const struct object_names *n)
{
	int err = 0;

	for (uint32_t i = 1; i < n->kind_count && !err; i++) {
		const struct object_kind *k = &n->kinds[i];
		struct keymap_key key = {.a = k->site, .b = 1 + (uint64_t)k->class};
		uint32_t at;

		if (!k->of.count)
			continue;
		err = keymap_add_row(&o->map, key, &o->rows, &o->capacity, sizeof(*o->rows), &at);
		if (err)
			break;
		o->rows[at].site = k->site;
		o->rows[at].class = k->class;
		o->rows[at].bytes += k->of.bytes;
		o->rows[at].survived += k->of.survived_bytes;
		o->survived += k->of.survived_bytes;
	}
	return err;
}

static void origins_free(struct origins *o)
{
	keymap_free(&o->map);
	free(o->rows);
}

/* What has most bytes of all that was allocated, or of what survived. NULL: there is nothing. */
static const struct origin *heaviest(const struct origins *o, bool survived)
{
	const struct origin *most = NULL;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < o->map.count; i++) {
		uint64_t has = survived ? o->rows[i].survived : o->rows[i].bytes;

		if (has > bytes) {
			most = &o->rows[i];
			bytes = has;
		}
	}
	return most;
}

static void print_survivors(const struct objects_input *in, const struct origins *o, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	const struct object_names *n = object_replay_names(in->replay);
	const struct origin *most = heaviest(o, true);
	char bytes[UNITS_TEXT_MAX], share[FORMAT_MAX], name[NAME_BYTES], site[NAME_BYTES];

	print_text(out, "Collections found %s of that alive (%s)", size_format(o->survived, bytes),
		   share_format(o->survived, s->bytes, share));
	if (most)
		print_text(out, ", %s of it %s of one place: %s",
			   share_format(most->survived, o->survived, share),
			   object_class_text(n, most->class, name, sizeof(name)),
			   object_frame_text(n, most->site, 0, site, sizeof(site)));
	fputs(".\n", out);
}

static void print_left_out(const struct object_sums *s, FILE *out)
{
	char count[FORMAT_MAX], bytes[UNITS_TEXT_MAX];

	if (s->left_out)
		print_text(out, "%s objects of %s are left out, as --from, --to or --where say.\n",
			   count_format(s->left_out, count), size_format(s->left_out_bytes, bytes));
}

static int print_sentence(const struct objects_input *in, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	const struct object_names *n = object_replay_names(in->replay);
	struct origins o = {0};
	int err = origins_make(&o, n);
	const struct origin *most = heaviest(&o, false);
	char count[FORMAT_MAX], bytes[UNITS_TEXT_MAX], share[FORMAT_MAX], name[NAME_BYTES],
		site[NAME_BYTES];

	if (most)
		print_text(out,
			   "%s objects of %s were allocated, %s of the bytes %s at one place: "
			   "%s.\n",
			   count_format(s->count, count), size_format(s->bytes, bytes),
			   share_format(most->bytes, s->bytes, share),
			   object_class_text(n, most->class, name, sizeof(name)),
			   object_frame_text(n, most->site, 0, site, sizeof(site)));
	else if (s->left_out)
		fputs("No such objects.\n", out);
	else
		print_text(out, "No object events.%s\n",
			   s->has_ring ? "" : " The log was recorded without --objects.");
	if (most && objects_has_survivors(in))
		print_survivors(in, &o, out);
	print_left_out(s, out);
	origins_free(&o);
	return err;
}

static void count_line(FILE *out, uint64_t count, const char *what)
{
	char text[FORMAT_MAX];

	if (count)
		print_text(out, "  %s %s\n", count_format(count, text), what);
}

/* From which collection on, as what is in the table of collections does not say it. */
static void print_incomplete(const struct objects_input *in, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	const struct object_collection *c;
	char n[FORMAT_MAX], deaths[FORMAT_MAX];
	uint32_t count, first = 0;

	c = object_replay_collections(in->replay, &count);
	while (first < count && !c[first].incomplete)
		first++;
	if (first == count)
		return;
	print_text(out,
		   "  what was alive after %s of %" PRIu32 " collections, the first of them GC "
		   "%" PRIu64 ": events were lost, and survivors are lower bounds %s\n",
		   count_format(s->incomplete, n), count, c[first].id,
		   s->incomplete_now ? "from then on" : "after these");
	if (s->uncertain)
		print_text(out,
			   "  whether %s objects are dead that no longer are in the heap here: "
			   "moves of them may have been lost\n",
			   count_format(s->uncertain, deaths));
}

static void print_again(const struct object_sums *s, FILE *out)
{
	char times[FORMAT_MAX], took[UNITS_TEXT_MAX], forgotten[FORMAT_MAX];

	if (!s->rings_again)
		return;
	print_text(out,
		   "  what happened in %s, in which events were switched off and on again, %s "
		   "times, as moves had been lost: the heap is known again from then on, but not "
		   "how long the %s objects lived that were in it before\n",
		   duration_format(s->unrecorded_ns, took), count_format(s->rings_again, times),
		   count_format(s->forgotten, forgotten));
}

static void print_bytes(const struct objects_input *in, FILE *out)
{
	uint32_t ended = 0, right = 0;

	for (uint32_t i = 0; i < object_replay_thread_count(in->replay); i++) {
		const struct object_thread *t = object_replay_thread(in->replay, i);

		ended += t->has_vm_bytes;
		right += t->has_vm_bytes && t->vm_bytes == t->all_bytes;
	}
	if (ended)
		print_text(out,
			   "  %" PRIu32 " of %" PRIu32
			   " threads that have ended have as many bytes "
			   "here as the JVM counted itself\n",
			   right, ended);
}

/* What the figures rest on, and what is missing. */
static void print_rest(const struct objects_input *in, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	char bytes[UNITS_TEXT_MAX], count[FORMAT_MAX];

	if (!s->has_ring)
		return;
	fputs("\nWhat is not known\n", out);
	print_bytes(in, out);
	if (s->carried)
		print_text(out,
			   "  when the %s objects (%s, dead ones among them) were allocated that "
			   "were in the heap when this part of the recording began: they are in no "
			   "figure above\n",
			   count_format(s->carried, count), size_format(s->carried_bytes, bytes));
	if (s->begin_unknown)
		fputs("  what was in the heap when this part of the recording began\n", out);
	if (s->found)
		print_text(out,
			   "  who has allocated the %s objects (%s, dead ones among them) that "
			   "were in the heap when events were switched on: they are in no figure "
			   "above\n",
			   count_format(s->found, count), size_format(s->found_bytes, bytes));
	if (s->at_edge)
		print_text(out,
			   "  when exactly %s objects (%s) were allocated, which a limit of time "
			   "depends on: they count where their thread's TLAB, or its block of "
			   "events, began\n",
			   count_format(s->at_edge, count), size_format(s->at_edge_bytes, bytes));
	count_line(out, s->unknown_class,
		   "objects have neither class nor size: they are in no bytes");
	print_incomplete(in, out);
	print_again(s, out);
	count_line(out, s->gaps, "times a thread found no room for its events");
	if (s->gap_bytes || s->lost_bytes)
		print_text(out, "  %s of events were lost so: all figures are lower bounds\n",
			   size_format(s->lost_bytes > s->gap_bytes ? s->lost_bytes
								    : s->gap_bytes,
				       bytes));
	count_line(out, s->holes + s->bad_words, "places of the log's object events make no sense");
	count_line(out, s->lost_names, "names of classes or sites found no room");
	count_line(out, s->unknown_moves, "moves were of objects that are not known");
	count_line(out, s->chains_wrong, "TLABs did not end where their objects do");
	if (s->heap_given_up)
		fputs("  the heap could not be followed: survivors are not known\n", out);
	if (s->end == OBJECT_END_LEFT)
		fputs("  the last objects of each thread: the recording ended before the JVM did\n",
		      out);
	if (s->end == OBJECT_END_KILLED)
		fputs("  an object of each thread at most: the JVM was killed\n", out);
	if (in->damaged || s->end == OBJECT_END_NONE)
		fputs("  what is in blocks that are missing or damaged: verify says which\n", out);
	fputs("  whether an object that no collection has found was still alive at the end\n", out);
}

int report_objects_text(const struct objects_input *in, FILE *out)
{
	struct findings_view view = {
		.indent = 2,
		.gap = true,
		.top = in->top,
		.sort = in->by == OBJECTS_BY_COLLECTION ? "survived_bytes" : "bytes",
		.noun = "rows",
		.in_order = in->by == OBJECTS_BY_COLLECTION || in->by == OBJECTS_BY_SECOND,
	};
	struct findings *f = objects_section(in);
	int err = print_sentence(in, out);

	if (!err)
		err = findings_to_text(f, &view, out);
	print_rest(in, out);
	findings_free(f);
	return err;
}
