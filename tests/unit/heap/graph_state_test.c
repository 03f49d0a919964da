/* heap/replay: who refers to whom, as a log has it, and as nobody would write it; heap/check: beside another heap. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text/strbuf.h"
#include "heap/check/graph_check.h"
#include "heap/graph/heap_graph.h"
#include "heap/snapshot/graph_state.h"
#include "heap/snapshot/replay_state.h"
#include "heap/state/heap_state.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/graph_maker.h"

#define ARRAY_LAYOUT ((int32_t)(2u << 30 | 16u << 16 | 12u << 8 | 2))
#define BYTES_LAYOUT ((int32_t)(3u << 30 | 16u << 16 | 8u << 8))
/* Units of the heap, of 8 bytes: mirrors, and then objects one after the other. */
enum { OBJECT = 0, CLASS = 12, LIST = 24, NODE = 36, NODES = 48, BYTES = 60 };
enum { FIRST = 100, SECOND = 103, ARRAY = 106, TEXT = 110, LOST = 200 };

/* Static Node.all is Node[] {first, null, null, second}; first.next is second, and second.data is a byte[3]. */
static void make(struct graph_maker *m)
{
	*m = (struct graph_maker){0};
	graph_number(m, SPOOR_GRAPH_VERSION);
	graph_number(m, 7);
	graph_class(m, OBJECT, 0, 16, "java/lang/Object");
	graph_number(m, 0);
	graph_number(m, 0);
	graph_class(m, CLASS, 1 + OBJECT, 96, "java/lang/Class");
	graph_number(m, 0);
	graph_number(m, 0);
	graph_class(m, LIST, 1 + OBJECT, 24, "com/acme/List");
	graph_number(m, 0);
	graph_number(m, 1);
	graph_text(m, "next");
	graph_number(m, 0);
	graph_class(m, NODE, 1 + LIST, 24, "com/acme/Node");
	graph_number(m, 1);
	graph_text(m, "all");
	graph_number(m, 1 + ARRAY);
	graph_number(m, 0);
	graph_number(m, 1);
	graph_text(m, "data");
	graph_number(m, 0);
	graph_class(m, NODES, 1 + OBJECT, ARRAY_LAYOUT, "[Lcom/acme/Node;");
	graph_number(m, 0);
	graph_number(m, 0);
	graph_class(m, BYTES, 1 + OBJECT, BYTES_LAYOUT, "[B");
	graph_number(m, 0);
	graph_number(m, 0);
	graph_number(m, 0);
	graph_number(m, 4 << 1 | 1); /* a Node: its own fields come first */
	graph_signed(m, FIRST);
	graph_number(m, 0);
	graph_ref(m, SECOND - FIRST);
	graph_number(m, 4 << 1);
	graph_ref(m, TEXT - SECOND);
	graph_number(m, 0);
	graph_number(m, 5 << 1); /* of 16 + 4 * 4 bytes */
	graph_number(m, 4);
	graph_ref(m, FIRST - ARRAY);
	graph_number(m, 0);
	graph_number(m, 1);
	graph_ref(m, SECOND - FIRST);
	graph_number(m, 6 << 1);
	graph_number(m, 3);
	graph_number(m, 1 << 1 | 1);
	graph_signed(m, LOST - (TEXT + 3));
	graph_number(m, 0);
	graph_number(m, SPOOR_ROOT_SYSTEM_CLASS);
	graph_number(m, 1 + NODE);
	graph_number(m, SPOOR_ROOT_FRAME);
	graph_number(m, 1 + FIRST);
	graph_number(m, 2);
	graph_number(m, 5);
	graph_number(m, 0);
	graph_number(m, 5);
}

static int read_bytes(const uint8_t *bytes, size_t count, bool cut, struct heap_state *ret)
{
	struct object_replay *r = object_replay_new(64 << 20);
	int err = r ? graph_replay(r, bytes, count, cut) : -ENOMEM;

	*ret = (struct heap_state){0};
	if (!err)
		err = graph_state_make(r, &(struct replay_state_options){0}, ret);
	object_replay_free(r);
	return err;
}

static uint64_t edge(const struct heap_state *s, uint64_t from, uint32_t index)
{
	uint32_t object = heap_objects_find(&s->objects, GRAPH_BASE + 8 * from), to;

	assert_int_not_equal(object, HEAP_NONE);
	assert_true(s->objects.ref_at[object] + index < s->objects.ref_at[object + 1]);
	to = s->objects.refs[s->objects.ref_at[object] + index];
	return to == HEAP_NONE ? 0 : (s->objects.address[to] - GRAPH_BASE) / 8;
}

static const char *label(const struct heap_graph *g, uint64_t from, uint32_t index,
			 struct strbuf *text)
{
	strbuf_clear(text);
	heap_edge_label(g, heap_objects_find(&g->state->objects, GRAPH_BASE + 8 * from), index,
			text);
	return strbuf_text(text);
}

static void a_graph_is_read(void **state)
{
	struct strbuf text = {0};
	struct graph_maker m;
	struct heap_state s;
	struct heap_graph *g;

	(void)state;
	make(&m);
	assert_int_equal(read_bytes(m.bytes, m.used, false, &s), 0);
	assert_int_equal(s.object_count, 6 + 5);
	assert_int_equal(s.bytes, 6 * 96 + 2 * 24 + 32 + 24 + 16);
	assert_int_equal(edge(&s, FIRST, 0), 0);
	assert_int_equal(edge(&s, FIRST, 1), SECOND);
	assert_int_equal(edge(&s, SECOND, 0), TEXT);
	assert_int_equal(edge(&s, ARRAY, 0), FIRST);
	assert_int_equal(edge(&s, ARRAY, 1), SECOND); /* of arrays, nulls are left out */
	assert_int_equal(edge(&s, NODE, 4), ARRAY);   /* after superclass, loader, signers, protection domain */
	assert_int_equal(edge(&s, NODE, 0), LIST);
	assert_int_equal(heap_graph_new(&s, &g), 0);
	assert_string_equal(label(g, FIRST, 1, &text), "com.acme.Node.next");
	assert_string_equal(label(g, NODE, 4, &text), "static com.acme.Node.all");
	assert_int_equal(g->reached[heap_objects_find(&s.objects, GRAPH_BASE + 8 * TEXT)], 1 + HEAP_STRONG);
	assert_int_equal(g->reached[heap_objects_find(&s.objects, GRAPH_BASE + 8 * LOST)], 0);
	assert_int_equal(s.root_count, 2);
	assert_int_equal(s.roots[1].kind, HEAP_ROOT_JAVA_FRAME);
	assert_int_equal(s.roots[1].thread, 2);
	assert_int_equal(s.roots[1].frame, 5);
	heap_graph_free(g);
	strbuf_free(&text);
	heap_state_free(&s);
}

static void a_graph_that_ends_early_makes_no_sense(void **state)
{
	struct graph_maker m;
	struct heap_state s;

	(void)state;
	make(&m);
	for (size_t n = 0; n < m.used; n++) {
		assert_int_equal(read_bytes(m.bytes, n, false, &s), n ? -EBADMSG : -ENOENT);
		heap_state_free(&s);
	}
	graph_number(&m, 0);
	assert_int_equal(read_bytes(m.bytes, m.used, false, &s), -EBADMSG);
	heap_state_free(&s);
}

static void a_graph_of_which_words_are_lost_is_none(void **state)
{
	struct graph_maker m;
	struct heap_state s;

	(void)state;
	make(&m);
	assert_true(m.used > 2 * GRAPH_PIECE);
	assert_int_equal(read_bytes(m.bytes, m.used, true, &s), -ENOENT);
	heap_state_free(&s);
}

static void any_byte_may_be_wrong(void **state)
{
	unsigned refused = 0;
	struct graph_maker m;
	struct heap_state s;

	(void)state;
	for (size_t at = 0; make(&m), at < m.used; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			int err;

			make(&m);
			m.bytes[at] ^= (uint8_t)(1u << bit);
			err = read_bytes(m.bytes, m.used, false, &s);
			assert_true(!err || err == -EBADMSG);
			refused += err != 0;
			heap_state_free(&s);
		}
	assert_true(refused > m.used);
}

static void no_memory(void **state)
{
	unsigned long n = 0;
	struct graph_maker m;
	struct heap_state s;
	int err;

	(void)state;
	make(&m);
	do {
		alloc_fail_at(n++);
		err = read_bytes(m.bytes, m.used, false, &s);
		assert_int_equal(err, alloc_fail_off() ? -ENOMEM : 0);
		heap_state_free(&s);
	} while (err);
	assert_true(n > 20);
}

static void graphs_are_compared(void **state)
{
	struct graph_check c;
	struct graph_maker m;
	struct heap_state log, dump;
	unsigned long n = 0;
	int err;

	(void)state;
	make(&m);
	assert_int_equal(read_bytes(m.bytes, m.used, false, &log), 0);
	assert_int_equal(read_bytes(m.bytes, m.used, false, &dump), 0);
	do {
		alloc_fail_at(n++);
		err = graph_check(&log, &dump, &c);
		assert_int_equal(err, alloc_fail_off() ? -ENOMEM : 0);
	} while (err);
	assert_int_equal(graph_check_differences(&c), 0);
	assert_int_equal(c.objects, 11);
	assert_int_equal(c.frames, 1);
	/* One reference, one length, one object, one root. */
	log.objects.refs[log.objects.ref_at[heap_objects_find(&log.objects, GRAPH_BASE + 8 * FIRST)] + 1] = HEAP_NONE;
	log.descs[log.objects.desc[heap_objects_find(&log.objects, GRAPH_BASE + 8 * TEXT)]].length = 4;
	log.objects.address[heap_objects_find(&log.objects, GRAPH_BASE + 8 * LOST)] += 8;
	log.roots[0].kind = HEAP_ROOT_VM;
	assert_int_equal(graph_check(&log, &dump, &c), 0);
	assert_int_equal(c.kinds[GRAPH_OTHER_REFS], 1);
	assert_int_equal(c.example[GRAPH_OTHER_REFS], GRAPH_BASE + 8 * FIRST);
	assert_int_equal(c.kinds[GRAPH_OTHER_CLASS], 1);
	assert_int_equal(c.kinds[GRAPH_ONLY_LOG], 1);
	assert_int_equal(c.kinds[GRAPH_ONLY_DUMP], 1);
	assert_int_equal(c.kinds[GRAPH_ROOT_MISSING], 1);
	assert_int_equal(graph_check_differences(&c), 5);
	heap_state_free(&log);
	heap_state_free(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_is_read),
		cmocka_unit_test(a_graph_that_ends_early_makes_no_sense),
		cmocka_unit_test(a_graph_of_which_words_are_lost_is_none),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(graphs_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
