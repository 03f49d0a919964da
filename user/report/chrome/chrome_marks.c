/* What the timeline lacks, and what its reader must know: marks on the first track. */
#include <inttypes.h>
#include <stdio.h>

#include "report/chrome/chrome_internal.h"

/* Begins a mark; false: not here. Before the first event, the reader may be far ahead already. */
static bool begin(struct chrome *c, const char *category, const char *name)
{
	uint64_t ns = c->now_ns ? c->now_ns : c->options.first_ns;

	if (!chrome_in_range(c, ns))
		return false;
	if (!c->marks) {
		c->marks = c->next_track++;
		chrome_track(&c->out, c->marks, "recording: losses, notes", CHROME_SORT_MARKS);
	}
	chrome_event(&c->out, 'i', c->marks, ns);
	chrome_text(&c->out, "name", name);
	chrome_text(&c->out, "cat", category);
	chrome_text(&c->out, "s", "t");
	chrome_args(&c->out);
	return true;
}

/* Cumulative counts: a mark for each time they have grown. */
static int on_lost(struct chrome *c, const struct event *e)
{
	static const char *const map[LOST_PLACE_COUNT] = {
		"ring buffer full", "map full",          "read failed",          "writer failed",
		"log damaged",      "no room in memory", "record makes no sense"};
	uint64_t id = e->v[LOST_EVENT_ID].u, where = e->v[LOST_PLACE].u, count = e->v[LOST_COUNT].u;
	const struct event_desc *d = id <= SCHEMA_ID_MAX ? schema_event((unsigned)id) : NULL;
	char name[128];
	uint32_t index;
	uint64_t more;
	int err = keymap_add_row(&c->lost_stages, (struct keymap_key){.a = id, .b = where},
				 &c->lost, &c->lost_capacity, sizeof(*c->lost), &index);

	if (err || count <= c->lost[index])
		return err;
	more = count - c->lost[index];
	c->lost[index] = count;
	c->lost_events += more;
	snprintf(name, sizeof(name), "%" PRIu64 " lost: %s", more, d ? d->name : "(unknown)");
	if (!begin(c, "lost", name))
		return 0;
	chrome_text(&c->out, "place", where < LOST_PLACE_COUNT ? map[where] : "(unknown)");
	chrome_number(&c->out, "so_far", count);
	chrome_done(&c->out);
	return 0;
}

static void on_note(struct chrome *c, const struct event *e)
{
	static const char *const levels[NOTE_LEVEL_COUNT] = {"info", "warning", "error"};
	uint64_t level = e->v[NOTE_LEVEL].u;

	if (!begin(c, "note", e->v[NOTE_TEXT].s ? e->v[NOTE_TEXT].s : ""))
		return;
	chrome_text(&c->out, "level", level < NOTE_LEVEL_COUNT ? levels[level] : "(unknown)");
	chrome_done(&c->out);
}

static void on_end(struct chrome *c, const struct event *e)
{
	const struct field_desc *d = &schema_event(EVENT_END)->fields[END_REASON];
	uint64_t reason = e->v[END_REASON].u;

	c->facts.ended = true;
	if (!begin(c, "end", "end of the recording"))
		return;
	chrome_text(&c->out, "reason",
		    reason < d->enum_count ? d->enum_names[reason] : "(unknown)");
	chrome_done(&c->out);
}

void chrome_marks_hole(struct chrome *c, uint64_t ns)
{
	if (!begin(c, "gap", "nothing is known from here on"))
		return;
	chrome_ms(&c->out, "for_ms", ns);
	chrome_done(&c->out);
}

int chrome_marks_add(struct chrome *c, const struct event *e)
{
	switch (e->id) {
	case EVENT_LOST:
		return on_lost(c, e);
	case EVENT_NOTE:
		if (e->time_ns >= c->hole_ns) /* else it is there already */
			on_note(c, e);
		return 0;
	case EVENT_END:
		on_end(c, e);
		return 0;
	default:
		return 0;
	}
}

void chrome_marks_gaps(struct chrome *c, const struct log_reader_stats *s)
{
	const struct {
		const char *name;
		uint64_t count;
	} gaps[] = {
		{"damaged blocks of the log", s->blocks_damaged - c->stats.blocks_damaged},
		{"missing blocks of the log", s->blocks_missing - c->stats.blocks_missing},
		{"bytes of the log in no block", s->bytes_skipped - c->stats.bytes_skipped},
	};

	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		if (!gaps[i].count || !begin(c, "gap", gaps[i].name))
			continue;
		chrome_number(&c->out, "count", gaps[i].count);
		chrome_text(&c->out, "where", "within the second that follows");
		chrome_done(&c->out);
	}
	c->stats = *s;
}
