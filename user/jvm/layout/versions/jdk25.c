/*
 * JDK 24 and 25. A monitor keeps the id of the java.lang.Thread that owns it, and a blocked virtual
 * thread leaves its carrier (JEP 491); the hash has moved in the mark (JEP 450). There is no table
 * of code (issue 15): code blobs have no vtable, and offsets where there were addresses.
 */
#include "jvm/layout/versions/versions.h"

const struct jdk_version jdk_25 = {
	.first = 24,
	.last = 25,
	.layout =
		{
			.owner_word = OWNER_WORD_ID,
			.mark_hash_shift = 11,
			.array_data = ARRAY_DATA_PACKED,
		},
	.virtual_threads_unmount = true,
};
