#include "report/web/parts/page_put.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/print.h"
#include "report/web/page_findings.h"

#define NUMBER_MAX ((1ull << 53) - 1)

/* Faster than fprintf(): a page may have millions of numbers. */
static void digits_put(FILE *out, uint64_t n)
{
	char digits[24];
	size_t at = sizeof(digits);

	n = n < NUMBER_MAX ? n : NUMBER_MAX;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, out);
}

static uint64_t value_at(const struct page_rows *r, uint32_t i, size_t offset, bool wide)
{
	const char *row = (const char *)r->rows + (size_t)i * r->size + offset;
	uint64_t n64;
	uint32_t n32;

	if (wide) {
		memcpy(&n64, row, sizeof(n64));
		return n64;
	}
	memcpy(&n32, row, sizeof(n32));
	return n32;
}

static void list_put(FILE *out, const char *key, const struct page_rows *r, size_t offset,
		     bool wide)
{
	print_json(out, ",%s:[", key);
	for (uint32_t i = 0; i < r->count; i++) {
		if (i)
			putc(',', out);
		digits_put(out, value_at(r, i, offset, wide));
	}
	putc(']', out);
}

void page_put_u32(FILE *out, const char *key, const struct page_rows *r, size_t offset)
{
	list_put(out, key, r, offset, false);
}

void page_put_u64(FILE *out, const char *key, const struct page_rows *r, size_t offset)
{
	list_put(out, key, r, offset, true);
}

void page_put_number(FILE *out, const char *key, uint64_t n)
{
	print_json(out, ",%s:", key);
	digits_put(out, n);
}

int page_put_table(FILE *out, const char *key, struct findings *f)
{
	print_json(out, ",%s:", key);
	return page_findings_take_within(f, out);
}
