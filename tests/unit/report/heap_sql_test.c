/* SQL over a heap of which all is known; what a query may not do; the file with all tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "heap/classify/heap_filter.h"
#include "heap/image/hprof.h"
#include "heap/state/heap_state.h"
#include "report/sql/heap_sql.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/heap_dump_maker.h"

enum { OBJECT = 0x1000, NODE = 0x1100, CACHE = 0x1200, NODES = 0x1300, NEXT = 0x10, ALL = 0x20 };

static struct maker maker;

/* Static com.acme.Cache.all is an array of two lists, of two Nodes each; the objects have the ids
 * 4 (the array), 5 and 6, 7 and 8, after the classes. */
static void make(void)
{
	struct maker *m = &maker;

	maker_begin(m, 8);
	make_text(m, NEXT, "next");
	make_text(m, ALL, "all");
	make_class_name(m, OBJECT, "java/lang/Object");
	make_class_name(m, NODE, "com/acme/Node");
	make_class_name(m, CACHE, "com/acme/\"Cache'");
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
	record_end(m);
}

struct work {
	struct heap_sql *sql;
	struct heap_state state;
	struct hprof_result result;
	struct heap_view view;
	struct heap_filter *filter;
	struct heap_tree tree;
};

static int work_read(struct work *w)
{
	unsigned needs = heap_sql_needs(w->sql);
	int err;

	make();
	err = hprof_read(maker_read, &maker, needs != HEAP_NEEDS_DESC, &w->state, &w->result);
	if (!err)
		err = heap_view_init(&w->view, &w->state, needs);
	w->tree.levels[0] = heap_classifier_find("package", 7);
	w->tree.level_count = 1;
	if (!err)
		err = heap_filter_new(NULL, &w->view, &w->filter);
	if (!err)
		err = heap_tree_build(&w->view, w->filter, &w->tree);
	if (!err)
		err = heap_sql_set_source(w->sql, &(struct heap_sql_source){&w->view, &w->tree});
	return err;
}

static void work_close(struct work *w)
{
	heap_sql_close(w->sql);
	heap_tree_free(&w->tree);
	heap_filter_free(w->filter);
	heap_view_free(&w->view);
	heap_state_free(&w->state);
}

/* What a query prints. */
static int print(const char *select, enum heap_format format, unsigned top, char *ret, size_t room)
{
	char error[HEAP_SQL_ERROR_MAX] = "";
	struct work w = {0};
	int err = heap_sql_open(select, &w.sql, error);
	FILE *f;

	memset(ret, 0, room);
	if (!err)
		err = work_read(&w);
	f = err ? NULL : fmemopen(ret, room, "w");
	if (!err && !f)
		err = -ENOMEM;
	if (!err)
		err = heap_sql_print(w.sql, format, top, f, error);
	if (f)
		fclose(f);
	work_close(&w);
	if (err == -EINVAL || err == -EIO)
		snprintf(ret, room, "%s", error);
	return err;
}

/* Rows, without the titles, as CSV. */
static void expect(const char *select, const char *rows)
{
	char got[4096];
	int err = print(select, HEAP_CSV, 1, got, sizeof(got));
	const char *end = strchr(got, '\n');

	if (err)
		fail_msg("%s: %d %s", select, err, got);
	assert_string_equal(end ? end + 1 : got, rows);
}

static void test_tables(void **state)
{
	(void)state;
	expect("SELECT name, package, instances FROM classes WHERE instances ORDER BY name",
	       "com.acme.Node,com.acme,4\ncom.acme.Node[],com.acme,1\njava.lang.Class,java.lang,4\n");
	expect("SELECT s.name, c.loader FROM classes c JOIN classes s ON s.id = c.super_id"
	       " WHERE c.name = 'com.acme.Node'",
	       "java.lang.Object,bootstrap\n");
	expect("SELECT name FROM classes WHERE name LIKE '%Cache%'", "\"com.acme.\"\"Cache'\"\n");
	expect("SELECT id, address, type, kind, length, bytes FROM objects WHERE id IN (5, 8, 9)",
	       "5,69632,com.acme.Node,instance,,24\n8,69704,com.acme.Node,instance,,24\n");
	expect("SELECT length, kind FROM objects WHERE id = 4", "2,object array\n");
	expect("SELECT c.name FROM objects o JOIN classes c ON c.id = o.of_class_id"
	       " WHERE c.name LIKE '%[]'", "com.acme.Node[]\n");
	expect("SELECT from_id, to_id, field, strength FROM refs WHERE from_id >= 4",
	       "4,5,com.acme.Node[],strong\n4,7,com.acme.Node[],strong\n"
	       "5,6,com.acme.Node.next,strong\n7,8,com.acme.Node.next,strong\n");
	expect("SELECT to_id FROM refs WHERE from_id = 4", "5\n7\n");
	expect("SELECT count(*) FROM refs WHERE from_id = 6 OR from_id = -1 OR from_id = 'x'", "0\n");
	expect("SELECT field FROM refs WHERE to_id = 4", "\"static com.acme.\"\"Cache'.all\"\n");
	expect("SELECT o.type, r.kind, r.thread, r.frame FROM roots r JOIN objects o ON o.id = r.object_id",
	       "java.lang.Class,system class,,\n");
	expect("SELECT id, parent_id, depth, name, objects FROM groups ORDER BY name",
	       "0,,0,all,9\n3,0,1,com,5\n4,3,2,com.acme,5\n1,0,1,java,4\n2,1,2,java.lang,4\n");
}

/* Each list's head keeps 48 bytes, and the array both lists and the classes of Node and Node[]. */
static void test_graph(void **state)
{
	(void)state;
	expect("SELECT id, retained, dominator_id, reached, root FROM objects WHERE id BETWEEN 5 AND 6",
	       "5,48,4,strong,\n6,24,5,strong,\n");
	expect("WITH RECURSIVE below(id) AS (SELECT 4 UNION ALL SELECT o.id FROM below JOIN objects o"
	       " ON o.dominator_id = below.id) SELECT count(*), sum(bytes) ="
	       " (SELECT retained FROM objects WHERE id = 4) FROM below JOIN objects USING (id)",
	       "7,1\n");
	expect("WITH RECURSIVE way(id) AS (SELECT 4 UNION SELECT to_id FROM way JOIN refs"
	       " ON from_id = id) SELECT group_concat(id) FROM (SELECT id FROM way ORDER BY id)",
	       "\"4,5,6,7,8\"\n");
}

static void test_formats(void **state)
{
	char got[4096];

	(void)state;
	assert_int_equal(print("SELECT name, instances AS n FROM classes WHERE n ORDER BY n, name",
			       HEAP_TEXT, 2, got, sizeof(got)), 0);
	assert_string_equal(got, "  name             n\n  com.acme.Node[]  1\n"
				 "  com.acme.Node    4\n  and more (--top)\n");
	assert_int_equal(print("SELECT 1 AS a, 2.5 AS b, NULL AS c, 'x' || char(27) AS d, 1e999 AS e",
			       HEAP_TEXT, 20, got, sizeof(got)), 0);
	assert_string_equal(got, "  a    b  c  d        e\n  1  2.5     x\\x1b  Inf\n");
	assert_int_equal(print("SELECT 1 AS a, 2.5 AS b, NULL AS c, 'x\"' AS d, 1e999 AS e UNION ALL "
			       "SELECT -9223372036854775808, 1, 2, 3, 4",
			       HEAP_JSON, 1, got, sizeof(got)), 0);
	assert_string_equal(got, "[\n  {\"a\": 1, \"b\": 2.5, \"c\": null, \"d\": \"x\\\"\", \"e\": null},\n"
				 "  {\"a\": -9223372036854775808, \"b\": 1, \"c\": 2, \"d\": 3, \"e\": 4}\n]\n");
	assert_int_equal(print("SELECT 1 WHERE 0", HEAP_JSON, 1, got, sizeof(got)), 0);
	assert_string_equal(got, "[]\n");
	assert_int_equal(print("SELECT '=1+1' AS f, -1 AS n", HEAP_CSV, 1, got, sizeof(got)), 0);
	assert_string_equal(got, "f,n\n\"'=1+1\",-1\n");
}

static void test_refused(void **state)
{
	static const struct {
		const char *select, *error;
	} all[] = {
		{"", "one SELECT at a time"},
		{"-- nothing", "one SELECT at a time"},
		{"SELECT 1; SELECT 2", "one SELECT at a time"},
		{"SELEC", "near \"SELEC\": syntax error, at character 1"},
		{"SELECT nmae FROM classes", "no such column: nmae, at character 8"},
		{"SELECT * FROM object", "no such table: object"},
		{"DELETE FROM objects", "may not be modified"},
		{"INSERT INTO roots VALUES(1)", "only SELECT"},
		{"UPDATE classes SET name = 1", "may not be modified"},
		{"CREATE TABLE x(y)", "only SELECT"},
		{"CREATE TEMP TABLE x(y)", "only SELECT"},
		{"CREATE VIRTUAL TABLE x USING objects", "only SELECT"},
		{"DROP TABLE objects", "only SELECT"},
		{"ATTACH '/tmp/x' AS x", "only SELECT"},
		{"DETACH main", "only SELECT"},
		{"VACUUM INTO '/tmp/x'", "only SELECT"},
		{"PRAGMA writable_schema = 1", "only SELECT"},
		{"PRAGMA temp_store_directory = '/'", "only SELECT"},
		{"SELECT * FROM pragma_database_list", "not authorized"},
		{"SELECT load_extension('x')", "not authorized"},
		{"BEGIN", "only SELECT"},
		{"ANALYZE", "only SELECT"},
		{"REINDEX", "only SELECT"},
	};
	char got[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(print(all[i].select, HEAP_CSV, 1, got, sizeof(got)), -EINVAL);
		if (!strstr(got, all[i].error))
			fail_msg("%s: %s", all[i].select, got);
	}
	assert_int_equal(print("SELECT zeroblob(1000000000)", HEAP_CSV, 1, got, sizeof(got)), -EIO);
	assert_string_equal(got, "string or blob too big");
	assert_int_equal(print("SELECT abs(-9223372036854775808)", HEAP_JSON, 1, got, sizeof(got)), -EIO);
	assert_string_equal(got, "integer overflow");
}

/* What is computed is what is asked for. */
static void test_needs(void **state)
{
	static const struct {
		const char *select;
		unsigned needs;
		bool groups;
	} all[] = {
		{"SELECT * FROM classes", HEAP_NEEDS_DESC, false},
		{"SELECT * FROM groups", HEAP_NEEDS_DESC, true},
		{"SELECT count(*) FROM objects", HEAP_NEEDS_OBJECTS, false},
		{"SELECT * FROM objects", HEAP_NEEDS_OBJECTS, false},
		{"SELECT * FROM roots", HEAP_NEEDS_OBJECTS, false},
		{"SELECT 1 FROM objects WHERE Reached = 'soft'", HEAP_NEEDS_GRAPH, false},
		{"SELECT * FROM refs", HEAP_NEEDS_GRAPH, false},
		{"SELECT 1 FROM classes ORDER BY (SELECT max(retained) FROM objects)",
		 HEAP_NEEDS_DOMINATORS, false},
	};
	char error[HEAP_SQL_ERROR_MAX];
	struct heap_sql *s;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(heap_sql_open(all[i].select, &s, error), 0);
		assert_int_equal(heap_sql_needs(s), all[i].needs);
		assert_int_equal(heap_sql_groups(s), all[i].groups);
		heap_sql_close(s);
	}
}

static int save(const char *path, bool all)
{
	char error[HEAP_SQL_ERROR_MAX] = "";
	struct work w = {0};
	int err = heap_sql_open_file(path, all, &w.sql, error);

	if (!err)
		err = work_read(&w);
	if (!err)
		err = heap_sql_save(w.sql, error);
	work_close(&w);
	return err;
}

static void ask(sqlite3 *db, const char *text, const char *answer)
{
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(s, 0), answer);
	sqlite3_finalize(s);
}

static void test_save(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		char path[] = "/tmp/heap_sql_test_XXXXXX";
		sqlite3 *db;
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(save(path, all), 0);
		assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
		ask(db, "PRAGMA integrity_check", "ok");
		ask(db, "SELECT count(*) || ' ' || sum(id) FROM objects", "9 36");
		ask(db, "SELECT group_concat(from_id || '>' || to_id) FROM (SELECT * FROM refs WHERE from_id >= 4)",
		    "4>5,4>7,5>6,7>8");
		ask(db, "SELECT name FROM classes WHERE instances = 4 AND name LIKE 'com%'",
		    "com.acme.Node");
		ask(db, "SELECT count(*) FROM groups", "5");
		ask(db, "SELECT count(*) FROM roots", "1");
		ask(db, "SELECT count(*) FROM pragma_table_info('objects') WHERE name IN ('retained', 'root')",
		    all ? "2" : "1");
		if (all)
			ask(db, "SELECT retained FROM objects WHERE id = 5", "48");
		sqlite3_close(db);
		unlink(path);
	}
}

static void test_no_memory(void **state)
{
	static const char select[] = "SELECT o.type, r.field, o.retained, g.name FROM refs r JOIN objects o"
				     " ON o.id = r.to_id, groups g WHERE g.id = 1 ORDER BY 3, 2 DESC";
	unsigned long n = 0;
	bool failed = true;
	char got[4096];

	(void)state;
	/* SQLite allocates some things once, and keeps them. */
	assert_int_equal(print(select, HEAP_TEXT, 20, got, sizeof(got)), 0);
	for (; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = print(select, HEAP_TEXT, 20, got, sizeof(got));
		failed = alloc_fail_off();
		/* It does without some caches. */
		if (err && err != -ENOMEM)
			fail_msg("%lu: %d %s", n, err, got);
		if (!failed)
			assert_int_equal(err, 0);
	}
	assert_true(n > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),  cmocka_unit_test(test_graph),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_needs),   cmocka_unit_test(test_save),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
