#include "report/model/aspect_text.h"

#include <string.h>

#include "analyze/groups/facet_cells.h"
#include "analyze/stacks/cell_kinds.h"
#include "analyze/stacks/stacks.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "log/read/names.h"
#include "report/model/label.h"

static void pool_text(const struct stacks *s, uint64_t thread, struct strbuf *ret)
{
	const char *pool =
		holder_is_thread(thread) ? cell_kinds_pool_name(stacks_kinds(s), thread) : NULL;
	const char *name = name_thread(stacks_names(s), thread, "(unknown)");

	strbuf_add(ret, "%s", pool && *pool ? pool : name);
}

static void method_text(const struct stacks *s, const struct group *g, bool owner, bool package,
			struct strbuf *ret)
{
	uint32_t number = owner ? stacks_holder_method(s, g->cell->holder_stack)
				: stacks_waiter_method(s, g->cell->waiter_stack);
	const struct log_method *m;
	char label[LABEL_MAX];
	const char *end;

	if (owner && g->cell->holder == HOLDER_HAND_OVER) {
		strbuf_add(ret, "(hand-over)");
		return;
	}
	m = stacks_method(s, number);
	if (!m) {
		strbuf_add(ret, "%s", label_method(s, number, label));
		return;
	}
	end = package ? strrchr(m->class_name, '.') : m->class_name + strlen(m->class_name);
	if (end)
		strbuf_put(ret, m->class_name, (size_t)(end - m->class_name));
	else
		strbuf_add(ret, "(no package)");
}

static const char *state_text(const struct cell *cell)
{
	static const char *const names[HOLDER_STATE_COUNT] = {
		[HOLDER_STATE_NONE] = "(unknown)",
		[HOLDER_STATE_RUNNING] = "running",
		[HOLDER_STATE_STOLEN] = "stolen",
		[HOLDER_STATE_RUNNABLE] = "runnable",
		[HOLDER_STATE_THROTTLED] = "throttled",
		[HOLDER_STATE_LOCK] = "lock",
		[HOLDER_STATE_WAIT] = "wait",
		[HOLDER_STATE_PARK] = "park",
		[HOLDER_STATE_SLEEP] = "sleep",
		[HOLDER_STATE_IO] = "io",
		[HOLDER_STATE_PAUSE] = "pause",
		[HOLDER_STATE_OTHER] = "other",
		[HOLDER_STATE_NOT_SPLIT] = "(not split)",
		[HOLDER_STATE_NOBODY] = "(unknown)",
	};
	enum facet_state state = facets_unpack(cell->facets).state;

	if (state == HOLDER_STATE_NOBODY && cell->holder == HOLDER_HAND_OVER)
		return "(hand-over)";
	return state < HOLDER_STATE_COUNT ? names[state] : "(unknown)";
}

static const char *duration_text(const struct cell *cell)
{
	static const char *const names[DURATION_COUNT] = {
		[DURATION_NONE] = "(unknown)",  [DURATION_10US] = "< 10 us",
		[DURATION_100US] = "10-100 us", [DURATION_1MS] = "100 us-1 ms",
		[DURATION_10MS] = "1-10 ms",    [DURATION_100MS] = "10-100 ms",
		[DURATION_1S] = "100 ms-1 s",   [DURATION_10S] = "1-10 s",
		[DURATION_MORE] = ">= 10 s"};
	enum facet_duration d = facets_unpack(cell->facets).duration;

	return d < DURATION_COUNT ? names[d] : "(unknown)";
}

static void window_text(const struct facet_cells *f, const struct cell *cell, struct strbuf *ret)
{
	unsigned window = facets_unpack(cell->facets).window;
	uint64_t from_ns, to_ns;

	if (!f || !window) {
		strbuf_add(ret, "(unknown)");
		return;
	}
	facet_cells_window(f, window, &from_ns, &to_ns);
	strbuf_add(ret, "%llu.%03llu-%llu.%03llu s", (unsigned long long)(from_ns / NS_PER_S),
		   (unsigned long long)(from_ns % NS_PER_S / NS_PER_MS),
		   (unsigned long long)(to_ns / NS_PER_S),
		   (unsigned long long)(to_ns % NS_PER_S / NS_PER_MS));
}

static const char *span_text(const struct stacks *s, const struct facet_cells *f,
			     const struct cell *cell)
{
	unsigned span = facets_unpack(cell->facets).span;
	uint64_t name = f ? facet_cells_span(f, span) : 0;
	const char *text = name ? log_names_string(stacks_names(s), name) : NULL;

	if (span == FACET_SPAN_NONE)
		return "(no span)";
	if (span == FACET_SPAN_MORE)
		return "(other spans)";
	return !text ? "(unknown)" : *text ? text : "(no name)";
}

static const char *sure_text(const struct cell *cell)
{
	static const char *const names[] = {[OWNER_FACT] = "fact",
					    [OWNER_INFERRED] = "inferred",
					    [OWNER_NOT_KNOWN] = "(unknown)"};

	return names[cell_owner_sure(cell)];
}

bool aspect_text(const struct stacks *s, const struct facet_cells *facets, const struct group *g,
		 struct strbuf *ret)
{
	const struct cell *cell = g->cell;

	switch (g->aspect) {
	case ASPECT_WAITER_POOL:
		pool_text(s, cell->waiter, ret);
		return true;
	case ASPECT_OWNER_POOL:
		pool_text(s, cell->holder, ret);
		return true;
	case ASPECT_WAITER_CLASS:
	case ASPECT_WAITER_PACKAGE:
		method_text(s, g, false, g->aspect == ASPECT_WAITER_PACKAGE, ret);
		return true;
	case ASPECT_OWNER_CLASS:
	case ASPECT_OWNER_PACKAGE:
		method_text(s, g, true, g->aspect == ASPECT_OWNER_PACKAGE, ret);
		return true;
	case ASPECT_OWNER_STATE:
		strbuf_add(ret, "%s", state_text(cell));
		return true;
	case ASPECT_OWNER_SOURCE:
		strbuf_add(ret, "%s", sure_text(cell));
		return true;
	case ASPECT_AFTER_WAIT:
		strbuf_add(ret, "%s", cell->after_wait ? "yes" : "no");
		return true;
	case ASPECT_IN_GC:
		strbuf_add(ret, "%s", facets_unpack(cell->facets).gc == GC_WITHIN ? "yes" : "no");
		return true;
	case ASPECT_DURATION:
		strbuf_add(ret, "%s", duration_text(cell));
		return true;
	case ASPECT_WINDOW:
		window_text(facets, cell, ret);
		return true;
	case ASPECT_SPAN:
		strbuf_add(ret, "%s", span_text(s, facets, cell));
		return true;
	default:
		return false;
	}
}

/* --- for people --- */

static char *label_aspect(const struct labels *l, const struct stacks *s, const struct group *g,
			  char buf[LABEL_MAX])
{
	struct strbuf text = {.most = LABEL_MAX};

	aspect_text(s, labels_facets(l), g, &text);
	label_clean(strbuf_text(&text), buf);
	strbuf_free(&text);
	return buf;
}

char *label_group(const struct labels *l, const struct stacks *s, const struct group *g,
		  char buf[LABEL_MAX])
{
	switch (g->aspect) {
	case ASPECT_LOCK_CLASS:
		return label_class(l, g->cell->lock, buf);
	case ASPECT_LOCK:
		return label_lock(l, g->cell->lock, buf);
	case ASPECT_BEHIND:
		return g->cell->blocked_on ? label_lock(l, g->cell->blocked_on, buf)
					   : label_clean("(none)", buf);
	case ASPECT_WAITER_THREAD:
		return label_thread(l, g->cell->waiter, buf);
	case ASPECT_OWNER_THREAD:
		return label_thread(l, g->cell->holder, buf);
	case ASPECT_GROUP:
		return label_clean(name_group(stacks_names(s), g->cell->lock, g->cell->monitor),
				   buf);
	case ASPECT_OWNER_METHOD:
	case ASPECT_OWNER_STACK:
		if (g->cell->holder == HOLDER_HAND_OVER)
			return label_thread(l, HOLDER_HAND_OVER, buf);
		/* fall through */
	case ASPECT_WAITER_METHOD:
	case ASPECT_WAITER_STACK:
		if (g->aspect == ASPECT_WAITER_METHOD || g->aspect == ASPECT_OWNER_METHOD)
			return label_method(s, group_method(s, g), buf);
		return label_clean(group_stack(s, g) ? "" : "(unknown)", buf);
	default:
		return label_aspect(l, s, g, buf);
	}
}
