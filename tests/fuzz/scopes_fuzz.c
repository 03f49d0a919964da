/* Reads any bytes as debug information, line tables, names, and as changes to an nmethod: it must end, without a wrong
 * access, and what it gives must be sound. The first byte chooses. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/code/code.h"
#include "jvm/code/method.h"
#include "jvm/code/scopes.h"
#include "tests/unit/jvm/jvm_code_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())
#define BASE 0x1000ull

struct bytes {
	const uint8_t *data;
	size_t size;
};

static int bytes_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	const struct bytes *b = m->image;

	if (addr < BASE || addr - BASE > b->size || len > b->size - (addr - BASE))
		return -EFAULT;
	memcpy(ret, b->data + (addr - BASE), len);
	return 0;
}

static void lines_fuzz(const uint8_t *data, size_t size)
{
	for (uint32_t bci = 0; bci < 70; bci += 3) {
		const struct line_table t = {data, size, bci & 1};
		uint32_t line;
		size_t used;

		if (!scopes_line(&t, bci * bci, &line, &used))
			ENSURE(used && used <= size && line <= UINT16_MAX && !data[used - 1]);
	}
}

/* The bytes are PcDescs, then scopes, then metadata; the first two tell how many of each. */
static void scopes_fuzz(const uint8_t *data, size_t size)
{
	const struct bytes b = {data, size};
	const struct mem m = {.read = bytes_read, .fd = -1, .image = &b};
	const struct code_layout l = code_image_layout();
	struct scope out[CODE_FRAMES_MAX];
	struct scopes s = {.pcs = BASE};
	uint32_t scope, offset;
	int count;

	if (size < 2)
		return;
	s.pc_count = data[0];
	s.data = s.pcs + 16 * s.pc_count;
	s.data_size = data[1];
	s.metadata = s.data + s.data_size;
	s.metadata_count = 16;
	for (uint32_t pc = 0; pc < 300; pc += 7) {
		if (!scopes_pc_find(&m, &l, &s, pc, pc & 1, &scope, &offset))
			ENSURE(pc & 1 ? offset == pc : offset >= pc);
	}
	for (scope = 0; scope <= s.data_size; scope++) {
		count = scopes_read(&m, &s, scope, out, CODE_FRAMES_MAX);
		ENSURE(count && count <= CODE_FRAMES_MAX);
	}
}

static void text_fuzz(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 4);
	char *again = malloc(size + 8);

	for (int cut = 0; cut < 2; cut++) {
		method_text(data, size, cut, true, text);
		ENSURE(strlen(text) <= size + 3 && !strchr(text, '/'));
		/* Valid UTF-8 is left as it is. */
		method_text((const uint8_t *)text, strlen(text), false, false, again);
		ENSURE(!strcmp(text, again));
	}
	free(text);
	free(again);
}

/* An nmethod of one method that is inlined into itself; in code and metadata. */
static uint64_t nmethod_put(struct image *i, uint64_t *ret_method)
{
	static const uint8_t lines[] = {0xff, 0, 80, 5 << 3 | 2, 0};
	static const uint8_t scopes[] = {0xff, 0, 1, 6, 0xff, 1, 2, 3, 0xff, 5, 2, 0, 0xff, 0};
	static const uint32_t pcs[][2] = {{UINT32_MAX, 0}, {20, 1}, {50, 9}, {60, 5}, {257, 0}};
	const struct code_image_method method = {"a/B", "c", "()V", "B.java", METHOD_VTABLE,
						 9,     0,   0,     lines,    sizeof(lines)};
	struct code_image_nmethod n = {.id = 7,
				       .level = 4,
				       .entry_bci = UINT32_MAX,
				       .scopes = scopes,
				       .scopes_size = sizeof(scopes),
				       .pcs = pcs,
				       .pc_count = 5};

	image_clear(i);
	n.method = *ret_method = code_image_method(i, &method);
	n.metadata[0] = n.metadata[1] = n.method;
	return code_image_nmethod(i, 1, &n);
}

/* Three bytes each: an offset in the heap, the segment map or the Method, and what is put there. */
static void changes_fuzz(const uint8_t *data, size_t size)
{
	static struct image image;
	const struct code_layout l = code_image_layout();
	struct code_frame frames[CODE_FRAMES_MAX];
	uint64_t method, blob = nmethod_put(&image, &method);
	struct code *c;
	int count;

	for (; size >= 3; data += 3, size -= 3) {
		uint32_t at = data[0] | (uint32_t)data[1] << 8;

		if (at < 0x1000)
			image.bytes[IMAGE_HEAP - IMAGE_BASE + at] = data[2];
		else if (at < 0x1100)
			image.bytes[IMAGE_SEGMAP - IMAGE_BASE + at - 0x1000] = data[2];
		else
			image.bytes[(at - 0x1100) % image.used] = data[2];
	}
	ENSURE(!code_new(&image.mem, &l, &c));
	for (uint32_t pc = 0; pc < 0x1000; pc += 10) {
		count = code_compiled(c, IMAGE_HEAP + pc, 7, pc & 8, frames);
		ENSURE(count && count <= CODE_FRAMES_MAX);
		for (int i = 0; i < count; i++)
			ENSURE(frames[i].method->name && frames[i].bci <= UINT16_MAX);
	}
	count = code_compiled(c, blob + CODE_IMAGE_BEGIN + 50, 7, true, frames);
	ENSURE(count && count <= CODE_FRAMES_MAX);
	if (!code_interpreted(c, method, 3, frames))
		ENSURE(frames->method->signature && frames->line <= UINT16_MAX);
	code_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const uint8_t *data, size_t size) = {
		lines_fuzz, scopes_fuzz, text_fuzz, changes_fuzz};

	if (size)
		readers[data[0] % 4](data + 1, size - 1);
	return 0;
}
