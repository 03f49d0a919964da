#include "report/model/finding_model.h"

#include <errno.h>
#include <string.h>

#include "analyze/contention/contention.h"
#include "analyze/groups/facet_cells.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/chain.h"
#include "report/model/label.h"

#define SAID_FROM 20 /* what is not known is left out if it is less than one part in so many */

bool report_has_chains(const struct report_input *in)
{
	struct analysis_facts f;

	analysis_facts(in->log->analysis, &f);
	return f.events_by_id[EVENT_STACK] || f.events_by_id[EVENT_STACK_WALK];
}

const struct cell *report_cells(const struct report_input *in, uint32_t *ret_count)
{
	if (!in->where && !in->cells)
		return contention_cells(analysis_contention(in->log->analysis), ret_count);
	*ret_count = in->cell_count;
	return in->cells;
}

const struct lengths *report_lengths(const struct report_input *in)
{
	return in->facets ? &facet_cells(in->facets)->lengths
			  : contention_lengths(analysis_contention(in->log->analysis));
}

int report_groups(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		  struct group *ret)
{
	struct groups_input groups = {.stacks = analysis_stacks(in->log->analysis),
				      .lengths = report_lengths(in),
				      .by = by,
				      .depth = depth,
				      .order = in->order,
				      .parked = in->parked};

	groups.cells = report_cells(in, &groups.cell_count);
	return groups_sum(&groups, ret);
}

int report_finding(const struct report_input *in, struct finding *ret)
{
	enum group_order order = in->order == GROUP_BY_TIME ? GROUP_BY_TIME : GROUP_BY_WORK;
	const struct cell *cells;
	uint32_t count;

	cells = report_cells(in, &count);
	return finding_make(analysis_stacks(in->log->analysis), cells, count, order, ret);
}

static bool worth_saying(uint64_t part, uint64_t whole)
{
	return part && part >= whole / SAID_FROM;
}

static const char *doing(uint32_t waiter_method, uint32_t owner_method)
{
	return waiter_method == owner_method ? "other threads in the same method" : NULL;
}

/* Who is to blame for the waiting in the one method that has most of it. */
static void say_owner(struct strbuf *o, const struct stacks *stacks, const struct finding *f)
{
	char share[FORMAT_MAX], name[LABEL_MAX];
	const char *same = doing(f->waiter_method, f->owner_method);

	if (f->owner_ns)
		strbuf_add(o, "%s of that is caused by %s",
			   share_round(f->owner_ns, f->waiter_ns, share),
			   same ? same : label_method(stacks, f->owner_method, name));
}

static void say_unknown_owner(struct strbuf *o, const struct finding *f)
{
	char share[FORMAT_MAX];

	strbuf_add(o, " For %s of that it is not known where the holder was.",
		   share_round(f->owner_unknown_ns, f->waiter_ns, share));
}

static void say_hand_over(struct strbuf *o, const struct finding *f)
{
	char share[FORMAT_MAX];

	strbuf_add(o,
		   " %s of that is hand-over: the lock had been released, and nobody was seen "
		   "taking it yet.",
		   share_round(f->hand_over_ns, f->waiter_ns, share));
}

/* One method has at least half of the waiting. */
static void say_one(struct strbuf *o, const struct stacks *stacks, const struct finding *f)
{
	bool blame =
		f->owner_ns && f->owner_ns >= f->hand_over_ns && f->owner_ns >= f->owner_unknown_ns;
	char share[FORMAT_MAX], name[LABEL_MAX];

	strbuf_add(o, "%s of the waiting is in %s", share_round(f->waiter_ns, f->total_ns, share),
		   label_method(stacks, f->waiter_method, name));
	if (blame) {
		strbuf_add(o, ", and ");
		say_owner(o, stacks, f);
	}
	strbuf_add(o, ".");
	if (f->hand_over_ns > f->owner_ns && f->hand_over_ns >= f->owner_unknown_ns)
		say_hand_over(o, f);
	if (worth_saying(f->owner_unknown_ns, f->waiter_ns))
		say_unknown_owner(o, f);
	if (f->hand_over_ns > f->owner_ns && f->hand_over_ns < f->owner_unknown_ns)
		say_hand_over(o, f);
	if (!blame && f->owner_ns) {
		strbuf_add(o, " ");
		say_owner(o, stacks, f);
		strbuf_add(o, ".");
	}
}

/* No method has half of it: what there is, as shares of the whole. */
static void say_several(struct strbuf *o, const struct stacks *stacks, const struct finding *f)
{
	char share[FORMAT_MAX], waiter[LABEL_MAX], owner[LABEL_MAX];
	bool nameless = worth_saying(f->nameless_ns, f->total_ns);
	const char *gap = nameless ? " " : "";

	if (nameless)
		strbuf_add(o, "For %s of the waiting it is not known in which method it is.",
			   share_round(f->nameless_ns, f->total_ns, share));
	for (unsigned i = 0; i < f->pair_count; i++) {
		const struct finding_pair *p = &f->pairs[i];
		const char *same = doing(p->waiter_method, p->owner_method);

		strbuf_add(o, "%s%s%s is in %s and caused by %s", i ? "; " : gap,
			   share_round(p->blocked_ns, f->total_ns, share),
			   i ? "" : " of the waiting",
			   label_method(stacks, p->waiter_method, waiter),
			   same ? same : label_method(stacks, p->owner_method, owner));
	}
	if (f->pair_count)
		strbuf_add(o, ".");
	else if (f->waiter_ns)
		strbuf_add(o, "%s%s of the waiting is in %s.", gap,
			   share_round(f->waiter_ns, f->total_ns, share),
			   label_method(stacks, f->waiter_method, waiter));
	if (worth_saying(f->all_hand_over_ns, f->total_ns))
		strbuf_add(o, " %s is hand-over: released, and nobody seen taking it yet.",
			   share_round(f->all_hand_over_ns, f->total_ns, share));
	if (worth_saying(f->all_unknown_ns, f->total_ns))
		strbuf_add(o, " For %s it is not known where the holder was.",
			   share_round(f->all_unknown_ns, f->total_ns, share));
}

/* What the sentence is not about. */
static void say_idle(struct strbuf *o, const struct finding *f)
{
	char share[FORMAT_MAX];

	if (worth_saying(f->idle_ns, f->blocked_ns))
		strbuf_add(o,
			   "%s of the blocked time is idle turn-taking: threads queued to wait for "
			   "new work.%s",
			   share_round(f->idle_ns, f->blocked_ns, share),
			   f->total_ns ? " Of the rest: " : "");
}

int finding_text(const struct stacks *stacks, const struct finding *f, struct strbuf *o)
{
	say_idle(o, f);
	if (f->total_ns && f->waiter_ns >= f->total_ns - f->waiter_ns)
		say_one(o, stacks, f);
	else if (f->total_ns)
		say_several(o, stacks, f);
	return o->err;
}

int finding_sources_text(const struct finding *f, struct strbuf *o)
{
	static const char *const moments[] = {
		[HOLDER_STACK_BLOCK] = "seen when the other blocked",
		[HOLDER_STACK_SWITCH] = "when it left its CPU",
		[HOLDER_STACK_SAMPLE] = "by a sample",
		[HOLDER_STACK_RELEASE] = "when it released the lock",
		[HOLDER_STACK_BLOCKED] = "when it blocked itself",
		[HOLDER_STACK_WAIT] = "where it waited",
	};
	uint64_t known_ns = f->held_ns - f->from_ns[HOLDER_STACK_UNKNOWN];
	char share[FORMAT_MAX];
	bool first = true;

	_Static_assert(sizeof(moments) / sizeof(*moments) == HOLDER_STACK_FROM_COUNT, "all");
	if (!f->blocked_ns)
		return 0;
	strbuf_add(o, "The waiter's call chain is known for %s of the blocked time",
		   share_format(f->waiter_known_ns, f->blocked_ns, share));
	if (f->held_ns)
		strbuf_add(o, "; the holder's for %s of that with a known holder",
			   share_format(known_ns, f->held_ns, share));
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++) {
		if (!moments[i] || !f->from_ns[i])
			continue;
		strbuf_add(o, "%s %s %s", first ? ":" : ",",
			   share_format(f->from_ns[i], f->held_ns, share), moments[i]);
		first = false;
	}
	strbuf_add(o, ".");
	return o->err;
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *methods_json(const struct report_input *in, enum aspect_id by)
{
	const struct stacks *stacks = analysis_stacks(in->log->analysis);
	json_t *array = json_array();
	const struct cell *cells;
	struct group root = {0};
	uint32_t count;
	int err;

	cells = report_cells(in, &count);
	err = groups_make(stacks, cells, count, &by, 1, in->order, &root);
	for (uint32_t i = 0; i < root.group_count && !err; i++)
		err = json_array_append_new(
			array,
			json_pack("{sosI}", "method", group_method_json(stacks, &root.groups[i]),
				  "blocked_ns", (json_int_t)root.groups[i].blocked_ns));
	groups_free(&root);
	if (!err)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *sources_json(const struct finding *f)
{
	static const char *const names[] = {"unknown_ns", "block_ns",   "switch_ns", "sample_ns",
					    "release_ns", "blocked_ns", "wait_ns"};
	json_t *o = json_object();
	int err = json_object_set_new(o, "waiter_known_ns", number(f->waiter_known_ns));

	_Static_assert(sizeof(names) / sizeof(*names) == HOLDER_STACK_FROM_COUNT, "all");
	err |= json_object_set_new(o, "held_ns", number(f->held_ns));
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		err |= json_object_set_new(o, names[i], number(f->from_ns[i]));
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *pairs_json(const struct stacks *stacks, const struct finding *f)
{
	json_t *array = json_array();
	int err = array ? 0 : -1;

	for (unsigned i = 0; i < f->pair_count && !err; i++)
		err = json_array_append_new(
			array,
			json_pack("{sososI}", "waiter_method",
				  method_json(stacks, f->pairs[i].waiter_method), "owner_method",
				  method_json(stacks, f->pairs[i].owner_method), "blocked_ns",
				  (json_int_t)f->pairs[i].blocked_ns));
	if (!err)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *method_or_null(const struct stacks *stacks, uint32_t method)
{
	return stacks_method(stacks, method) ? method_json(stacks, method) : json_null();
}

static json_t *sentence_json(const struct stacks *stacks, const struct finding *f)
{
	struct strbuf text = {.most = 0};
	json_t *o = NULL;

	if (!finding_text(stacks, f, &text))
		o = json_pack("{sssIsIsosIsosIsIsIso}", "text", strbuf_text(&text), "total_ns",
			      (json_int_t)f->total_ns, "idle_ns", (json_int_t)f->idle_ns,
			      "waiter_method", method_or_null(stacks, f->waiter_method),
			      "waiter_ns", (json_int_t)f->waiter_ns, "owner_method",
			      method_or_null(stacks, f->owner_method), "owner_ns",
			      (json_int_t)f->owner_ns, "hand_over_ns", (json_int_t)f->hand_over_ns,
			      "owner_unknown_ns", (json_int_t)f->owner_unknown_ns, "pairs",
			      pairs_json(stacks, f));
	strbuf_free(&text);
	return o;
}

int finding_json(const struct report_input *in, json_t *contention)
{
	const struct stacks *stacks = analysis_stacks(in->log->analysis);
	struct finding f;
	int err = report_finding(in, &f);

	if (err)
		return err;
	err |= json_object_set_new(contention, "waiter_methods",
				   methods_json(in, ASPECT_WAITER_METHOD));
	err |= json_object_set_new(contention, "owner_methods",
				   methods_json(in, ASPECT_OWNER_METHOD));
	err |= json_object_set_new(contention, "stack_sources", sources_json(&f));
	err |= json_object_set_new(contention, "finding", sentence_json(stacks, &f));
	return err ? -ENOMEM : 0;
}
