#include "record/decode/spin_ranges.h"

#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_stack.h"
#include "jvm/elf/parser.h"
#include "jvm/elf/usdt.h"
#include "jvm/jvm.h"

/* "LOW-HIGH", of a parser that may say anything. */
static int range_read(const char *text, unsigned long *ret_low, unsigned long *ret_high)
{
	char *end;

	*ret_low = strtoul(text, &end, 16);
	if (*end != '-')
		return -1;
	*ret_high = strtoul(end + 1, &end, 16);
	return *end ? -1 : 0;
}

void spin_ranges_of(const struct usdt_list *functions, unsigned long low, unsigned long high,
		    unsigned long bias, struct wire_spin_range *ret)
{
	const struct usdt_probe *p = usdt_find(functions, USDT_FUNCTIONS, USDT_SPIN);
	uint32_t count = 0;

	memset(ret, 0, WIRE_SPIN_RANGES * sizeof(*ret));
	for (uint32_t i = 0; p && i < p->locations && count < WIRE_SPIN_RANGES; i++) {
		unsigned long from, to;

		if (range_read(p->at[i].args, &from, &to))
			continue;
		from += bias;
		to += bias;
		if (from >= low && from < to && to <= high)
			ret[count++] = (struct wire_spin_range){from, to};
	}
}

void spin_ranges_find(const struct jvm *j, struct wire_spin_range *ret)
{
	struct usdt_list list = {0};
	uint64_t low, high, bias;

	jvm_libjvm_text(j, &low, &high, &bias);
	/* A file that has no functions that can be read is as one that is stripped. */
	parser_functions(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &list);
	spin_ranges_of(&list, low, high, bias, ret);
	usdt_list_free(&list);
}
