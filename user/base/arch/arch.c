#include "base/arch/arch.h"

#include <string.h>

int arch_register_offset(const struct arch *a, const char *name, size_t length)
{
	for (size_t i = 0; i < a->register_count; i++) {
		const struct arch_register *r = &a->registers[i];

		for (size_t k = 0; k < sizeof(r->names) / sizeof(*r->names) && r->names[k]; k++)
			if (strlen(r->names[k]) == length && !strncmp(r->names[k], name, length))
				return r->offset;
	}
	return -1;
}
