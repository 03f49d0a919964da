/* jvm/target/kernel_symbols.h: names of the kernel's functions, as it tells them. */
#pragma once

#include <stdint.h>

struct kernel_symbols;

/* Of the text of /proc/kallsyms. -EACCES: its addresses are hidden. -ENOENT: it has no function.
 * -ENOMEM. */
int kernel_symbols_parse(const char *text, struct kernel_symbols **ret);
/*
 * Of this kernel: a descriptor, or negative errno; then what it has. The kernel tells addresses to
 * whoever had the capability CAP_SYSLOG when the file was opened.
 */
int kernel_symbols_open(void);
int kernel_symbols_read(int fd, struct kernel_symbols **ret);
/* The address of the function that the timer of each CPU's tick has: tick_nohz_handler() since
 * Linux 6.8, tick_sched_timer() before. 0: it is hidden, or there is none of these. */
uint64_t kernel_symbols_tick(void);
void kernel_symbols_free(struct kernel_symbols *s);
/* The function that an address is in, and where it begins and ends; lent until
 * kernel_symbols_free. NULL: in none. */
const char *kernel_symbols_find(const struct kernel_symbols *s, uint64_t pc, uint64_t *ret_start,
				uint64_t *ret_end);
