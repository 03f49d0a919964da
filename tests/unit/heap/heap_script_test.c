/* Classifiers in Lua: what they see, what they may not do, and that nothing makes them run on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "heap/image/hprof.h"
#include "heap/script/heap_script.h"
#include "heap/state/heap_state.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/heap_dump_maker.h"

enum { OBJECT = 0x1000, NODE = 0x1100, CACHE = 0x1200, NODES = 0x1300, NEXT = 0x10, ALL = 0x20 };

static struct maker maker;

/* Static com.acme.Cache.all is an array of two lists, of two Nodes each, and there are three int[]. */
static void make(void)
{
	struct maker *m = &maker;

	maker_begin(m, 8);
	make_text(m, NEXT, "next");
	make_text(m, ALL, "all");
	make_class_name(m, OBJECT, "java/lang/Object");
	make_class_name(m, NODE, "com/acme/Node");
	make_class_name(m, CACHE, "com/acme/Cache");
	make_class_name(m, NODES, "[Lcom/acme/Node;");
	record_begin(m, 0x1c);
	make_class(m, OBJECT, 0, 0, 0);
	make_class(m, NODE, OBJECT, 0, 1);
	make_field(m, NEXT, HEAP_REFERENCE);
	make_class(m, CACHE, OBJECT, 0, 0);
	m->used -= 4; /* one static field, no others */
	put(m, 1, 2);
	make_field(m, ALL, HEAP_REFERENCE);
	put_id(m, 0x10000);
	put(m, 0, 2);
	make_class(m, NODES, OBJECT, 0, 0);
	make_root(m, 0x05, CACHE);
	make_object_array(m, 0x10000, NODES, 2);
	put_id(m, 0x11000);
	put_id(m, 0x11030);
	for (unsigned i = 0; i < 4; i++) {
		make_instance(m, 0x11000 + i * 24, NODE, 8);
		put_id(m, i % 2 ? 0 : 0x11000 + (i + 1) * 24);
	}
	for (unsigned i = 0; i < 3; i++) {
		make_primitive_array(m, 0x12000 + i * 64, HEAP_INT, 10);
		memset(m->bytes + m->used, 0, 40);
		m->used += 40;
	}
	record_end(m);
}

struct work {
	struct heap_state state;
	struct hprof_result result;
	struct heap_view view;
	struct heap_own_classifiers own;
	struct heap_script *script;
	struct heap_filter *filter;
	struct heap_tree tree;
	char error[HEAP_SCRIPT_ERROR_MAX];
};

/* The groups of the script's first classifier: 0, or what its failure is. */
static int work_open(struct work *w, const char *script)
{
	const struct heap_classifier *c;
	int err;

	*w = (struct work){0};
	err = heap_script_new("mine.lua", script, strlen(script), NULL, &w->script, w->error);
	if (err)
		return err;
	for (unsigned i = 0; (c = heap_script_get(w->script, i)); i++)
		w->own.all[w->own.count++] = c;
	c = w->own.all[0];
	make();
	err = hprof_read(maker_read, &maker, c->needs != HEAP_NEEDS_DESC, &w->state, &w->result);
	if (!err)
		err = heap_view_init(&w->view, &w->state, c->needs);
	w->view.own = &w->own;
	w->tree.levels[0] = c;
	w->tree.level_count = 1;
	if (!err)
		err = heap_filter_new(NULL, &w->view, &w->filter);
	if (!err)
		err = heap_tree_build(&w->view, w->filter, &w->tree);
	return err;
}

static void work_close(struct work *w)
{
	heap_tree_free(&w->tree);
	heap_filter_free(w->filter);
	heap_view_free(&w->view);
	heap_state_free(&w->state);
	heap_script_free(w->script);
}

static void write_children(const struct work *w, uint32_t parent, struct strbuf *o)
{
	for (uint32_t n = w->tree.nodes[parent].child; n != HEAP_NONE; n = w->tree.nodes[n].next) {
		strbuf_add(o, " ");
		heap_tree_label((struct heap_view *)&w->view, &w->tree, n, o);
		strbuf_add(o, ":%u", (unsigned)w->tree.nodes[n].objects);
		if (w->tree.nodes[n].child != HEAP_NONE) {
			strbuf_add(o, "{");
			write_children(w, n, o);
			strbuf_add(o, " }");
		}
	}
}

static void expect(const char *script, const char *groups)
{
	struct strbuf o = {0};
	struct work w;
	int err = work_open(&w, script);

	if (err)
		fail_msg("%d: %s", err, w.script ? heap_script_stopped(w.script) : w.error);
	write_children(&w, 0, &o);
	assert_string_equal(strbuf_text(&o), groups);
	strbuf_free(&o);
	work_close(&w);
}

#define SCRIPT(more, body) "classifier{name='mine', " more " f=function(o) " body " end}"

/* The description: what each member says, beside what make() has put there. */
static void test_description(void **state)
{
	(void)state;
	expect(SCRIPT("", "return o.type"),
	       " java.lang.Class:4 int[]:3 com.acme.Node:4 com.acme.Node[]:1");
	expect(SCRIPT("", "return o.package"), " java.lang:4 :3 com.acme:5");
	expect(SCRIPT("", "if o.length then return o.length * 2 end"), " (none):8 20:3 4:1");
	expect(SCRIPT("", "if glob(o.type, '*Node') then return o.size end"), " (none):8 24:4");
	expect(SCRIPT("", "return o:is('java.lang.Object')"), " no:7 yes:5");
	expect(SCRIPT("", "return o.of_class"),
	       " (none):8 com.acme.Cache:1 java.lang.Object:1 com.acme.Node:1 com.acme.Node[]:1");
	expect(SCRIPT("", "return o.kind == 'instance' and o.loader"), " no:8 bootstrap:4");
	expect(SCRIPT("", "return o:by('package')[1]"), " java:4 (no package):3 com:5");
}

static void test_shapes(void **state)
{
	(void)state;
	expect(SCRIPT("kind='many',", "if o.length then return {'a', 'b', 'a', o.length} end"),
	       " (none):8 a:4 b:4 10:3 2:1");
	expect(SCRIPT("kind='many',", "return {}"), " (none):12");
	expect(SCRIPT("kind='many',", "return 'x'"), " x:12");
	expect(SCRIPT("kind='hierarchy',", "return {'all', o.kind, o.length}"),
	       " all:12{ class:4 primitive array:3{ 10:3 } instance:4 object array:1{ 2:1 } }");
}

static void test_objects(void **state)
{
	(void)state;
	expect(SCRIPT("needs={'address'},",
		      "return o.address >= 0x12000 and string.format('%x', o.address)"),
	       " no:9 12000:1 12040:1 12080:1");
	expect(SCRIPT("needs={'fields'},", "local n = o:field('next') return n and n.type"),
	       " (none):10 com.acme.Node:2");
	expect(SCRIPT("needs={'fields'},", "return o:field('previous') == nil"), " yes:12");
	expect(SCRIPT("needs={'points_to'},", "return #o:points_to()"), " 0:6 1:4 2:2");
	expect(SCRIPT("needs={'pointed_from'},", "local r = o:pointed_from()"
						 " return #r == 1 and r[1].type"),
	       " no:7 com.acme.Node[]:2 com.acme.Node:2 java.lang.Class:1");
	expect(SCRIPT("needs={'root'},", "return o.root"), " (none):11 system class:1");
	expect(SCRIPT("needs={'retained'},",
		      "return o.kind == 'instance' and o.retained .. (o.dominator and "
		      "o.dominator.type or '?')"),
	       " no:8 48com.acme.Node[]:2 24com.acme.Node:2");
}

/* What it is called for once is called for once a description; else once an object. */
static void test_memo(void **state)
{
	(void)state;
	expect("local n = 0 " SCRIPT("", "n = n + 1 return o.kind == 'instance' and n"),
	       " no:8 6:4");
	expect("local n = 0 " SCRIPT("needs={'address'},",
				     "if o.kind == 'instance' then "
				     "n = n + 1 return o.address > 0 and n end"),
	       " (none):8 1:1 2:1 3:1 4:1");
}

/* Whether script is refused when it is loaded, with this in the message. */
static void refused(const char *script, const char *why)
{
	struct work w;
	int err = work_open(&w, script);

	assert_int_equal(err, -EINVAL);
	assert_null(w.script);
	if (!strstr(w.error, why))
		fail_msg("'%s' is not in: %s", why, w.error);
	work_close(&w);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "mine.lua declares no classifier");
	refused("x = = 1", "mine.lua:1: unexpected symbol");
	refused("\n\nx = 1", "mine.lua:3: globals and libraries cannot be changed: local x");
	refused("\x1bLua", "attempt to load a binary chunk");
	refused("classifier{}", "mine.lua:1: a classifier's name is of a to z and _");
	refused("classifier{name='Mine'}", "a to z");
	refused("classifier{name='mine'}", "f is to be a function");
	refused("classifier{name='mine', f=1}", "f is to be a function");
	refused("classifier{name='type', f=type}", "there is a classifier 'type' already");
	refused("classifier{name='a', f=type} classifier{name='a', f=type}", "'a' already");
	refused("classifier{name='a', kind='some', f=type}", "invalid option 'some'");
	refused("classifier{name='a', needs={'time'}, f=type}", "there is no 'time'");
	refused("classifier{name='a', want={}, f=type}", "no 'want'");
	refused("for i = 1, 17 do classifier{name=('x'):rep(i), f=type} end", "more than 16");
	refused("while true do end", "mine.lua:1: the script takes more than 10,000,000 steps");
	refused("local t = {} for i = 1, 1e7 do t[i] = {} end", "64 MiB");
}

/* Whether nothing of the name is there. */
static void test_sandbox(void **state)
{
	static const char *const gone[] = {
		"io",
		"os",
		"debug",
		"package",
		"require",
		"load",
		"loadfile",
		"loadstring",
		"dofile",
		"print",
		"pcall",
		"xpcall",
		"coroutine",
		"setmetatable",
		"getmetatable",
		"rawset",
		"rawget",
		"rawequal",
		"rawlen",
		"next",
		"collectgarbage",
		"_G",
		"warn",
		"string.dump",
		"string.pack",
		"string.unpack",
		"table.sort",
		"table.move",
		"math.random",
		"math.randomseed",
		"utf8",
	};
	char script[256];

	(void)state;
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
		snprintf(script, sizeof(script), SCRIPT("", "return tostring(%s)"), gone[i]);
		expect(script, " nil:12");
	}
}

/* Whether all objects are in the group (error), and the first message has this in it. */
static void fails(const char *script, const char *why)
{
	struct work w;
	int err = work_open(&w, script);

	if (err)
		fail_msg("%s: %d %s", script, err, w.script ? "" : w.error);
	assert_int_equal(w.tree.count, 2);
	assert_string_equal(heap_view_text_get(&w.view, w.tree.nodes[1].key), "(error)");
	assert_int_equal(w.tree.nodes[1].objects, 12);
	assert_non_null(heap_script_error(w.script));
	if (!strstr(heap_script_error(w.script), why))
		fail_msg("'%s' is not in: %s", why, heap_script_error(w.script));
	work_close(&w);
}

static void test_errors(void **state)
{
	(void)state;
	fails("\n" SCRIPT("", "return o.type.x.y"), "mine.lua:2: attempt to index a nil value");
	fails(SCRIPT("", "return function() end"), "mine: a group is a text, a number");
	fails(SCRIPT("", "return {1, 2}"), "mine: one group is wanted, not a list");
	fails(SCRIPT("kind='many',", "return {{}}"), "not a table");
	fails(SCRIPT("kind='many',", "local t = {} for i = 1, 65 do t[i] = i end return t"),
	      "more than 64 groups");
	fails(SCRIPT("", "return ('x'):rep(257)"), "256 bytes at most");
	fails(SCRIPT("", "return 'a\\0b'"), "none that is 0");
	fails(SCRIPT("", "error({})"), "no text");
	fails(SCRIPT("", "error('mine')"), "mine.lua:1: mine");
	fails(SCRIPT("", "return o.address"),
	      "mine.lua:1: the classifier wants needs = {\"address\"}");
	fails(SCRIPT("", "return o:points_to()"), "needs = {\"points_to\"}");
	fails(SCRIPT("", "return o:by('root')"), "needs = {\"root\"}");
	fails(SCRIPT("", "return o.colour"), "objects have no 'colour'");
	fails(SCRIPT("", "o.type = 1"), "objects cannot be changed");
	fails(SCRIPT("", "return o.is(1, 'x')"), "object expected, got number");
	fails(SCRIPT("", "string.rep = nil"), "cannot be changed: local rep");
	fails(SCRIPT("", "_ENV.x = 1"), "cannot be changed: local x");
	fails(SCRIPT("", "('x').y = 1"), "attempt to index a string value");
	fails(SCRIPT("", "classifier{name='b', f=type}"), "before they are called");
	fails(SCRIPT("", "return ('x'):rep(1e9)"), "mine.lua:1: a text of more than 4096 bytes");
	fails(SCRIPT("", "return ('a'):find('a')"), "there are no patterns");
	fails(SCRIPT("", "return ('a'):gsub('a', 'b')"), "there are no patterns");
	fails(SCRIPT("", "return string.format('%-9p', 'x')"), "no %p");
	fails(SCRIPT("", "return string.format('%s', {})"), "neither a text nor a number");
	fails(SCRIPT("", "for k in pairs({[{}]=1}) do end"), "no place in an order");
	fails(SCRIPT("", "local f = pairs({}) return f(1).x"), "attempt to index a nil value");
	fails(SCRIPT("", "return table.unpack({}, 1, 1e6)"), "100 values at most");
}

/* Whether it goes beyond the bound that has this in its text. */
static void stops(const char *script, const char *why)
{
	struct work w;
	int err = work_open(&w, script);

	if (err != -ECANCELED)
		fail_msg("%s: %d %s", script, err, w.script ? "" : w.error);
	assert_non_null(heap_script_stopped(w.script));
	if (!strstr(heap_script_stopped(w.script), why))
		fail_msg("'%s' is not in: %s", why, heap_script_stopped(w.script));
	work_close(&w);
}

static void test_bombs(void **state)
{
	static const char steps[] = "mine.lua:1: the script takes more than 10,000,000 steps";

	(void)state;
	stops(SCRIPT("", "while true do end"), steps);
	stops(SCRIPT("", "local function f() return f() end f()"), steps);
	stops(SCRIPT("", "local function f() return 1 + f() end return f()"), "64 MiB of memory");
	stops(SCRIPT("", "for i = 1, math.huge do end"), steps);
	stops(SCRIPT("", "while true do local s = ('x'):rep(4000) .. 'y' end"), steps);
	stops(SCRIPT("", "local s = ('a'):rep(4000) while true do glob(s, '*a*a*a*a*b') end"),
	      steps);
	stops(SCRIPT("", "local s = ('a'):rep(4000) while true do s:find('b', 1, true) end"),
	      steps);
	stops(SCRIPT("", "local s = ('a'):rep(4000) while true do s:byte(1, -1) end"), steps);
	stops(SCRIPT("", "local t = {} while true do table.insert(t, 1, 1) end"), steps);
	stops(SCRIPT("", "local t = {} for i = 1, 9999 do t[i] = i end"
			 " while true do for k in pairs(t) do break end end"),
	      steps);
	stops(SCRIPT("", "local t = {} for i = 1, 9999 do t[i] = '' end"
			 " while true do table.concat(t) end"),
	      steps);
	stops("local t = {} " SCRIPT("", "for i = 1, 1e8 do t[#t + 1] = {} end"),
	      "64 MiB of memory");
	stops(SCRIPT("", "local s = 'x' while true do s = s .. s end"), "4,096 bytes");
	stops(SCRIPT("", "local t = {} for i = 1, 99 do t[i] = ('x'):rep(99) end table.concat(t)"),
	      "4,096 bytes");
	stops(SCRIPT("", "local function f(...) return f(1, ...) end f()"),
	      "more than 200 variable arguments");
	stops("local all = {} " SCRIPT("needs={'address'},",
				       "local t = {} for i = 1, 3e5 do"
				       " t[i] = o.address end all[#all + 1] = t"),
	      "64 MiB of memory");
}

/* Texts have hashes of their own in each run; addresses, too. */
static void test_same(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		expect(SCRIPT("kind='hierarchy',",
			      "local t, all = {z=1, a=2, [3]=3, [1.5]=4, bb=5, [10]=6}, {}"
			      " for k, v in pairs(t) do all[#all + 1] = k .. '=' .. v end"
			      " return {table.concat(all, ' '), tostring(t), tostring(type)}"),
		       " 1.5=4 3=3 10=6 a=2 bb=5 z=1:12{ table:12{ function:12 } }");
}

static void test_where(void **state)
{
	static const char script[] = SCRIPT("", "return o.length and 'list' or 'other'");
	char error[CONDITION_ERROR_MAX];
	struct condition *c;
	struct work w;

	(void)state;
	assert_int_equal(work_open(&w, script), 0);
	assert_int_equal(heap_condition_parse("mine=list and not kind=object*", &w.own, &c, error),
			 0);
	heap_filter_free(w.filter);
	heap_tree_free(&w.tree);
	w.tree.levels[0] = heap_classifier_find("type", 4);
	w.tree.level_count = 1;
	assert_int_equal(heap_filter_new(c, &w.view, &w.filter), 0);
	assert_int_equal(heap_tree_build(&w.view, w.filter, &w.tree), 0);
	assert_int_equal(w.tree.nodes[0].objects, 3);
	condition_free(c);
	assert_int_equal(heap_condition_parse("mine=list", NULL, &c, error), -EINVAL);
	work_close(&w);
}

static void test_no_memory(void **state)
{
	static const char script[] =
		SCRIPT("needs={'retained'}, kind='many',",
		       "local t = o:points_to() for i = 1, #t do t[i] = t[i].type end"
		       " t[#t + 1] = string.format('%d', o.retained) return t");
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct work w;
		int err;

		alloc_fail_at(n);
		err = work_open(&w, script);
		failed = alloc_fail_off();
		/* Lua copes with some: it collects what is not needed any more. */
		assert_true(err == -ENOMEM || !err);
		if (!failed)
			assert_int_equal(err, 0);
		work_close(&w);
	}
	assert_true(n > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_description), cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_objects),     cmocka_unit_test(test_memo),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_sandbox),
		cmocka_unit_test(test_errors),      cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_same),        cmocka_unit_test(test_where),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
