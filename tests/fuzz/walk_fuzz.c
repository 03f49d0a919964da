/* Walks a recorded stack (tests/walk/image.h) that is damaged: it ends, after not too many reads, whatever it reads.
 * The corpus is the images of the unit test. */
#include "tests/walk/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())
/* A step reads its blob's segment map and header, and a few words of the stack. */
#define READS_MAX ((uint64_t)HS_STEPS_MAX * (HS_HOPS_MAX + 32))

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
	}
	free(copy);
	return 0;
}
