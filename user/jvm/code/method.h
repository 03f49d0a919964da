/* jvm/code/method.h: a Method of HotSpot as it is in the target: its names and lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_layout;
struct mem;

#define METHOD_NAME_MAX 4096 /* bytes of each name; a longer one is cut and ends in "..." */

/* What method_read fills; the strings are valid UTF-8. */
struct method {
	char *class_name; /* with dots */
	char *name, *signature;
	char *source; /* "": not known */
	bool hidden, native;
	uint32_t code_size; /* bytes of bytecode; 0 if native */
	uint8_t *lines;     /* compressed line table; NULL: none */
	size_t lines_size;
	uint32_t number_excluded; /* in lines: see unsigned5.h */
};

/* -ESTALE: there is no Method at the address, or not any more. -EPROTO: it makes no sense. -ESRCH,
 * -ENOMEM. On success *ret is freed with method_clear. */
int method_read(const struct mem *m, const struct code_layout *l, uint64_t addr,
		struct method *ret);
void method_clear(struct method *m);

/* 0: not known. */
uint32_t method_line(const struct method *m, uint32_t bci);

/*
 * Makes valid UTF-8 of modified UTF-8 (JVM specification 4.4.7), with dots for slashes if asked;
 * what is neither becomes '?'. cut: there was more, so that half a character at the end is left out
 * and "..." follows. ret has room for len + 4 bytes.
 */
void method_text(const uint8_t *text, size_t len, bool cut, bool dots, char *ret);
