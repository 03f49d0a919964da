/* Walks recorded stacks of x86-64 (tests/unit/images, see tests/walk/image.h), whole and damaged. No JVM is needed. */
#define HS_FRAMES_X86_64
#define IMAGES IMAGES_OF "/images"
#define FILES_MIN 50

static const char *const wanted[] = {
	"int-", "c1-", "c2-", "tiered-", "comp-", "meet-", "interpreter", "-wrapper", "-native",
	"-libjvm", "prologue", "+entry", "+stub", "_osr", "+deep", "deoptimized", "vtable",
	"=cut", "+leaf", "-bare", "-pushed", "-left+", "-making_link", "-making_top",
	"-left_top", "-left_sp", "no_java_frames", "-making_pushed", "-making_own_fp",
};

#include "tests/unit/bpf/hotspot_walk_images.h"
