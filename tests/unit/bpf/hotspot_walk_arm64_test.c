/* Walks recorded stacks of arm64 (tests/unit/images_arm64), with arm64's tables, on whatever machine this is. */
#define HS_FRAMES_ARM64
#define IMAGES IMAGES_OF "/images_arm64"
#define FILES_MIN 50

static const char *const wanted[] = {
	"int-", "c1-", "c2-", "tiered-", "comp-", "meet-", "interpreter", "-wrapper", "-native",
	"-libjvm", "prologue", "+entry", "+stub", "_osr", "+deep", "deoptimized", 
	"+leaf", "-bare", "-pushed", "-room", "-left_sp", "no_java_frames", "signature_handlers",
	"StubRoutines", "g1_post_barrier", "I2C",
};

#include "tests/unit/bpf/hotspot_walk_images.h"
