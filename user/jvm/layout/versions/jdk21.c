/*
 * JDK 20 to 22. Objects and monitors are those of JDK 17. There is no table of code (issue 15):
 * nmethod::_comp_level has one byte, flags of Method are in ConstMethod, and debug information is
 * coded without zero bytes.
 */
#include "jvm/layout/versions/versions.h"

const struct jdk_version jdk_21 = {
	.first = 20,
	.last = 22,
	.layout =
		{
			.owner_word = OWNER_WORD_ADDRESS,
			.mark_hash_shift = 8,
			.array_data = ARRAY_DATA_ALIGNED,
		},
};
