/* Random graphs: dominators, retained bytes and ways against removing objects one by one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/param.h>

#include <cmocka.h>

#include "base/text/strbuf.h"
#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_levels.h"
#include "heap/classify/heap_tree.h"
#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_paths.h"
#include "heap/graph/heap_reach.h"
#include "heap/image/hprof.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/heap_dump_maker.h"

enum { NODES_MAX = 40, OBJECTS = 0x1000, ARRAY = 0x1100, REFERENCE = 0x1200, WEAK = 0x1300, SOFT = 0x1400,
       REFERENT = 0x10, FIRST = 0x100000, STEP = 0x1000, ROUNDS = 400 };

static struct maker maker;

struct model {
	unsigned count;
	uint8_t edge[NODES_MAX][NODES_MAX]; /* 1: strong or soft, 2: weak only */
	uint8_t times[NODES_MAX][NODES_MAX]; /* references */
	bool root[NODES_MAX];
	uint64_t bytes[NODES_MAX];
};

static uint64_t id(unsigned node)
{
	return FIRST + (uint64_t)node * STEP;
}

/* A node is an array of references, or a WeakReference or SoftReference to one other node. */
static void make(struct model *g, unsigned seed)
{
	unsigned count, k;

	srand(seed);
	*g = (struct model){.count = 2 + (unsigned)rand() % (NODES_MAX - 2)};
	maker_begin(&maker, 8);
	make_text(&maker, REFERENT, "referent");
	make_class_name(&maker, OBJECTS, "java/lang/Object");
	make_class_name(&maker, ARRAY, "[Ljava/lang/Object;");
	make_class_name(&maker, REFERENCE, "java/lang/ref/Reference");
	make_class_name(&maker, WEAK, "java/lang/ref/WeakReference");
	make_class_name(&maker, SOFT, "java/lang/ref/SoftReference");
	record_begin(&maker, 0x1c);
	make_class(&maker, OBJECTS, 0, 0, 0);
	make_class(&maker, ARRAY, OBJECTS, 0, 0);
	make_class(&maker, REFERENCE, OBJECTS, 0, 1);
	make_field(&maker, REFERENT, HEAP_REFERENCE);
	make_class(&maker, WEAK, REFERENCE, 0, 0);
	make_class(&maker, SOFT, REFERENCE, 0, 0);
	for (uint64_t class = OBJECTS; class <= SOFT; class += 0x100)
		make_root(&maker, 0x05, class);
	for (unsigned i = 0; i < g->count; i++)
		if (rand() % 8 == 0) {
			g->root[i] = true;
			make_root(&maker, 0x05, id(i));
		}
	for (unsigned i = 0; i < g->count; i++) {
		unsigned kind = (unsigned)rand() % 10;

		if (kind < 2) {
			k = (unsigned)rand() % g->count;
			make_instance(&maker, id(i), kind ? WEAK : SOFT, 8);
			put_id(&maker, id(k));
			g->edge[i][k] = kind ? 2 : 1;
			g->times[i][k] = 1;
			continue;
		}
		count = (unsigned)rand() % 4;
		make_object_array(&maker, id(i), ARRAY, count);
		while (count--) {
			k = (unsigned)rand() % g->count;
			g->edge[i][k] = 1;
			g->times[i][k]++;
			put_id(&maker, id(k));
		}
	}
	record_end(&maker);
}

static void flood_group(const struct model *g, const bool *without, bool *seen)
{
	unsigned stack[NODES_MAX], count = 0;

	memset(seen, 0, NODES_MAX);
	for (unsigned i = 0; i < g->count; i++)
		if (g->root[i] && !without[i]) {
			seen[i] = true;
			stack[count++] = i;
		}
	while (count) {
		unsigned at = stack[--count];

		for (unsigned k = 0; k < g->count; k++)
			if (g->edge[at][k] == 1 && !without[k] && !seen[k]) {
				seen[k] = true;
				stack[count++] = k;
			}
	}
}

/* without: NODES_MAX for none. */
static void flood(const struct model *g, unsigned without, bool *seen)
{
	bool group[NODES_MAX + 1] = {0};

	group[without] = true;
	flood_group(g, group, seen);
}

static uint32_t object(const struct heap_state *s, unsigned node)
{
	return heap_objects_find(&s->objects, id(node));
}

static void check_dominators(const struct model *g, const struct heap_state *s, const struct heap_graph *graph,
			     const struct heap_dominators *d)
{
	static bool dominates[NODES_MAX][NODES_MAX];
	bool now[NODES_MAX], without[NODES_MAX];

	flood(g, NODES_MAX, now);
	for (unsigned i = 0; i < g->count; i++) {
		uint64_t bytes = 0, objects, freed;
		uint8_t *group = calloc(s->objects.count, 1);

		flood(g, i, without);
		for (unsigned k = 0; k < g->count; k++) {
			dominates[i][k] = now[k] && !without[k];
			if (dominates[i][k])
				bytes += heap_graph_desc(graph, object(s, k))->bytes;
		}
		assert_int_equal(d->retained[object(s, i)], bytes);
		group[object(s, i)] = 1;
		assert_int_equal(heap_reach_without(graph, group, 1, &objects, &freed), 0);
		assert_int_equal(freed, bytes);
		free(group);
	}
	/* The immediate one is dominated by all other dominators. */
	for (unsigned k = 0; k < g->count; k++) {
		uint32_t above = d->above[object(s, k)], expected = now[k] ? d->count : HEAP_NONE;

		for (unsigned i = 0; i < g->count; i++) {
			bool nearest = i != k && dominates[i][k];

			for (unsigned j = 0; j < g->count && nearest; j++)
				nearest = j == k || j == i || !dominates[j][k] || dominates[j][i];
			if (nearest)
				expected = object(s, i);
		}
		assert_int_equal(above, expected);
	}
}

/* Each goes one reference further than the one before; nothing is reached more quickly. */
static void check_paths(const struct model *g, const struct heap_state *s, const struct heap_graph *graph)
{
	struct heap_paths *p;
	bool now[NODES_MAX];
	uint64_t kept = 0;

	flood(g, NODES_MAX, now);
	assert_int_equal(heap_paths_new(graph, &p), 0);
	for (unsigned i = 0; i < g->count; i++) {
		uint32_t at = object(s, i), from = p->parent[at];

		if (now[i])
			assert_true(from != HEAP_NONE);
		if (from == at)
			assert_true(g->root[i]);
		else if (from != HEAP_NONE)
			assert_true(g->edge[(s->objects.address[from] - FIRST) / STEP][i]);
	}
	for (unsigned i = 0; i < g->count; i++) {
		uint32_t at = object(s, i), from = p->parent[at];

		kept += from != HEAP_NONE;
		assert_int_equal(heap_paths_add(p, at), 0);
		assert_int_equal(p->parent[at], from);
	}
	assert_int_equal(heap_paths_finish(p), 0);
	assert_int_equal(p->nodes[0].objects, kept);
	assert_int_equal(p->unreachable_objects, g->count - kept);
	heap_paths_free(p);
}

static void check_reached(const struct model *g, const struct heap_state *s, const struct heap_graph *graph)
{
	bool now[NODES_MAX];

	flood(g, NODES_MAX, now);
	for (unsigned i = 0; i < g->count; i++) {
		uint8_t reached = graph->reached[object(s, i)];

		assert_int_equal(reached && reached <= 1 + HEAP_SOFT, now[i]);
	}
}

static const char *type_of(const struct heap_view *v, unsigned node)
{
	return heap_type_name(&v->state->types,
			      heap_graph_desc(v->graph, object(v->state, node))->type);
}

static bool points_to(const struct model *g, const struct heap_view *v, unsigned node,
		      const char *type)
{
	for (unsigned k = 0; k < g->count; k++)
		if (g->edge[node][k] && !strcmp(type_of(v, k), type))
			return true;
	return false;
}

/* Objects that refer to some of a class, and those of them that are of a class themselves. */
static bool is_in(const struct model *g, struct heap_view *v, const struct heap_tree *t,
		  uint32_t node, unsigned i)
{
	struct strbuf label = {0};
	bool in;

	if (t->nodes[node].key == HEAP_KEY_NONE)
		return false;
	heap_tree_label(v, t, node, &label);
	in = t->nodes[node].parent ? !strcmp(type_of(v, i), strbuf_text(&label)) &&
					     is_in(g, v, t, t->nodes[node].parent, i)
				   : points_to(g, v, i, strbuf_text(&label));
	strbuf_free(&label);
	return in;
}

static void check_group(const struct model *g, struct heap_view *v, const struct heap_tree *t,
			uint32_t node, uint64_t retained)
{
	bool group[NODES_MAX] = {0}, now[NODES_MAX], without[NODES_MAX];
	uint64_t bytes = 0, members = 0;

	for (unsigned i = 0; i < g->count; i++)
		members += group[i] = is_in(g, v, t, node, i);
	if (members != t->nodes[node].objects) /* classes refer to each other, too */
		return;
	flood(g, NODES_MAX, now);
	flood_group(g, group, without);
	for (unsigned i = 0; i < g->count; i++)
		if (now[i] && !without[i])
			bytes += heap_graph_desc(v->graph, object(v->state, i))->bytes;
	assert_int_equal(retained, bytes);
}

/* Returns how many groups there are. Of the count largest it is known, and of no others. */
static unsigned check_retained(const struct model *g, const struct heap_state *s, uint32_t count)
{
	struct heap_tree t = {
		.levels = {heap_classifier_find("points_to", 9), heap_classifier_find("type", 4)},
		.level_count = 2};
	struct heap_filter *filter;
	struct heap_view v;
	uint64_t *retained;
	unsigned known = 0, all;

	assert_int_equal(heap_view_init(&v, s, HEAP_NEEDS_GRAPH), 0);
	assert_int_equal(heap_filter_new(NULL, &v, &filter), 0);
	assert_int_equal(heap_tree_build(&v, filter, &t), 0);
	assert_int_equal(heap_tree_retained(&v, filter, &t, count, &retained), 0);
	assert_int_equal(retained[0], HEAP_KEY_NONE);
	all = t.count - 1;
	for (uint32_t i = 1; i < t.count; i++)
		if (retained[i] != HEAP_KEY_NONE) {
			known++;
			check_group(g, &v, &t, i, retained[i]);
		}
	assert_int_equal(known, all < count ? all : count);
	free(retained);
	heap_tree_free(&t);
	heap_filter_free(filter);
	heap_view_free(&v);
	return all;
}

/* The group below parent with this name; 0: there is none. */
static uint32_t child(struct heap_view *v, const struct heap_tree *t, uint32_t parent, const char *name)
{
	struct strbuf label = {0};
	uint32_t found = 0;

	for (uint32_t c = t->nodes[parent].child; c != HEAP_NONE && !found; c = t->nodes[c].next) {
		strbuf_clear(&label);
		heap_tree_label(v, t, c, &label);
		found = strcmp(strbuf_text(&label), name) ? 0 : c;
	}
	strbuf_free(&label);
	return found;
}

/* Of nodes of one class, the references of which nodes of another class are the other ends, one by one. */
static void check_ends(const struct model *g, struct heap_view *v, const struct heap_tree *t, bool from,
		       const char *self, const char *other)
{
	uint32_t node = child(v, t, 0, self), all, beyond, again;
	uint64_t references = 0, sum = 0, bytes = 0, objects = 0;

	for (unsigned i = 0; i < g->count; i++) {
		bool any = false;

		for (unsigned k = 0; k < g->count; k++) {
			unsigned times = from ? g->times[k][i] : g->times[i][k];

			if (strcmp(type_of(v, i), self))
				continue;
			references += times;
			if (strcmp(type_of(v, k), other))
				continue;
			sum += times;
			bytes += times * heap_graph_desc(v->graph, object(v->state, k))->bytes;
			any |= times != 0;
		}
		objects += any;
	}
	all = node ? child(v, t, node, from ? "pointed from" : "points to") : 0;
	beyond = all ? child(v, t, all, other) : 0;
	again = beyond ? child(v, t, beyond, self) : 0;
	assert_int_equal(all ? t->nodes[all].objects : 0, references);
	assert_int_equal(beyond ? t->nodes[beyond].objects : 0, sum);
	assert_int_equal(beyond ? t->nodes[beyond].bytes : 0, bytes);
	assert_int_equal(again ? t->nodes[again].objects : 0, objects);
	assert_int_equal(beyond ? heap_tree_counts_references(t, beyond) : true, true);
	assert_int_equal(again ? heap_tree_counts_references(t, again) : false, false);
}

/* Levels beyond references: each counts, with the bytes of its end; below them, objects count once. */
static void check_beyond(const struct model *g, const struct heap_state *s)
{
	static const char *const types[] = {"java.lang.Object[]", "java.lang.ref.WeakReference",
					    "java.lang.ref.SoftReference"};

	for (unsigned from = 0; from < 2; from++) {
		struct heap_levels levels;
		struct heap_tree t = {.by_objects = from};
		char error[HEAP_LEVELS_ERROR_MAX];
		struct heap_filter *filter;
		struct heap_view v;
		bool shown[512] = {0};

		assert_int_equal(heap_levels_parse(from ? "type,pointed_from(type),type" : "type,points_to(type),type",
						   NULL, &levels, error), 0);
		assert_true(heap_levels_go_beyond(&levels));
		heap_levels_set(&levels, &t);
		assert_int_equal(heap_view_init(&v, s, heap_levels_need(&levels)), 0);
		assert_int_equal(heap_filter_new(NULL, &v, &filter), 0);
		assert_int_equal(heap_tree_build(&v, filter, &t), 0);
		for (unsigned i = 0; i < 9; i++)
			check_ends(g, &v, &t, from, types[i / 3], types[i % 3]);
		/* What is shown is below what is shown, though groups of references are larger. */
		assert_true(t.count < 512);
		for (uint32_t count = 1; count < t.count; count++) {
			assert_int_equal(heap_tree_largest(&t, count, shown), 0);
			for (uint32_t i = 1; i < t.count; i++)
				assert_true(!shown[i] || shown[t.nodes[i].parent]);
		}
		heap_tree_free(&t);
		heap_filter_free(filter);
		heap_view_free(&v);
	}
}

static void levels_are_parsed(void **state)
{
	static const char *const wrong[] = {"", "type,", ",type", "typ", "type)", "points_to(", "points_to(type",
					    "points_to()", "type(size)", "points_to(points_to(type))",
					    "points_to(type)type", "points_to(type,),size",
					    "type,size,kind,shape,loader,length,region,age,code"};
	struct heap_levels l;
	char error[HEAP_LEVELS_ERROR_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		*error = '\0';
		assert_int_equal(heap_levels_parse(wrong[i], NULL, &l, error), -EINVAL);
		assert_true(*error);
	}
	assert_int_equal(heap_levels_parse("points_to,type,pointed_from(type,size),points_to(kind),age", NULL, &l,
					   error), 0);
	assert_int_equal(l.count, 8);
	assert_memory_equal(l.via, ((uint8_t[]){HEAP_SELF, HEAP_SELF, HEAP_FROM_ALL, HEAP_VIA, HEAP_VIA, HEAP_TO_ALL,
						HEAP_VIA, HEAP_SELF}), 8);
	assert_int_equal(heap_levels_need(&l), HEAP_NEEDS_REFERRERS);
}

static int read_graph(struct heap_state *s)
{
	struct hprof_result r;

	maker.at = 0;
	return hprof_read(maker_read, &maker, true, s, &r);
}

static void test_random(void **state)
{
	(void)state;
	unsigned most = 0;

	for (unsigned seed = 1; seed <= ROUNDS; seed++) {
		struct heap_dominators *d;
		struct heap_graph *graph;
		struct heap_state s;
		struct model g;

		make(&g, seed);
		assert_int_equal(read_graph(&s), 0);
		assert_int_equal(heap_graph_new(&s, &graph), 0);
		assert_int_equal(heap_dominators_new(graph, &d), 0);
		check_dominators(&g, &s, graph, d);
		check_reached(&g, &s, graph);
		check_paths(&g, &s, graph);
		most = MAX(most, check_retained(&g, &s, seed % 12));
		check_retained(&g, &s, UINT32_MAX);
		check_beyond(&g, &s);
		heap_dominators_free(d);
		heap_graph_free(graph);
		heap_state_free(&s);
	}
	assert_true(most > 8); /* more than one pass has room for */
}

static int look(const struct heap_state *s)
{
	struct heap_dominators *d = NULL;
	struct heap_graph *graph = NULL;
	struct heap_paths *p = NULL;
	struct heap_holder *holders = NULL;
	struct strbuf way = {0};
	uint32_t count;
	int err = heap_graph_new(s, &graph);

	if (!err)
		err = heap_dominators_new(graph, &d);
	if (!err)
		err = heap_dominators_holders(d, s, 5, &holders, &count);
	if (!err)
		err = heap_paths_new(graph, &p);
	for (uint32_t i = 0; !err && i < s->objects.count; i++)
		err = heap_paths_way(p, i, 3, &way);
	for (uint32_t i = 0; !err && i < s->objects.count; i++)
		err = heap_paths_add(p, i);
	if (!err)
		err = heap_paths_finish(p);
	strbuf_free(&way);
	free(holders);
	heap_paths_free(p);
	heap_dominators_free(d);
	heap_graph_free(graph);
	return err;
}

static void test_without_memory(void **state)
{
	struct heap_state s;
	struct model g;

	(void)state;
	make(&g, 7);
	assert_int_equal(read_graph(&s), 0);
	for (unsigned long n = 0;; n++) {
		bool failed;
		int err;

		alloc_fail_at(n);
		err = look(&s);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
	heap_state_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(levels_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
