#include "jvm/elf/elf_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/elf/elf_file.h"

#define SYMBOLS_MAX (1u << 20)

struct symbol {
	uint64_t start, size;
	uint32_t name; /* where it begins in names */
};

struct elf_symbols {
	struct symbol *rows; /* by start; each start once */
	size_t count;
	char *names; /* ends with a NUL */
	size_t names_len;
};

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of two names for one function the first that has a size, then the first of the file. */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static bool is_function(const Elf64_Sym *s, size_t names_len)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
	       s->st_value && s->st_name && s->st_name < names_len;
}

/* Symbols as they are in the file, without those that are no functions. */
static int rows_make(struct elf_symbols *s, const char *bytes, size_t len)
{
	size_t count = len / sizeof(Elf64_Sym), unique = 0;

	if (count > SYMBOLS_MAX)
		return -ENOEXEC;
	s->rows = calloc(count + 1, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym sym;

		memcpy(&sym, bytes + i * sizeof(sym), sizeof(sym));
		if (is_function(&sym, s->names_len))
			s->rows[s->count++] =
				(struct symbol){sym.st_value, sym.st_size, sym.st_name};
	}
	qsort(s->rows, s->count, sizeof(*s->rows), by_start);
	for (size_t i = 0; i < s->count; i++)
		if (!unique || s->rows[unique - 1].start != s->rows[i].start)
			s->rows[unique++] = s->rows[i];
	s->count = unique;
	return unique ? 0 : -ENOENT;
}

static int table_read(struct elf_file *f, const Elf64_Shdr *table, struct elf_symbols *s)
{
	char *bytes;
	size_t len;
	int err;

	if (table->sh_link >= f->section_count)
		return -ENOEXEC;
	err = elf_file_section(f, &f->sections[table->sh_link], &s->names, &s->names_len);
	if (err)
		return err;
	err = elf_file_section(f, table, &bytes, &len);
	if (err)
		return err;
	err = rows_make(s, bytes, len);
	free(bytes);
	return err;
}

static const Elf64_Shdr *section_of(const struct elf_file *f, uint32_t type)
{
	for (size_t i = 0; i < f->section_count; i++)
		if (f->sections[i].sh_type == type)
			return &f->sections[i];
	return NULL;
}

int elf_symbols_read(struct elf_file *f, struct elf_symbols **ret)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const Elf64_Shdr *table = section_of(f, types[i]);
		struct elf_symbols *s = table ? calloc(1, sizeof(*s)) : NULL;

		if (!table)
			continue;
		err = s ? table_read(f, table, s) : -ENOMEM;
		if (!err)
			*ret = s;
		else
			elf_symbols_free(s);
		if (!err || err == -ENOMEM)
			return err;
	}
	return err;
}

void elf_symbols_free(struct elf_symbols *s)
{
	if (!s)
		return;
	free(s->rows);
	free(s->names);
	free(s);
}

int elf_symbols_find(const struct elf_symbols *s, uint64_t vaddr, struct elf_symbol *ret)
{
	size_t from = 0, to = s->count;
	const struct symbol *row;
	uint64_t next, end;

	/* The first that begins after it. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (s->rows[middle].start <= vaddr)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return -ENOENT;
	row = &s->rows[from - 1];
	next = from < s->count ? s->rows[from].start : UINT64_MAX;
	end = row->size && row->size < next - row->start ? row->start + row->size : next;
	if (vaddr >= end || (!row->size && end == UINT64_MAX))
		return -ENOENT;
	ret->start = row->start;
	ret->end = end;
	/* elf_file_section() puts a NUL after the last name. */
	strncpy(ret->name, s->names + row->name, sizeof(ret->name) - 1);
	ret->name[sizeof(ret->name) - 1] = 0;
	return 0;
}
