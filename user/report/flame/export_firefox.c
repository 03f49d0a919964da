/*
 * The processed profile format of https://profiler.firefox.com, version 48, as the project's own
 * types and changelog describe it (docs-developer/CHANGELOG-formats.md): each side is a thread with
 * tables of its own. A sample is a call chain with all of its time as weight, one after the other
 * on the axis of time; the heaviest branch comes first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "base/version.h"
#include "log/format/text.h"
#include "report/flame/export_tree.h"

#define FORMAT_VERSION 48 /* of processed profiles */
#define GECKO_VERSION 29  /* of what a browser would have recorded: its fields are not used */

static const char *const thread_names[] = {
	[EXPORT_WAITER] = "waiters: where threads were blocked",
	[EXPORT_OWNER] = "owners: where the holders of the locks were meanwhile",
	[EXPORT_BOTH] = "waiters, and on top of each the owners it was blocked by",
};
_Static_assert(sizeof(thread_names) / sizeof(*thread_names) == EXPORT_SIDE_COUNT, "every side");

/* The functions of all frames: frames that differ in their line have one. */
struct functions {
	struct keymap map;  /* by the address of the name */
	const char **names; /* lent by the frames' texts */
	uint32_t capacity;
	uint32_t *of; /* by frame */
	uint32_t of_capacity;
};

static void functions_free(struct functions *f)
{
	keymap_free(&f->map);
	free(f->names);
	free(f->of);
}

static int function_add(struct functions *f, struct export_frames *frames, uint32_t frame)
{
	const struct export_frame *row = &frames->rows[frame];
	struct strbuf text = {.most = 0};
	const char *name = NULL;
	uint32_t at;
	int err;

	strbuf_add(&text, "%s%s%s%s%s", row->before, row->outer, row->joint, row->name, row->after);
	if (!text.err)
		name = text_set_add(&frames->texts, strbuf_text(&text), text.used);
	strbuf_free(&text);
	err = name ? 0 : -ENOMEM;
	err = err ?: array_grow(&f->of, &f->of_capacity, frame, sizeof(*f->of));
	err = err ?: keymap_add_row(&f->map, (struct keymap_key){.a = (uintptr_t)name}, &f->names,
				    &f->capacity, sizeof(*f->names), &at);
	if (err)
		return err;
	f->names[at] = name;
	f->of[frame] = at;
	return 0;
}

static int functions_make(struct functions *f, struct export_frames *frames)
{
	int err = 0;

	for (uint32_t i = 0; i < frames->map.count && !err; i++)
		err = function_add(f, frames, i);
	return err;
}

/* --- columns of tables --------------------------------------------------------------------- */

/* ,"NAME":[TEXT,TEXT,...] */
static void put_column(const char *name, const char *text, uint32_t count, FILE *out)
{
	print_text(out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++)
		print_text(out, i ? ",%s" : "%s", text);
	putc_unlocked(']', out);
}

static void put_frames(const struct functions *f, const struct export_frames *frames, FILE *out)
{
	uint32_t count = frames->map.count;

	fprintf(out, "\"frameTable\":{\"length\":%" PRIu32 ",\"func\":[", count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, f->of[i]);
	fputs("],\"line\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		if (frames->rows[i].line)
			fprintf(out, "%" PRIu64, frames->rows[i].line);
		else
			fputs("null", out);
	}
	putc_unlocked(']', out);
	put_column("address", "-1", count, out);
	put_column("inlineDepth", "0", count, out);
	put_column("category", "0", count, out);
	put_column("subcategory", "0", count, out);
	put_column("nativeSymbol", "null", count, out);
	put_column("innerWindowID", "null", count, out);
	put_column("implementation", "null", count, out);
	put_column("column", "null", count, out);
	fputs("},\n", out);
}

static void put_functions(const struct functions *f, FILE *out)
{
	uint32_t count = f->map.count;

	fprintf(out, "\"funcTable\":{\"length\":%" PRIu32 ",\"name\":[", count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, i);
	putc_unlocked(']', out);
	put_column("isJS", "false", count, out);
	put_column("relevantForJS", "false", count, out);
	put_column("resource", "-1", count, out);
	put_column("fileName", "null", count, out);
	put_column("lineNumber", "null", count, out);
	put_column("columnNumber", "null", count, out);
	fputs("},\n\"stringArray\":[", out);
	for (uint32_t i = 0; i < count; i++)
		print_json(out, i ? ",\n%s" : "%s", f->names[i]);
	fputs("],\n", out);
}

/* Rows are the tree's nodes but the root. */
static void put_stacks(const struct export_tree *t, FILE *out)
{
	uint32_t count = t->count - 1;

	fprintf(out, "\"stackTable\":{\"length\":%" PRIu32 ",\"frame\":[", count);
	for (uint32_t i = 1; i < t->count; i++)
		fprintf(out, i > 1 ? ",%" PRIu32 : "%" PRIu32, t->nodes[i].frame);
	fputs("],\"prefix\":[", out);
	for (uint32_t i = 1; i < t->count; i++) {
		fputs(i > 1 ? "," : "", out);
		if (t->nodes[i].parent)
			fprintf(out, "%" PRIu32, t->nodes[i].parent - 1);
		else
			fputs("null", out);
	}
	putc_unlocked(']', out);
	put_column("category", "0", count, out);
	put_column("subcategory", "0", count, out);
	fputs("},\n", out);
}

static void put_ms(uint64_t ns, FILE *out)
{
	fprintf(out, "%llu.%06llu", ns / NS_PER_MS, ns % NS_PER_MS);
}

static void put_samples(const struct export_tree *t, FILE *out)
{
	uint64_t at_ns = 0;

	fprintf(out, "\"samples\":{\"length\":%" PRIu32, t->leaf_count);
	fputs(",\"weightType\":\"tracing-ms\",\"stack\":[", out);
	for (uint32_t i = 0; i < t->leaf_count; i++)
		fprintf(out, i ? ",%" PRIu32 : "%" PRIu32, t->leaves[i] - 1);
	fputs("],\n\"time\":[", out);
	for (uint32_t i = 0; i < t->leaf_count; i++) {
		fputs(i ? "," : "", out);
		put_ms(at_ns, out);
		at_ns += t->nodes[t->leaves[i]].self_ns;
	}
	fputs("],\n\"weight\":[", out);
	for (uint32_t i = 0; i < t->leaf_count; i++) {
		fputs(i ? "," : "", out);
		put_ms(t->nodes[t->leaves[i]].self_ns, out);
	}
	fputs("]}", out);
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_thread(const struct export_tree *t, const struct functions *f,
		       enum export_side side, unsigned number, FILE *out)
{
	print_json(out,
		   "{\"name\":%s,\"processType\":\"default\",\"processName\":\"JVM\","
		   "\"isMainThread\":false,\"pid\":\"1\",\"tid\":%u,\"registerTime\":0,"
		   "\"unregisterTime\":null,\"processStartupTime\":0,\"processShutdownTime\":null,"
		   "\"pausedRanges\":[],\n",
		   thread_names[side], number);
	fputs("\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
	      "\"phase\":[],\"category\":[]},\n"
	      "\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[]},\n"
	      "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},\n",
	      out);
	put_frames(f, t->frames, out);
	put_functions(f, out);
	put_stacks(t, out);
	put_samples(t, out);
	putc_unlocked('}', out);
}

static void put_head(const char *title, FILE *out)
{
	print_json(out,
		   "{\"meta\":{\"preprocessedProfileVersion\":%d,\"version\":%d,\"interval\":1,"
		   "\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,"
		   "\"product\":%s,\"importedFrom\":\"spoor " SPOOR_VERSION "\","
		   "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
		   "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,",
		   FORMAT_VERSION, GECKO_VERSION, title);
	fputs("\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
	      "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
	      "\"subcategories\":[\"Other\"]}],"
	      "\"markerSchema\":[]},\n\"libs\":[],\"pages\":[],\"threads\":[\n",
	      out);
}

static int put_file(struct export_frames *frames, const struct export_tree *trees,
		    const enum export_side *sides, unsigned count, const char *title, FILE *out)
{
	const char *name = text_set_add(&frames->texts, title, strlen(title));
	struct functions functions = {.capacity = 0};
	int err = name ? functions_make(&functions, frames) : -ENOMEM;

	if (!err) {
		put_head(name, out);
		for (unsigned i = 0; i < count; i++) {
			fputs(i ? ",\n" : "", out);
			put_thread(&trees[i], &functions, sides[i], i + 1, out);
		}
		fputs("]}\n", out);
	}
	functions_free(&functions);
	return err;
}

int export_firefox(const struct export_input *in, const enum export_side *sides, unsigned count,
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
