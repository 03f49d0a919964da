#include "report/sql/sql_tables.h"

#include <string.h>

#include "heap/classify/heap_tree.h"
#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"

static const struct heap_state *state(const struct sql_heap *h)
{
	return h->source.view->state;
}

static void put_text(sqlite3_context *ret, const char *text, size_t length)
{
	sqlite3_result_text(ret, text, (int)length, SQLITE_TRANSIENT);
}

static void put_name(sqlite3_context *ret, const char *text)
{
	put_text(ret, text, strlen(text));
}

static void put_number(sqlite3_context *ret, uint64_t n)
{
	sqlite3_result_int64(ret, n > INT64_MAX ? INT64_MAX : (sqlite3_int64)n);
}

static void put_index(sqlite3_context *ret, uint32_t n)
{
	if (n == HEAP_NONE)
		sqlite3_result_null(ret);
	else
		sqlite3_result_int64(ret, n);
}

/* What a built-in classifier says; of groups in groups the innermost. */
static void put_by(struct sql_heap *h, const char *name, const struct heap_item *item,
		   sqlite3_context *ret)
{
	const struct heap_classifier *c = heap_classifier_find(name, strlen(name));

	h->keys.count = 0;
	heap_classify(c, h->source.view, item, &h->keys);
	if (h->keys.err || h->source.view->err) {
		h->err = h->keys.err ? h->keys.err : h->source.view->err;
		sqlite3_result_error_nomem(ret);
		return;
	}
	if (!h->keys.count)
		return;
	strbuf_clear(&h->label);
	c->label(h->source.view, h->keys.all[h->keys.count - 1], &h->label);
	put_text(ret, strbuf_text(&h->label), h->label.used);
}

enum {
	CLASS_ID,
	CLASS_NAME,
	CLASS_PACKAGE,
	CLASS_SUPER,
	CLASS_LOADER,
	CLASS_INSTANCES,
	CLASS_BYTES
};

static const struct sql_column class_columns[] = {
	{"id", "INTEGER", 0, false},    {"name", "TEXT", 0, false},
	{"package", "TEXT", 0, false},  {"super_id", "INTEGER", 0, false},
	{"loader", "TEXT", 0, false},   {"instances", "INTEGER", 0, false},
	{"bytes", "INTEGER", 0, false}, {NULL, NULL, 0, false},
};

static uint64_t class_count(const struct sql_heap *h)
{
	return state(h)->types.count;
}

static void put_package(const char *name, sqlite3_context *ret)
{
	const char *dot = memrchr(name, '.', strcspn(name, "[/"));

	put_text(ret, name, dot ? (size_t)(dot - name) : 0);
}

static void put_loader(const struct sql_heap *h, uint32_t type, sqlite3_context *ret)
{
	uint32_t loader = heap_state_loader(state(h), type);

	if (loader == HEAP_NONE)
		put_name(ret, "bootstrap");
	else if (state(h)->loaders[loader].type == HEAP_NONE)
		put_name(ret, "(class loader)");
	else
		put_name(ret, heap_type_name(&state(h)->types, state(h)->loaders[loader].type));
}

static void class_value(struct sql_heap *h, uint64_t row, int column, sqlite3_context *ret)
{
	const struct heap_types *types = &state(h)->types;
	uint32_t type = (uint32_t)row;

	switch (column) {
	case CLASS_ID:
		put_number(ret, row);
		break;
	case CLASS_NAME:
		put_name(ret, heap_type_name(types, type));
		break;
	case CLASS_PACKAGE:
		put_package(heap_type_name(types, type), ret);
		break;
	case CLASS_SUPER:
		put_index(ret, types->all[type].super);
		break;
	case CLASS_LOADER:
		put_loader(h, type, ret);
		break;
	case CLASS_INSTANCES:
		put_number(ret, h->instances[type]);
		break;
	case CLASS_BYTES:
		put_number(ret, h->bytes[type]);
		break;
	}
}

enum {
	OBJECT_ID,
	OBJECT_ADDRESS,
	OBJECT_CLASS,
	OBJECT_TYPE,
	OBJECT_KIND,
	OBJECT_LENGTH,
	OBJECT_BYTES,
	OBJECT_OF_CLASS,
	OBJECT_ROOT,
	OBJECT_REACHED,
	OBJECT_RETAINED,
	OBJECT_DOMINATOR,
	OBJECT_SITE,
	OBJECT_METHOD,
	OBJECT_CODE,
	OBJECT_THREAD,
	OBJECT_SPACE,
	OBJECT_AGE,
};

static const struct sql_column object_columns[] = {
	{"id", "INTEGER", 0, false},
	{"address", "INTEGER", 0, false},
	{"class_id", "INTEGER", 0, false},
	{"type", "TEXT", 0, false},
	{"kind", "TEXT", 0, false},
	{"length", "INTEGER", 0, false},
	{"bytes", "INTEGER", 0, false},
	{"of_class_id", "INTEGER", 0, false},
	{"root", "TEXT", HEAP_NEEDS_GRAPH, true},
	{"reached", "TEXT", HEAP_NEEDS_GRAPH, true},
	{"retained", "INTEGER", HEAP_NEEDS_DOMINATORS, true},
	{"dominator_id", "INTEGER", HEAP_NEEDS_DOMINATORS, true},
	{"site", "TEXT", 0, true},
	{"method", "TEXT", 0, true},
	{"code", "TEXT", 0, true},
	{"thread", "TEXT", 0, true},
	{"space", "TEXT", 0, true},
	{"age", "INTEGER", 0, true},
	{NULL, NULL, 0, false},
};

static uint64_t object_count(const struct sql_heap *h)
{
	return state(h)->objects.count;
}

static void object_graph_value(struct sql_heap *h, const struct heap_item *item, int column,
			       sqlite3_context *ret)
{
	const struct heap_dominators *d = h->source.view->dominators;

	switch (column) {
	case OBJECT_ROOT:
		put_by(h, "root", item, ret);
		break;
	case OBJECT_REACHED:
		put_by(h, "reached", item, ret);
		break;
	case OBJECT_RETAINED:
		put_number(ret, d->retained[item->object]);
		break;
	case OBJECT_DOMINATOR:
		if (d->above[item->object] < d->count)
			put_index(ret, d->above[item->object]);
		break;
	}
}

/* Of a dump they are null. */
static void object_origin_value(struct sql_heap *h, const struct heap_item *item, int column,
				sqlite3_context *ret)
{
	static const char *const by[] = {[OBJECT_SITE] = "site",	 [OBJECT_METHOD] = "method",
					 [OBJECT_CODE] = "code",	 [OBJECT_THREAD] = "thread",
					 [OBJECT_SPACE] = "space"};
	const struct heap_state *s = state(h);
	uint32_t origin = s->descs[item->desc].origin;

	if (origin && column == OBJECT_AGE)
		put_number(ret, s->origins[origin - 1].age);
	else if (origin)
		put_by(h, by[column], item, ret);
}

static void object_value(struct sql_heap *h, uint64_t row, int column, sqlite3_context *ret)
{
	const struct heap_state *s = state(h);
	struct heap_item item = {s->objects.desc[row], (uint32_t)row};
	const struct heap_desc *d = &s->descs[item.desc];

	switch (column) {
	case OBJECT_ID:
		put_number(ret, row);
		break;
	case OBJECT_ADDRESS:
		sqlite3_result_int64(ret, (sqlite3_int64)s->objects.address[row]);
		break;
	case OBJECT_CLASS:
		put_index(ret, d->type);
		break;
	case OBJECT_TYPE:
		put_name(ret, heap_type_name(&s->types, d->type));
		break;
	case OBJECT_KIND:
		put_by(h, "kind", &item, ret);
		break;
	case OBJECT_LENGTH:
		if (s->types.all[d->type].kind != HEAP_INSTANCE)
			put_number(ret, d->length);
		break;
	case OBJECT_BYTES:
		put_number(ret, d->bytes);
		break;
	case OBJECT_OF_CLASS:
		put_index(ret, d->of_class);
		break;
	default:
		if (column >= OBJECT_SITE)
			object_origin_value(h, &item, column, ret);
		else
			object_graph_value(h, &item, column, ret);
	}
}

enum { REF_FROM, REF_TO, REF_FIELD, REF_STRENGTH };

static const struct sql_column ref_columns[] = {
	{"from_id", "INTEGER", 0, false}, {"to_id", "INTEGER", 0, false},
	{"field", "TEXT", 0, false},      {"strength", "TEXT", 0, false},
	{NULL, NULL, 0, false},
};

void sql_ref_value(struct sql_heap *h, uint32_t from, const struct heap_edge *edge, int column,
		   sqlite3_context *ret)
{
	switch (column) {
	case REF_FROM:
		put_index(ret, from);
		break;
	case REF_TO:
		put_index(ret, edge->to);
		break;
	case REF_FIELD:
		strbuf_clear(&h->label);
		heap_edge_label(h->source.view->graph, from, edge->index, &h->label);
		put_text(ret, strbuf_text(&h->label), h->label.used);
		break;
	case REF_STRENGTH:
		put_name(ret, heap_strength_name((enum heap_strength)edge->strength));
		break;
	}
}

enum { ROOT_ID, ROOT_OBJECT, ROOT_KIND, ROOT_THREAD, ROOT_FRAME };

static const struct sql_column root_columns[] = {
	{"id", "INTEGER", 0, false},    {"object_id", "INTEGER", 0, false},
	{"kind", "TEXT", 0, false},     {"thread", "INTEGER", 0, false},
	{"frame", "INTEGER", 0, false}, {NULL, NULL, 0, false},
};

static uint64_t root_count(const struct sql_heap *h)
{
	return state(h)->root_count;
}

static void root_value(struct sql_heap *h, uint64_t row, int column, sqlite3_context *ret)
{
	const struct heap_root *r = &state(h)->roots[row];

	switch (column) {
	case ROOT_ID:
		put_number(ret, row);
		break;
	case ROOT_OBJECT:
		put_index(ret, r->object);
		break;
	case ROOT_KIND:
		put_name(ret, heap_root_kind_name(r->kind));
		break;
	case ROOT_THREAD:
		if (r->thread)
			put_number(ret, r->thread);
		break;
	case ROOT_FRAME:
		put_index(ret, r->frame);
		break;
	}
}

enum { GROUP_ID, GROUP_PARENT, GROUP_DEPTH, GROUP_BY, GROUP_NAME, GROUP_OBJECTS, GROUP_BYTES };

static const struct sql_column group_columns[] = {
	{"id", "INTEGER", 0, false},    {"parent_id", "INTEGER", 0, false},
	{"depth", "INTEGER", 0, false}, {"classifier", "TEXT", 0, false},
	{"name", "TEXT", 0, false},     {"objects", "INTEGER", 0, false},
	{"bytes", "INTEGER", 0, false}, {NULL, NULL, 0, false},
};

static uint64_t group_count(const struct sql_heap *h)
{
	return h->source.tree ? h->source.tree->count : 0;
}

static void group_value(struct sql_heap *h, uint64_t row, int column, sqlite3_context *ret)
{
	const struct heap_tree *t = h->source.tree;
	const struct heap_node *n = &t->nodes[row];

	switch (column) {
	case GROUP_ID:
		put_number(ret, row);
		break;
	case GROUP_PARENT:
		put_index(ret, n->parent);
		break;
	case GROUP_DEPTH:
		put_number(ret, n->depth);
		break;
	case GROUP_BY:
		if (n->parent != HEAP_NONE)
			put_name(ret, t->levels[n->level]->name);
		break;
	case GROUP_NAME:
		strbuf_clear(&h->label);
		heap_tree_label(h->source.view, t, (uint32_t)row, &h->label);
		put_text(ret, strbuf_text(&h->label), h->label.used);
		break;
	case GROUP_OBJECTS:
		put_number(ret, n->objects);
		break;
	case GROUP_BYTES:
		put_number(ret, n->bytes);
		break;
	}
}

const struct sql_table *sql_table_get(enum sql_table_number n)
{
	static const struct sql_table all[] = {
		[SQL_CLASSES] = {"classes", HEAP_NEEDS_DESC, class_columns, class_count,
				 class_value},
		[SQL_OBJECTS] = {"objects", HEAP_NEEDS_OBJECTS, object_columns, object_count,
				 object_value},
		[SQL_REFS] = {"refs", HEAP_NEEDS_GRAPH, ref_columns, object_count, NULL},
		[SQL_ROOTS] = {"roots", HEAP_NEEDS_OBJECTS, root_columns, root_count, root_value},
		[SQL_GROUPS] = {"groups", HEAP_NEEDS_DESC, group_columns, group_count, group_value},
	};

	_Static_assert(sizeof(all) / sizeof(*all) == SQL_TABLE_COUNT, "a row for each");
	return &all[n];
}
