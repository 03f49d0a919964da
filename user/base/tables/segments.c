#include "base/tables/segments.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_MAX (UINT32_MAX / 4)

int segments_reserve(struct segments *s, uint32_t count, size_t size)
{
	struct segment_position p = segments_find(count < COUNT_MAX ? count : 0);

	if (count >= COUNT_MAX)
		return -ENOMEM;
	if (s->all[p.segment])
		return 0;
	s->all[p.segment] = calloc(p.count, size);
	return s->all[p.segment] ? 0 : -ENOMEM;
}

void segments_free(struct segments *s)
{
	for (unsigned i = 0; i < SEGMENTS_MAX; i++)
		free(s->all[i]);
	*s = (struct segments){{NULL}};
}
