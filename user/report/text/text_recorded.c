#include "base/text/print.h"
#include "report/text/text_report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "log/read/set.h"
#include "session/holes.h"

#define COMMAND_MAX 300 /* longer ones are cut */

static void print_jvm(struct text *t)
{
	const json_t *h = t->in->log->header;
	const char *version = header_text(h, "jvm", "version"), *collector = header_collector(h);
	const char *kind = header_text(h, "jvm", "kind"),
		   *command = header_text(h, "jvm", "command");
	uint64_t pid = header_number(h, "jvm", "pid");

	if (*version || pid)
		text_line(t, "JVM", "%s%s%s%s%s, pid %" PRIu64,
			  *version ? version : "version not known",
			  *collector ? ", collector " : "", collector, *kind ? ", " : "", kind,
			  pid);
	if (strlen(command) > COMMAND_MAX)
		text_line(t, "command", "%.*s...", COMMAND_MAX, command);
	else
		text_line(t, "command", "%s", command);
}

/* Where the JVM was: "pod 0a1b..., container 8f0c... (containerd), unit tomcat10.service". */
static void print_labels(struct text *t)
{
	const json_t *h = t->in->log->header;
	const char *pod = header_text(h, "labels", "pod"),
		   *container = header_text(h, "labels", "container"),
		   *runtime = header_text(h, "labels", "runtime"),
		   *unit = header_text(h, "labels", "unit");

	if (*pod || *container || *unit)
		text_line(t, "in", "%s%s%s%s%s%s%s%s%s%s%s", *pod ? "pod " : "", pod,
			  *pod && *container ? ", " : "", *container ? "container " : "", container,
			  *runtime ? " (" : "", runtime, *runtime ? ")" : "",
			  (*pod || *container) && *unit ? ", " : "", *unit ? "unit " : "", unit);
}

static void print_host(struct text *t)
{
	const json_t *h = t->in->log->header;
	const char *hypervisor = header_text(h, "host", "hypervisor");
	uint64_t cpus = header_number(h, "host", "cpus");

	if (!json_object_get(h, "host"))
		return;
	text_line(t, "host", "%s, Linux %s, %s, %" PRIu64 " CPU%s, %s%s",
		  header_text(h, "host", "name"), header_text(h, "host", "kernel"),
		  header_text(h, "host", "arch"), cpus, cpus == 1 ? "" : "s",
		  *hypervisor ? "on " : "no hypervisor seen", hypervisor);
}

static uint64_t begin_wall_ns(const json_t *header)
{
	uint64_t wall_ns = header_number(header, NULL, "start_wall_ns");

	return wall_ns ? wall_ns + (header_begin_ns(header) -
				    header_number(header, NULL, "start_mono_ns"))
		       : 0;
}

/* Of a recording in parts: which of them there are. */
static void print_parts(struct text *t, bool ended)
{
	const struct log_set *set = t->in->log->set;
	unsigned count = set ? log_set_count(set) : 0;
	const char *why = header_text(t->in->log->header, "flight", "why");
	char clean[LABEL_MAX], hole[HOLES_TEXT_MAX];

	if (*why)
		text_line(t, "written", "by the flight recorder: %s", label_clean(why, clean));
	if (!count || !log_set_file(set, 0)->part)
		return;
	text_line(t, "parts", "%u, from part %" PRIu64 " to %" PRIu64, count,
		  log_set_file(set, 0)->part, log_set_file(set, count - 1)->part);
	for (unsigned i = 0; holes_text(t->in->log->header, set, ended, i, hole); i++)
		text_line(t, i ? "" : "missing", "%s", hole);
}

static void print_holes(struct text *t)
{
	char text[HOLES_TEXT_MAX];

	if (holes_missing_text(t->in->log->analysis, text))
		text_line(t, "not there", "%s", text);
}

static void print_time(struct text *t, const struct analysis_facts *f)
{
	static const char *const reasons[END_REASON_COUNT] = {
		[END_REASON_DONE] = "its time was over",
		[END_REASON_INTERRUPTED] = "it was interrupted",
		[END_REASON_JVM_EXITED] = "the JVM exited",
		[END_REASON_JVM_KILLED] = "the JVM was killed",
		[END_REASON_FAILED] = "the recording failed",
		[END_REASON_DUMPED] = "the recording went on",
	};
	uint64_t wall_ns = begin_wall_ns(t->in->log->header);
	time_t wall = (time_t)(wall_ns / NS_PER_S);
	char date[64] = "", duration[FORMAT_MAX];
	struct tm tm;

	if (wall_ns && gmtime_r(&wall, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC, ", &tm);
	text_line(t, "time", "%s%s", date, duration_format(t->duration_ns, duration));
	print_parts(t, f->ended);
	if (!f->ended &&
	    (t->in->log->to_ns || (t->in->log->set && log_set_goes_on(t->in->log->set))))
		return;
	if (!f->ended)
		text_line(t, "ended",
			  "not properly: the recorder was killed, or the log is cut short");
	else
		text_line(t, "ended", "%s",
			  f->end_reason < END_REASON_COUNT ? reasons[f->end_reason] : "");
}

static void print_sources(struct text *t)
{
	static const char *const facts[][2] = {
		{"owner", "owner"}, {"monitor_exit", "exit"}, {"lock_identity", "identity"}};
	const json_t *h = t->in->log->header, *probe;
	const char *steal = header_text(h, "sources", "steal");
	size_t i;

	if (!json_object_get(h, "sources"))
		return;
	text_line(t, "sources", "steal: %s; scheduler: %s; monitor events: %s",
		  !*steal || !strcmp(steal, "none") ? "not measured" : steal,
		  header_text(h, "sources", "sched"), header_text(h, "sources", "monitor"));
	json_array_foreach (json_object_get(json_object_get(h, "sources"), "probes_missing"), i,
			    probe)
		text_line(t, i ? "" : "no probe", "%s",
			  json_string_value(probe) ? json_string_value(probe) : "?");
	if (*header_text(h, "sources", "virtual_parks_why"))
		text_line(t, "no parks",
			  "of virtual threads that unmount, which were asked for: %s",
			  header_text(h, "sources", "virtual_parks_why"));
	for (i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		text_line(t, facts[i][1], "%s", header_text(h, "facts", facts[i][0]));
}

static void print_missing_monitors(struct text *t)
{
	const char *why = header_text(t->in->log->header, "sources", "monitor_why");
	char clean[LABEL_MAX];

	if (strcmp(header_text(t->in->log->header, "sources", "monitor"), "missing"))
		return;
	print_text(t->out,
		   "\n  !! MONITOR EVENTS ARE MISSING%s%s.\n"
		   "     Nothing here says how long threads were blocked in synchronized. To have "
		   "that, restart the JVM\n"
		   "     with -XX:+DTraceMonitorProbes, or record without --no-write.\n",
		   *why ? ": " : "", label_clean(why, clean));
}

static const char *lost_at(uint64_t event_id, unsigned stage)
{
	static const char *const stages[LOST_PLACE_COUNT] = {
		[LOST_PLACE_RING_BUFFER] =
			"the ring buffer was full (record with a larger --buffer)",
		[LOST_PLACE_MAP_FULL] =
			"a table in the kernel was full, or the thread was not known",
		[LOST_PLACE_READ_FAILED] = "the JVM's memory could not be read",
		[LOST_PLACE_WRITER] = "the log could not be written",
		[LOST_PLACE_LOG] = "at least: the log was damaged, and has been repaired",
		[LOST_PLACE_MEMORY] =
			"no room for their threads (record with a larger --max-memory)",
		[LOST_PLACE_RECORDER] = "their records made no sense: a fault of spoor's",
	};

	if (event_id == EVENT_THREAD && stage == LOST_PLACE_MAP_FULL)
		return "more threads than there was room for (record with a larger --max-threads)";
	return stage < LOST_PLACE_COUNT ? stages[stage] : "";
}

static void print_lost(struct text *t, const struct analysis_facts *f)
{
	char count[FORMAT_MAX];
	uint64_t total = 0;

	for (uint32_t i = 0; i < f->lost_count; i++)
		total += f->lost[i].count;
	if (!total)
		return;
	print_text(t->out,
		   "\n  !! %s EVENT%s LOST. Counts and times of these kinds are lower bounds:\n",
		   count_format(total, count), total == 1 ? " WAS" : "S WERE");
	for (uint32_t i = 0; i < f->lost_count; i++) {
		const struct event_desc *d = schema_event((unsigned)f->lost[i].event_id);

		print_text(t->out, "     %12s  %-26s %s\n", count_format(f->lost[i].count, count),
			   d && f->lost[i].event_id <= SCHEMA_ID_MAX ? d->name : "(kind not known)",
			   lost_at(f->lost[i].event_id, f->lost[i].stage));
	}
}

/* Nothing that is distinguished is wrong by this: so it is no loss. */
static void print_bounded(struct text *t, const struct analysis_facts *f)
{
	static const char *const kinds[BOUNDED_COUNT] = {
		[BOUNDED_LOCK] = "locks",        [BOUNDED_THREAD] = "threads",
		[BOUNDED_CLASS] = "classes",     [BOUNDED_STRING] = "names",
		[BOUNDED_STACK] = "call chains", [BOUNDED_METHOD] = "methods",
	};
	char forgotten[FORMAT_MAX], shared[FORMAT_MAX];

	for (unsigned i = 0; i < BOUNDED_COUNT; i++)
		if (f->bounded[i].forgotten || f->bounded[i].shared)
			text_line(t, "memory",
				  "%s %s were forgotten (one that came again is another one here), "
				  "%s times there was no room for one",
				  count_format(f->bounded[i].forgotten, forgotten), kinds[i],
				  count_format(f->bounded[i].shared, shared));
}

static void print_reader_losses(struct text *t)
{
	const struct log_reader_stats *s = &t->in->log->stats;
	char count[FORMAT_MAX];

	if (t->in->log->damaged)
		fputs("\n  !! THE LOG IS DAMAGED OR CUT SHORT: all counts and times are lower "
		      "bounds; see the end.\n",
		      t->out);
	if (s->events_unknown)
		print_text(t->out,
			   "\n  %s events are of kinds that this spoor does not know: a newer one "
			   "wrote them.\n",
			   count_format(s->events_unknown, count));
	if (t->in->log->late)
		print_text(
			t->out,
			"\n  %s events came too late to be put in order; times around them may be "
			"off.\n",
			count_format(t->in->log->late, count));
}

static void print_notes(struct text *t, const struct analysis_facts *f)
{
	static const char *const levels[NOTE_LEVEL_COUNT] = {"note", "warning", "error"};

	for (uint32_t i = 0; i < f->note_count; i++)
		text_line(t,
			  f->notes[i].level < NOTE_LEVEL_COUNT ? levels[f->notes[i].level] : "note",
			  "%s", f->notes[i].text);
}

/* Only a part of the recording is in the report. */
static void print_range(struct text *t)
{
	const struct report_input *in = t->in;
	uint64_t start = header_number(in->log->header, NULL, "start_mono_ns");
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

	if (!in->log->from_ns && !in->log->to_ns)
		return;
	duration_format(in->log->from_ns > start ? in->log->from_ns - start : 0, from);
	duration_format(in->log->to_ns > start ? in->log->to_ns - start : 0, to);
	text_line(t, "part",
		  "only from %s %s%s after the recording's begin; what was open then "
		  "counts with its whole time",
		  from, in->log->to_ns ? "to " : "on", in->log->to_ns ? to : "");
}

int text_recorded(struct text *t)
{
	char events[FORMAT_MAX];
	struct analysis_facts f;

	analysis_facts(t->in->log->analysis, &f);
	text_heading(t, "RECORDED");
	print_jvm(t);
	print_labels(t);
	print_host(t);
	print_time(t, &f);
	print_holes(t);
	print_range(t);
	text_line(t, "events", "%s%s", count_format(f.events, events),
		  t->in->log->damaged ? " in the intact blocks"
		  : f.lost_count      ? ""
				      : ", none lost");
	print_sources(t);
	text_walks(t, &f);
	print_notes(t, &f);
	print_bounded(t, &f);
	print_missing_monitors(t);
	print_lost(t, &f);
	print_reader_losses(t);
	return 0;
}
