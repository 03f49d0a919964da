/* heap/code: which methods have a single caller, of class files that were made for it; files cut at each byte. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <zlib.h>

#include "heap/code/call_graph.h"
#include "heap/code/jar_file.h"
#include "heap/code/site_callers.h"
#include "heap/replay/object_names.h"
#include "log/format/object_record.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/class_maker.h"

enum { PUBLIC = 1, PRIVATE = 2, STATIC = 8, INTERFACE = 0x600, ABSTRACT = 0x400 };

static struct class_maker maker;

static int add_made(struct call_graph *g)
{
	size_t count;
	uint8_t *bytes = class_end(&maker, &count);
	int err = call_graph_add(g, bytes, count);

	free(bytes);
	return err;
}

/* "a.B.c", or why there is none. */
static const char *caller_of(struct call_graph *g, const char *class, const char *name)
{
	static char text[200];
	struct call_graph_caller caller;
	struct call_graph_name n;
	uint32_t c = call_graph_class(g, class), m = c == CALL_GRAPH_NONE ? c : call_graph_method(g, c, name, "()V");

	if (m == CALL_GRAPH_NONE)
		return "no such method";
	if (call_graph_caller(g, m, &caller))
		return "unknown";
	n = call_graph_name(g, caller.method);
	if (caller.bci == CALL_GRAPH_BCI_NONE)
		snprintf(text, sizeof(text), "%s.%s", n.class, n.name);
	else
		snprintf(text, sizeof(text), "%s.%s:%u", n.class, n.name, caller.bci);
	return text;
}

#define ASSERT_CALLER(g, class, name, expected) assert_string_equal(caller_of(g, class, name), expected)

static void statics_and_private_methods(void **state)
{
	struct call_graph *g = call_graph_new();

	(void)state;
	class_begin(&maker, "a/A", NULL, PUBLIC, NULL);
	make_method(&maker, "main", PUBLIC | STATIC, MAKE_STATIC, "a/A", "one");
	method_begin(&maker, "one", PUBLIC | STATIC);
	make_op(&maker, 0);
	make_call(&maker, MAKE_STATIC, "a/B", "two");
	method_end(&maker);
	method_begin(&maker, "twice", PUBLIC | STATIC);
	make_call(&maker, MAKE_STATIC, "a/B", "four");
	make_call(&maker, MAKE_STATIC, "a/B", "four");
	method_end(&maker);
	make_method(&maker, "recursive", PRIVATE | STATIC, MAKE_STATIC, "a/A", "recursive");
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "a/B", NULL, PUBLIC, NULL);
	make_method(&maker, "two", PUBLIC | STATIC, MAKE_SPECIAL, "a/B", "three");
	make_method(&maker, "three", PRIVATE, 0, NULL, NULL);
	make_method(&maker, "four", STATIC, MAKE_STATIC, "a/C", "none");
	make_method(&maker, "<clinit>", STATIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	assert_int_equal(call_graph_classes(g), 2);
	ASSERT_CALLER(g, "a/A", "one", "a/A.main:0");
	ASSERT_CALLER(g, "a/B", "two", "a/A.one:1");
	ASSERT_CALLER(g, "a/B", "three", "a/B.two:0");
	ASSERT_CALLER(g, "a/B", "four", "a/A.twice"); /* one method, from two sites */
	ASSERT_CALLER(g, "a/A", "twice", "unknown");  /* nobody calls it */
	ASSERT_CALLER(g, "a/A", "main", "unknown");
	ASSERT_CALLER(g, "a/B", "<clinit>", "unknown");
	ASSERT_CALLER(g, "a/A", "recursive", "unknown");
	ASSERT_CALLER(g, "a/C", "none", "no such method");
	call_graph_free(g);
}

/* Base has m; Left and Right are below it, and Left has its own; Alone is a class beside. */
static void make_family(struct call_graph *g, const char *receiver)
{
	class_begin(&maker, "f/Base", NULL, PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "f/Left", "f/Base", PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "f/Right", "f/Base", PUBLIC, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "f/Alone", NULL, PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "f/User", NULL, PUBLIC, NULL);
	make_method(&maker, "first", PUBLIC, MAKE_VIRTUAL, receiver, "m");
	make_method(&maker, "second", PUBLIC, MAKE_VIRTUAL, "f/Alone", "m");
	assert_int_equal(add_made(g), 0);
}

static void virtual_calls(void **state)
{
	static const struct {
		const char *receiver, *base, *left;
	} cases[] = {
		{"f/Base", "f/User.first:0", "f/User.first:0"},
		{"f/Left", "unknown", "f/User.first:0"}, /* nobody calls Base's */
		{"f/Right", "f/User.first:0", "unknown"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct call_graph *g = call_graph_new();

		make_family(g, cases[i].receiver);
		if (i != 1) /* a call of Left's m may run Base's, as far as classes say: one caller, too */
			ASSERT_CALLER(g, "f/Base", "m", cases[i].base);
		if (i != 2)
			ASSERT_CALLER(g, "f/Left", "m", cases[i].left);
		ASSERT_CALLER(g, "f/Alone", "m", "f/User.second:0");
		call_graph_free(g);
	}
}

/* A second caller of any sort makes the first one uncertain. */
static void a_second_caller(void **state)
{
	static const unsigned ways = 8;

	(void)state;
	for (unsigned way = 0; way < ways; way++) {
		struct call_graph *g = call_graph_new();

		make_family(g, "f/Base");
		class_begin(&maker, "f/Other", NULL, PUBLIC, NULL);
		if (way == 0)
			make_method(&maker, "x", PUBLIC, MAKE_VIRTUAL, "f/Base", "m");
		else if (way == 1)
			make_method(&maker, "x", PUBLIC, MAKE_VIRTUAL, "f/Left", "m");
		else if (way == 2)
			make_handle(&maker, "f/Left", "m");
		else if (way == 3)
			make_string(&maker, "m");
		else if (way == 4) /* a class without a file may be above or below any other */
			make_method(&maker, "x", PUBLIC, MAKE_VIRTUAL, "f/Unknown", "m");
		else if (way == 5)
			call_graph_incomplete(g);
		else if (way == 6)
			call_graph_seen(g, call_graph_method(g, call_graph_class(g, "f/Left"), "m", "()V"),
					CALL_GRAPH_NONE);
		else
			call_graph_seen(g, call_graph_method(g, call_graph_class(g, "f/Left"), "m", "()V"),
					call_graph_method(g, call_graph_class(g, "f/User"), "second", "()V"));
		assert_int_equal(add_made(g), 0);
		ASSERT_CALLER(g, "f/Left", "m", "unknown");
		call_graph_free(g);
	}
}

static void interfaces_and_classes_outside(void **state)
{
	static const char *const task[] = {"i/Task", NULL}, *const runnable[] = {"java/lang/Runnable", NULL},
		   *const empty[] = {"java/io/Serializable", NULL};
	struct call_graph *g = call_graph_new();

	(void)state;
	class_begin(&maker, "i/Task", NULL, INTERFACE, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "i/Work", NULL, PUBLIC, task);
	make_method(&maker, "work", PUBLIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "i/Run", NULL, PUBLIC, runnable);
	make_method(&maker, "run", PUBLIC, MAKE_SPECIAL, "i/Run", "own");
	make_method(&maker, "own", PRIVATE, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "i/Plain", NULL, PUBLIC, empty);
	make_method(&maker, "plain", PUBLIC, 0, NULL, NULL);
	make_method(&maker, "<init>", PUBLIC, 0, NULL, NULL);
	make_method(&maker, "toString", PUBLIC, 0, NULL, NULL);
	method_begin(&maker, "marked", PUBLIC);
	method_end_annotated(&maker, "RuntimeVisibleAnnotations");
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "i/Main", NULL, PUBLIC, NULL);
	make_method(&maker, "a", PUBLIC, MAKE_INTERFACE, "i/Task", "work");
	make_method(&maker, "b", PUBLIC, MAKE_VIRTUAL, "i/Run", "run");
	make_method(&maker, "c", PUBLIC, MAKE_VIRTUAL, "i/Plain", "plain");
	make_method(&maker, "d", PUBLIC, MAKE_SPECIAL, "i/Plain", "<init>");
	make_method(&maker, "e", PUBLIC, MAKE_VIRTUAL, "i/Plain", "toString");
	make_method(&maker, "f", PUBLIC, MAKE_VIRTUAL, "i/Plain", "marked");
	assert_int_equal(add_made(g), 0);
	ASSERT_CALLER(g, "i/Work", "work", "i/Main.a:0");
	ASSERT_CALLER(g, "i/Run", "run", "unknown"); /* a thread may */
	ASSERT_CALLER(g, "i/Run", "own", "i/Run.run:0");
	ASSERT_CALLER(g, "i/Plain", "plain", "i/Main.c:0");
	ASSERT_CALLER(g, "i/Plain", "<init>", "i/Main.d:0");
	ASSERT_CALLER(g, "i/Plain", "toString", "unknown");
	ASSERT_CALLER(g, "i/Plain", "marked", "unknown");
	class_begin(&maker, "i/Names", NULL, PUBLIC, NULL);
	make_string(&maker, "i.Plain"); /* for Class.forName */
	assert_int_equal(add_made(g), 0);
	call_graph_free(g);
	g = call_graph_new();
	class_begin(&maker, "i/Plain", NULL, PUBLIC, NULL);
	make_method(&maker, "<init>", PUBLIC, 0, NULL, NULL);
	make_method(&maker, "make", PUBLIC, MAKE_SPECIAL, "i/Plain", "<init>");
	make_string(&maker, "i.Plain");
	assert_int_equal(add_made(g), 0);
	ASSERT_CALLER(g, "i/Plain", "<init>", "unknown");
	call_graph_free(g);
}

/* Classes above themselves, and a chain of 3,000: no end of memory, and no certainty. */
static void hierarchies_that_make_no_sense(void **state)
{
	struct call_graph *g = call_graph_new();
	char name[32], super[32];

	(void)state;
	class_begin(&maker, "c/A", "c/B", PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, MAKE_VIRTUAL, "c/B", "m");
	assert_int_equal(add_made(g), 0);
	class_begin(&maker, "c/B", "c/A", PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, MAKE_VIRTUAL, "c/A", "m");
	assert_int_equal(add_made(g), 0);
	ASSERT_CALLER(g, "c/A", "m", "unknown");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "d/D%d", i);
		snprintf(super, sizeof(super), "d/D%d", i + 1);
		class_begin(&maker, name, super, PUBLIC, NULL);
		make_method(&maker, "m", PUBLIC, 0, NULL, NULL);
		assert_int_equal(add_made(g), 0);
	}
	ASSERT_CALLER(g, "d/D0", "m", "unknown");
	ASSERT_CALLER(g, "d/D2999", "m", "unknown");
	call_graph_free(g);
}

static void files_that_end_early(void **state)
{
	size_t count;
	uint8_t *bytes, *cut;

	(void)state;
	class_begin(&maker, "a/A", NULL, PUBLIC, NULL);
	method_begin(&maker, "switches", PUBLIC);
	make_op(&maker, 0xaa); /* tableswitch at 0: 3 of padding, default, 0..1, two targets */
	put_n(maker.code, &maker.code_used, 0, 3 + 4);
	put_n(maker.code, &maker.code_used, 0, 4);
	put_n(maker.code, &maker.code_used, 1, 4);
	put_n(maker.code, &maker.code_used, 0, 8);
	make_op(&maker, 0xc4); /* wide iinc */
	put_n(maker.code, &maker.code_used, 0x84, 1);
	put_n(maker.code, &maker.code_used, 0, 4);
	make_call(&maker, MAKE_STATIC, "a/A", "called");
	method_end(&maker);
	make_method(&maker, "called", PRIVATE | STATIC, 0, NULL, NULL);
	bytes = class_end(&maker, &count);
	for (size_t n = 0; n <= count; n++) {
		struct call_graph *g = call_graph_new();

		cut = malloc(n + 1); /* so that a byte too far is found */
		memcpy(cut, bytes, n);
		cut = realloc(cut, n ? n : 1);
		assert_int_equal(call_graph_add(g, cut, n), n == count ? 0 : -EBADMSG);
		if (n == count)
			ASSERT_CALLER(g, "a/A", "called", "a/A.switches:30");
		free(cut);
		call_graph_free(g);
	}
	free(bytes);
}

/* --- jars ------------------------------------------------------------------------------------------------------- */

struct zip {
	uint8_t bytes[65536], directory[4096];
	size_t used, directory_used;
	uint16_t members;
};

static void put_little(uint8_t *to, size_t *used, uint64_t n, unsigned bytes)
{
	for (; bytes--; n >>= 8)
		to[(*used)++] = (uint8_t)n;
}

static void zip_add(struct zip *z, const char *name, const uint8_t *bytes, size_t count, bool packed, size_t before)
{
	uint8_t out[16384];
	z_stream s = {.next_in = (Bytef *)bytes, .avail_in = (uInt)count, .next_out = out, .avail_out = sizeof(out)};
	size_t at = z->used - before, size = count;

	if (packed) {
		assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
		assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
		size = s.total_out;
		deflateEnd(&s);
	}
	for (int i = 0; i < 2; i++) {
		uint8_t *to = i ? z->directory : z->bytes;
		size_t *used = i ? &z->directory_used : &z->used;

		put_little(to, used, i ? 0x02014b50 : 0x04034b50, 4);
		put_little(to, used, 0, i ? 6 : 4);
		put_little(to, used, packed ? 8 : 0, 2);
		put_little(to, used, 0, 8);
		put_little(to, used, size, 4);
		put_little(to, used, count, 4);
		put_little(to, used, strlen(name), 2);
		put_little(to, used, 0, 2);
		if (i) {
			put_little(to, used, 0, 10);
			put_little(to, used, at, 4);
		}
		memcpy(to + *used, name, strlen(name));
		*used += strlen(name);
	}
	memcpy(z->bytes + z->used, packed ? out : bytes, size);
	z->used += size;
	z->members++;
}

static void zip_end(struct zip *z, size_t before)
{
	size_t at = z->used - before;

	memcpy(z->bytes + z->used, z->directory, z->directory_used);
	z->used += z->directory_used;
	put_little(z->bytes, &z->used, 0x06054b50, 4);
	put_little(z->bytes, &z->used, 0, 4);
	put_little(z->bytes, &z->used, z->members, 2);
	put_little(z->bytes, &z->used, z->members, 2);
	put_little(z->bytes, &z->used, z->directory_used, 4);
	put_little(z->bytes, &z->used, at, 4);
	put_little(z->bytes, &z->used, 0, 2);
}

struct seen {
	const uint8_t *expected;
	size_t count;
	unsigned members, jars;
};

static int see(void *ctx, const char *name, uint32_t length, const uint8_t *bytes, size_t count)
{
	struct seen *s = ctx;

	s->members++;
	s->jars += length > 4 && !memcmp(name + length - 4, ".jar", 4);
	assert_int_equal(count, s->count);
	assert_memory_equal(bytes, s->expected, count);
	return 0;
}

static void jars(void **state)
{
	struct seen seen = {0};
	struct jar_visitor v = {.member = see, .ctx = &seen};
	uint8_t *file;

	(void)state;
	class_begin(&maker, "a/A", NULL, PUBLIC, NULL);
	make_method(&maker, "m", PUBLIC, 0, NULL, NULL);
	file = class_end(&maker, &seen.count);
	seen.expected = file;
	for (size_t before = 0; before <= 4; before += 4) { /* a .jmod begins with 4 bytes of its own */
		struct zip *z = calloc(1, sizeof(*z));

		z->used = before;
		zip_add(z, "a/A.class", file, seen.count, true, before);
		zip_add(z, "META-INF/MANIFEST.MF", (const uint8_t *)"x", 1, false, before);
		zip_add(z, "a/B.class", file, seen.count, false, before);
		zip_add(z, "lib/b.jar", file, seen.count, true, before);
		zip_end(z, before);
		seen.members = seen.jars = 0;
		assert_int_equal(jar_file_each(z->bytes, z->used, &v), 0);
		assert_int_equal(seen.members, 3);
		assert_int_equal(seen.jars, 1);
		assert_int_equal(v.damaged, 0);
		for (size_t n = 0; n < z->used; n++) {
			uint8_t *cut = malloc(n ? n : 1);

			memcpy(cut, z->bytes, n);
			assert_int_equal(jar_file_each(cut, n, &v), -EBADMSG);
			free(cut);
		}
		free(z);
	}
	free(file);
}

/* --- call chains of a log ----------------------------------------------------------------------------------------- */

static void add_text(struct object_record *r, int which, const char *text)
{
	r->text[which] = text;
	r->text_bytes[which] = (uint32_t)strlen(text);
}

static void name_class(struct object_names *n, uint64_t id, const char *name)
{
	struct object_record r = {.kind = OBJECT_CLASS, .number = {[CLASS_ID] = id, [CLASS_KLASS] = 0x1000 * id}};

	add_text(&r, 0, name);
	assert_int_equal(object_names_add(n, &r), 0);
}

static void name_method(struct object_names *n, uint64_t id, uint64_t class, const char *name)
{
	struct object_record r = {.kind = OBJECT_METHOD, .number = {[METHOD_ID] = id, [METHOD_CLASS_ID] = class}};

	add_text(&r, 0, name);
	add_text(&r, 1, "()V");
	assert_int_equal(object_names_add(n, &r), 0);
}

static void name_site(struct object_names *n, uint64_t id, uint32_t method, uint32_t caller)
{
	struct object_record r = {.kind = OBJECT_SITE, .number = {[SITE_ID] = id}, .frame_count = caller ? 2 : 1};

	r.frames[0][0] = method;
	r.frames[0][1] = 7;
	r.frames[1][0] = caller;
	assert_int_equal(object_names_add(n, &r), 0);
}

/* main calls one, which calls two; nobody but who saw "other" knows that other calls two as well. */
static struct call_graph *code(void)
{
	struct call_graph *g = call_graph_new();

	class_begin(&maker, "a/A", NULL, PUBLIC, NULL);
	make_method(&maker, "main", PUBLIC | STATIC, MAKE_STATIC, "a/A", "one");
	make_method(&maker, "one", PUBLIC | STATIC, MAKE_STATIC, "a/A", "two");
	make_method(&maker, "two", PUBLIC | STATIC, 0, NULL, NULL);
	make_method(&maker, "other", PUBLIC | STATIC, 0, NULL, NULL);
	assert_int_equal(add_made(g), 0);
	return g;
}

static char *chain(const struct object_names *n, uint32_t site)
{
	static char text[1000];
	char frame[200];

	*text = '\0';
	for (uint32_t i = 0; i < n->sites[site].frame_count; i++) {
		strcat(text, i ? " < " : "");
		strcat(text, object_frame_text(n, site, i, frame, sizeof(frame)));
	}
	return text;
}

static void sites_are_extended(void **state)
{
	struct object_names n;
	struct site_callers done;
	struct call_graph *g;

	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		g = code();
		assert_int_equal(object_names_init(&n), 0);
		name_class(&n, 3, "a/A");
		name_class(&n, 4, "java/lang/Object");
		name_method(&n, 5, 3, "two");
		name_method(&n, 6, 3, "other");
		name_site(&n, 1, 5, 0);
		if (way == 1) /* a compiler has inlined two into another one */
			name_site(&n, 2, 5, 6);
		if (way == 2) /* of a class that is in no file, two's callers may be any */
			name_class(&n, 9, "b/Missing");
		assert_int_equal(site_callers_extend(&n, g, &done), 0);
		assert_int_equal(done.sites, way == 1 ? 2 : 1);
		assert_int_equal(done.extended, way == 0);
		assert_int_equal(done.frames, way ? 0 : 2);
		assert_int_equal(done.missing, way == 2);
		assert_string_equal(chain(&n, 0), way ? "a.A.two:7"
						      : "a.A.two:7 < a.A.one:0 (inferred) < a.A.main:0 (inferred)");
		assert_int_equal(n.sites[0].inferred, way ? 0 : 2);
		object_names_free(&n);
		call_graph_free(g);
	}
}

static int all_of_it(const uint8_t *bytes, size_t count)
{
	struct call_graph *g = call_graph_new();
	struct object_names n = {0};
	struct site_callers done;
	int err = g ? 0 : -ENOMEM;

	if (!err)
		err = call_graph_add(g, bytes, count);
	if (!err)
		err = object_names_init(&n);
	if (!err) {
		struct object_record c = {.kind = OBJECT_CLASS, .number = {3, 0x3000}},
				     m = {.kind = OBJECT_METHOD, .number = {5, 3}},
				     s = {.kind = OBJECT_SITE, .number = {1}, .frames = {{5, 1}}, .frame_count = 1};

		add_text(&c, 0, "a/A");
		add_text(&m, 0, "one");
		add_text(&m, 1, "()V");
		err = object_names_add(&n, &c);
		if (!err)
			err = object_names_add(&n, &m);
		if (!err)
			err = object_names_add(&n, &s);
	}
	if (!err)
		err = site_callers_extend(&n, g, &done);
	if (!err)
		assert_int_equal(done.frames, 1);
	object_names_free(&n);
	call_graph_free(g);
	return err;
}

static void without_memory(void **state)
{
	int err = -ENOMEM;
	uint8_t *bytes;
	size_t count;

	(void)state;
	class_begin(&maker, "a/A", NULL, PUBLIC, NULL);
	make_method(&maker, "main", PUBLIC | STATIC, MAKE_STATIC, "a/A", "one");
	make_method(&maker, "one", PRIVATE | STATIC, 0, NULL, NULL);
	bytes = class_end(&maker, &count);
	for (unsigned long n = 0; err; n++) {
		alloc_fail_at(n);
		err = all_of_it(bytes, count);
		alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statics_and_private_methods),
		cmocka_unit_test(virtual_calls),
		cmocka_unit_test(a_second_caller),
		cmocka_unit_test(interfaces_and_classes_outside),
		cmocka_unit_test(hierarchies_that_make_no_sense),
		cmocka_unit_test(files_that_end_early),
		cmocka_unit_test(jars),
		cmocka_unit_test(sites_are_extended),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
