/*
 * Names are asked for by address, again and again the same ones: a function that was found once is
 * known by its range. Libraries come and go: where an address is in none that is known, the
 * target's mappings are read again.
 */
#include "jvm/native_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/cxx_name.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "jvm/elf/parser.h"
#include "jvm/jvm.h"
#include "jvm/target/code_mappings.h"
#include "jvm/target/kernel_symbols.h"
#include "jvm/target/mapped_file.h"
#include "jvm/target/process.h"

#define FUNCTIONS_MAX 65536u
/* All look-ups in libraries take so long, and one part in SHARE of the time since the first: the
 * recorder waits for each. */
#define LOOK_NS (2 * NS_PER_S)
#define LOOK_SHARE 50

struct named_function {
	uint64_t start, end;
	char *name; /* NULL: it has none */
};

struct native_symbols {
	const struct jvm *j;
	struct named_function *functions; /* by start; none overlaps another */
	uint32_t function_count, functions_capacity;
	struct code_mappings mappings;
	struct symbol_file {
		uint64_t inode;
		uint32_t dev_major, dev_minor;
		int file; /* -1: it has no names, or not any more */
	} files[PARSER_SYMBOL_SLOTS];
	unsigned file_count;
	struct kernel_symbols *kernel;
	int kernel_file; /* negative: it has been read, or there is none */
	uint64_t first_ns, spent_ns;
};

uint64_t native_symbols_tick(void)
{
	return kernel_symbols_tick();
}

int native_symbols_kernel(void)
{
	return kernel_symbols_open();
}

int native_symbols_new(const struct jvm *j, int kernel, struct native_symbols **ret)
{
	struct native_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->j = j;
	s->mappings.pid = jvm_pid(j);
	s->kernel_file = kernel;
	*ret = s;
	return 0;
}

void native_symbols_free(struct native_symbols *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->function_count; i++)
		free(s->functions[i].name);
	for (unsigned i = 0; i < s->file_count; i++)
		if (s->files[i].file >= 0)
			close(s->files[i].file);
	if (s->kernel_file >= 0)
		close(s->kernel_file);
	kernel_symbols_free(s->kernel);
	free(s->functions);
	code_mappings_clear(&s->mappings);
	free(s);
}

/* The index of the first function that begins after pc. */
static uint32_t function_after(const struct native_symbols *s, uint64_t pc)
{
	uint32_t from = 0, to = s->function_count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (s->functions[middle].start <= pc)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Around pc, in the gap between its neighbours: what a file says may overlap anything. */
static const char *function_keep(struct native_symbols *s, uint64_t pc, uint64_t start,
				 uint64_t end, const char *name)
{
	uint32_t at = function_after(s, pc);
	struct named_function *f;

	if (s->function_count == FUNCTIONS_MAX ||
	    array_grow(&s->functions, &s->functions_capacity, s->function_count,
		       sizeof(*s->functions)))
		return NULL;
	f = &s->functions[at];
	if (at && f[-1].end > start)
		start = f[-1].end;
	if (at < s->function_count && f->start < end)
		end = f->start;
	memmove(f + 1, f, (s->function_count - at) * sizeof(*f));
	*f = (struct named_function){start, end, name ? strdup(name) : NULL};
	s->function_count++;
	return f->name;
}

/* The slot of the library, opened if need be; -1: there is none left. */
static int slot_of(struct native_symbols *s, const struct process_lib *lib)
{
	struct symbol_file *f;

	for (unsigned i = 0; i < s->file_count; i++)
		if (s->files[i].inode == lib->inode && s->files[i].dev_major == lib->dev_major &&
		    s->files[i].dev_minor == lib->dev_minor)
			return (int)i;
	if (s->file_count == PARSER_SYMBOL_SLOTS)
		return -1;
	f = &s->files[s->file_count];
	*f = (struct symbol_file){.inode = lib->inode,
				  .dev_major = lib->dev_major,
				  .dev_minor = lib->dev_minor,
				  .file = mapped_file_open(jvm_pid(s->j), lib)};
	return (int)s->file_count++;
}

static int timed_symbol(struct native_symbols *s, unsigned slot, uint64_t vaddr,
			struct elf_symbol *ret)
{
	uint64_t begin_ns = clock_mono_ns(), now_ns;
	int err = parser_symbol(jvm_parser(s->j), slot, s->files[slot].file, vaddr, ret);

	now_ns = clock_mono_ns();
	if (!s->first_ns)
		s->first_ns = begin_ns;
	s->spent_ns += now_ns - begin_ns;
	return s->spent_ns > LOOK_NS + (now_ns - s->first_ns) / LOOK_SHARE ? -ETIME : err;
}

/* What has ended the parser once is not given to the next. */
static int library_symbol(struct native_symbols *s, const struct process_lib *lib, uint64_t pc,
			  struct elf_symbol *ret)
{
	int slot = lib->base ? slot_of(s, lib) : -1, err;

	if (slot < 0 || s->files[slot].file < 0)
		return -ENOENT;
	err = timed_symbol(s, (unsigned)slot, pc - lib->base, ret);
	if (err == -ETIME || err == -ELIBBAD || err == -ECHILD) {
		close(s->files[slot].file);
		s->files[slot].file = -1;
	}
	return err;
}

static const char *library_name(struct native_symbols *s, uint64_t pc)
{
	char function[ELF_SYMBOL_MAX], name[NATIVE_SYMBOL_MAX] = "";
	const struct process_lib *lib = code_mappings_find(&s->mappings, pc);
	struct elf_symbol symbol;
	uint64_t end;
	int err;

	if (!lib)
		return NULL;
	err = library_symbol(s, lib, pc, &symbol);
	if (err) {
		symbol.start = pc - lib->base;
		symbol.end = symbol.start + 1;
		buffer_add(name, sizeof(name), "(%s)", strrchr(lib->path, '/') + 1);
	} else {
		cxx_name(symbol.name, function, sizeof(function));
		buffer_add(name, sizeof(name), "%s (%s)", function, strrchr(lib->path, '/') + 1);
	}
	/* What a file says may end beyond all addresses, and is then before pc. */
	end = symbol.end + lib->base;
	return function_keep(s, pc, symbol.start + lib->base,
			     end > pc && end < lib->end ? end : lib->end, name);
}

static const char *kernel_name(struct native_symbols *s, uint64_t pc)
{
	char name[NATIVE_SYMBOL_MAX] = "";
	uint64_t start, end;
	const char *function;

	if (s->kernel_file >= 0) {
		if (kernel_symbols_read(s->kernel_file, &s->kernel))
			s->kernel = NULL;
		close(s->kernel_file);
		s->kernel_file = -1;
	}
	function = s->kernel ? kernel_symbols_find(s->kernel, pc, &start, &end) : NULL;
	if (!function)
		return NULL;
	buffer_add(name, sizeof(name), "%s (kernel)", function);
	return function_keep(s, pc, start, end, name);
}

const char *native_symbols_name(struct native_symbols *s, uint64_t pc)
{
	uint32_t after = function_after(s, pc);

	if (after && pc < s->functions[after - 1].end)
		return s->functions[after - 1].name;
	return (int64_t)pc < 0 ? kernel_name(s, pc) : library_name(s, pc);
}
