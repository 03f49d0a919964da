/* jvm/native_symbols.h: names of functions of the target's libraries, and of the kernel's. */
#pragma once

#include <stdint.h>

struct jvm;
struct native_symbols;

#define NATIVE_SYMBOL_MAX 640

/* Before rights are given up: the kernel's list of its functions. A descriptor, or negative errno:
 * then its functions have no names. */
int native_symbols_kernel(void);
/* Of kernel_symbols_tick(), by the same capability. */
uint64_t native_symbols_tick(void);
/* j is lent until native_symbols_free; kernel, what native_symbols_kernel() has returned, becomes
 * its own. 0 or -ENOMEM. */
int native_symbols_new(const struct jvm *j, int kernel, struct native_symbols **ret);
void native_symbols_free(struct native_symbols *s);
/*
 * "PhaseIdealLoop::build_loop_tree (libjvm.so)", "clear_page_erms (kernel)": the function that an
 * address is in; lent until native_symbols_free. NULL: it is not known. A library is opened at the
 * first address in it, for the first 16 of them; one that ends the parser, or takes too long, has
 * no names any more.
 */
const char *native_symbols_name(struct native_symbols *s, uint64_t pc);
