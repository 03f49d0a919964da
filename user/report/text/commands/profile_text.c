/* The sentence first, then what the figures rest on, then the view. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/format.h"
#include "base/text/print.h"
#include "log/format/event.h"
#include "report/model/findings.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_basis.h"
#include "report/model/sections/commands/profile_report.h"
#include "report/model/sections/wall_rows.h"
#include "report/text/findings_text.h"

#define INDENT_MOST 30

static void print_sentence(const struct profile_input *in, const struct profile_tree *t, FILE *out)
{
	const struct profile_frame *most = NULL;
	char ran[FORMAT_MAX], share[FORMAT_MAX];

	for (uint32_t i = 0; i < t->frame_map.count; i++)
		if (!most || t->frames[i].self.ns > most->self.ns)
			most = &t->frames[i];
	time_format(t->run_ns, ran);
	if (!profile_only_running(in)) {
		print_text(out, "The threads have %s in %s.\n", time_format(t->all.ns, ran),
			   in->states == PROFILE_ALL_STATES ? "all" : "these states");
		return;
	}
	if (!t->all.samples || !most)
		print_text(out, "No sample: the threads ran for %s.%s\n", ran,
			   profile_period_ns(in) ? "" : " It was recorded without --sample.");
	else
		print_text(out,
			   "The threads ran for %s, %s ±%.1f of that in %s itself, more than in "
			   "any other method.\n",
			   ran, share_format(most->self.ns, t->all.ns, share),
			   100 * profile_deviation(t, &most->self), most->name);
}

static const char *name_of(unsigned field, unsigned value)
{
	return schema_event(EVENT_RUN_SAMPLE)->fields[field].enum_names[value];
}

static void print_modes(const struct profile_tree *t, FILE *out)
{
	static const char *const titles[SAMPLE_MODE_COUNT] = {
		[SAMPLE_MODE_UNKNOWN] = "not known",
		[SAMPLE_MODE_JAVA] = "Java code",
		[SAMPLE_MODE_NATIVE] = "native code",
		[SAMPLE_MODE_VM] = "libjvm",
		[SAMPLE_MODE_KERNEL] = "the kernel",
		[SAMPLE_MODE_SPIN] = "libjvm spinning for a monitor",
	};
	const char *joint = "";
	char share[FORMAT_MAX];

	fputs("  mode      ", out);
	for (int i = 0; i < SAMPLE_MODE_COUNT; i++) {
		if (!t->mode_ns[i])
			continue;
		print_text(out, "%s%s %s", joint,
			   share_format(t->mode_ns[i], t->all.sampled_ns, share), titles[i]);
		joint = ", ";
	}
	fputc('\n', out);
}

/* Of threads that have Java frames. */
static void print_walks(const struct profile_tree *p, FILE *out)
{
	uint64_t walks = 0,
		 whole = p->result[WALK_RESULT_COMPLETE] + p->result[WALK_RESULT_IN_HEAP];
	const char *joint = "";
	char share[FORMAT_MAX];

	for (unsigned i = 0; i < WALK_RESULT_COUNT; i++)
		if (i != WALK_RESULT_NO_JAVA_THREAD && i != WALK_RESULT_NO_JAVA_FRAMES)
			walks += p->result[i];
	print_text(out, "  decoded   %s of the chains", share_format(whole, walks, share));
	for (unsigned i = 0; i < WALK_BEGIN_COUNT; i++) {
		if (!p->via[i] || i == WALK_BEGIN_NONE)
			continue;
		print_text(out, "%s%s %s",
			   *joint ? joint : ", begun in: ", name_of(RUN_SAMPLE_VIA, i),
			   share_format(p->via[i], walks, share));
		joint = ", ";
	}
	fputc('\n', out);
	joint = "  not       ";
	for (unsigned i = 0; i < WALK_RESULT_COUNT; i++) {
		if (!p->result[i] || i == WALK_RESULT_COMPLETE || i == WALK_RESULT_IN_HEAP ||
		    i == WALK_RESULT_NO_JAVA_THREAD || i == WALK_RESULT_NO_JAVA_FRAMES)
			continue;
		print_text(out, "%s%s %s", joint, name_of(RUN_SAMPLE_RESULT, i),
			   share_format(p->result[i], walks, share));
		joint = ", ";
	}
	if (*joint == ',')
		fputc('\n', out);
}

/* All states, and of what part of each nothing says where the thread was. */
static void print_states(const struct profile_input *in, const struct profile_tree *t, FILE *out)
{
	char ns[FORMAT_MAX], share[FORMAT_MAX], missing[FORMAT_MAX];
	bool has_reasons = wall_has_reasons(in->in);

	for (int i = 0; i < STATE_COUNT; i++) {
		if (!t->states.ns[i])
			continue;
		print_text(out, "  %-10s%9s  %7s", state_title((enum state)i, has_reasons),
			   time_format(t->states.ns[i], ns),
			   share_format(t->states.ns[i], t->all.ns, share));
		if (t->no_chain.ns[i])
			print_text(out,
				   i == STATE_RUNNING ? ", %s of it not sampled"
						      : ", place not known of %s of it",
				   share_format(t->no_chain.ns[i], t->states.ns[i], missing));
		fputc('\n', out);
	}
	if (in->profile->options.gaps)
		fputs("  weights   of samples: the time to the thread's next one, in the first "
		      "one's state (--lab gap-weights)\n",
		      out);
	if (in->profile->trimmed_ns)
		print_text(out, "  less by   %9s  than events said, as by the threads' counters\n",
			   time_format(in->profile->trimmed_ns, ns));
}

static void print_locks(const struct profile_tree *t, FILE *out)
{
	char share[FORMAT_MAX], inferred[FORMAT_MAX];

	print_text(out,
		   "  locks     %s was run with a lock that another thread waited for, %s of that "
		   "inferred (~): no numbered event says who held the lock\n",
		   share_format(t->lock_ns, t->all.sampled_ns, share),
		   share_format(t->lock_inferred_ns, t->lock_ns, inferred));
}

static void print_basis(const struct profile_input *in, const struct profile_tree *t, FILE *out)
{
	uint64_t period_ns = profile_period_ns(in), lost = profile_lost(in);
	uint64_t expected = profile_expected(in, t);
	char count[FORMAT_MAX], period[FORMAT_MAX], ns[FORMAT_MAX], share[FORMAT_MAX],
		text[FORMAT_MAX];
	const char *event = profile_event(in);

	print_text(out, "  samples   %s%s%s, of %s each", count_format(t->all.samples, count),
		   *event ? " by " : "", event, time_format(period_ns, period));
	if (expected)
		print_text(out, ", %s expected", count_format(expected, count));
	if (!in->profile->options.gaps)
		print_text(out, "; %s of the time that the threads ran",
			   share_format(t->all.sampled_ns, t->run_ns, share));
	fputc('\n', out);
	if (lost)
		print_text(out, "  lost      %s samples: their time is in the next ones\n",
			   count_format(lost, count));
	if (in->profile->unweighted)
		print_text(out,
			   "  left out  %s samples, of threads of which nothing was known before\n",
			   count_format(in->profile->unweighted, count));
	if (in->profile->spans.options.pattern)
		print_text(out, "  spans     %s of the %s with such names, which took %s or more\n",
			   count_format(in->profile->spans.chosen, count),
			   count_format(in->profile->spans.ended, text),
			   time_format(in->profile->spans.least_ns, ns));
	print_modes(t, out);
	print_walks(t, out);
	if (in->by == PROFILE_BY_LOCK)
		print_locks(t, out);
	print_text(out,
		   "  inferred  %s of the samples: the innermost method is that of the nearest "
		   "place that the JVM describes\n",
		   share_format(t->inferred, t->all.samples, text));
	print_text(out, "  ±         one standard deviation, in %% of %s\n\n",
		   time_format(t->all.ns, ns));
}

static bool is_shown(const struct profile_input *in, const struct profile_tree *t, uint64_t ns)
{
	return !in->least_pct || (ns && ns / in->least_pct >= t->nodes[0].total.ns / 100);
}

/* A chain without branches stays in its column. */
static bool branches(const struct profile_input *in, const struct profile_tree *t, uint32_t node)
{
	unsigned shown = node && t->nodes[node].self.ns && is_shown(in, t, t->nodes[node].self.ns);

	for (uint32_t i = t->nodes[node].first; i; i = t->nodes[i].next)
		shown += is_shown(in, t, t->nodes[i].total.ns);
	return shown > 1;
}

static void print_node(const struct profile_tree *t, uint32_t node, uint32_t indent, FILE *out)
{
	const struct profile_node *n = &t->nodes[node];
	char percent[FORMAT_MAX], total[FORMAT_MAX], self[FORMAT_MAX], deviation[16] = "     ";

	share_format(n->total.ns, t->all.ns, percent);
	time_format(n->total.ns, total);
	if (n->total.sampled_ns || !n->total.ns)
		snprintf(deviation, sizeof(deviation), "±%-4.1f",
			 100 * profile_deviation(t, &n->total));
	print_text(out, "  %7s %s %9s  %*s%s", percent, deviation, total,
		   (int)(2 * (indent < INDENT_MOST ? indent : INDENT_MOST)), "",
		   t->frames[n->frame].name);
	if (n->self.ns && n->first)
		print_text(out, "  (self %s)", share_format(n->self.ns, t->all.ns, self));
	fputc('\n', out);
}

static int print_tree(const struct profile_input *in, const struct profile_tree *t, FILE *out)
{
	uint32_t *indent = calloc(t->node_map.count, sizeof(*indent));
	uint32_t hidden = 0;
	bool deeper = true;

	if (!indent)
		return -ENOMEM;
	for (uint32_t i = profile_tree_next(t, 0, true); i; i = profile_tree_next(t, i, deeper)) {
		uint32_t parent = t->nodes[i].parent;

		indent[i] = indent[parent] + (parent && branches(in, t, parent));
		deeper = is_shown(in, t, t->nodes[i].total.ns);
		if (deeper)
			print_node(t, i, indent[i], out);
		hidden += !deeper;
	}
	if (hidden)
		print_text(out, "  (%" PRIu32 " branches with less than %u %%: --least 0)\n",
			   hidden, in->least_pct);
	free(indent);
	return 0;
}

static int print_table(const struct profile_input *in, const struct profile_tree *t, FILE *out)
{
	struct findings_view view = {
		.indent = 2,
		.top = in->in->top,
		.sort = in->view == PROFILE_FLAT   ? "self_ns"
			: profile_only_running(in) ? "run_ns"
						   : "wall_ns",
		.noun = in->view == PROFILE_FLAT ? "methods" : "threads",
	};
	struct findings *f = profile_section(in, t);
	int err = findings_to_text(f, &view, out);

	findings_free(f);
	return err;
}

int report_profile_text(const struct profile_input *in, FILE *out)
{
	struct profile_tree t;
	int err = profile_tree_make(in, &t);

	if (!err) {
		bool any = t.all.samples || t.all.ns;

		print_sentence(in, &t, out);
		if (!profile_only_running(in))
			print_states(in, &t, out);
		if (t.all.samples)
			print_basis(in, &t, out);
		else if (!profile_only_running(in))
			fputc('\n', out);
		if (in->method && any && !t.nodes[0].first)
			print_text(out, "  No %s has a method %s.\n",
				   profile_only_running(in) ? "sample" : "chain", in->method);
		else if (any && (in->view == PROFILE_FLAT || in->view == PROFILE_THREADS))
			err = print_table(in, &t, out);
		else if (any)
			err = print_tree(in, &t, out);
	}
	profile_tree_free(&t);
	return err;
}
