/* tests/unit/jvm/jvm_image.h: a target's memory as an array, filled by hand; what is outside of it
 * faults. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#define IMAGE_BASE 0x10000ull
#define IMAGE_SIZE 0x20000u

struct image {
	struct mem mem;
	uint32_t used;
	uint8_t bytes[IMAGE_SIZE];
};

static int image_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	const struct image *i = m->image;

	if (addr < IMAGE_BASE || addr - IMAGE_BASE > IMAGE_SIZE ||
	    len > IMAGE_SIZE - (addr - IMAGE_BASE))
		return -EFAULT;
	memcpy(ret, i->bytes + (addr - IMAGE_BASE), len);
	return 0;
}

static inline void image_clear(struct image *i)
{
	memset(i, 0, sizeof(*i));
	i->mem = (struct mem){.read = image_read, .fd = -1, .image = i};
}

/* Room of size bytes, aligned to 8; its address. */
static inline uint64_t image_room(struct image *i, uint32_t size)
{
	uint64_t addr = IMAGE_BASE + i->used;

	i->used += (size + 7) & ~7u;
	return addr;
}

static inline void image_put(struct image *i, uint64_t addr, const void *bytes, size_t len)
{
	memcpy(i->bytes + (addr - IMAGE_BASE), bytes, len);
}

static inline void image_u64(struct image *i, uint64_t addr, uint64_t value)
{
	image_put(i, addr, &value, sizeof(value));
}

static inline void image_u32(struct image *i, uint64_t addr, uint32_t value)
{
	image_put(i, addr, &value, sizeof(value));
}

static inline void image_u16(struct image *i, uint64_t addr, uint16_t value)
{
	image_put(i, addr, &value, sizeof(value));
}

static inline uint64_t image_string(struct image *i, const char *text)
{
	uint64_t addr = image_room(i, (uint32_t)strlen(text) + 1);

	image_put(i, addr, text, strlen(text) + 1);
	return addr;
}

struct image_field {
	const char *type, *name, *type_string;
	int is_static;
	uint64_t value; /* offset or address */
};

struct image_value {
	const char *name;
	uint64_t value;
};

/* The tables as g++ lays them out for OpenJDK; each ends with an entry without names. */
static inline void image_tables(struct image *i, const struct image_field *f,
				const struct image_value *types, const struct image_value *ints,
				const struct image_value *longs, uint64_t symbols[VMSYM_COUNT])
{
	static const uint64_t constants[VMSYM_COUNT] = {
		[VMSYM_STRUCT_STRIDE] = 48,    [VMSYM_STRUCT_TYPE] = 0,
		[VMSYM_STRUCT_FIELD] = 8,      [VMSYM_STRUCT_TYPE_STRING] = 16,
		[VMSYM_STRUCT_IS_STATIC] = 24, [VMSYM_STRUCT_OFFSET] = 32,
		[VMSYM_STRUCT_ADDRESS] = 40,   [VMSYM_TYPE_STRIDE] = 40,
		[VMSYM_TYPE_NAME] = 0,         [VMSYM_TYPE_SIZE] = 32,
		[VMSYM_INT_STRIDE] = 16,       [VMSYM_INT_NAME] = 0,
		[VMSYM_INT_VALUE] = 8,         [VMSYM_LONG_STRIDE] = 16,
		[VMSYM_LONG_NAME] = 0,         [VMSYM_LONG_VALUE] = 8,
	};
	const struct {
		enum vmsym symbol;
		const struct image_value *v;
		uint32_t stride, at, size;
	} tables[] = {
		{VMSYM_TYPES, types, 40, 32, 8},
		{VMSYM_INTS, ints, 16, 8, 4},
		{VMSYM_LONGS, longs, 16, 8, 8},
	};
	uint64_t addr;
	uint32_t n = 0;

	for (int s = 0; s < VMSYM_COUNT; s++) {
		symbols[s] = image_room(i, 8);
		image_u64(i, symbols[s], constants[s]);
	}
	while (f[n].type)
		n++;
	addr = image_room(i, (n + 1) * 48);
	image_u64(i, symbols[VMSYM_STRUCTS], addr);
	for (; f->type; f++, addr += 48) {
		image_u64(i, addr, image_string(i, f->type));
		image_u64(i, addr + 8, image_string(i, f->name));
		image_u64(i, addr + 16, f->type_string ? image_string(i, f->type_string) : 0);
		image_u32(i, addr + 24, (uint32_t)f->is_static);
		image_u64(i, addr + (f->is_static ? 40 : 32), f->value);
	}
	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
		const struct image_value *v = tables[t].v;

		for (n = 0; v[n].name; n++)
			;
		addr = image_room(i, (n + 1) * tables[t].stride);
		image_u64(i, symbols[tables[t].symbol], addr);
		for (; v->name; v++, addr += tables[t].stride) {
			image_u64(i, addr, image_string(i, v->name));
			image_put(i, addr + tables[t].at, &v->value, tables[t].size);
		}
	}
}
