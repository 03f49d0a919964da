/* record/decode/chains.c: call chains become numbered frames of a log, each once. */
#include <errno.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_profile.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/code/code.h"
#include "record/decode/chains.h"
#include "record/identity/memory.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/jvm/jvm_code_image.h"
#include "tests/unit/record/names_log.h"

struct fixture {
	struct names_log log;
	uint32_t epoch;
	struct chains *chains;
	struct wire_stack r;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	names_log_open(&f->log);
	assert_int_equal(chains_new(f->log.w, NULL, &f->epoch, &f->chains), 0);
	f->r.head.kind = WIRE_STACK;
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	chains_free(f->chains);
	names_log_end(&f->log);
	free(f);
	return 0;
}

static size_t size_of(uint32_t count)
{
	return offsetof(struct wire_stack, frames) + count * sizeof(struct wire_frame);
}

static void add(struct fixture *f, uint32_t id, uint32_t count, uint32_t result)
{
	f->r.id = id;
	f->r.count = count;
	f->r.result = result;
	for (uint32_t i = 0; i < count; i++)
		f->r.frames[i] = (struct wire_frame){.code = 0x1000 + i};
	assert_true(chains_add(f->chains, &f->r, size_of(count)));
}

static void an_id_that_never_came_is_no_chain(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(chains_number(f->chains, 0), 0);
	assert_int_equal(chains_number(f->chains, 7), 0);
	add(f, 7, 1, WIRE_WALK_COMPLETE);
	assert_int_not_equal(chains_number(f->chains, 7), 0);
	assert_int_equal(chains_number(f->chains, 6), 0);
	assert_int_equal(chains_number(f->chains, UINT32_MAX), 0);
}

static void the_same_chain_has_one_number_and_shares_its_callers(void **state)
{
	struct fixture *f = *state;
	const struct log_stack *s;
	struct log_names *n;
	uint32_t two, three;

	add(f, 1, 2, WIRE_WALK_COMPLETE);
	add(f, 2, 3, WIRE_WALK_COMPLETE);
	add(f, 900, 2, WIRE_WALK_COMPLETE); /* sent again under another id */
	two = chains_number(f->chains, 1);
	three = chains_number(f->chains, 2);
	assert_int_equal(chains_number(f->chains, 900), two);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_count(n, LOG_NAMES_STACK), 3);
	s = log_names_stack(n, three);
	assert_non_null(s);
	assert_int_equal(s->frame, FRAME_TYPE_UNRESOLVED);
	assert_int_equal(s->caller, two);
	assert_int_equal(log_names_stack(n, log_names_stack(n, two)->caller)->caller, 0);
	assert_int_equal(chains_unresolved(f->chains), 3);
	log_names_free(n);
}

static void how_a_walk_ended_stands_at_the_outer_end(void **state)
{
	static const struct {
		uint32_t result;
		uint64_t frame;
	} ends[] = {{WIRE_WALK_COMPLETE, FRAME_TYPE_UNRESOLVED},
		    {WIRE_WALK_CUT, FRAME_TYPE_CUT},
		    {WIRE_WALK_NO_CODE, FRAME_TYPE_BROKEN},
		    {WIRE_WALK_INTERPRETER, FRAME_TYPE_BROKEN},
		    {WIRE_WALK_IN_HEAP, FRAME_TYPE_IN_HEAP}};
	struct fixture *f = *state;
	const struct log_stack *s;
	struct log_names *n;

	for (uint32_t i = 0; i < 5; i++)
		add(f, i + 1, 1, ends[i].result);
	assert_int_not_equal(chains_number(f->chains, 1), chains_number(f->chains, 2));
	assert_int_equal(chains_number(f->chains, 3), chains_number(f->chains, 4));
	n = names_log_read(&f->log);
	for (uint32_t i = 0; i < 5; i++) {
		s = log_names_stack(n, chains_number(f->chains, i + 1));
		assert_int_equal(s->frame, FRAME_TYPE_UNRESOLVED);
		if (s->caller)
			s = log_names_stack(n, s->caller);
		assert_int_equal(s->frame, ends[i].frame);
		assert_int_equal(s->caller, 0);
	}
	log_names_free(n);
}

static void goes_on(struct fixture *f, uint32_t id, uint32_t count, uint32_t rest)
{
	f->r.rest = rest;
	add(f, id, count, WIRE_WALK_COMPLETE);
	f->r.rest = 0;
}

/* A chain of three frames that are the same, of which add() makes one. */
static uint32_t three_of_one(struct fixture *f, uint32_t id)
{
	f->r.id = id;
	f->r.count = 3;
	f->r.result = WIRE_WALK_COMPLETE;
	for (uint32_t i = 0; i < 3; i++)
		f->r.frames[i] = (struct wire_frame){.code = 0x1000};
	assert_true(chains_add(f->chains, &f->r, size_of(3)));
	return chains_number(f->chains, id);
}

/* What was walked in parts is the same chain as what was walked as a whole. */
static void a_chain_goes_on_with_another(void **state)
{
	struct fixture *f = *state;
	const struct log_stack *s;
	struct log_names *n;
	uint32_t cut, lost;

	add(f, 2, 1, WIRE_WALK_COMPLETE);
	goes_on(f, 3, 1, 2);
	goes_on(f, 4, 1, 3);
	assert_int_equal(chains_number(f->chains, 4), three_of_one(f, 1));
	add(f, 5, 1, WIRE_WALK_CUT);
	goes_on(f, 6, 1, 5);
	goes_on(f, 7, 0, 2); /* no frames of its own */
	assert_int_equal(chains_number(f->chains, 7), chains_number(f->chains, 2));
	goes_on(f, 8, 1, 77); /* which never came */
	goes_on(f, 9, 1, 9);
	cut = chains_number(f->chains, 6);
	lost = chains_number(f->chains, 8);
	assert_int_equal(chains_number(f->chains, 9), lost);
	n = names_log_read(&f->log);
	s = log_names_stack(n, log_names_stack(n, log_names_stack(n, cut)->caller)->caller);
	assert_int_equal(s->frame, FRAME_TYPE_CUT);
	s = log_names_stack(n, log_names_stack(n, lost)->caller);
	assert_int_equal(s->frame, FRAME_TYPE_BROKEN);
	assert_int_equal(s->caller, 0);
	log_names_free(n);
}

static void lengths_that_make_no_sense_are_refused(void **state)
{
	struct fixture *f = *state;

	f->r.id = 1;
	f->r.count = 2;
	assert_false(chains_add(f->chains, &f->r, size_of(1)));
	assert_false(chains_add(f->chains, &f->r, size_of(0) - 1));
	assert_false(chains_add(f->chains, &f->r, 0));
	f->r.count = WIRE_FRAMES_MAX + 1;
	assert_false(chains_add(f->chains, &f->r, size_of(WIRE_FRAMES_MAX + 1)));
	assert_int_equal(chains_number(f->chains, 1), 0);
	add(f, 1, WIRE_FRAMES_MAX, WIRE_WALK_CUT);
	assert_int_not_equal(chains_number(f->chains, 1), 0);
}

static struct wire_run_sample sample(uint64_t code, uint32_t stack, uint32_t result)
{
	return (struct wire_run_sample){.top = {.code = code, .kind = WIRE_FRAME_INTERRUPTED},
					.stack = stack,
					.result = result};
}

/* BPF takes the frame where the thread was interrupted off the chain, which is that of its callers.
 */
static void a_sample_has_its_innermost_frame_on_top(void **state)
{
	struct fixture *f = *state;
	struct wire_run_sample in_java, elsewhere, lost, alone, astray;
	const struct log_stack *s;
	struct log_names *n;
	uint32_t two, top, first, cut;

	add(f, 1, 2, WIRE_WALK_COMPLETE);
	two = chains_number(f->chains, 1);
	in_java = sample(0x9000, 1, WIRE_WALK_COMPLETE);
	elsewhere = sample(0, 1, WIRE_WALK_COMPLETE);
	lost = sample(0x9000, 77, WIRE_WALK_COMPLETE);
	alone = sample(0x9000, 0, WIRE_WALK_COMPLETE);
	astray = sample(0x9000, 0, WIRE_WALK_STUB);
	top = chains_sampled(f->chains, &in_java);
	assert_int_equal(chains_sampled(f->chains, &in_java), top);
	assert_int_equal(chains_sampled(f->chains, &elsewhere), two);
	assert_int_equal(chains_sampled(f->chains, &lost), 0);
	first = chains_sampled(f->chains, &alone);
	cut = chains_sampled(f->chains, &astray);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_stack(n, top)->caller, two);
	s = log_names_stack(n, first);
	assert_int_equal(s->frame, FRAME_TYPE_UNRESOLVED);
	assert_int_equal(s->caller, 0);
	s = log_names_stack(n, log_names_stack(n, cut)->caller);
	assert_int_equal(s->frame, FRAME_TYPE_BROKEN);
	log_names_free(n);
}

/* The name of the one frame of a chain with this id, an interpreted one. */
static const char *name_of(struct fixture *f, const struct log_names *n, uint32_t id)
{
	const struct log_stack *s = log_names_stack(n, chains_number(f->chains, id));

	assert_non_null(s);
	if (s->frame == FRAME_TYPE_UNRESOLVED)
		return "unresolved";
	assert_int_equal(s->frame, FRAME_TYPE_INTERPRETED);
	return log_names_method(n, s->method)->name;
}

static void walked(struct fixture *f, uint32_t id, uint32_t epoch, uint64_t method)
{
	f->r.id = id;
	f->r.class_epoch = epoch;
	f->r.count = 1;
	f->r.result = WIRE_WALK_COMPLETE;
	f->r.frames[0] = (struct wire_frame){.code = method, .kind = WIRE_FRAME_INTERPRETED};
	assert_true(chains_add(f->chains, &f->r, size_of(1)));
}

static struct image image;

/* Reading it is what the class is unloaded by: between two looks at the count. */
static struct fixture *unloads;

static int read_and_unload(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	if (unloads)
		unloads->epoch = 2;
	unloads = NULL;
	return image_read(m, addr, ret, len);
}

static void a_reused_address_is_never_given_an_old_name(void **state)
{
	const struct code_image_method old = {"Old", "old", "()V", "Old.java", METHOD_VTABLE,
					      9,     0,     0,     NULL,       0};
	const struct code_image_method new = {"New", "new", "()V", "New.java", METHOD_VTABLE,
					      9,     0,     0,     NULL,       0};
	const struct code_image_method newest = {"New", "newest", "()V", "New.java", METHOD_VTABLE,
						 9,     0,        0,     NULL,       0};
	struct fixture *f = *state;
	struct code_layout layout = code_image_layout();
	struct log_names *n;
	struct code *code;
	uint64_t here, other, third;

	image_clear(&image);
	image_room(&image, 8);
	here = code_image_method(&image, &old);
	other = code_image_method(&image, &new);
	third = code_image_method(&image, &newest);
	assert_int_equal(code_new(&image.mem, &layout, &code), 0);
	chains_resolve_by(f->chains, code);
	walked(f, 1, 0, here);
	/* Unloaded; the chain comes late, its memory is as it was. */
	f->epoch = 1;
	walked(f, 2, 0, here);
	image_put(&image, here, image.bytes + (other - IMAGE_BASE), 88);
	walked(f, 3, 1, here);
	/* Unloaded while it is read. */
	code_forget(code);
	image.mem.read = read_and_unload;
	unloads = f;
	walked(f, 4, 1, here);
	image_put(&image, here, image.bytes + (third - IMAGE_BASE), 88);
	walked(f, 5, 2, here);
	n = names_log_read(&f->log);
	assert_string_equal(name_of(f, n, 1), "old");
	assert_string_equal(name_of(f, n, 2), "unresolved");
	assert_string_equal(name_of(f, n, 3), "new");
	assert_string_equal(name_of(f, n, 4), "unresolved");
	assert_string_equal(name_of(f, n, 5), "newest");
	assert_int_equal(chains_unresolved(f->chains), 2);
	log_names_free(n);
	chains_resolve_by(f->chains, NULL);
	code_free(code);
}

/* So many chains that most are forgotten; a chain in use stays, with all its callers. */
static void chains_that_nobody_names_are_forgotten(void **state)
{
	static struct memory memory;
	struct fixture *f = *state;
	uint32_t hot, numbers = 0, sampled = 0;
	struct wire_run_sample top;
	struct chains *c;

	memory.part[MEMORY_CHAINS].max = 64 * 1024;
	assert_int_equal(chains_new(f->log.w, &memory, &f->epoch, &c), 0);
	f->r.result = WIRE_WALK_COMPLETE;
	f->r.count = 1;
	f->r.id = 1;
	assert_true(chains_add(c, &f->r, size_of(1)));
	hot = chains_number(c, 1);
	for (uint32_t id = 2; id <= 20000; id++) {
		f->r.id = id;
		f->r.count = 1 + id % WIRE_FRAMES_MAX; /* unresolved frames: they share callers */
		assert_true(chains_add(c, &f->r, size_of(f->r.count)));
		numbers += chains_number(c, id) != 0;
		assert_int_equal(chains_number(c, 1), hot);
		top = sample(0x9000 + id, id, WIRE_WALK_COMPLETE);
		sampled += chains_sampled(c, &top) != 0;
		assert_true(memory.part[MEMORY_CHAINS].used <= memory.part[MEMORY_CHAINS].max);
	}
	assert_true(memory.forgotten[MEMORY_CHAIN] > 18000);
	assert_true(numbers > 19000);
	assert_true(sampled > 18000);
	assert_int_equal(chains_number(c, 2), 0);
	assert_int_equal(chains_error(c), 0);
	chains_free(c);
	assert_int_equal(memory.part[MEMORY_CHAINS].used, 0);
}

static void memory_may_run_out(void **state)
{
	struct fixture *f = *state;
	bool failed = true;

	for (unsigned long n = 0; failed; n++) {
		struct wire_run_sample top;
		struct chains *c;

		alloc_fail_at(n);
		if (!chains_new(f->log.w, NULL, &f->epoch, &c)) {
			f->r.count = 3;
			for (f->r.id = 1; f->r.id < 1000; f->r.id += 300)
				chains_add(c, &f->r, size_of(f->r.count));
			top = sample(0x9000, 1, WIRE_WALK_COMPLETE);
			chains_sampled(c, &top);
			failed = alloc_fail_off();
			/* A table that cannot grow gets slower, and that is all. */
			assert_true(chains_error(c) == 0 || (failed && chains_error(c) == -ENOMEM));
			chains_free(c);
		}
		failed = alloc_fail_off();
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(an_id_that_never_came_is_no_chain),
		TEST(the_same_chain_has_one_number_and_shares_its_callers),
		TEST(how_a_walk_ended_stands_at_the_outer_end),
		TEST(a_sample_has_its_innermost_frame_on_top),
		TEST(a_chain_goes_on_with_another),
		TEST(lengths_that_make_no_sense_are_refused),
		TEST(a_reused_address_is_never_given_an_old_name),
		TEST(chains_that_nobody_names_are_forgotten),
		TEST(memory_may_run_out),
	};

	return cmocka_run_group_tests_name("chains", tests, NULL, NULL);
}
