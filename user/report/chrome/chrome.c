/*
 * A timeline is written as the events come: a slice when it has ended, or when something within it
 * has; so memory is bounded by the number of threads, locks and names. Slices are pairs of begin
 * and end, not single events with a length: viewers turn microseconds into whole nanoseconds each
 * in its own way (Perfetto has cut them, and rounds them now), and pairs stay neighbours, where
 * rounded lengths overlap, which Perfetto answers by leaving slices out. An end has the name of its
 * begin: some viewers look whether it fits. Viewers sort by time; of equal times, what is first in
 * the file is first.
 */
#include "report/chrome/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stacks.h"
#include "base/text/print.h"
#include "base/version.h"
#include "log/format/header_fields.h"
#include "report/chrome/chrome_internal.h"

#define TRACKS_FROM 5000000 /* numbers of tracks that are no kernel threads: past all of these */

/* What of the command's words is a class or an archive; "": not found. */
static void main_class(const char *command, char buf[LABEL_MAX])
{
	static const char *const values[] = {"-cp", "-classpath",    "--class-path",
					     "-p",  "--module-path", "--add-modules"};
	static const char *const mains[] = {"-jar", "-m", "--module"};
	char words[LABEL_MAX], *save, *word, *slash;

	*buf = '\0';
	snprintf(words, sizeof(words), "%s", command);
	if (!strtok_r(words, " ", &save))
		return;
	while ((word = strtok_r(NULL, " ", &save)) && *word == '-') {
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			if (!strcmp(word, values[i])) {
				strtok_r(NULL, " ", &save);
				break;
			}
		}
		for (size_t i = 0; i < sizeof(mains) / sizeof(*mains); i++) {
			if (strcmp(word, mains[i]))
				continue;
			word = strtok_r(NULL, " ", &save);
			slash = word && !i ? strrchr(word, '/') : NULL;
			snprintf(buf, LABEL_MAX, "%s", slash ? slash + 1 : word ? word : "");
			return;
		}
	}
	snprintf(buf, LABEL_MAX, "%s", word ? word : "");
}

static void put_process(struct chrome *c)
{
	const char *command = header_text(c->header, "jvm", "command");
	char name[LABEL_MAX];

	main_class(command, name);
	fputs(c->out.events++ ? ",\n" : "\n", c->out.out);
	fprintf(c->out.out, "{\"ph\":\"M\",\"pid\":%" PRIu64, c->out.pid);
	c->out.first = c->out.args = c->out.in_args = false;
	chrome_text(&c->out, "name", "process_name");
	chrome_args(&c->out);
	chrome_format(&c->out, "name", "%s%spid %" PRIu64, name, *name ? ", " : "", c->out.pid);
	chrome_done(&c->out);
}

static struct tracks *threads_from(struct chrome *c, uint64_t from_ns)
{
	const struct track_options range = {from_ns, c->options.until_ns, c->options.min_ns,
					    c->off_cpu};
	struct track_sink sink = chrome_thread_sink(c);

	return tracks_new(&range, &sink);
}

struct chrome *chrome_new(const struct chrome_options *options, const struct log_names *names,
			  const json_t *header, FILE *out)
{
	uint64_t start_ns = header_number(header, NULL, "start_mono_ns");
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->options = *options;
	c->limited = options->until_ns > 0;
	c->names = names;
	c->header = header;
	c->next_track = TRACKS_FROM;
	c->off_cpu = json_object_get(json_object_get(header, "record"), "off_cpu_ns") != NULL;
	if (!start_ns || start_ns > options->first_ns)
		start_ns = options->first_ns;
	c->out = (struct chrome_out){
		.out = out, .base_ns = start_ns, .pid = header_number(header, "jvm", "pid")};
	if (c->options.from_ns < start_ns)
		c->options.from_ns = start_ns;
	if (!options->until_ns || c->options.until_ns > options->last_ns)
		c->options.until_ns = options->last_ns;
	c->labels = labels_new(names);
	c->stacks = stacks_new(names);
	c->tracks = threads_from(c, c->options.from_ns);
	if (!c->labels || !c->stacks || !c->tracks || chrome_threads_init(c)) {
		chrome_free(c);
		return NULL;
	}
	chrome_begin(&c->out);
	put_process(c);
	return c;
}

void chrome_free(struct chrome *c)
{
	if (!c)
		return;
	chrome_groups_free(c);
	tracks_free(c->tracks);
	stacks_free(c->stacks);
	labels_free(c->labels);
	for (size_t i = 0; i < CHROME_CHAINS; i++)
		free(c->chains[i].json);
	chrome_threads_free(c);
	keymap_free(&c->thread_map);
	keymap_free(&c->track_map);
	keymap_free(&c->lock_map);
	keymap_free(&c->cpu_map);
	keymap_free(&c->lost_stages);
	keymap_free(&c->group_map);
	free(c->found);
	free(c->locks);
	free(c->cpus);
	free(c->lost);
	free(c);
}

int chrome_add(struct chrome *c, const struct event *e)
{
	static int (*const parts[])(struct chrome *, const struct event *) = {
		chrome_marks_add, chrome_flow_add, chrome_tracks_add,  chrome_flow_settle,
		chrome_spans_add, chrome_vm_add,   chrome_counters_add};
	int err = 0;

	if (e->time_ns > c->now_ns)
		c->now_ns = e->time_ns;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = parts[i](c, e);
	return err;
}

static int groups_hole(struct chrome *c)
{
	int err = 0;

	for (struct chrome_group *g = c->used; g; g = g->next_used) {
		err = err ?: chrome_group_finish(c, g, c->now_ns);
		g->is_used = false;
	}
	c->used = NULL;
	return err;
}

/* As at the end of a log, and then as at the begin of one. What is kept of threads, locks and CPUs
 * is of before the hole until they are used again: there may be many, and many holes. */
int chrome_hole(struct chrome *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin_ns = to_ns > c->options.from_ns ? to_ns : c->options.from_ns;
	int err = tracks_finish(c->tracks, from_ns);

	c->now_ns = from_ns > c->now_ns ? from_ns : c->now_ns;
	if (!err)
		err = chrome_vm_finish(c);
	err = err ?: groups_hole(c);
	chrome_counters_hole(c);
	c->holes++;
	chrome_marks_hole(c, to_ns > from_ns ? to_ns - from_ns : 0);
	tracks_free(c->tracks);
	c->tracks = threads_from(c, begin_ns);
	c->hole_ns = to_ns;
	c->now_ns = to_ns > c->now_ns ? to_ns : c->now_ns;
	return err || c->tracks ? err : -ENOMEM;
}

void chrome_gaps(struct chrome *c, const struct log_reader_stats *stats)
{
	chrome_marks_gaps(c, stats);
}

static void put_header(struct chrome *c, const char *key, const char *object, const char *member)
{
	const char *text = header_text(c->header, object, member);

	if (*text)
		chrome_text(&c->out, key, text);
}

static void put_rest(struct chrome *c)
{
	chrome_events_done(&c->out);
	chrome_text(&c->out, "spoor", SPOOR_VERSION);
	chrome_text(&c->out, "log", c->options.title);
	put_header(c, "jvm", "jvm", "version");
	put_header(c, "jvm_kind", "jvm", "kind");
	put_header(c, "command", "jvm", "command");
	put_header(c, "host", "host", "name");
	put_header(c, "kernel", "host", "kernel");
	put_header(c, "hypervisor", "host", "hypervisor");
	put_header(c, "steal", "sources", "steal");
	put_header(c, "throttled", "sources", "throttled");
	chrome_number(&c->out, "start_wall_ns", header_number(c->header, NULL, "start_wall_ns"));
	chrome_number(&c->out, "time_0_mono_ns", c->out.base_ns);
	if (c->off_cpu)
		chrome_ms(&c->out, "breaks_from_ms",
			  header_number(c->header, "record", "off_cpu_ns"));
	chrome_ms(&c->out, "slices_from_ms", c->options.min_ns);
	chrome_number(&c->out, "lost_events", c->lost_events);
	chrome_number(&c->out, "half_seen", c->facts.half_seen);
	chrome_text(&c->out, "complete",
		    (c->facts.ended || c->limited) && !c->stats.blocks_damaged &&
				    !c->stats.blocks_missing && !c->stats.bytes_skipped
			    ? "yes"
			    : "no");
	chrome_end(&c->out);
}

int chrome_finish(struct chrome *c, struct chrome_facts *ret)
{
	int err = tracks_finish(c->tracks, c->options.last_ns);

	if (!err)
		err = chrome_vm_finish(c);
	for (struct chrome_group *g = c->groups; g && !err; g = g->next)
		err = chrome_group_finish(c, g, c->now_ns);
	chrome_counters_finish(c);
	put_rest(c);
	c->facts.events = c->out.events;
	*ret = c->facts;
	return err;
}
