/*
 * A heap dump of any size, as a JVM might write it, to standard output:
 *   heap_dump GB [BYTES]
 * A static array has tables of 1,000 Nodes each; a Node refers to the next one of its table and to a
 * byte[] of BYTES (200). Addresses are those that such objects would have.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE 1000
#define NODE_BYTES 24 /* in the heap */
#define FIRST 0x700000000ull

enum { OBJECT = 0x1000, NODE = 0x1100, CACHE = 0x1200, NODES = 0x1300, TABLES = 0x1400, BYTES = 0x1500 };

static void put(uint64_t n, unsigned bytes)
{
	while (bytes--)
		putchar_unlocked((int)(n >> 8 * bytes & 0xff));
}

static void text(uint64_t id, const char *name)
{
	put(0x01, 1);
	put(0, 4);
	put(8 + strlen(name), 4);
	put(id, 8);
	fputs(name, stdout);
}

static void class_name(uint64_t id, const char *name)
{
	text(id + 1, name);
	put(0x02, 1);
	put(0, 4);
	put(24, 4);
	put(1, 4);
	put(id, 8);
	put(0, 4);
	put(id + 1, 8);
}

/* A class in a segment of its own: statics of references to all, and fields of references. */
static void class(uint64_t id, uint64_t super, const char *const *fields, unsigned count, uint64_t all)
{
	put(0x1c, 1);
	put(0, 4);
	put(1 + 7 * 8 + 8 + 6 + (all ? 17 : 0) + 9 * count, 4);
	put(0x20, 1);
	put(id, 8);
	put(0, 4);
	put(super, 8);
	for (int i = 0; i < 5; i++)
		put(0, 8);
	put(0, 4);
	put(0, 2);
	put(all ? 1 : 0, 2);
	if (all) {
		put(0x30, 8);
		put(2, 1);
		put(all, 8);
	}
	put(count, 2);
	for (unsigned i = 0; i < count; i++) {
		put((uint64_t)(uintptr_t)fields[i], 8);
		put(2, 1);
	}
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 7) & ~7ull;
}

/* Its array, its Nodes, what these refer to, in a segment. */
static uint64_t table(uint64_t at, unsigned bytes)
{
	uint64_t nodes = at + aligned(16 + 4ul * TABLE), values = nodes + TABLE * NODE_BYTES;
	uint64_t step = aligned(16 + bytes);

	put(0x1c, 1);
	put(0, 4);
	put(25 + 8 * TABLE + TABLE * (25ul + 16) + TABLE * (18ul + bytes), 4);
	put(0x22, 1);
	put(at, 8);
	put(0, 4);
	put(TABLE, 4);
	put(NODES, 8);
	for (unsigned i = 0; i < TABLE; i++)
		put(nodes + i * NODE_BYTES, 8);
	for (unsigned i = 0; i < TABLE; i++) {
		put(0x21, 1);
		put(nodes + i * NODE_BYTES, 8);
		put(0, 4);
		put(NODE, 8);
		put(16, 4);
		put(i + 1 < TABLE ? nodes + (i + 1) * NODE_BYTES : 0, 8);
		put(values + i * step, 8);
	}
	for (unsigned i = 0; i < TABLE; i++) {
		put(0x23, 1);
		put(values + i * step, 8);
		put(0, 4);
		put(bytes, 4);
		put(8, 1);
		for (unsigned k = 0; k < bytes; k++)
			putchar_unlocked('x');
	}
	return values + TABLE * step;
}

static void head(uint64_t all)
{
	static const char *const fields[] = {(const char *)0x10, (const char *)0x20};

	fwrite("JAVA PROFILE 1.0.2", 1, 19, stdout);
	put(8, 4);
	put(1700000000000, 8);
	text(0x10, "next");
	text(0x20, "value");
	text(0x30, "all");
	class_name(OBJECT, "java/lang/Object");
	class_name(NODE, "com/acme/Node");
	class_name(CACHE, "com/acme/Cache");
	class_name(NODES, "[Lcom/acme/Node;");
	class_name(TABLES, "[[Lcom/acme/Node;");
	class_name(BYTES, "[B");
	class(OBJECT, 0, NULL, 0, 0);
	class(NODE, OBJECT, fields, 2, 0);
	class(CACHE, OBJECT, NULL, 0, all);
	class(NODES, OBJECT, NULL, 0, 0);
	class(TABLES, OBJECT, NULL, 0, 0);
	class(BYTES, OBJECT, NULL, 0, 0);
	put(0x1c, 1);
	put(0, 4);
	put(9, 4);
	put(0x05, 1);
	put(CACHE, 8);
}

int main(int argc, char **argv)
{
	double gb = argc > 1 ? atof(argv[1]) : 0;
	unsigned bytes = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
	uint64_t size, count, at;

	if (gb <= 0 || bytes > 1000000) {
		fputs("usage: heap_dump GB [BYTES] >FILE\n", stderr);
		return 2;
	}
	size = 9 + 25 + TABLE * (8ul + 41 + 18 + bytes);
	count = (uint64_t)(gb * 1e9 / (double)size);
	head(FIRST);
	at = FIRST + aligned(16 + 4 * count);
	put(0x1c, 1);
	put(0, 4);
	put(25 + 8 * count, 4);
	put(0x22, 1);
	put(FIRST, 8);
	put(0, 4);
	put(count, 4);
	put(TABLES, 8);
	for (uint64_t i = 0; i < count; i++)
		put(at + i * (aligned(16 + 4ul * TABLE) + TABLE * (NODE_BYTES + aligned(16 + bytes))), 8);
	for (uint64_t i = 0; i < count; i++)
		at = table(at, bytes);
	put(0x2c, 1);
	put(0, 8);
	fprintf(stderr, "%llu objects\n", (unsigned long long)(7 + count * (1 + 2 * TABLE)));
	return fflush(stdout) || ferror(stdout);
}
