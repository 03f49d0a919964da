/* tests/walk/image.h: a recorded stack: where a walk begins, the memory that it reads, what must come out. */
#pragma once

/*
 * An image is text, up to the line "memory", and then pieces of memory: address (8 bytes), size (4 bytes), bytes; in
 * the order of their addresses, and none overlaps the next. Lines:
 *     spoor walk image 1
 *     note TEXT                                        where it is from; any number
 *     code NAME HEX                                    a field of struct wire_code; those that are not there are 0
 *     start PC SP FP BCP JAVA_THREAD STACK_HIGH UNLOCK struct hs_start, all HEX
 *     rule PC IS_RETURN CFA_OFFSET FP_OFFSET FLAGS RETURN_OFFSET   of libjvm: HEX, then decimal
 *     result NAME                                      enum wire_walk
 *     frame KIND CODE ID                               KIND by name, then HEX; innermost first
 */

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_stack.h"

#include "bpf/walk/hotspot.bpf.h"

#define IMAGE_MAGIC "spoor walk image 1"
#define IMAGE_RULES_MAX 256
#define IMAGE_PIECES_MAX 4096
#define IMAGE_LINE_MAX 512

struct image_piece {
	uint64_t addr;
	uint32_t size;
	const unsigned char *bytes;
};

struct image_rule {
	uint64_t pc;
	int is_return;
	struct wire_native_rule rule;
};

struct image {
	char note[IMAGE_LINE_MAX]; /* the first */
	struct wire_code code;
	struct hs_start start;
	struct image_rule rules[IMAGE_RULES_MAX];
	uint32_t rule_count;
	struct image_piece pieces[IMAGE_PIECES_MAX];
	uint32_t piece_count;
	uint32_t result, count;
	struct wire_frame frames[WIRE_FRAMES_MAX];
	/* of a walk over it */
	uint64_t reads, fail_at; /* read number fail_at fails; 0: none */
};

struct image_field {
	const char *name;
	size_t at, size;
};

#define IMAGE_FIELD(member)                                                                        \
	{                                                                                          \
#member, offsetof(struct wire_code, member),                                       \
			sizeof(((struct wire_code *)0)->member)                                    \
	}
#define IMAGE_ROW(type, name, from) IMAGE_FIELD(name),
#define IMAGE_HEAP(i)                                                                              \
	IMAGE_FIELD(heaps[i].low), IMAGE_FIELD(heaps[i].high), IMAGE_FIELD(heaps[i].segmap),       \
		IMAGE_FIELD(heaps[i].segment_shift)

static const struct image_field image_fields[] = {
	IMAGE_HEAP(0),
	IMAGE_HEAP(1),
	IMAGE_HEAP(2),
	WIRE_CODE_FIELDS(IMAGE_ROW) IMAGE_FIELD(libjvm_low),
	IMAGE_FIELD(libjvm_high),
	IMAGE_FIELD(ready),
};

static const char *const image_results[WIRE_WALK_COUNT] = {
	[WIRE_WALK_COMPLETE] = "complete",
	[WIRE_WALK_CUT] = "cut",
	[WIRE_WALK_NO_JAVA_FRAMES] = "no_java_frames",
	[WIRE_WALK_NO_JAVA_THREAD] = "no_java_thread",
	[WIRE_WALK_NO_CODE] = "no_code",
	[WIRE_WALK_NO_ROOM] = "no_room",
	[WIRE_WALK_READ] = "read",
	[WIRE_WALK_OUTSIDE] = "outside",
	[WIRE_WALK_FRAME_SIZE] = "frame_size",
	[WIRE_WALK_INTERPRETER] = "interpreter",
	[WIRE_WALK_ENTRY] = "entry",
	[WIRE_WALK_DEOPTIMIZED] = "deoptimized",
	[WIRE_WALK_STUB] = "stub",
	[WIRE_WALK_IN_HEAP] = "in_heap",
	[WIRE_WALK_HALF_BUILT] = "half_built",
	[WIRE_WALK_NATIVE_RULE] = "native_rule",
	[WIRE_WALK_NATIVE_LOST] = "native_lost",
	[WIRE_WALK_MOVED] = "moved",
	[WIRE_WALK_NOT_SENT] = "not_sent",
	[WIRE_WALK_KNOWN] = "known",
	[WIRE_WALK_NATIVE_UNUSABLE] = "native_unusable",
};

static const char *const image_kinds[] = {
	[WIRE_FRAME_COMPILED] = "compiled",
	[WIRE_FRAME_INTERRUPTED] = "interrupted",
	[WIRE_FRAME_UNLOCK] = "unlock",
	[WIRE_FRAME_INTERPRETED] = "interpreted",
};

#define IMAGE_COUNT(table) (sizeof(table) / sizeof(*(table)))

static inline const char *image_result_name(uint32_t result)
{
	return result < WIRE_WALK_COUNT && image_results[result] ? image_results[result] : "?";
}

static inline int image_name_find(const char *const *names, size_t count, const char *name,
				  uint32_t *ret)
{
	for (size_t i = 0; i < count; i++)
		if (names[i] && !strcmp(names[i], name)) {
			*ret = (uint32_t)i;
			return 0;
		}
	return -EPROTO;
}

/* --- reading an image -------------------------------------------------------------------- */

static inline int image_code_line(struct image *i, const char *rest)
{
	unsigned long long value;
	char name[64];

	if (sscanf(rest, "%63s %llx", name, &value) != 2)
		return -EPROTO;
	for (size_t n = 0; n < IMAGE_COUNT(image_fields); n++)
		if (!strcmp(image_fields[n].name, name)) {
			memcpy((char *)&i->code + image_fields[n].at, &value, image_fields[n].size);
			return 0;
		}
	return 0; /* a field that the walker does not need any more */
}

static inline int image_rule_line(struct image *i, const char *rest)
{
	struct image_rule *r = &i->rules[i->rule_count];
	unsigned long long pc;
	int cfa, fp, flags, at = -8; /* the last is not in older images */

	if (i->rule_count == IMAGE_RULES_MAX ||
	    sscanf(rest, "%llx %d %d %d %d %d", &pc, &r->is_return, &cfa, &fp, &flags, &at) < 5)
		return -EPROTO;
	r->pc = pc;
	r->rule = (struct wire_native_rule){cfa, (int16_t)fp, (int16_t)at, (uint32_t)flags};
	i->rule_count++;
	return 0;
}

static inline int image_frame_line(struct image *i, const char *rest)
{
	struct wire_frame *f = &i->frames[i->count];
	unsigned long long code;
	char kind[32];

	if (i->count == WIRE_FRAMES_MAX || sscanf(rest, "%31s %llx %x", kind, &code, &f->id) != 3)
		return -EPROTO;
	f->code = code;
	i->count++;
	return image_name_find(image_kinds, IMAGE_COUNT(image_kinds), kind, &f->kind);
}

static inline int image_start_line(struct image *i, const char *rest)
{
	unsigned long long v[9] = {0};

	/* The last two are not in older images. */
	if (sscanf(rest, "%llx %llx %llx %llx %llx %llx %llx %llx %llx", &v[0], &v[1], &v[2],
		   &v[3], &v[4], &v[5], &v[6], &v[7], &v[8]) < 7)
		return -EPROTO;
	i->start = (struct hs_start){.pc = v[0],
				     .sp = v[1],
				     .fp = v[2],
				     .bcp = v[3],
				     .method = v[7],
				     .link = v[8],
				     .java_thread = v[4],
				     .stack_high = v[5],
				     .unlock = v[6] != 0};
	return 0;
}

static inline int image_line(struct image *i, const char *line)
{
	char result[32];

	if (!strncmp(line, "code ", 5))
		return image_code_line(i, line + 5);
	if (!strncmp(line, "start ", 6))
		return image_start_line(i, line + 6);
	if (!strncmp(line, "rule ", 5))
		return image_rule_line(i, line + 5);
	if (!strncmp(line, "frame ", 6))
		return image_frame_line(i, line + 6);
	if (sscanf(line, "result %31s", result) == 1)
		return image_name_find(image_results, WIRE_WALK_COUNT, result, &i->result);
	if (!strncmp(line, "note ", 5) && !i->note[0])
		snprintf(i->note, sizeof(i->note), "%s", line + 5);
	return strncmp(line, "note ", 5) ? -EPROTO : 0;
}

/* Pieces are lent from bytes. */
static inline int image_pieces(struct image *i, const unsigned char *at, const unsigned char *end)
{
	uint64_t next = 0;

	while (at < end) {
		struct image_piece *p = &i->pieces[i->piece_count];

		if (end - at < 12 || i->piece_count == IMAGE_PIECES_MAX)
			return -EPROTO;
		memcpy(&p->addr, at, 8);
		memcpy(&p->size, at + 8, 4);
		at += 12;
		if (p->size > (size_t)(end - at) || p->addr < next ||
		    p->addr > UINT64_MAX - p->size)
			return -EPROTO;
		p->bytes = at;
		at += p->size;
		next = p->addr + p->size;
		i->piece_count++;
	}
	return 0;
}

/* 0, or -EPROTO: this is no image. It lends the memory from bytes. */
static inline int image_parse(struct image *i, const void *bytes, size_t size)
{
	const unsigned char *at = bytes, *end = at + size;
	char line[IMAGE_LINE_MAX];

	memset(i, 0, sizeof(*i));
	for (int n = 0;; n++) {
		const unsigned char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		if (!stop || stop - at >= IMAGE_LINE_MAX)
			return -EPROTO;
		memcpy(line, at, (size_t)(stop - at));
		line[stop - at] = 0;
		at = stop + 1;
		if (!strcmp(line, "memory"))
			return image_pieces(i, at, end);
		if (n ? image_line(i, line) : strcmp(line, IMAGE_MAGIC))
			return -EPROTO;
	}
}

/* A whole file; *ret is freed with free(). */
static inline int image_file(const char *path, unsigned char **ret, size_t *ret_size)
{
	FILE *f = fopen(path, "rbe");
	unsigned char *bytes = NULL;
	long size = -1;

	if (f && !fseek(f, 0, SEEK_END))
		size = ftell(f);
	if (size >= 0)
		bytes = malloc((size_t)size + 1);
	if (bytes && (fseek(f, 0, SEEK_SET) || fread(bytes, 1, (size_t)size, f) != (size_t)size)) {
		free(bytes);
		bytes = NULL;
	}
	if (f)
		fclose(f);
	if (!bytes)
		return -EIO;
	*ret = bytes;
	*ret_size = (size_t)size;
	return 0;
}

/* --- walking over it --------------------------------------------------------------------- */

static inline int image_read(void *ctx, __u64 addr, void *to, __u32 size)
{
	struct image *i = ctx;
	uint32_t low = 0, high = i->piece_count;

	if (++i->reads == i->fail_at)
		return -EFAULT;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct image_piece *p = &i->pieces[middle];

		if (addr < p->addr) {
			high = middle;
		} else if (addr - p->addr >= p->size) {
			low = middle + 1;
		} else {
			if (size > p->size - (addr - p->addr))
				return -EFAULT;
			memcpy(to, p->bytes + (addr - p->addr), size);
			return 0;
		}
	}
	return -EFAULT;
}

static inline int image_native_rule(void *ctx, __u64 pc, int is_return,
				    struct wire_native_rule *ret)
{
	const struct image *i = ctx;

	for (uint32_t n = 0; n < i->rule_count; n++)
		if (i->rules[n].pc == pc && i->rules[n].is_return == is_return) {
			*ret = i->rules[n].rule;
			return 0;
		}
	return -ENOENT;
}

/* As hs_walk_host; what comes out is in ret->stack. -EPROTO: a step went down, or out of the stack. */
static inline int image_walk(struct image *i, uint64_t fail_at, struct hs_walk *ret)
{
	const struct hs_host host = {
		.code = &i->code, .read = image_read, .native_rule = image_native_rule, .ctx = i};
	static struct hs_host_walk w;
	int err = 0, ended;

	i->reads = 0;
	i->fail_at = fail_at;
	memset(&w, 0xa5, sizeof(w));
	w.host = &host;
	ended = hs_begin(&w.walk, &i->start);
	for (int n = 0; !ended && !err && n < HS_STEPS_MAX; n++) {
		uint64_t sp = w.walk.sp;

		ended = hs_step(&w.walk);
		if (w.walk.sp < sp || (w.walk.sp > sp && w.walk.sp > i->start.stack_high))
			err = -EPROTO;
	}
	*ret = w.walk;
	return err;
}
