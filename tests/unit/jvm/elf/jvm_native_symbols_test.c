/* jvm/native_symbols.c on this very process; the tables that it looks into on bytes made by hand. */
#include "jvm/native_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "jvm/elf/elf_file.h"
#include "jvm/elf/elf_symbols.h"
#include "jvm/jvm_state.h"
#include "jvm/target/kernel_symbols.h"
#include "tests/unit/alloc_fail.h"

enum { NAMES = 256, SYMBOLS = 320, SECTIONS = 640, SIZE = 1024 };

struct image {
	_Alignas(8) char bytes[SIZE];
};

static const Elf64_Sym symbols[] = {
	{.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000, .st_size = 0x10},
	{.st_name = 7, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000, .st_size = 0},
	{.st_name = 14, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1020, .st_size = 0},
	{.st_name = 20, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = 0x1030, .st_size = 8},
	{.st_name = 25, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1040, .st_size = 0x1000},
	{.st_name = 31, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1100, .st_size = 0x10},
	{.st_name = 37, .st_info = STT_FUNC, .st_shndx = SHN_UNDEF, .st_value = 0x1200},
	{.st_name = 9999, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1300, .st_size = 1},
};

static void image_make(struct image *m, uint32_t type)
{
	static const char names[] = "\0first\0second\0third\0data\0large\0after\0undefined";
	const Elf64_Shdr sections[] = {
		{0},
		{.sh_type = type,
		 .sh_offset = SYMBOLS,
		 .sh_size = sizeof(symbols),
		 .sh_entsize = sizeof(Elf64_Sym),
		 .sh_link = 2},
		{.sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = sizeof(names)},
	};
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shoff = SECTIONS,
		.e_shnum = 3,
		.e_shstrndx = 2,
	};

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, &head, sizeof(head));
	memcpy(m->bytes + NAMES, names, sizeof(names));
	memcpy(m->bytes + SYMBOLS, symbols, sizeof(symbols));
	memcpy(m->bytes + SECTIONS, sections, sizeof(sections));
}

static int symbols_of(const struct image *m, struct elf_symbols **ret)
{
	struct elf_file f;
	int err = elf_file_open_image(m->bytes, SIZE, &f);

	if (err)
		return err;
	err = elf_symbols_read(&f, ret);
	elf_file_close(&f);
	return err;
}

static void functions_by_address(void **state)
{
	static const struct {
		uint64_t at;
		const char *name; /* NULL: none */
	} wanted[] = {
		{0xfff, NULL},     {0x1000, "first"},  {0x100f, "first"}, {0x1010, NULL},
		{0x1020, "third"}, {0x103f, "third"},  {0x1040, "large"}, {0x10ff, "large"},
		{0x1100, "after"}, {0x110f, "after"},  {0x1110, NULL},    {0x1200, NULL},
		{0x1300, NULL},    {UINT64_MAX, NULL},
	};
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};

	(void)state;
	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
		struct elf_symbols *s;
		struct image m;

		image_make(&m, types[t]);
		assert_int_equal(symbols_of(&m, &s), 0);
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			struct elf_symbol found = {0};
			int err = elf_symbols_find(s, wanted[i].at, &found);

			assert_int_equal(err, wanted[i].name ? 0 : -ENOENT);
			if (err)
				continue;
			assert_string_equal(found.name, wanted[i].name);
			assert_true(found.start <= wanted[i].at && wanted[i].at < found.end);
		}
		elf_symbols_free(s);
	}
}

static void tables_that_are_none(void **state)
{
	struct elf_symbols *s;
	struct image m;
	Elf64_Shdr *sections;

	(void)state;
	image_make(&m, SHT_NOTE);
	assert_int_equal(symbols_of(&m, &s), -ENOENT);
	image_make(&m, SHT_SYMTAB);
	sections = (Elf64_Shdr *)(void *)(m.bytes + SECTIONS);
	sections[1].sh_link = 3;
	assert_int_equal(symbols_of(&m, &s), -ENOEXEC);
	sections[1].sh_link = 2;
	sections[1].sh_size = SIZE;
	assert_int_equal(symbols_of(&m, &s), -ENOEXEC);
	sections[1].sh_size = sizeof(symbols) - 1; /* the last symbol is not whole */
	assert_int_equal(symbols_of(&m, &s), 0);
	elf_symbols_free(s);
	for (int n = 0;; n++) {
		int err;

		image_make(&m, SHT_SYMTAB);
		alloc_fail_at(n);
		err = symbols_of(&m, &s);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			elf_symbols_free(s);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

static void functions_of_the_kernel(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 t first\n"
				   "ffffffff81000100 D data\n"
				   "ffffffffc0000000 t of_module\t[nf_tables]\n"
				   "ffffffff81000040 W second\n"
				   "garbage\n"
				   "ffffffffc0000010 t last\t[nf_tables]";
	struct kernel_symbols *s;
	uint64_t start, end;

	(void)state;
	assert_int_equal(kernel_symbols_parse(text, &s), 0);
	assert_null(kernel_symbols_find(s, 0xffffffff80ffffff, &start, &end));
	assert_string_equal(kernel_symbols_find(s, 0xffffffff8100003f, &start, &end), "_stext");
	assert_int_equal(start, 0xffffffff81000000);
	assert_int_equal(end, 0xffffffff81000040);
	assert_string_equal(kernel_symbols_find(s, 0xffffffff81000040, &start, &end), "second");
	assert_string_equal(kernel_symbols_find(s, 0xffffffffc000000f, &start, &end), "of_module");
	assert_null(kernel_symbols_find(s, 0xffffffffc0000010, &start, &end));
	kernel_symbols_free(s);
	assert_int_equal(kernel_symbols_parse("0000000000000000 T _stext\n", &s), -EACCES);
	assert_int_equal(kernel_symbols_parse("", &s), -ENOENT);
	for (int n = 0;; n++) {
		int err;

		alloc_fail_at(n);
		err = kernel_symbols_parse(text, &s);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			kernel_symbols_free(s);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

static void names_of_this_process(void **state)
{
	struct jvm self = {.pid = getpid(), .file = -1};
	struct native_symbols *s;
	const char *name;

	(void)state;
	assert_int_equal(parser_new(&self.parser), 0);
	assert_int_equal(native_symbols_new(&self, native_symbols_kernel(), &s), 0);
	name = native_symbols_name(s, (uintptr_t)names_of_this_process + 4);
	assert_non_null(name);
	assert_non_null(strstr(name, "names_of_this_process (jvm_native_symbols_test"));
	/* Again, out of what is known by now, and a neighbour. */
	assert_ptr_equal(native_symbols_name(s, (uintptr_t)names_of_this_process + 5), name);
	assert_string_not_equal(native_symbols_name(s, (uintptr_t)functions_of_the_kernel), name);
	assert_null(native_symbols_name(s, (uintptr_t)&self)); /* no code */
	assert_null(native_symbols_name(s, 1));
	native_symbols_free(s);
	parser_free(self.parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_by_address),
		cmocka_unit_test(tables_that_are_none),
		cmocka_unit_test(functions_of_the_kernel),
		cmocka_unit_test(names_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
