/* jvm/elf/elf_symbols.h: which function of an ELF file an address is in. */
#pragma once

#include <stdint.h>

struct elf_file;
struct elf_symbols;

#define ELF_SYMBOL_MAX 512 /* bytes of a name, with its NUL; a longer one is cut */

struct elf_symbol {
	uint64_t start, end; /* addresses as the file counts them */
	char name[ELF_SYMBOL_MAX];
};

/*
 * Reads the functions of .symtab, or else of .dynsym. Outside of tests only the parser process does
 * so (parser.h). -ENOENT: the file has none. -ENOEXEC, -ENOMEM, -EIO and others of elf_file.h.
 */
int elf_symbols_read(struct elf_file *f, struct elf_symbols **ret);
void elf_symbols_free(struct elf_symbols *s);
/* The function that vaddr is in; of one without a size: the one before it, up to the next. -ENOENT:
 * there is none. */
int elf_symbols_find(const struct elf_symbols *s, uint64_t vaddr, struct elf_symbol *ret);
