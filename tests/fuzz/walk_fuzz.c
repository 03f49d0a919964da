/* Walks a recorded stack (tests/walk/image.h) that is damaged, and decodes a fragment of it: both end, after not too
 * many reads, whatever they read. The corpus is the images of the unit test. */
#include <linux/types.h>

#include "bpf/wire/wire_kinds.h"
#include "tests/walk/image_fragment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())
/* A step reads its blob's segment map and header, and a few words of the stack. */
#define READS_MAX ((uint64_t)HS_STEPS_MAX * (HS_HOPS_MAX + 32))

/* The fragment is as long as there is room: ASan sees a step beyond. */
static void fragment_decode(struct image *image, uint32_t bytes)
{
	static const uint32_t epoch;
	const struct mem mem = {.read = image_mem_read, .image = image};
	const struct fragments_options o = {.code = &image->code,
					    .mem = &mem,
					    .native_rule = image_rule_find,
					    .ctx = image,
					    .code_epoch = &epoch,
					    .class_epoch = &epoch,
					    .bytes = WIRE_FRAGMENT_MAX,
					    .callers = true};
	struct wire_fragment *fragment = malloc(sizeof(*fragment) + bytes);
	struct fragment_found found;
	struct fragments *f;

	ENSURE(fragment && !fragments_new(&o, &f));
	image->code.ready = 1;
	image_fragment(image, bytes, fragment);
	fragment->own = 1;
	fragment->sample.result = WIRE_WALK_STUB;
	fragment->sample.mode = bytes % 2 ? WIRE_MODE_KERNEL : WIRE_MODE_VM;
	fragment->kernel_count = bytes;
	image->reads = 0;
	fragments_decode(f, fragment, sizeof(*fragment) + bytes, &found);
	ENSURE(image->reads <= READS_MAX);
	ENSURE(found.sample && (!found.chain || found.chain->count <= WIRE_FRAMES_MAX));
	ENSURE(found.caller_count <= FRAGMENT_CALLERS_MAX);
	fragments_free(f);
	free(fragment);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	static struct hs_walk walked;
	unsigned char *copy = malloc(size ? size : 1);

	/* A copy of exactly this size: ASan sees a step beyond. */
	ENSURE(copy);
	if (size)
		memcpy(copy, data, size);
	if (!image_parse(&image, copy, size)) {
		ENSURE(!image_walk(&image, 0, &walked));
		ENSURE(image.reads <= READS_MAX);
		ENSURE(walked.stack.count <= WIRE_FRAMES_MAX &&
		       walked.stack.result < WIRE_WALK_COUNT);
		fragment_decode(&image, (uint32_t)(size * 7 % WIRE_FRAGMENT_MAX));
	}
	free(copy);
	return 0;
}
