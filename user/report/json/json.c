#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"
#include "analyze/vm/pause.h"
#include "analyze/vm/phases.h"
#include "analyze/vm/safepoint.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "log/read/names.h"
#include "report/json/by_json.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/model/attribution_basis.h"
#include "report/model/finding_model.h"
#include "report/model/sections/by_section.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *recording_json(const struct report_input *in, const struct analysis_facts *f)
{
	static const char *const reasons[END_REASON_COUNT] = {
		"done", "interrupted", "jvm_exited", "jvm_killed", "failed", "dumped"};
	static const char *const copied[] = {"host",    "jvm",   "labels", "record",
					     "sources", "facts", "flight"};
	json_t *o = json_object(), *notes = json_array();

	json_put(&o, "start_wall_ns",
		 number(header_number(in->log->header, NULL, "start_wall_ns")));
	json_put(&o, "start_mono_ns",
		 number(header_number(in->log->header, NULL, "start_mono_ns")));
	if (header_begin_ns(in->log->header) >
	    header_number(in->log->header, NULL, "start_mono_ns"))
		json_put(&o, "begin_mono_ns", number(header_begin_ns(in->log->header)));
	if (in->log->from_ns)
		json_put(&o, "from_mono_ns", number(in->log->from_ns));
	if (in->log->to_ns)
		json_put(&o, "to_mono_ns", number(in->log->to_ns));
	json_put(&o, "duration_ns", number(session_log_duration(in->log)));
	holes_json(in->log->header, in->log->set, f->ended, &o);
	holes_missing_json(in->log->analysis, &o);
	json_put(&o, "events", number(f->events));
	json_put(&o, "end_reason",
		 f->ended && f->end_reason < END_REASON_COUNT ? json_string(reasons[f->end_reason])
							      : json_null());
	json_put(&o, "collector", json_string(header_collector(in->log->header)));
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++) {
		json_t *member = json_object_get(in->log->header, copied[i]);

		if (member)
			json_put(&o, copied[i], json_incref(member));
	}
	for (uint32_t i = 0; i < f->note_count; i++)
		json_add(&notes, json_string(f->notes[i].text));
	json_put(&o, "notes", notes);
	return o;
}

/* What the recorder could not keep within --max-memory, by kind. */
static json_t *bounded_json(const struct analysis_facts *f)
{
	const struct field_desc *kind =
		&schema_event(EVENT_MEMORY_BOUND)->fields[MEMORY_BOUND_KIND];
	json_t *o = json_object();

	for (unsigned i = 0; i < BOUNDED_COUNT; i++)
		if (f->bounded[i].forgotten || f->bounded[i].shared)
			json_put(&o, kind->enum_names[i],
				 json_pack("{sIsI}", "forgotten",
					   (json_int_t)f->bounded[i].forgotten, "shared",
					   (json_int_t)f->bounded[i].shared));
	return o;
}

static json_t *lost_json(const struct report_input *in, const struct analysis_facts *f)
{
	static const char *const stages[LOST_PLACE_COUNT] = {
		"ring_buffer", "map_full", "read_failed", "writer", "log", "memory", "recorder"};
	json_t *o = json_object(), *events = json_array(), *not_kept = bounded_json(f);
	uint64_t total = 0;

	for (uint32_t i = 0; i < f->lost_count; i++) {
		const struct event_desc *d = f->lost[i].event_id <= SCHEMA_ID_MAX
						     ? schema_event((unsigned)f->lost[i].event_id)
						     : NULL;

		total += f->lost[i].count;
		json_add(&events,
			 json_pack("{sssssI}", "event", d ? d->name : "(unknown)", "place",
				   f->lost[i].stage < LOST_PLACE_COUNT ? stages[f->lost[i].stage]
								       : "(unknown)",
				   "count", (json_int_t)f->lost[i].count));
	}
	json_put(&o, "total", number(total));
	json_put(&o, "events", events);
	if (!not_kept || json_object_size(not_kept))
		json_put(&o, "not_kept", not_kept);
	else
		json_decref(not_kept);
	json_put(&o, "damaged", json_boolean(in->log->damaged));
	json_put(&o, "blocks_damaged", number(in->log->stats.blocks_damaged));
	json_put(&o, "blocks_missing", number(in->log->stats.blocks_missing));
	json_put(&o, "bytes_skipped", number(in->log->stats.bytes_skipped));
	json_put(&o, "events_unknown", number(in->log->stats.events_unknown));
	json_put(&o, "events_late", number(in->log->late));
	return o;
}

/* What is in no sum: contentions still going on at the end, and those seen only in part. */
static json_t *incomplete_json(const struct report_input *in)
{
	const struct contention *c = analysis_contention(in->log->analysis);
	const struct log_names *names = analysis_names(in->log->analysis);
	uint64_t begin_missing = 0, end_missing = 0, open = 0, open_ns = 0;

	for (uint32_t i = 0; i < contention_lock_count(c); i++) {
		const struct contention_lock *l = contention_lock(c, i);

		if (!lock_is_contended(names, l->lock, l->monitor))
			continue;
		begin_missing += l->begin_missing;
		end_missing += l->end_missing;
		open += l->open;
		open_ns += l->open_ns;
	}
	return json_pack("{sIsIsIsI}", "begin_missing", (json_int_t)begin_missing, "end_missing",
			 (json_int_t)end_missing, "open", (json_int_t)open, "open_ns",
			 (json_int_t)open_ns);
}

/* The last ones are those of a patched JVM. */
static json_t *pauses_json(const struct section_input *s)
{
	const struct phases *p = analysis_phases(s->analysis);
	json_t *o = json_object();

	json_put(&o, "gc", findings_take_json(section_gc(s)));
	json_put(&o, "safepoints", findings_take_json(section_safepoints(s)));
	json_put(&o, "vm_operations", findings_take_json(section_vm_operations(s)));
	json_put(&o, "incomplete", number(analysis_pauses(s->analysis)->incomplete));
	if (p->collection_times.count || p->row_map.count || p->incomplete) {
		json_put(&o, "collections", findings_take_json(section_collections(s)));
		json_put(&o, "phases", findings_take_json(section_phases(s)));
		json_put(&o, "phases_incomplete", number(p->incomplete));
	}
	if (analysis_safepoints(s->analysis)->times.count)
		json_put(&o, "safepoint_times", findings_take_json(section_safepoint_times(s)));
	return o;
}

/* What of contention is not the tree. NULL: no memory. */
static json_t *contention_json(const struct report_input *in)
{
	json_t *o = json_object();

	json_put(&o, "incomplete", incomplete_json(in));
	json_put(&o, "vouched", basis_json(in));
	if (!o || !report_has_chains(in) || !finding_json(in, o))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *sections_json(const struct section_input *s, const struct analysis_facts *f)
{
	json_t *o = json_object();
	section_make *make;
	const char *name;
	unsigned at = 0;

	json_put(&o, "parking", findings_take_json(section_parking(s)));
	json_put(&o, "waiting", findings_take_json(section_waiting(s)));
	json_put(&o, "pauses", pauses_json(s));
	json_put(&o, "threads", findings_take_json(section_threads(s)));
	while ((make = section_plain(&at, &name)))
		json_put(&o, name, findings_take_json(make(s)));
	json_put(&o, "lost", lost_json(s->in, f));
	return o;
}

/* Takes all three. Members are separated here, as each part has some. */
static int parts_write(json_t *recording, const struct by_section *tree, json_t *contention,
		       json_t *sections, FILE *out)
{
	int err = 0;

	if (!recording || !contention || !sections) {
		json_decref(recording);
		json_decref(contention);
		json_decref(sections);
		return -ENOMEM;
	}
	fputs("{\"recording\":{", out);
	err = json_members_write(recording, out);
	fputs("},\"contention\":{", out);
	err = err ? err : by_json_members(tree, out);
	fputc(',', out);
	err = json_members_write(contention, out) ?: err;
	fputs("},", out);
	err = json_members_write(sections, out) ?: err;
	fputs("}\n", out);
	return err;
}

int report_json(const struct report_input *in, FILE *out)
{
	struct analysis_facts f;
	struct by_section tree;
	int err = by_section_open(in, by_default, BY_DEFAULT_DEPTH, &tree);

	if (err)
		return err;
	analysis_facts(in->log->analysis, &f);
	err = parts_write(recording_json(in, &f), &tree, contention_json(in),
			  sections_json(&tree.section, &f), out);
	by_section_close(&tree);
	return err;
}
