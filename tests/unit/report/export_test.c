#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <jansson.h>

#include "log/read/names.h"
#include "report/flame/export.h"
#include "tests/unit/alloc_fail.h"

enum { LOCK_TABLE = 1, LOCK_QUEUE, LOCK_NOT_NAMED, LOCK_PARKED_ON, LOCK_JUC };
enum { THREAD_MAIN = 1, THREAD_ODD, THREAD_TWIN, THREAD_OTHER_TWIN, THREAD_NOT_NAMED };
enum { RUN = 1, LOOK_UP, SEARCH, LAMBDA, ODD, NO_SUCH_METHOD };

static int add_thread(struct log_names *n, uint32_t thread, uint64_t tid, const char *name)
{
	struct event e = {.id = EVENT_THREAD, .thread = thread};

	e.v[THREAD_TID].u = tid;
	e.v[THREAD_NAME].s = name;
	return log_names_add(n, &e);
}

static int add_lock(struct log_names *n, uint64_t lock, uint64_t group, const char *class_name)
{
	struct event class = {.id = EVENT_CLASS}, e = {.id = EVENT_LOCK};

	class.v[CLASS_CLASS].u = lock;
	class.v[CLASS_NAME].s = class_name;
	e.v[LOCK_LOCK].u = lock;
	e.v[LOCK_CLASS].u = class_name ? lock : 0;
	e.v[LOCK_GROUP].u = group;
	return (class_name ? log_names_add(n, &class) : 0) ?: log_names_add(n, &e);
}

static int add_method(struct log_names *n, uint64_t method, const char *class_name,
		      const char *name, const char *source, bool hidden)
{
	struct event e = {.id = EVENT_METHOD};

	e.v[METHOD_METHOD].u = method;
	e.v[METHOD_CLASS_NAME].s = class_name;
	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "()V";
	e.v[METHOD_SOURCE].s = source;
	e.v[METHOD_HIDDEN].u = hidden;
	return log_names_add(n, &e);
}

static int add_stack(struct log_names *n, uint64_t stack, uint64_t caller, uint64_t frame,
		     uint64_t method, uint64_t line)
{
	struct event e = {.id = EVENT_STACK};

	e.v[STACK_STACK].u = stack;
	e.v[STACK_CALLER].u = caller;
	e.v[STACK_FRAME].u = frame;
	e.v[STACK_METHOD].u = method;
	e.v[STACK_LINE].u = line;
	return log_names_add(n, &e);
}

/* Threads, locks and methods; NULL if there was no memory. */
static struct log_names *names_new(void)
{
	struct log_names *n = log_names_new();

	if (!n)
		return NULL;
	if (!add_thread(n, THREAD_MAIN, 101, "main") &&
	    !add_thread(n, THREAD_ODD, 102, "odd; one\n\xc2\x85\x7f 7") &&
	    !add_thread(n, THREAD_TWIN, 103, "twin") &&
	    !add_thread(n, THREAD_OTHER_TWIN, 104, "twin") &&
	    !add_lock(n, LOCK_TABLE, LOCK_GROUP_MONITOR, "demo.Table") &&
	    !add_lock(n, LOCK_QUEUE, LOCK_GROUP_MONITOR, "demo.Queue") &&
	    !add_lock(n, LOCK_NOT_NAMED, LOCK_GROUP_MONITOR, NULL) &&
	    !add_lock(n, LOCK_PARKED_ON, LOCK_GROUP_OTHER, "demo.Pool") &&
	    !add_lock(n, LOCK_JUC, LOCK_GROUP_JUC, "java.util.concurrent.locks.Lock") &&
	    !add_method(n, RUN, "java.lang.Thread", "run", "Thread.java", false) &&
	    !add_method(n, LOOK_UP, "demo.Table", "lookUp", "Table.java", false) &&
	    !add_method(n, SEARCH, "demo.Table", "search", "Table.java", false) &&
	    !add_method(n, LAMBDA, "java.lang.invoke.LambdaForm$MH", "invoke", "", true) &&
	    !add_method(n, ODD, "demo.My Test", "it works; a\tlot", "\"My\" Test.kt", false))
		return n;
	log_names_free(n);
	return NULL;
}

static struct cell cell(uint64_t lock, uint64_t waiter, uint64_t waiter_stack, uint64_t holder,
			uint64_t holder_stack, uint64_t blocked_ns)
{
	return (struct cell){.lock = lock,
			     .waiter = waiter,
			     .waiter_stack = waiter_stack,
			     .holder = holder,
			     .holder_stack = holder_stack,
			     .count = 1,
			     .blocked_ns = blocked_ns,
			     .monitor = lock == LOCK_TABLE || lock == LOCK_QUEUE};
}

/* What is written, to be freed; NULL if there was no memory. */
static char *collapsed(const struct export_input *in, enum export_side side)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	assert_non_null(out);
	err = export_collapsed(in, side, out);
	assert_int_equal(fclose(out), 0);
	if (!err)
		return text;
	assert_int_equal(err, -ENOMEM);
	free(text);
	return NULL;
}

static char *profiles(__typeof__(export_speedscope) *write, const struct export_input *in,
		      const enum export_side *sides, unsigned count, const char *title)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	assert_non_null(out);
	err = write(in, sides, count, title, out);
	assert_int_equal(fclose(out), 0);
	if (!err)
		return text;
	assert_int_equal(err, -ENOMEM);
	free(text);
	return NULL;
}

static void check(const struct export_input *in, enum export_side side, const char *expected)
{
	char *text = collapsed(in, side);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static struct export_input input(const struct log_names *names, const struct cell *cells,
				 uint32_t count)
{
	return (struct export_input){.names = names, .cells = cells, .cell_count = count};
}

static void test_waiters(void **state)
{
	struct log_names *n = names_new();
	/* 4 is the same chain as 3 at another line, 5 as 2. */
	const struct cell cells[] = {
		cell(LOCK_TABLE, THREAD_MAIN, 2, THREAD_TWIN, 0, 10),
		cell(LOCK_TABLE, THREAD_TWIN, 3, THREAD_MAIN, 0, 20),
		cell(LOCK_QUEUE, THREAD_TWIN, 3, THREAD_MAIN, 0, 5),
		cell(LOCK_QUEUE, THREAD_TWIN, 1, THREAD_MAIN, 0, 1),
		cell(LOCK_QUEUE, THREAD_TWIN, 5, THREAD_MAIN, 0, 2),
		cell(LOCK_QUEUE, THREAD_TWIN, 4, THREAD_MAIN, 0, 0),
		cell(LOCK_JUC, THREAD_MAIN, 4, HOLDER_UNKNOWN, 0, 300),
		cell(LOCK_PARKED_ON, THREAD_MAIN, 2, HOLDER_UNKNOWN, 0, 1000000),
	};
	struct export_input in = input(n, cells, 8);

	(void)state;
	assert_int_equal(add_stack(n, 1, 0, FRAME_TYPE_INTERPRETED, RUN, 840), 0);
	assert_int_equal(add_stack(n, 2, 1, FRAME_TYPE_C2, LOOK_UP, 51), 0);
	assert_int_equal(add_stack(n, 3, 1, FRAME_TYPE_C2, SEARCH, 60), 0);
	assert_int_equal(add_stack(n, 4, 1, FRAME_TYPE_C1, SEARCH, 61), 0);
	assert_int_equal(add_stack(n, 5, 1, FRAME_TYPE_INLINED, LOOK_UP, 51), 0);
	assert_int_equal(export_total(&in), 338);
	check(&in, EXPORT_WAITER,
	      "java.lang.Thread.run 1\n"
	      "java.lang.Thread.run;demo.Table.search 325\n"
	      "java.lang.Thread.run;demo.Table.lookUp 12\n");
	in.lines = true;
	check(&in, EXPORT_WAITER,
	      "java.lang.Thread.run:840 1\n"
	      "java.lang.Thread.run:840;demo.Table.search:61 300\n"
	      "java.lang.Thread.run:840;demo.Table.search:60 25\n"
	      "java.lang.Thread.run:840;demo.Table.lookUp:51 12\n");
	in.lines = false;
	in.threads = in.locks = true;
	in.lock_class = "demo.*";
	assert_int_equal(export_total(&in), 38);
	check(&in, EXPORT_WAITER,
	      "twin_(tid_103);java.lang.Thread.run;demo.Table.search;(lock demo.Table) 20\n"
	      "twin_(tid_103);java.lang.Thread.run;demo.Table.search;(lock demo.Queue) 5\n"
	      "twin_(tid_103);java.lang.Thread.run;demo.Table.lookUp;(lock demo.Queue) 2\n"
	      "twin_(tid_103);java.lang.Thread.run;(lock demo.Queue) 1\n"
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock demo.Table) 10\n");
	in.lock_class = "demo.?";
	assert_int_equal(export_total(&in), 0);
	check(&in, EXPORT_WAITER, "");
	log_names_free(n);
}

/* No chain, or not all of it: the time is there, and what is missing is said. */
static void test_marks(void **state)
{
	struct log_names *n = names_new();
	const struct cell cells[] = {
		cell(LOCK_TABLE, THREAD_MAIN, 0, THREAD_TWIN, 0, 90),
		cell(LOCK_TABLE, THREAD_MAIN, 2, THREAD_TWIN, 0, 80),
		cell(LOCK_TABLE, THREAD_MAIN, 4, THREAD_TWIN, 0, 70),
		cell(LOCK_TABLE, THREAD_MAIN, 6, THREAD_TWIN, 0, 60),
		cell(LOCK_TABLE, THREAD_MAIN, 8, THREAD_TWIN, 0, 50),
		cell(LOCK_TABLE, THREAD_MAIN, 9, THREAD_TWIN, 0, 1),
		cell(LOCK_TABLE, THREAD_MAIN, 10, THREAD_TWIN, 0, 40),
		cell(LOCK_TABLE, THREAD_MAIN, 12, THREAD_TWIN, 0, 30),
		cell(LOCK_TABLE, THREAD_MAIN, 1, THREAD_TWIN, 0, 20),
		cell(LOCK_TABLE, THREAD_MAIN, 14, THREAD_TWIN, 0, 10),
	};
	struct export_input in = input(n, cells, sizeof(cells) / sizeof(*cells));

	(void)state;
	assert_int_equal(add_stack(n, 1, 0, FRAME_TYPE_BROKEN, 0, 0), 0);
	assert_int_equal(add_stack(n, 2, 1, FRAME_TYPE_C2, LOOK_UP, 51), 0);
	assert_int_equal(add_stack(n, 3, 0, FRAME_TYPE_CUT, 0, 0), 0);
	assert_int_equal(add_stack(n, 4, 3, FRAME_TYPE_C2, LOOK_UP, 51), 0);
	assert_int_equal(add_stack(n, 5, 0, FRAME_TYPE_UNRESOLVED, 0, 0), 0);
	assert_int_equal(add_stack(n, 6, 5, FRAME_TYPE_C2, NO_SUCH_METHOD, 51), 0);
	/* The definition of 7 is not in the log, nor that of 9. */
	assert_int_equal(add_stack(n, 8, 7, FRAME_TYPE_C2, SEARCH, 51), 0);
	assert_int_equal(add_stack(n, 10, 0, FRAME_TYPE_C2, LAMBDA, 0), 0);
	assert_int_equal(add_stack(n, 11, 10, FRAME_TYPE_C2, RUN, 0), 0);
	assert_int_equal(add_stack(n, 12, 11, FRAME_TYPE_C2, LAMBDA, 0), 0);
	assert_int_equal(add_stack(n, 13, 0, FRAME_TYPE_IN_HEAP, 0, 0), 0);
	assert_int_equal(add_stack(n, 14, 13, FRAME_TYPE_C2, SEARCH, 51), 0);
	check(&in, EXPORT_WAITER,
	      "(frames missing) 21\n"
	      "(frames missing);demo.Table.lookUp 80\n"
	      "(frames missing);demo.Table.search 50\n"
	      "(unknown) 90\n"
	      "(more than 512 frames);demo.Table.lookUp 70\n"
	      "(unloaded code);(unknown method) 60\n"
	      "(hidden frames) 40\n"
	      "java.lang.Thread.run 30\n"
	      "(frames in the heap);demo.Table.search 10\n");
	in.hidden = true;
	in.lines = true;
	check(&in, EXPORT_WAITER,
	      "(frames missing) 21\n"
	      "(frames missing);demo.Table.lookUp:51 80\n"
	      "(frames missing);demo.Table.search:51 50\n"
	      "(unknown) 90\n"
	      "(more than 512 frames);demo.Table.lookUp:51 70\n"
	      "java.lang.invoke.LambdaForm$MH.invoke 40\n"
	      "java.lang.invoke.LambdaForm$MH.invoke;java.lang.Thread.run;"
	      "java.lang.invoke.LambdaForm$MH.invoke 30\n"
	      "(unloaded code);(unknown method) 60\n"
	      "(frames in the heap);demo.Table.search:51 10\n");
	log_names_free(n);
}

static void test_owners(void **state)
{
	struct log_names *n = names_new();
	const struct cell cells[] = {
		cell(LOCK_TABLE, THREAD_MAIN, 2, HOLDER_HAND_OVER, 0, 1),
		cell(LOCK_TABLE, THREAD_MAIN, 2, HOLDER_UNKNOWN, 0, 2),
		cell(LOCK_TABLE, THREAD_MAIN, 2, THREAD_TWIN, 0, 4),
		cell(LOCK_TABLE, THREAD_MAIN, 2, THREAD_OTHER_TWIN, 3, 8),
		cell(LOCK_TABLE, THREAD_OTHER_TWIN, 0, THREAD_NOT_NAMED, 3, 16),
		cell(LOCK_NOT_NAMED, THREAD_OTHER_TWIN, 3, THREAD_MAIN, 2, 32),
	};
	struct export_input in = input(n, cells, sizeof(cells) / sizeof(*cells));

	(void)state;
	assert_int_equal(add_stack(n, 1, 0, FRAME_TYPE_INTERPRETED, RUN, 840), 0);
	assert_int_equal(add_stack(n, 2, 1, FRAME_TYPE_C2, LOOK_UP, 51), 0);
	assert_int_equal(add_stack(n, 3, 1, FRAME_TYPE_C2, SEARCH, 60), 0);
	assert_int_equal(export_total(&in), 63);
	check(&in, EXPORT_OWNER,
	      "java.lang.Thread.run;demo.Table.lookUp 32\n"
	      "java.lang.Thread.run;demo.Table.search 24\n"
	      "(unknown) 4\n"
	      "(unknown holder) 2\n"
	      "(hand-over) 1\n");
	in.threads = in.locks = true;
	check(&in, EXPORT_OWNER,
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock of unknown class) 32\n"
	      "(thread_#5);java.lang.Thread.run;demo.Table.search;(lock demo.Table) 16\n"
	      "twin_(tid_104);java.lang.Thread.run;demo.Table.search;(lock demo.Table) 8\n"
	      "twin_(tid_103);(unknown);(lock demo.Table) 4\n"
	      "(unknown holder);(lock demo.Table) 2\n"
	      "(hand-over);(lock demo.Table) 1\n");
	check(&in, EXPORT_BOTH,
	      "twin_(tid_104);java.lang.Thread.run;demo.Table.search;(lock of unknown class);"
	      "(blocked by);main;java.lang.Thread.run;demo.Table.lookUp 32\n"
	      "twin_(tid_104);(unknown);(lock demo.Table);"
	      "(blocked by);(thread_#5);java.lang.Thread.run;demo.Table.search 16\n"
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock demo.Table);"
	      "(blocked by);twin_(tid_104);java.lang.Thread.run;demo.Table.search 8\n"
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock demo.Table);"
	      "(blocked by);twin_(tid_103);(unknown) 4\n"
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock demo.Table);"
	      "(blocked by);(unknown holder) 2\n"
	      "main;java.lang.Thread.run;demo.Table.lookUp;(lock demo.Table);"
	      "(blocked by);(hand-over) 1\n");
	in.threads = in.locks = false;
	check(&in, EXPORT_BOTH,
	      "java.lang.Thread.run;demo.Table.search;"
	      "(blocked by);java.lang.Thread.run;demo.Table.lookUp 32\n"
	      "java.lang.Thread.run;demo.Table.lookUp;"
	      "(blocked by);java.lang.Thread.run;demo.Table.search 8\n"
	      "java.lang.Thread.run;demo.Table.lookUp;(blocked by);(unknown) 4\n"
	      "java.lang.Thread.run;demo.Table.lookUp;(blocked by);(unknown holder) 2\n"
	      "java.lang.Thread.run;demo.Table.lookUp;(blocked by);(hand-over) 1\n"
	      "(unknown);(blocked by);java.lang.Thread.run;demo.Table.search 16\n");
	log_names_free(n);
}

static void test_odd_characters(void **state)
{
	struct log_names *n = names_new();
	const struct cell cells[] = {cell(LOCK_TABLE, THREAD_ODD, 1, THREAD_MAIN, 0, 7)};
	struct export_input in = input(n, cells, 1);

	(void)state;
	assert_int_equal(add_lock(n, LOCK_TABLE, LOCK_GROUP_MONITOR, "a ;\nb\xc3\xa4"), 0);
	assert_int_equal(add_stack(n, 1, 0, FRAME_TYPE_C2, ODD, 3), 0);
	in.threads = in.locks = in.lines = true;
	check(&in, EXPORT_WAITER,
	      "odd:_one\\n\\u0085\\x7f_7;demo.My_Test.it_works:_a?lot:3;(lock a_:?b\xc3\xa4) 7\n");
	log_names_free(n);
}

/* An array of an object's members, by name. */
static const json_t *member(const json_t *o, const char *name)
{
	const json_t *value = json_object_get(o, name);

	assert_non_null(value);
	return value;
}

static void check_chain(const json_t *file, const json_t *sample, const char *const *names)
{
	const json_t *frames = member(member(file, "shared"), "frames");
	size_t i;

	for (i = 0; names[i]; i++) {
		const json_t *frame = json_array_get(
			frames, (size_t)json_integer_value(json_array_get(sample, i)));

		assert_true(json_is_integer(json_array_get(sample, i)));
		assert_string_equal(json_string_value(member(frame, "name")), names[i]);
	}
	assert_int_equal(json_array_size(sample), i);
}

static void test_speedscope(void **state)
{
	static const enum export_side sides[] = {EXPORT_WAITER, EXPORT_OWNER};
	struct log_names *n = names_new();
	const struct cell cells[] = {cell(LOCK_TABLE, THREAD_MAIN, 2, THREAD_TWIN, 3, 30),
				     cell(LOCK_TABLE, THREAD_TWIN, 3, THREAD_MAIN, 0, 12)};
	struct export_input in = input(n, cells, 2);
	const json_t *profile, *frames;
	json_t *file;
	char *text;

	(void)state;
	assert_int_equal(add_stack(n, 1, 0, FRAME_TYPE_INTERPRETED, RUN, 840), 0);
	assert_int_equal(add_stack(n, 2, 1, FRAME_TYPE_C2, LOOK_UP, 51), 0);
	assert_int_equal(add_stack(n, 3, 1, FRAME_TYPE_C2, ODD, 0), 0);
	in.lines = true;
	text = profiles(export_speedscope, &in, sides, 2, "a \"\xff\".spoor");
	file = json_loads(text, 0, NULL);
	assert_non_null(file);
	free(text);
	assert_string_equal(json_string_value(member(file, "name")), "a \"\xef\xbf\xbd\".spoor");
	frames = member(member(file, "shared"), "frames");
	assert_int_equal(json_array_size(frames), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *frame = json_array_get(frames, i), *line;
		const char *name = json_string_value(member(frame, "name"));

		line = json_object_get(frame, "line");
		if (!strcmp(name, "(unknown)")) {
			assert_null(json_object_get(frame, "file"));
			assert_null(line);
		} else if (!strcmp(name, "demo.My Test.it works; a\tlot")) {
			assert_string_equal(json_string_value(member(frame, "file")),
					    "\"My\" Test.kt");
			assert_null(line);
		} else if (!strcmp(name, "demo.Table.lookUp")) {
			assert_string_equal(json_string_value(member(frame, "file")), "Table.java");
			assert_int_equal(json_integer_value(line), 51);
		} else {
			assert_string_equal(name, "java.lang.Thread.run");
			assert_int_equal(json_integer_value(line), 840);
		}
	}
	assert_int_equal(json_array_size(member(file, "profiles")), 2);
	profile = json_array_get(member(file, "profiles"), 0);
	assert_int_equal(json_integer_value(member(profile, "endValue")), 42);
	assert_int_equal(json_array_size(member(profile, "samples")), 2);
	check_chain(file, json_array_get(member(profile, "samples"), 0),
		    (const char *const[]){"java.lang.Thread.run", "demo.Table.lookUp", NULL});
	check_chain(file, json_array_get(member(profile, "samples"), 1),
		    (const char *const[]){"java.lang.Thread.run", "demo.My Test.it works; a\tlot",
					  NULL});
	assert_int_equal(json_integer_value(json_array_get(member(profile, "weights"), 0)), 30);
	assert_int_equal(json_integer_value(json_array_get(member(profile, "weights"), 1)), 12);
	profile = json_array_get(member(file, "profiles"), 1);
	assert_int_equal(json_integer_value(member(profile, "endValue")), 42);
	check_chain(file, json_array_get(member(profile, "samples"), 1),
		    (const char *const[]){"(unknown)", NULL});
	json_decref(file);
	log_names_free(n);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of text, sorted, weights of equal chains summed: one string, to be freed. */
static char *folded(char *text)
{
	char **lines = calloc(strlen(text) + 1, sizeof(*lines)), *save, *line, *out;
	size_t count = 0, size;
	FILE *to = open_memstream(&out, &size);

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count;) {
		size_t length = (size_t)(strrchr(lines[i], ' ') - lines[i]) + 1, first = i;
		unsigned long long sum = 0;

		for (; i < count && !strncmp(lines[i], lines[first], length); i++)
			sum += strtoull(lines[i] + length, NULL, 10);
		fprintf(to, "%.*s%llu\n", (int)length, lines[first], sum);
	}
	fclose(to);
	free(lines);
	return out;
}

static uint64_t some(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* One line per cell, straight from the log: what is to come out but for the order and the merging. */
static void put_cell(FILE *out, const struct log_names *n, const struct cell *c, bool hidden)
{
	const struct log_method *methods[64];
	uint64_t count = 0;

	for (uint64_t id = c->waiter_stack; id; id = log_names_stack(n, id)->caller) {
		const struct log_method *m = log_names_method(n, log_names_stack(n, id)->method);

		if (hidden || !m->hidden)
			methods[count++] = m;
	}
	if (!count)
		fputs(c->waiter_stack ? "(hidden frames);" : "(unknown);", out);
	while (count-- > 0)
		fprintf(out, "%s.%s;", methods[count]->class_name, methods[count]->name);
	fprintf(out, "(lock %s) %llu\n", c->lock == LOCK_TABLE ? "demo.Table" : "demo.Queue",
		(unsigned long long)c->blocked_ns);
}

/* Random trees against the plainest way to make the same lines. */
static void test_random(void **state)
{
	enum { STACKS = 60, CELLS = 200 };

	(void)state;
	for (uint64_t round = 0; round < 40; round++) {
		struct log_names *n = names_new();
		struct cell cells[CELLS];
		struct export_input in = input(n, cells, CELLS);
		uint64_t seed = round, lines = 0, expected_lines = 0;
		char *plain, *wanted, *text, *got;
		size_t size;
		FILE *out = open_memstream(&plain, &size);

		in.locks = true;
		in.hidden = round % 2;
		for (uint64_t id = 1; id <= STACKS; id++)
			assert_int_equal(add_stack(n, id, some(&seed, id), FRAME_TYPE_C2,
						   RUN + some(&seed, 4), some(&seed, 3)),
					 0);
		for (int i = 0; i < CELLS; i++) {
			cells[i] = cell(some(&seed, 2) ? LOCK_TABLE : LOCK_QUEUE, 1 + (uint64_t)i,
					some(&seed, STACKS + 1), 1, 0, 1 + some(&seed, 1000));
			put_cell(out, n, &cells[i], in.hidden);
		}
		fclose(out);
		wanted = folded(plain);
		text = collapsed(&in, EXPORT_WAITER);
		for (const char *c = text; *c; c++)
			lines += *c == '\n';
		got = folded(text);
		for (const char *c = wanted; *c; c++)
			expected_lines += *c == '\n';
		assert_string_equal(got, wanted);
		assert_int_equal(lines, expected_lines);
		free(got);
		free(text);
		free(wanted);
		free(plain);
		log_names_free(n);
	}
}

/* As deep as a log can make it: no recursion, and each number is followed once. */
static void test_deep(void **state)
{
	enum { DEPTH = 100000, CELLS = 1000 };
	struct log_names *n = names_new();
	struct cell *cells = calloc(CELLS, sizeof(*cells));
	struct export_input in = input(n, cells, CELLS);
	char *text;
	size_t frames = 1;

	(void)state;
	for (uint64_t id = 1; id <= DEPTH; id++)
		assert_int_equal(add_stack(n, id, id - 1, FRAME_TYPE_C2, id % 2 ? RUN : LOOK_UP, 0),
				 0);
	for (int i = 0; i < CELLS; i++)
		cells[i] = cell(LOCK_TABLE, THREAD_MAIN, DEPTH, THREAD_TWIN, 0, 1);
	text = collapsed(&in, EXPORT_WAITER);
	assert_non_null(text);
	for (const char *c = text; *c; c++)
		frames += *c == ';';
	/* The reader cuts chains, so that none is longer than LOG_STACK_DEPTH_MAX. */
	assert_int_equal(frames, DEPTH % LOG_STACK_DEPTH_MAX);
	assert_string_equal(strrchr(text, ' '), " 1000\n");
	free(text);
	free(cells);
	log_names_free(n);
}

static void test_nth_allocation_fails(void **state)
{
	static const enum export_side sides[] = {EXPORT_WAITER, EXPORT_OWNER, EXPORT_BOTH};
	struct log_names *n = names_new();
	struct cell cells[40];
	struct export_input in = input(n, cells, 40);
	unsigned nth[3];

	(void)state;
	in.threads = in.locks = in.lines = true;
	for (uint64_t id = 1; id <= 40; id++)
		assert_int_equal(add_stack(n, id, id / 2, FRAME_TYPE_C2, RUN + id % 3, id % 7), 0);
	for (uint64_t i = 0; i < 40; i++)
		cells[i] = cell(LOCK_TABLE, 1 + i % 5, i, i % 3 ? 1 + i % 5 : HOLDER_HAND_OVER,
				40 - i, 1 + i);
	for (int format = 0; format < 3; format++) {
		bool failed = true;

		for (nth[format] = 0; failed; nth[format]++) {
			char *text;

			alloc_fail_at(nth[format]);
			text = format == 2   ? profiles(export_firefox, &in, sides, 3, "log")
			       : format == 1 ? profiles(export_speedscope, &in, sides, 3, "log")
					     : collapsed(&in, EXPORT_BOTH);
			failed = alloc_fail_off();
			assert_true(failed == !text);
			free(text);
		}
	}
	assert_true(nth[0] > 20);
	assert_true(nth[1] > nth[0] + 20);
	assert_true(nth[2] > nth[0] + 20);
	log_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiters),    cmocka_unit_test(test_marks),
		cmocka_unit_test(test_owners),     cmocka_unit_test(test_odd_characters),
		cmocka_unit_test(test_speedscope), cmocka_unit_test(test_random),
		cmocka_unit_test(test_deep),       cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
