/* tests/unit/bpf/hotspot_walk_images.h: the tests of the walker over the recorded stacks in IMAGES. */
#pragma once

#include "tests/walk/image_files.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

#define FILE_MAX (64 * 1024)
/* A step reads its blob's segment map and header, and a few words of the stack. */
#define READS_MAX ((uint64_t)HS_STEPS_MAX * (HS_HOPS_MAX + 32))

static struct image image;
static struct hs_walk walked;

static int files_load(void **state)
{
	(void)state;
	return files_read(IMAGES);
}

static int files_free(void **state)
{
	(void)state;
	files_forget();
	return 0;
}

static bool frames_same(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct wire_frame *a = &walked.stack.frames[i], *b = &image.frames[i];

		if (a->code != b->code || a->id != b->id || a->kind != b->kind)
			return false;
	}
	return true;
}

static bool walk_same(void)
{
	return walked.stack.result == image.result && walked.stack.count == image.count &&
	       frames_same(image.count);
}

static void images_give_the_chains_that_the_jvm_gave(void **state)
{
	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		const struct file *f = &files[i];

		if (image_parse(&image, f->bytes, f->size))
			fail_msg("%s is no image", f->name);
		image_walk(&image, 0, &walked);
		if (!walk_same())
			fail_msg("%s (%s): %s with %u frames, not %s with %u", f->name, image.note,
				 image_result_name(walked.stack.result), walked.stack.count,
				 image_result_name(image.result), image.count);
	}
}

/* The images must show what is wanted, by their names: MODE-LOCATION+WHAT... */
static void images_show_all_kinds_of_frames(void **state)
{
	size_t n;

	(void)state;
	assert_true(file_count >= FILES_MIN);
	for (size_t w = 0; w < IMAGE_COUNT(wanted); w++) {
		for (n = 0; n < file_count && !strstr(files[n].name, wanted[w]); n++)
			;
		if (n == file_count)
			fail_msg("no image of %s", wanted[w]);
	}
	for (n = 0; n < file_count; n++)
		if (files[n].size > FILE_MAX)
			fail_msg("%s has %zu bytes", files[n].name, files[n].size);
}

/* A page may be missing, or a thread may run on: each read may fail. What comes out then is the beginning of the
 * chain, and the walk says that it is not whole. (Of stubs without a frame it tries in turn where their return address
 * may be: a read that fails is a no there.) */
static void reads_may_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		uint64_t reads;

		if (strstr(files[i].name, "-stub_"))
			continue;
		assert_int_equal(image_parse(&image, files[i].bytes, files[i].size), 0);
		image_walk(&image, 0, &walked);
		reads = image.reads;
		/* Deep ones are alike all the way. */
		for (uint64_t n = 1; n <= reads; n += n < 400 ? 1 : 97) {
			image_walk(&image, n, &walked);
			if (walk_same())
				continue; /* another way led there */
			if (walked.stack.count > image.count || !frames_same(walked.stack.count))
				fail_msg("%s: wrong frames if read %llu fails", files[i].name,
					 (unsigned long long)n);
			if (walked.stack.result == WIRE_WALK_COMPLETE)
				fail_msg("%s: complete though read %llu fails", files[i].name,
					 (unsigned long long)n);
		}
	}
}

static unsigned char damaged[FILE_MAX];

static void walk_damaged(const struct file *f, size_t size)
{
	if (image_parse(&image, damaged, size))
		return;
	if (image_walk(&image, 0, &walked) || image.reads > READS_MAX ||
	    walked.stack.count > WIRE_FRAMES_MAX || walked.stack.result >= WIRE_WALK_COUNT)
		fail_msg("%s, damaged: %llu reads, %u frames, result %u", f->name,
			 (unsigned long long)image.reads, walked.stack.count, walked.stack.result);
}

static void damage_is_survived(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		const struct file *f = &files[i];

		assert_true(f->size <= sizeof(damaged));
		for (size_t size = 0; size < f->size; size += 331) {
			memcpy(damaged, f->bytes, size);
			walk_damaged(f, size);
		}
		for (int n = 0; n < 300; n++) {
			memcpy(damaged, f->bytes, f->size);
			for (int k = 0; k < 1 + n % 4; k++) {
				random = random * 1664525 + 1013904223;
				damaged[(random >> 4) % f->size] ^=
					(unsigned char)(1u << (random >> 29));
			}
			walk_damaged(f, f->size);
		}
	}
}

/* A word of the stack that is like another one: what leads a walk in circles if anything does. */
static void words_may_point_anywhere_in_the_stack(void **state)
{
	uint32_t random = 7;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		const struct file *f = &files[i];

		for (int n = 0; n < 200; n++) {
			memcpy(damaged, f->bytes, f->size);
			assert_int_equal(image_parse(&image, damaged, f->size), 0);
			for (uint32_t p = 0; p < image.piece_count; p++) {
				const struct image_piece *piece = &image.pieces[p];
				uint64_t value;

				if (piece->addr > image.start.sp ||
				    piece->addr + piece->size <= image.start.sp)
					continue;
				random = random * 1664525 + 1013904223;
				value = image.start.sp + ((random >> 8) % 512 << 3);
				memcpy(damaged + (piece->bytes - damaged) +
					       ((random >> 3) % (piece->size / 8) << 3),
				       &value, 8);
			}
			walk_damaged(f, f->size);
		}
	}
}

/* Where in the damaged copy the word at addr is; NULL: it is not in the image. */
static unsigned char *word_at(uint64_t addr)
{
	for (uint32_t p = 0; p < image.piece_count; p++) {
		const struct image_piece *piece = &image.pieces[p];

		if (addr >= piece->addr && addr - piece->addr + 8 <= piece->size)
			return damaged + (piece->bytes - damaged) + (addr - piece->addr);
	}
	return NULL;
}

static bool is_noted(const struct hs_walk *w, uint64_t addr)
{
	for (uint32_t i = 0; i < w->memo.notes; i++)
		if (w->from + 8 * (uint64_t)w->memo.note_at[i] == addr)
			return true;
	return false;
}

static void word_flip(uint64_t addr)
{
	unsigned char *word = word_at(addr);

	for (int i = 0; word && i < 8; i++)
		word[i] ^= 0x5a;
}

/* A chain is taken for known if the words are the same that are noted. So any other word of the stack may change, and
 * it comes out again; a noted one has the value that is noted. */
static void what_is_not_noted_does_not_matter(void **state)
{
	static struct hs_walk first;
	size_t tried = 0, walks = 0;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		const struct file *f = &files[i];
		uint64_t step;

		memcpy(damaged, f->bytes, f->size);
		assert_int_equal(image_parse(&image, damaged, f->size), 0);
		image_walk(&image, 0, &first);
		if (first.memo.notes > HS_NOTES_MAX || first.stack.result != WIRE_WALK_COMPLETE)
			continue;
		walks++;
		for (uint32_t n = 0; n < first.memo.notes; n++) {
			const unsigned char *word =
				word_at(first.from + 8 * (uint64_t)first.memo.note_at[n]);

			assert_true(first.memo.note_at[n] < first.memo.span);
			if (!word || memcmp(word, &first.memo.note[n], 8))
				fail_msg("%s: note %u is not what is there", f->name, n);
		}
		step = (image.start.stack_high - first.from) / 8 / 400 + 1;
		for (uint64_t at = first.from; at < image.start.stack_high; at += 8 * step) {
			if (!word_at(at) || is_noted(&first, at))
				continue;
			word_flip(at);
			image_walk(&image, 0, &walked);
			if (!walk_same())
				fail_msg("%s: the word at sp + %#llx is not noted", f->name,
					 (unsigned long long)(at - first.from));
			word_flip(at);
			tried++;
		}
		if (first.memo.fp_used)
			continue;
		word_flip(image.start.java_thread + image.code.thread_anchor +
			  image.code.anchor_fp);
		image.start.fp ^= 0x5a5a5a;
		image_walk(&image, 0, &walked);
		if (!walk_same())
			fail_msg("%s: fp is not noted", f->name);
	}
	assert_true(walks >= 10 && tried > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_give_the_chains_that_the_jvm_gave),
		cmocka_unit_test(images_show_all_kinds_of_frames),
		cmocka_unit_test(reads_may_fail),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(words_may_point_anywhere_in_the_stack),
		cmocka_unit_test(what_is_not_noted_does_not_matter),
	};

	return cmocka_run_group_tests(tests, files_load, files_free);
}
