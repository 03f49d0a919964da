/* The sentence first, then the table, then what is not known. */
#include <errno.h>
#include <inttypes.h>

#include "base/text/format.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/objects_report.h"
#include "report/text/findings_text.h"

#define NAME_BYTES 512

/* What has most bytes of all that was allocated, or of what survived: a class, and the place that
 * allocates it. NULL: there is nothing. */
static const struct object_kind *heaviest(const struct objects_input *in, bool survived)
{
	const struct object_names *n = object_replay_names(in->replay);
	const struct object_kind *most = NULL;
	uint64_t bytes = 0;

	for (uint32_t i = 1; i < n->kind_count; i++) {
		const struct object_tally *of = &n->kinds[i].of;
		uint64_t has = survived ? of->survived_bytes : of->bytes;

		if (of->count && has > bytes) {
			most = &n->kinds[i];
			bytes = has;
		}
	}
	return most;
}

static void print_survivors(const struct objects_input *in, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	const struct object_names *n = object_replay_names(in->replay);
	const struct object_kind *most = heaviest(in, true);
	char bytes[UNITS_TEXT_MAX], share[FORMAT_MAX], name[NAME_BYTES], place[NAME_BYTES];
	uint64_t survived = 0;

	for (uint32_t i = 1; i < n->kind_count; i++)
		survived += n->kinds[i].of.count ? n->kinds[i].of.survived_bytes : 0;
	print_text(out, "Collections found %s of that alive (%s)", size_format(survived, bytes),
		   share_format(survived, s->bytes, share));
	if (most)
		print_text(out, ", %s of it %s of one place: %s",
			   share_format(most->of.survived_bytes, survived, share),
			   object_class_text(n, most->class, name, sizeof(name)),
			   object_frame_text(n, most->site, 0, place, sizeof(place)));
	fputs(".\n", out);
}

static void print_sentence(const struct objects_input *in, FILE *out)
{
	const struct object_sums *s = object_replay_sums(in->replay);
	const struct object_names *n = object_replay_names(in->replay);
	const struct object_kind *most = heaviest(in, false);
	char count[FORMAT_MAX], bytes[UNITS_TEXT_MAX], share[FORMAT_MAX], name[NAME_BYTES],
		place[NAME_BYTES];

	if (!most) {
		print_text(out, "No object events.%s\n",
			   s->has_ring ? "" : " The log was recorded without --objects.");
		return;
	}
	print_text(out, "%s objects of %s were allocated, %s of the bytes %s at one place: %s.\n",
		   count_format(s->count, count), size_format(s->bytes, bytes),
		   share_format(most->of.bytes, s->bytes, share),
		   object_class_text(n, most->class, name, sizeof(name)),
		   object_frame_text(n, most->site, 0, place, sizeof(place)));
	if (objects_has_survivors(in))
		print_survivors(in, out);
}

static void count_line(FILE *out, uint64_t count, const char *what)
{
	char text[FORMAT_MAX];

	if (count)
		print_text(out, "  %s %s\n", count_format(count, text), what);
}

static void print_bytes(const struct objects_input *in, FILE *out)
{
	uint32_t ended = 0, right = 0;

	for (uint32_t i = 0; i < object_replay_thread_count(in->replay); i++) {
		const struct object_thread *t = object_replay_thread(in->replay, i);

		ended += t->has_vm_bytes;
		right += t->has_vm_bytes && t->vm_bytes == t->bytes;
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
	if (s->found)
		print_text(out,
			   "  who has allocated the %s objects (%s, dead ones among them) that "
			   "were in the heap when events were switched on: they are in no figure "
			   "above\n",
			   count_format(s->found, count), size_format(s->found_bytes, bytes));
	count_line(out, s->unknown_class,
		   "objects have neither class nor size: they are in no bytes");
	count_line(out, s->gaps, "times a thread found no room for its events");
	if (s->gap_bytes)
		print_text(out, "  %s of events were lost so: all figures are lower bounds\n",
			   size_format(s->gap_bytes, bytes));
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
		.in_order = in->by == OBJECTS_BY_COLLECTION,
	};
	struct findings *f = objects_section(in);
	int err;

	print_sentence(in, out);
	err = findings_to_text(f, &view, out);
	print_rest(in, out);
	findings_free(f);
	return err;
}
