/* Where threads spin for a monitor: what the parser process says of that is not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include <cmocka.h>

#include "bpf/wire/wire_stack.h"
#include "jvm/elf/usdt.h"
#include "record/decode/spin_ranges.h"
#include "tests/unit/alloc_fail.h"

#define LOW 0x701000ul
#define HIGH 0x709000ul
#define BIAS 0x700000ul

/* The ranges of a libjvm whose text is at LOW to HIGH, of what the parser says. */
static void check(const char *first, const char *second, const struct wire_spin_range *wanted)
{
	struct usdt_location at[3] = {{.args = first}, {.args = second}, {.args = "5000-5010"}};
	struct usdt_probe p = {.provider = USDT_FUNCTIONS,
			       .name = USDT_SPIN,
			       .args = first,
			       .at = at,
			       .locations = 3};
	struct usdt_list list = {.probes = &p, .count = 1};
	struct wire_spin_range got[WIRE_SPIN_RANGES];

	spin_ranges_of(&list, LOW, HIGH, BIAS, got);
	for (int i = 0; i < WIRE_SPIN_RANGES; i++) {
		assert_int_equal(got[i].low, wanted[i].low);
		assert_int_equal(got[i].high, wanted[i].high);
	}
}

static void ranges_are_those_of_the_target(void **state)
{
	static const struct wire_spin_range first[] = {{0x701000, 0x701365}, {0x708000, 0x709000}};

	(void)state;
	check("1000-1365", "8000-9000", first); /* there is room for two */
}

static void what_is_no_range_in_libjvm_is_left_out(void **state)
{
	static const char *const wrong[] = {"",		"1000",	    "-",		  "1000-",
					    "1000-zz",	"1365-1000", "1000-1000",	  "fff-1000",
					    "8000-9001", "-1-1000",  "ffffffffffffffff-1", "1000-1365x"};
	static const struct wire_spin_range only[] = {{0x702000, 0x702001}, {0x705000, 0x705010}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		check(wrong[i], "2000-2001", only);
}

static void without_symbols_there_is_none(void **state)
{
	struct wire_spin_range got[WIRE_SPIN_RANGES] = {{1, 2}, {3, 4}};
	struct usdt_list list = {0};

	(void)state;
	spin_ranges_of(&list, LOW, HIGH, BIAS, got);
	for (int i = 0; i < WIRE_SPIN_RANGES; i++)
		assert_true(!got[i].low && !got[i].high);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_those_of_the_target),
		cmocka_unit_test(what_is_no_range_in_libjvm_is_left_out),
		cmocka_unit_test(without_symbols_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
