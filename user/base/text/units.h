/* base/text/units.h: durations and sizes, read from and written for people. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

/* "10", "10s", "250ms", "1.5h": units ns us ms s m h, seconds without one. -EINVAL; -ERANGE. */
int duration_parse(const char *text, uint64_t *ret_ns);
/* "4096", "64k", "16M", "1G" (powers of 1024, a final B or iB is allowed). -EINVAL; -ERANGE. */
int size_parse(const char *text, uint64_t *ret_bytes);

#define UNITS_TEXT_MAX 32
/* Three significant digits and a unit: "0 ns", "12.3 us", "4.56 s", "83.2 min". Returns buf. */
char *duration_format(uint64_t ns, char buf[UNITS_TEXT_MAX]);
char *size_format(uint64_t bytes, char buf[UNITS_TEXT_MAX]);

uint64_t clock_mono_ns(void);
/* From one tick of the kernel to the next; 0: nobody says. */
uint64_t clock_tick_ns(void);
uint64_t clock_wall_ns(void);
