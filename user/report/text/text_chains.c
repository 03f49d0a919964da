#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "report/text/text_report.h"

#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"
#include "report/model/finding_model.h"
#include "report/text/table.h"

#define METHODS_MAX 3 /* shown per lock and side */
#define WIDTH 100

struct walk_end {
	const char *name; /* as the schema has it */
	const char *text;
	bool besides; /* counted besides the end of the walk */
};

/* Those that are no failure. */
static const struct walk_end walk_ends[] = {
	{"complete", "whole", false},
	{"cut", "cut after 512 frames", false},
	{"in_heap", "up to where the rest is in the heap", false},
	{"no_java_frames", "without a Java frame", false},
	{"no_java_thread", "of threads that are not Java's", false},
	{"not_sent", "not sent, as the ring buffer was full", true},
	{"already_known", "known before", true},
	{"astray", "broken at what was no return address", true},
	{"unresolved", "with unloaded code", true},
};

static const char *walk_name(unsigned result)
{
	const struct field_desc *d = &schema_event(EVENT_STACK_WALK)->fields[STACK_WALK_RESULT];

	return result < d->enum_count ? d->enum_names[result]
				      : "for reasons that a newer spoor knows";
}

/* NULL: it failed. */
static const struct walk_end *walk_end_find(unsigned result)
{
	for (size_t i = 0; i < sizeof(walk_ends) / sizeof(*walk_ends); i++) {
		if (!strcmp(walk_ends[i].name, walk_name(result)))
			return &walk_ends[i];
	}
	return NULL;
}

static void list_add(char *buf, size_t size, uint64_t count, const char *what)
{
	char number[FORMAT_MAX];

	if (count)
		buffer_add(buf, size, "%s%s %s", *buf ? ", " : "", count_format(count, number),
			   what);
}

static void failure_add(char *buf, size_t size, uint64_t count, unsigned result)
{
	char words[64];

	snprintf(words, sizeof(words), "%s", walk_name(result));
	for (char *c = words; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	list_add(buf, size, count, words);
}

void text_walks(struct text *t, const struct analysis_facts *f)
{
	const char *missing = header_text(t->in->log->header, "sources", "stacks_missing");
	char ends[512] = "", failed[1024] = "", besides[512] = "", number[FORMAT_MAX];
	uint64_t all = 0, failures = 0;

	for (unsigned i = 0; i < ANALYSIS_WALKS_MAX; i++) {
		const struct walk_end *end = walk_end_find(i);

		if (end && end->besides) {
			list_add(besides, sizeof(besides), f->walks[i], end->text);
			continue;
		}
		all += f->walks[i];
		failures += end ? 0 : f->walks[i];
		if (end)
			list_add(ends, sizeof(ends), f->walks[i], end->text);
		else
			failure_add(failed, sizeof(failed), f->walks[i], i);
	}
	list_add(ends, sizeof(ends), failures, "failed");
	if (*missing)
		text_line(t, "chains", "none: %s", missing);
	if (!all)
		return;
	text_line(t, "chains", "%s walk%s of a stack: %s%s%s", count_format(all, number),
		  all == 1 ? "" : "s", ends, *besides ? "; of their chains: " : "", besides);
	text_line(t, "failed", "%s", failed);
}

/* "    NAME  A 90.0 %, B 8.2 %, and 4 more"; what does not fit into the line goes to the next. */
void text_methods(struct text *t, const char *name, const struct group *lock)
{
	char item[LABEL_MAX + FORMAT_MAX + 8], label[LABEL_MAX], share[FORMAT_MAX];
	unsigned column, begin;

	if (!lock->blocked_ns)
		return;
	begin = column = (unsigned)print_text(t->out, "    %-19s", name);
	for (uint32_t i = 0; i < lock->group_count && i <= METHODS_MAX; i++) {
		const struct group *g = &lock->groups[i];
		bool last = i + 1 == lock->group_count || i == METHODS_MAX;

		if (i == METHODS_MAX)
			snprintf(item, sizeof(item), "and %u more", lock->group_count - i);
		else
			snprintf(item, sizeof(item), "%s %s%s",
				 label_group(t->labels, t->stacks, g, label),
				 share_format(g->blocked_ns, lock->blocked_ns, share),
				 last ? "" : ",");
		if (column > begin && column + 1 + text_width(item) > WIDTH) {
			print_text(t->out, "\n%*s", (int)begin, "");
			column = begin;
		}
		print_text(t->out, " %s", item);
		column += 1 + text_width(item);
	}
	fputc('\n', t->out);
}

int text_sources(struct text *t)
{
	struct strbuf text = {.most = 0};
	int err = t->finding ? finding_sources_text(t->finding, &text) : 0;

	if (!err && text.used) {
		fputs("\n ", t->out);
		text_words(t->out, 2, strbuf_text(&text));
	}
	strbuf_free(&text);
	return err;
}

int text_finding(struct text *t)
{
	struct strbuf text = {.most = 0};
	int err = t->finding ? finding_text(t->stacks, t->finding, &text) : 0;

	if (!err && text.used) {
		text_heading(t, "FINDING");
		fputs(" ", t->out);
		text_words(t->out, 2, strbuf_text(&text));
	}
	strbuf_free(&text);
	return err;
}
