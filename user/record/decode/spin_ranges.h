/* record/decode/spin_ranges.h: where in libjvm a thread spins for a monitor. */
#pragma once

struct jvm;
struct usdt_list;
struct wire_spin_range;

/* Into ret[WIRE_SPIN_RANGES], addresses of the target; all 0 where libjvm has no symbol table. */
void spin_ranges_find(const struct jvm *j, struct wire_spin_range *ret);
/* The same of the functions of a file that begins at low - bias; nothing outside of [low, high). */
void spin_ranges_of(const struct usdt_list *functions, unsigned long low, unsigned long high,
		    unsigned long bias, struct wire_spin_range *ret);
