/* JDK 23: the elements of arrays are no longer aligned to 8 bytes (JDK-8139457); CompiledMethod has
 * become a part of nmethod, so that there is no table of code. */
#include "jvm/layout/versions/versions.h"

const struct jdk_version jdk_23 = {
	.first = 23,
	.last = 23,
	.layout =
		{
			.owner_word = OWNER_WORD_ADDRESS,
			.mark_hash_shift = 8,
			.array_data = ARRAY_DATA_PACKED,
		},
};
