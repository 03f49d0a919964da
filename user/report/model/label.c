#include "report/model/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stacks.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"

/* Of a name; what is said beyond it, as a line or a tid, has room after it. */
#define NAME_BYTES (LABEL_MAX - 64)

struct labels {
	const struct log_names *names;
	const char **thread_names; /* sorted: equal ones are neighbours */
	unsigned thread_count;
	const struct facet_cells *facets;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct labels *labels_new(const struct log_names *names)
{
	struct labels *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->names = names;
	l->thread_count = log_names_count(names, LOG_NAMES_THREAD);
	l->thread_names = malloc((l->thread_count + 1) * sizeof(*l->thread_names));
	if (!l->thread_names) {
		labels_free(l);
		return NULL;
	}
	for (unsigned i = 0; i < l->thread_count; i++)
		l->thread_names[i] =
			name_thread(names, log_names_id(names, LOG_NAMES_THREAD, i), "");
	qsort(l->thread_names, l->thread_count, sizeof(*l->thread_names), compare_names);
	return l;
}

void labels_free(struct labels *l)
{
	if (!l)
		return;
	free(l->thread_names);
	free(l);
}

void labels_set_facets(struct labels *l, const struct facet_cells *facets)
{
	l->facets = facets;
}

const struct facet_cells *labels_facets(const struct labels *l)
{
	return l->facets;
}

static bool name_is_shared(const struct labels *l, const char *name)
{
	const char **at = bsearch(&name, l->thread_names, l->thread_count, sizeof(*l->thread_names),
				  compare_names);

	return at && ((at > l->thread_names && !strcmp(at[-1], name)) ||
		      (at + 1 < l->thread_names + l->thread_count && !strcmp(at[1], name)));
}

char *label_clean(const char *text, char buf[LABEL_MAX])
{
	if (print_buffer(buf, NAME_BYTES, "%s", text) >= NAME_BYTES) {
		print_buffer(buf, NAME_BYTES - 3, "%s", text);
		buffer_add(buf, LABEL_MAX, "...");
	}
	return buf;
}

const char *name_thread(const struct log_names *names, uint64_t thread, const char *unknown)
{
	const struct log_thread *t;

	if (thread == THREAD_OTHERS)
		return "(other threads)";
	if (thread == HOLDER_HAND_OVER)
		return "(hand-over)";
	t = thread ? log_names_thread(names, thread) : NULL;
	return t && *t->name ? t->name : unknown;
}

const char *name_class(const struct log_names *names, uint64_t lock)
{
	const struct log_lock *l = log_names_lock(names, lock);
	const char *name = l ? log_names_class(names, l->class) : NULL;

	return name ? name : "(unknown class)";
}

const char *name_group(const struct log_names *names, uint64_t lock, bool monitor)
{
	const struct log_lock *l = log_names_lock(names, lock);

	if (monitor || (l && l->group == LOCK_GROUP_MONITOR))
		return "monitor";
	return l && l->group == LOCK_GROUP_JUC ? "juc" : "other";
}

char *label_thread(const struct labels *l, uint64_t thread, char buf[LABEL_MAX])
{
	const struct log_thread *t =
		holder_is_thread(thread) ? log_names_thread(l->names, thread) : NULL;

	if (holder_is_thread(thread) && (!t || !*t->name)) {
		if (t && t->is_virtual)
			snprintf(buf, LABEL_MAX, "(virtual #%llu)", (unsigned long long)t->java_id);
		else if (t)
			snprintf(buf, LABEL_MAX, "(tid %llu)", (unsigned long long)t->tid);
		else
			snprintf(buf, LABEL_MAX, "(thread #%llu)", (unsigned long long)thread);
		return buf;
	}
	label_clean(name_thread(l->names, thread, "(unknown)"), buf);
	if (t && name_is_shared(l, t->name) && strlen(buf) < LABEL_MAX - 32)
		buffer_add(buf, LABEL_MAX, t->is_virtual ? " (#%llu)" : " (tid %llu)",
			   (unsigned long long)(t->is_virtual ? t->java_id : t->tid));
	return buf;
}

char *label_class(const struct labels *l, uint64_t lock, char buf[LABEL_MAX])
{
	return label_clean(name_class(l->names, lock), buf);
}

char *label_identity(const struct labels *l, uint64_t lock, char buf[LABEL_MAX])
{
	const struct log_lock *k = log_names_lock(l->names, lock);
	unsigned long long number = lock;

	if (k && k->identity == LOCK_IDENTITY_HASH)
		snprintf(buf, LABEL_MAX, "#%llu hash 0x%llx", number, (unsigned long long)k->hash);
	else if (k && k->identity == LOCK_IDENTITY_MONITOR)
		snprintf(buf, LABEL_MAX, "#%llu monitor 0x%llx", number,
			 (unsigned long long)k->address);
	else if (k && k->identity == LOCK_IDENTITY_ADDRESS)
		snprintf(buf, LABEL_MAX, "#%llu address 0x%llx", number,
			 (unsigned long long)k->address);
	else
		snprintf(buf, LABEL_MAX, "#%llu", number);
	return buf;
}

char *label_string(const struct labels *l, uint64_t string, const char *unknown,
		   char buf[LABEL_MAX])
{
	const char *text = string ? log_names_string(l->names, string) : NULL;

	return label_clean(text ? text : unknown, buf);
}

char *label_method_name(const struct log_method *m, char buf[LABEL_MAX])
{
	char text[LABEL_MAX];

	snprintf(text, sizeof(text), "%s.%s", m->class_name, m->name);
	return label_clean(text, buf);
}

char *label_method(const struct stacks *s, uint32_t method, char buf[LABEL_MAX])
{
	const struct log_method *m = stacks_method(s, method);

	if (m)
		return label_method_name(m, buf);
	return label_clean(method == STACKS_METHOD_UNLOADED ? "(unloaded code)"
			   : method == STACKS_METHOD_OTHERS ? "(other chains)"
							    : "(unknown)",
			   buf);
}

uint64_t group_stack(const struct stacks *s, const struct group *g)
{
	uint64_t stack = g->aspect == ASPECT_WAITER_STACK  ? g->cell->waiter_stack
			 : g->aspect == ASPECT_OWNER_STACK ? g->cell->holder_stack
							   : 0;

	return stacks_chain(s, stack) ? stack : 0;
}

char *label_lock(const struct labels *l, uint64_t lock, char buf[LABEL_MAX])
{
	char identity[LABEL_MAX];

	label_class(l, lock, buf);
	buffer_add(buf, LABEL_MAX, " %s", label_identity(l, lock, identity));
	return buf;
}
