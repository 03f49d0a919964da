/* What is said of a slice of a thread: its name, and the arguments of its begin and its end. */
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "log/read/names.h"
#include "report/chrome/chrome_internal.h"
#include "report/model/chain.h"

static const char *enum_text(uint16_t event, unsigned field, uint64_t value)
{
	const struct field_desc *d = &schema_event(event)->fields[field];

	return value < d->enum_count ? d->enum_names[value] : "(unknown)";
}

/* --- call chains -------------------------------------------------------------------------- */

static char *chain_make(const struct chrome *c, uint64_t stack)
{
	struct chain chain = {.stacks = c->stacks, .stack = stack};
	char *json = NULL, row[LABEL_MAX];
	unsigned count = 0;
	size_t size;
	FILE *out = open_memstream(&json, &size);

	if (!out)
		return NULL;
	putc('[', out);
	while (count < c->options.frames && chain_next(&chain, row)) {
		if (count++)
			putc(',', out);
		chrome_quote(row, out);
	}
	if (chain.stack && count == c->options.frames)
		fputs(",\"...\"", out);
	putc(']', out);
	if (!fclose(out))
		return json;
	free(json);
	return NULL;
}

/* A chain that there is no memory for is left out: the timeline is the same. */
static void put_chain(struct chrome *c, const char *key, uint64_t stack)
{
	struct chrome_chain *kept = &c->chains[stack % CHROME_CHAINS];

	if (!stack || !c->options.frames)
		return;
	if (kept->stack != stack) {
		free(kept->json);
		kept->json = chain_make(c, stack);
		kept->stack = kept->json ? stack : 0;
	}
	if (kept->json)
		chrome_raw(&c->out, key, kept->json);
}

/* --- counters ----------------------------------------------------------------------------- */

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static struct track_counters counters_since(const struct track_counters *from,
					    const struct track_counters *to)
{
	return (struct track_counters){
		growth(from->cpu_ns, to->cpu_ns), growth(from->stolen_ns, to->stolen_ns),
		growth(from->runnable_ns, to->runnable_ns),
		growth(from->throttled_ns, to->throttled_ns), from->known && to->known};
}

/* k.runnable_ns includes what was throttled; the rest of whole_ns is blocked. */
static void put_counters(struct chrome *c, const char *prefix, const struct track_counters *k,
			 uint64_t whole_ns)
{
	const struct {
		const char *name;
		uint64_t ns;
	} parts[] = {
		{"cpu", k->cpu_ns},
		{"stolen", k->stolen_ns},
		{"runnable", growth(k->throttled_ns, k->runnable_ns)},
		{"throttled", k->throttled_ns},
		{"blocked", growth(k->cpu_ns + k->stolen_ns + k->runnable_ns, whole_ns)},
	};
	char key[32];

	if (!k->known)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].ns)
			continue;
		snprintf(key, sizeof(key), "%s%s_ms", prefix, parts[i].name);
		chrome_ms(&c->out, key, parts[i].ns);
	}
}

/* What the owner did from this slice's begin to its end, if it is the same at both. */
static void put_owners(struct chrome *c, const struct track_slice *s)
{
	struct track_counters from = {0}, to = {0}, k;
	const struct event *b = s->begin, *e = s->end;

	if ((b->id == EVENT_MONITOR_CONTENDED_ENTER && e->id == EVENT_MONITOR_CONTENDED_ENTERED &&
	     b->v[MONITOR_CONTENDED_ENTER_OWNER].u == e->v[MONITOR_CONTENDED_ENTERED_OWNER].u) ||
	    (b->id == EVENT_PARK_BEGIN && e->id == EVENT_PARK_END &&
	     b->v[PARK_BEGIN_OWNER].u == e->v[PARK_END_OWNER].u)) {
		from = track_counters_of(b, COUNTERS_OF_OWNER);
		to = track_counters_of(e, COUNTERS_OF_OWNER);
	}
	k = counters_since(&from, &to);
	put_counters(c, "owner_", &k, growth(b->time_ns, e->time_ns));
}

/* --- begin -------------------------------------------------------------------------------- */

static bool is_juc(const struct chrome *c, uint64_t lock)
{
	const struct log_lock *l = log_names_lock(c->names, lock);

	return l && l->group == LOCK_GROUP_JUC;
}

/* Less than half of it on a CPU: the rest are breaks shorter than the recorder's threshold. */
static bool is_on_and_off(const struct track_slice *s)
{
	struct track_counters k = counters_since(&s->from, &s->to);

	return k.known && 2 * (k.cpu_ns + k.stolen_ns) < s->end_ns - s->begin_ns;
}

static void put_name(struct chrome *c, const struct track_slice *s)
{
	static const char *const names[STATE_COUNT] = {
		[STATE_RUNNING] = "running",
		[STATE_STOLEN] = "stolen",
		[STATE_RUNNABLE] = "runnable",
		[STATE_THROTTLED] = "throttled",
		[STATE_LOCK] = "lock",
		[STATE_WAIT] = "wait",
		[STATE_PARK] = "park",
		[STATE_SLEEP] = "sleep",
		[STATE_IO] = "I/O",
		[STATE_PAUSE] = "pause",
		[STATE_OTHER] = "blocked",
	};
	bool juc = s->state == STATE_PARK && is_juc(c, s->lock);
	const char *name = juc ? "lock" : names[s->state];
	char class[LABEL_MAX];

	if (s->state == STATE_RUNNING && !c->off_cpu)
		name = "running or off its CPU";
	else if (s->state == STATE_RUNNING && is_on_and_off(s))
		name = "on and off its CPU";
	if (s->lock)
		chrome_format(&c->out, "name", "%s %s", name,
			      label_class(c->labels, s->lock, class));
	else
		chrome_text(&c->out, "name", name);
}

static void put_owner(struct chrome *c, uint64_t owner, uint64_t source, uint64_t doing,
		      uint64_t doing_ns)
{
	char label[LABEL_MAX];

	if (owner)
		chrome_text(&c->out, "owner", label_thread(c->labels, owner, label));
	else
		chrome_text(&c->out, "owner",
			    source == OWNER_SOURCE_NONE ? "(nobody)" : "(unknown)");
	if (source == OWNER_SOURCE_FIRST_READER)
		chrome_text(&c->out, "owner_is", "the first of its readers");
	if (!doing_ns)
		return;
	chrome_text(&c->out, "owner_doing",
		    enum_text(EVENT_PARK_BEGIN, PARK_BEGIN_OWNER_DOING, doing));
	chrome_ms(&c->out, "owner_doing_ms", doing_ns);
}

static void put_enter(struct chrome *c, const struct event *e)
{
	put_owner(c, e->v[MONITOR_CONTENDED_ENTER_OWNER].u,
		  e->v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u,
		  e->v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u,
		  e->v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u);
	put_chain(c, "chain", e->v[MONITOR_CONTENDED_ENTER_STACK].u);
	put_chain(c, "owner_chain", e->v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u);
}

static void put_wait(struct chrome *c, const struct event *e)
{
	if (e->v[MONITOR_WAIT_BEGIN_TIMEOUT_MS].u)
		chrome_number(&c->out, "timeout_ms", e->v[MONITOR_WAIT_BEGIN_TIMEOUT_MS].u);
	put_chain(c, "chain", e->v[MONITOR_WAIT_BEGIN_STACK].u);
}

static void put_park(struct chrome *c, const struct event *e)
{
	if (e->v[PARK_BEGIN_OWNER].u || is_juc(c, e->v[PARK_BEGIN_LOCK].u))
		put_owner(c, e->v[PARK_BEGIN_OWNER].u, e->v[PARK_BEGIN_OWNER_SOURCE].u,
			  e->v[PARK_BEGIN_OWNER_DOING].u, e->v[PARK_BEGIN_OWNER_DOING_NS].u);
	if (e->v[PARK_BEGIN_READERS].u)
		chrome_number(&c->out, "readers", e->v[PARK_BEGIN_READERS].u);
	if (e->v[PARK_BEGIN_TIME].u && e->v[PARK_BEGIN_ABSOLUTE].u)
		chrome_number(&c->out, "deadline_ms", e->v[PARK_BEGIN_TIME].u);
	else if (e->v[PARK_BEGIN_TIME].u)
		chrome_ms(&c->out, "timeout_ms", e->v[PARK_BEGIN_TIME].u);
	put_chain(c, "chain", e->v[PARK_BEGIN_STACK].u);
	put_chain(c, "owner_chain", e->v[PARK_BEGIN_OWNER_STACK].u);
}

static void put_theft(struct chrome *c, const struct event *e)
{
	chrome_number(&c->out, "cpu", e->v[THEFT_CPU].u);
	chrome_ms(&c->out, "taken_ms", e->v[THEFT_TAKEN_NS].u);
	chrome_ms(&c->out, "turn_ms", e->v[THEFT_TURN_NS].u);
	chrome_text(&c->out, "where", "put at the end of the turn; where in it is not known");
}

static bool is_level(const struct track_slice *s)
{
	return s->state == STATE_LOCK || s->state == STATE_WAIT || s->state == STATE_PARK;
}

void chrome_slice_begin(struct chrome *c, const struct track_slice *s)
{
	bool juc = s->state == STATE_PARK && is_juc(c, s->lock);
	char label[LABEL_MAX];

	put_name(c, s);
	chrome_text(&c->out, "cat", juc ? "juc" : state_name(s->state));
	chrome_args(&c->out);
	if (s->lock)
		chrome_text(&c->out, "lock", label_identity(c->labels, s->lock, label));
	if (s->begin && s->begin->id == EVENT_MONITOR_CONTENDED_ENTER)
		put_enter(c, s->begin);
	else if (s->begin && s->begin->id == EVENT_MONITOR_WAIT_BEGIN)
		put_wait(c, s->begin);
	else if (s->begin && s->begin->id == EVENT_PARK_BEGIN)
		put_park(c, s->begin);
	else if (s->begin && s->begin->id == EVENT_THEFT)
		put_theft(c, s->begin);
	if (s->notifier)
		chrome_text(&c->out, "notified_by", label_thread(c->labels, s->notifier, label));
	if (!s->begin && is_level(s) && !s->sampled)
		chrome_text(&c->out, "begin", "not seen");
	if (s->sampled)
		chrome_text(&c->out, "inferred", "from samples of its counters");
}

/* --- end ---------------------------------------------------------------------------------- */

static void put_how(struct chrome *c, const struct track_slice *s)
{
	static const char *const texts[] = {
		[TRACK_LOST] = "not seen: not later than this",
		[TRACK_THREAD_ENDED] = "the thread ended",
		[TRACK_LOG_ENDED] = "not before the recording's",
	};
	const struct event *e = s->end;

	if (s->how != TRACK_ENDED)
		chrome_text(&c->out, "end", texts[s->how]);
	else if (e && e->id == EVENT_PARK_END && e->v[PARK_END_HOW].u)
		chrome_text(&c->out, "end",
			    enum_text(EVENT_PARK_END, PARK_END_HOW, e->v[PARK_END_HOW].u));
	else if (e && e->id == EVENT_MONITOR_WAIT_END && e->v[MONITOR_WAIT_END_HOW].u)
		chrome_text(&c->out, "end",
			    enum_text(EVENT_MONITOR_WAIT_END, MONITOR_WAIT_END_HOW,
				      e->v[MONITOR_WAIT_END_HOW].u));
}

void chrome_slice_end(struct chrome *c, const struct track_slice *s)
{
	struct track_counters own = counters_since(&s->from, &s->to);
	uint64_t whole_ns = s->end_ns - s->begin_ns;

	put_name(c, s);
	chrome_args(&c->out);
	if (s->shown_end_ns - s->shown_begin_ns != whole_ns)
		chrome_ms(&c->out, "whole_ms", whole_ns);
	if (is_level(s) || s->state == STATE_RUNNING)
		put_counters(c, "", &own, whole_ns);
	if (s->begin && s->end && is_level(s) && s->how == TRACK_ENDED)
		put_owners(c, s);
	if (s->breaks) {
		chrome_number(&c->out, "short_breaks", s->breaks);
		chrome_ms(&c->out, "short_breaks_ms", s->breaks_ns);
	}
	put_how(c, s);
}
