#include "record/doctor/doctor_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tables/array.h"

int check_add(struct checks *c, const char *name, enum check_state state, const char *advice,
	      const char *found, ...)
{
	struct check *k;
	va_list ap;

	if (array_grow(&c->v, &c->capacity, c->count, sizeof(*c->v)))
		return -ENOMEM;
	k = &c->v[c->count++];
	*k = (struct check){.name = name, .state = state};
	snprintf(k->advice, sizeof(k->advice), "%s", advice ? advice : "");
	va_start(ap, found);
	vsnprintf(k->found, sizeof(k->found), found, ap);
	va_end(ap);
	return 0;
}

void checks_free(struct checks *c)
{
	free(c->v);
	*c = (struct checks){0};
}

size_t checks_count(const struct checks *c, enum check_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		n += c->v[i].state == state;
	return n;
}
