#include "jvm/layout/versions/versions.h"

#include <stddef.h>

const struct jdk_version *jdk_version_find(uint32_t major)
{
	static const struct jdk_version *const versions[] = {&jdk_11, &jdk_17, &jdk_21,
							     &jdk_23, &jdk_25, &jdk_26};

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (major >= versions[i]->first && major <= versions[i]->last)
			return versions[i];
	return NULL;
}
