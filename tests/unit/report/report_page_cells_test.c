/* The cells of a page: those that no aspect tells apart are one, too many are put together, and the sums stay. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "analyze/cells/cells.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/sections.h"
#include "report/web/pack64.h"
#include "report/web/page_cells.h"
#include "tests/unit/alloc_fail.h"

#define LOCKS 40

struct fixture {
	struct log_names *names;
	struct stacks *stacks;
	struct report_input in;
	struct section_input section;
	struct cell cells[4 * LOCKS];
};

static void name(struct log_names *n, struct event e)
{
	assert_int_equal(log_names_add(n, &e), 0);
}

/* Chains 1 and 2 differ in nothing but a bytecode index. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct event e = {.id = EVENT_METHOD};

	f->names = log_names_new();
	e.v[METHOD_METHOD].u = 1;
	e.v[METHOD_CLASS_NAME].s = "a.Main";
	e.v[METHOD_NAME].s = "run";
	e.v[METHOD_SIGNATURE].s = e.v[METHOD_SOURCE].s = "";
	name(f->names, e);
	for (uint64_t i = 1; i <= 2; i++) {
		e = (struct event){.id = EVENT_STACK};
		e.v[STACK_STACK].u = i;
		e.v[STACK_METHOD].u = 1;
		e.v[STACK_BCI].u = i;
		name(f->names, e);
		e = (struct event){.id = EVENT_CLASS};
		e.v[CLASS_CLASS].u = i;
		e.v[CLASS_NAME].s = i == 1 ? "b.Lock" : "a.Lock";
		name(f->names, e);
	}
	for (uint64_t i = 1; i <= LOCKS; i++) {
		e = (struct event){.id = EVENT_LOCK};
		e.v[LOCK_LOCK].u = i;
		e.v[LOCK_CLASS].u = 1 + i % 2;
		name(f->names, e);
		for (unsigned k = 0; k < 4; k++)
			f->cells[4 * (i - 1) + k] = (struct cell){
				.lock = i,
				.waiter = 1,
				.holder = k < 2 ? 2 : HOLDER_HAND_OVER,
				.waiter_stack = 1 + k % 2,
				.holder_stack = k < 2 ? 1 : 0,
				.monitor = true,
				.count = 1,
				.blocked_ns = 100 * i + k,
				.max_ns = 10 * i + k,
				.split.running_ns = 50,
			};
	}
	f->stacks = stacks_new(f->names);
	f->in.where = "lock=*";
	f->in.cells = f->cells;
	f->in.cell_count = 4 * LOCKS;
	f->section = (struct section_input){.in = &f->in, .names = f->names, .stacks = f->stacks};
	*state = f;
	return f->stacks ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	stacks_free(f->stacks);
	log_names_free(f->names);
	free(f);
	return 0;
}

static void sums_are(const struct page_cells *p, const struct fixture *f)
{
	uint64_t sums[3] = {0}, wanted[3] = {0};

	for (uint32_t i = 0; i < p->cell_count; i++) {
		sums[0] += p->cells[i].sum.count;
		sums[1] += p->cells[i].sum.blocked_ns;
		sums[2] += p->cells[i].sum.split.running_ns;
	}
	for (uint32_t i = 0; i < f->in.cell_count; i++) {
		wanted[0] += f->cells[i].count;
		wanted[1] += f->cells[i].blocked_ns;
		wanted[2] += f->cells[i].split.running_ns;
	}
	assert_memory_equal(sums, wanted, sizeof(sums));
}

static void cells_that_look_alike_are_one(void **state)
{
	const struct fixture *f = *state;
	struct page_cells p = {0};

	assert_int_equal(page_cells_make(&f->section, NULL, 0, &p), 0);
	assert_int_equal(p.cell_count, 2 * LOCKS);
	assert_int_equal(p.merged, 0);
	sums_are(&p, f);
	/* The heaviest first: of the last lock, by hand-over. */
	assert_int_equal(p.cells[0].sum.blocked_ns, 2 * 100 * LOCKS + 2 + 3);
	assert_int_equal(p.cells[0].sum.max_ns, 10 * LOCKS + 3);
	assert_int_equal(p.threads.keys[p.cells[0].holder].a, HOLDER_HAND_OVER);
	assert_int_equal(p.chains[p.cells[0].holder_chain].number, HOLDER_HAND_OVER);
	/* Locks in the order of their classes' names, then of their numbers. */
	for (uint32_t i = 0; i < p.locks.count; i++) {
		uint64_t number = p.locks.keys[i].a;

		assert_int_equal(p.lock_rank[i], number % 2 ? (number - 1) / 2
							    : LOCKS / 2 + (number - 1) / 2);
	}
	page_cells_free(&p);
}

static void too_many_are_put_together_by_class(void **state)
{
	const struct fixture *f = *state;
	struct page_cells p = {0};

	assert_int_equal(page_cells_make(&f->section, NULL, 10, &p), 0);
	assert_int_equal(p.cell_count, 12);
	assert_int_equal(p.merged, 2 * LOCKS - 10);
	sums_are(&p, f);
	for (uint32_t i = 10; i < 12; i++) {
		assert_int_equal(p.locks.keys[p.cells[i].lock].b, PAGE_LOCK_REST);
		assert_int_equal(p.threads.keys[p.cells[i].waiter].a, THREAD_OTHERS);
	}
	assert_int_equal(p.cells[10].sum.blocked_ns + p.cells[11].sum.blocked_ns, p.merged_ns);
	page_cells_free(&p);
}

static void no_memory(void **state)
{
	const struct fixture *f = *state;
	int err = -ENOMEM;

	for (unsigned long n = 0; err; n++) {
		struct page_cells p = {0};

		alloc_fail_at(n);
		err = page_cells_make(&f->section, NULL, 10, &p);
		assert_int_equal(err, alloc_fail_off() ? -ENOMEM : 0);
		page_cells_free(&p);
	}
}

/* Four characters for three bytes; the padding counts as 0. */
static size_t base64_decode(const char *text, size_t length, unsigned char *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t count = 0;

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length; i += 4) {
		uint32_t three = 0;

		for (size_t k = 0; k < 4; k++) {
			const char *digit = strchr(digits, text[i + k]);

			assert_true(digit || (text[i + k] == '=' && i + 4 == length));
			three = three << 6 | (digit ? (uint32_t)(digit - digits) : 0);
		}
		bytes[count++] = (unsigned char)(three >> 16);
		bytes[count++] = (unsigned char)(three >> 8);
		bytes[count++] = (unsigned char)three;
	}
	return count;
}

static void what_is_packed_comes_back(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 3, 1000, 100000, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned char *in = malloc(sizes[i] + 1), *out = malloc(sizes[i] + 1), *packed;
		uLongf length = sizes[i] + 1;
		char *text = NULL;
		size_t size = 0;
		uint32_t chance = 1;
		FILE *to = open_memstream(&text, &size), *packing = pack64_open(to);

		for (size_t k = 0; k < sizes[i]; k++)
			in[k] = (unsigned char)((chance = chance * 1664525 + 1013904223) >> 24);
		assert_int_equal(fwrite(in, 1, sizes[i], packing), sizes[i]);
		assert_int_equal(fclose(packing) | fclose(to), 0);
		packed = malloc(size + 1);
		assert_int_equal(uncompress(out, &length, packed, base64_decode(text, size, packed)),
				 Z_OK);
		assert_int_equal(length, sizes[i]);
		assert_memory_equal(in, out, sizes[i]);
		free(in);
		free(out);
		free(packed);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cells_that_look_alike_are_one, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_are_put_together_by_class, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
		cmocka_unit_test(what_is_packed_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
