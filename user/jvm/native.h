/* jvm/native.h: how to get out of native code that Java code has called as a leaf. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/elf/unwind.h"

struct jvm;
struct native;

/* j is lent until native_free. 0 or -ENOMEM. */
int native_new(const struct jvm *j, struct native **ret);
void native_free(struct native *n);

/*
 * The rule at a pc in the target's libjvm.so, libc, libpthread or vDSO (is_return: it is a return
 * address). -ENOENT: it is in none of them. Others as parser_rule(). Each library is opened at the
 * first pc in it; one that ends the parser, or takes too long (-ETIME) with one rule or with all,
 * has no rules any more.
 */
int native_rule(struct native *n, uint64_t pc, bool is_return, struct unwind_rule *ret);
/* The same in any library; of others than those, of the first 16 in which a pc was. -ENXIO: it is
 * in none that is known yet, and may be asked for again. */
int native_rule_any(struct native *n, uint64_t pc, bool is_return, struct unwind_rule *ret);
