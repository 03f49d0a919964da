#include "report/heap/lives/heap_lives_words.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/heap/heap_agreement.h"
#include "report/heap/heap_words.h"
#include "report/model/findings.h"

static const struct object_collection *collection_of(const struct heap_lives_report *r,
						     uint32_t moment)
{
	uint32_t count;
	const struct object_collection *c = object_replay_collections(r->log, &count);

	return moment && moment <= count ? &c[moment - 1] : NULL;
}

uint64_t heap_lives_moment_ns(const struct heap_lives_report *r, uint32_t moment)
{
	const struct object_collection *c = collection_of(r, moment);

	if (c)
		return c->end_ns;
	return moment ? 0 : object_replay_sums(r->log)->begin_ns;
}

bool heap_lives_moment_gc(const struct heap_lives_report *r, uint32_t moment, uint64_t *ret)
{
	const struct object_collection *c = collection_of(r, moment);

	if (c)
		*ret = c->id;
	return c != NULL;
}

uint64_t heap_lives_ns(const struct heap_lives_report *r)
{
	uint64_t from = heap_lives_moment_ns(r, r->from), to = heap_lives_moment_ns(r, r->to);

	return from && to > from ? to - from : 0;
}

uint64_t heap_lives_rate(const struct heap_lives_report *r, uint64_t bytes)
{
	return (uint64_t)((__uint128_t)bytes * NS_PER_S / heap_lives_ns(r));
}

uint64_t heap_lives_later(const struct heap_lives *s)
{
	uint64_t bytes = 0;

	for (unsigned i = HEAP_LIVES_OLD; i < HEAP_LIVES_AGES; i++)
		bytes += s->age[i].bytes;
	return bytes;
}

char *heap_lives_signed(int64_t bytes, char buf[HEAP_LIVES_SIZE_MAX])
{
	char text[FORMAT_MAX];

	*buf = '\0';
	buffer_add(buf, HEAP_LIVES_SIZE_MAX, "%s%s", bytes < 0 ? "-" : "+",
		   size_format(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, text));
	return buf;
}

uint64_t heap_lives_mean_ns(uint64_t us, uint64_t objects)
{
	return objects ? (uint64_t)((__uint128_t)us * 1000 / objects) : 0;
}

char *heap_lives_lived(const struct heap_lives *s, char buf[HEAP_LIVES_LIVED_MAX])
{
	char least[FORMAT_MAX], most[FORMAT_MAX];

	*buf = '\0';
	if (s->timed)
		buffer_add(buf, HEAP_LIVES_LIVED_MAX, "%s to %s",
			   time_format(heap_lives_mean_ns(s->least_us, s->timed), least),
			   time_format(heap_lives_mean_ns(s->most_us, s->timed), most));
	else
		buffer_add(buf, HEAP_LIVES_LIVED_MAX, "-");
	return buf;
}

char *heap_lives_blocks(const uint64_t *points, unsigned count, char *buf)
{
	static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
	uint64_t most = 1;

	*buf = '\0';
	for (unsigned p = 0; p < count; p++)
		most = points[p] > most ? points[p] : most;
	for (unsigned p = 0; p < count; p++)
		buffer_add(buf, 3 * count + 1, "%s",
			   blocks[(uint64_t)((__uint128_t)points[p] * 7 / most)]);
	return buf;
}

char *heap_lives_curve(const struct heap_lives *s, char buf[HEAP_LIVES_CURVE_MAX])
{
	return heap_lives_blocks(s->curve, HEAP_LIVES_POINTS, buf);
}

const char *heap_lives_trend_name(enum heap_lives_trend trend)
{
	static const char *const names[] = {
		[HEAP_LIVES_FLAT] = "flat",
		[HEAP_LIVES_GROWS] = "grows",
		[HEAP_LIVES_GREW] = "grew, then flat",
		[HEAP_LIVES_SHRINKS] = "shrinks",
	};

	return names[trend];
}

void heap_lives_print_by(const struct heap_lives_report *r, FILE *out)
{
	for (unsigned i = 0; r->levels && i < r->levels->count; i++)
		print_text(out, "%s%s", i ? ", " : "", r->levels->all[i]->name);
	if (!r->levels)
		print_text(out, "%s", heap_lives_by_names[r->by]);
}

json_t *heap_lives_by_json(const struct heap_lives_report *r)
{
	json_t *all;

	if (!r->levels)
		return json_string(heap_lives_by_names[r->by]);
	all = json_array();
	for (unsigned i = 0; i < r->levels->count; i++)
		json_add(&all, json_string(r->levels->all[i]->name));
	return all;
}

/* --- the heading -------------------------------------------------------------------------- */

static void add_moment(const struct heap_lives_report *r, uint32_t moment, uint64_t early_ns,
		       struct strbuf *o)
{
	const struct object_collection *c = collection_of(r, moment);
	uint64_t begin = object_replay_sums(r->log)->begin_ns;
	char text[HEAP_MOMENT_MAX];

	if (!c) {
		strbuf_add(o, moment ? "the end" : "the begin");
		return;
	}
	strbuf_add(o, "GC %" PRIu64 " end%s", c->id,
		   heap_words_moment(begin && c->end_ns >= begin ? c->end_ns - begin : 0, early_ns,
				     text));
}

static void add_interval(const struct heap_lives_report *r, struct strbuf *o)
{
	add_moment(r, r->from, r->from_early_ns, o);
	strbuf_add(o, " to ");
	add_moment(r, r->to, r->to_early_ns, o);
}

void heap_lives_head(const struct heap_lives_report *r, FILE *out)
{
	struct strbuf o = {0};

	heap_agreement_first(r->agreement, r->name, out);
	add_interval(r, &o);
	print_text(out, "HEAP %s, %s", r->name, strbuf_text(&o));
	heap_agreement_head(r->agreement, out);
	strbuf_free(&o);
}

json_t *heap_lives_state_json(const struct heap_lives_report *r)
{
	const struct object_collection *from = collection_of(r, r->from),
				       *to = collection_of(r, r->to);
	const struct object_sums *s = object_replay_sums(r->log);
	json_t *o = json_object();

	json_put(&o, "file", json_string(r->name));
	json_put(&o, "from_moment", json_integer(r->from));
	json_put(&o, "to_moment", json_integer(r->to));
	json_put(&o, "from_gc", from ? json_integer((json_int_t)from->id) : json_null());
	json_put(&o, "to_gc", to ? json_integer((json_int_t)to->id) : json_null());
	json_put(&o, "from_distance_ns", json_integer((json_int_t)r->from_early_ns));
	json_put(&o, "to_distance_ns", json_integer((json_int_t)r->to_early_ns));
	json_put(&o, "ns", json_integer((json_int_t)heap_lives_ns(r)));
	json_put(&o, "objects", json_integer((json_int_t)s->count));
	json_put(&o, "bytes", json_integer((json_int_t)s->bytes));
	json_put(&o, "map_bytes_most", json_integer((json_int_t)s->map_bytes_most));
	if (r->agreement)
		json_put(&o, "collections", heap_agreement_json(r->agreement));
	json_put(&o, "damaged", json_boolean(r->damaged));
	return o;
}

/* --- the sentence ------------------------------------------------------------------------- */

static const struct heap_lives *first(const struct heap_lives_groups *g)
{
	return g->order_count ? &g->sums[g->order[0]] : NULL;
}

static void say_growth(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		       struct strbuf *o)
{
	int64_t all = heap_lives_weight(&g->all, HEAP_LIVES_GROW), most = 0;
	char size[HEAP_LIVES_SIZE_MAX], end[FORMAT_MAX];
	uint64_t ns = heap_lives_ns(r);

	strbuf_add(o, "Objects that have survived two collections: %s, to %s",
		   heap_lives_signed(all, size), size_format(g->all.old_to.bytes, end));
	if (ns && all > 0)
		strbuf_add(o, " (%s/min)",
			   size_format((uint64_t)((__uint128_t)all * 60 * NS_PER_S / ns), end));
	strbuf_add(o, "; all of them together: %s.",
		   heap_lives_trend_name(heap_lives_trend(&g->all)));
	if (first(g))
		most = heap_lives_weight(first(g), HEAP_LIVES_GROW);
	if (most <= 0)
		return;
	strbuf_add(o, " %s has grown most, by %s: %s.", g->names[g->order[0]],
		   heap_lives_signed(most, size),
		   heap_lives_trend_name(heap_lives_trend(first(g))));
}

static void say_first(const struct heap_lives *s, struct strbuf *o)
{
	uint64_t dead = s->of[LIFETIME_DIED].bytes + s->of[LIFETIME_TEMPORARY].bytes;
	char share[FORMAT_MAX], later[FORMAT_MAX];

	strbuf_add(o,
		   " %s of what died was found dead by the first collection after its birth; "
		   "%s had survived two.",
		   share_format(s->age[0].bytes, dead, share),
		   size_format(heap_lives_later(s), later));
}

static void say_churn(const struct heap_lives_report *r, const struct heap_lives_groups *g,
		      struct strbuf *o)
{
	uint64_t all = g->all.of[LIFETIME_TEMPORARY].bytes,
		 most = first(g) ? first(g)->of[LIFETIME_TEMPORARY].bytes : 0;
	char bytes[FORMAT_MAX], rate[FORMAT_MAX], share[FORMAT_MAX];

	if (!most) {
		strbuf_add(o, "No object was born and has died.");
		return;
	}
	strbuf_add(o, "%s of objects were born and have died", size_format(all, bytes));
	if (heap_lives_ns(r))
		strbuf_add(o, ", %s a second", size_format(heap_lives_rate(r, all), rate));
	strbuf_add(o, "; %s of that: %s.", share_round(most, all, share), g->names[g->order[0]]);
	say_first(&g->all, o);
}

static void say_life(const struct heap_lives_groups *g, struct strbuf *o)
{
	const struct heap_lives_sum *of = g->all.of;
	uint64_t objects = of[LIFETIME_DIED].objects + of[LIFETIME_TEMPORARY].objects,
		 bytes = of[LIFETIME_DIED].bytes + of[LIFETIME_TEMPORARY].bytes;
	char count[FORMAT_MAX], size[FORMAT_MAX], lived[HEAP_LIVES_LIVED_MAX];

	if (!objects) {
		strbuf_add(o, "No object has died.");
		return;
	}
	strbuf_add(o, "%s objects of %s have died, having survived %.1f collections on average",
		   count_format(objects, count), size_format(bytes, size),
		   (double)g->all.survived / (double)objects);
	if (g->all.timed)
		strbuf_add(o, ", and %s passed until a collection found them dead",
			   heap_lives_lived(&g->all, lived));
	strbuf_add(o, ".");
	say_first(&g->all, o);
}

static void say_diff(const struct heap_lives_groups *g, struct strbuf *o)
{
	const struct heap_lives_sum *of = g->all.of;
	int64_t most = first(g) ? heap_lives_weight(first(g), HEAP_LIVES_DIFF) : 0;
	char size[HEAP_LIVES_SIZE_MAX], permanent[FORMAT_MAX], born[FORMAT_MAX], died[FORMAT_MAX],
		temporary[FORMAT_MAX];

	strbuf_add(o, "%s: %s stayed, %s came and are still there, %s went; %s came and went.",
		   heap_lives_signed(heap_lives_weight(&g->all, HEAP_LIVES_DIFF), size),
		   size_format(of[LIFETIME_PERMANENT].bytes, permanent),
		   size_format(of[LIFETIME_BORN].bytes, born),
		   size_format(of[LIFETIME_DIED].bytes, died),
		   size_format(of[LIFETIME_TEMPORARY].bytes, temporary));
	if (most > 0)
		strbuf_add(o, " %s has grown most, by %s.", g->names[g->order[0]],
			   heap_lives_signed(most, size));
}

void heap_lives_sentence(const struct heap_lives_report *r, const struct heap_lives_groups *g,
			 struct strbuf *ret)
{
	if (r->view == HEAP_LIVES_GROW)
		say_growth(r, g, ret);
	else if (r->view == HEAP_LIVES_CHURN)
		say_churn(r, g, ret);
	else if (r->view == HEAP_LIVES_DIFF)
		say_diff(g, ret);
	else
		say_life(g, ret);
}

/* --- what is not known -------------------------------------------------------------------- */

static void row(struct findings *f, const char *format, uint64_t number)
{
	char text[FORMAT_MAX];
	struct strbuf o = {0};

	if (!number)
		return;
	strbuf_add(&o, "%s%s", count_format(number, text), format);
	findings_row(f, FINDINGS_ALL);
	findings_text(f, o.err ? NULL : strbuf_text(&o), NULL);
	if (o.err && !f->err)
		f->err = o.err;
	strbuf_free(&o);
}

static uint64_t untimed(const struct heap_lives *s)
{
	return s->of[LIFETIME_DIED].objects + s->of[LIFETIME_TEMPORARY].objects - s->timed;
}

struct findings *heap_lives_not_known(const struct heap_lives_report *r,
				      const struct heap_lives_groups *g)
{
	static const struct findings_column columns[] = {{.title = ""}};
	const struct object_sums *s = object_replay_sums(r->log);
	const struct object_lifetimes *l = object_replay_lifetimes(r->log);
	struct findings *f = FINDINGS_NEW(columns);
	bool life = r->view == HEAP_LIVES_LIFE;

	if (!f)
		return NULL;
	if (r->callers) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f, r->callers, NULL);
	}
	findings_row(f, FINDINGS_ALL);
	findings_text(f,
		      "When objects died, but for the collection that has found them dead; of old "
		      "ones that may be long after.",
		      NULL);
	if (life && g->all.timed) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f,
			      "When exactly objects were born: between two collections, so that an "
			      "average life is at least this and at most that.",
			      NULL);
	}
	row(f, " objects that have died and whose birth has no time: they are older than the log, "
	       "or of kinds that are others here.",
	    life ? untimed(&g->all) : 0);
	row(f, " objects without an address: whether they have died.", s->no_place);
	row(f, " objects of a class that is not known.", s->unknown_class);
	row(f, " moves of objects that the log does not have.", s->unknown_moves);
	row(f, " objects that were forgotten, as a collection did not tell what it moved, or as "
	       "events were switched off and on again.",
	    s->forgotten);
	row(f, " times that events were switched off and on again, as moves were lost: what was in "
	       "the heap then counts as born there.",
	    s->rings_again);
	row(f, " gaps: events that the JVM has lost.", s->gaps);
	row(f, " collections after which objects are missing, as events were lost.", s->incomplete);
	row(f, " objects that count as dead: moves of them may have been lost.", s->uncertain);
	row(f, " holes: slots of events that are missing in the log.", s->holes);
	row(f, " kinds of objects of few bytes, which are others here: there are too many.",
	    l->folded_kinds);
	row(f, " parts of the log are damaged or missing.", r->damaged);
	return f;
}
