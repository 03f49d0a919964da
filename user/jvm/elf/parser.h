/* jvm/elf/parser.h: reads the target's ELF and DWARF in a process of its own, which has no
 * rights. */
#pragma once

#include <stdint.h>

#include "jvm/elf/elf_symbols.h"
#include "jvm/elf/unwind.h"

struct libjvm;
struct parser;
struct usdt_list;

/* Files whose unwind tables stay open between two requests. */
#define PARSER_SLOTS 20
/* Likewise symbol tables. */
#define PARSER_SYMBOL_SLOTS 16

/*
 * Starts the process (essay in parser.c). It should be started before anything that is large or
 * secret is in memory: the child begins as a copy. 0 or a negative errno.
 */
int parser_new(struct parser **ret);
/* Ends the process. Accepts NULL. */
void parser_free(struct parser *p);

/* Milliseconds of real time: before the recording begins, and while the ring has to be drained. */
enum { PARSER_ATTACH_MS = 5000, PARSER_RUN_MS = 500 };

/* What an error of the following means, in the user's terms; static, or of strerror(). */
const char *parser_error_text(int err);

/*
 * Each takes a descriptor of a regular file, which stays the caller's. -ETIME: not done by the
 * deadline. -ELIBBAD: the parser died of the file. (After either a new one takes its place; the
 * same file should not be given again.) -ECHILD: there is no parser any more. -EPROTO: the answer
 * makes no sense. Others as libjvm_read(), usdt_flat_read(), unwind_open(), unwind_rule(),
 * elf_symbols_read() and elf_symbols_find(). *ret is untouched on failure.
 */
int parser_libjvm(struct parser *p, int file, struct libjvm *ret);
/* Freed with usdt_list_free(). */
int parser_usdt(struct parser *p, int file, unsigned deadline_ms, struct usdt_list *ret);
/* Likewise its functions: see usdt_flat_functions(). */
int parser_functions(struct parser *p, int file, unsigned deadline_ms, struct usdt_list *ret);
/* slot, below PARSER_SLOTS, always goes with the same file. */
int parser_rule(struct parser *p, unsigned slot, int file, uint64_t vaddr, struct unwind_rule *ret);
/* The function that vaddr is in; slot, below PARSER_SYMBOL_SLOTS, likewise. */
int parser_symbol(struct parser *p, unsigned slot, int file, uint64_t vaddr,
		  struct elf_symbol *ret);
