#include "base/arch/arch.h"
#include "jvm/elf/usdt.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "jvm/elf/elf_file.h"
#include "tests/unit/alloc_fail.h"

/* A library by hand: header, one segment with the code, the notes, three sections and their names.
 */
#define CODE_OFFSET 0x200
#define CODE_VADDR 0x5200ull /* the segment is at 0x5000, the file's beginning */
#define NOTES_OFFSET 0x400
#define SECTIONS_OFFSET 0x1000
#define NAMES_OFFSET 0x1400
#define LIBRARY_SIZE 0x1500
#define BASE_MOVED 0x30

struct library {
	_Alignas(8) uint8_t bytes[LIBRARY_SIZE];
	size_t notes_len;
};

static void note_put(struct library *l, uint64_t at, uint64_t semaphore, const char *strings,
		     size_t len)
{
	const Elf64_Nhdr head = {.n_namesz = 8, .n_descsz = (uint32_t)(24 + len), .n_type = 3};
	/* Assembled before the library was moved by BASE_MOVED. */
	const uint64_t numbers[] = {at - BASE_MOVED, 0x9000 - BASE_MOVED, semaphore};
	uint8_t *to = l->bytes + NOTES_OFFSET + l->notes_len;

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), "stapsdt", 8);
	memcpy(to + sizeof(head) + 8, numbers, 24);
	memcpy(to + sizeof(head) + 32, strings, len);
	l->notes_len += (sizeof(head) + 32 + len + 3) & ~3ul;
}

#define STRINGS(text) text, sizeof(text)

static void library_make(struct library *l)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = SECTIONS_OFFSET,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_vaddr = 0x5000,
				    .p_filesz = 0x300,
				    .p_memsz = 0x300};
	Elf64_Shdr sections[4] = {
		[1] = {.sh_name = 1,
		       .sh_type = SHT_NOTE,
		       .sh_offset = NOTES_OFFSET,
		       .sh_addralign = 4},
		[2] = {.sh_name = 15, .sh_type = SHT_NOBITS, .sh_addr = 0x9000},
		[3] = {.sh_name = 29,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = NAMES_OFFSET,
		       .sh_size = sizeof(names)},
	};

	memset(l, 0, sizeof(*l));
	memcpy(l->bytes + CODE_OFFSET, ARCH_HERE.nop, ARCH_HERE.nop_bytes);
	memcpy(l->bytes + CODE_OFFSET + 0x10, ARCH_HERE.nop_call, ARCH_HERE.nop_call_bytes);
	l->bytes[CODE_OFFSET + 0x20] = 0xc3;
	memcpy(l->bytes + CODE_OFFSET + 0x30, ARCH_HERE.nops, ARCH_HERE.nops_bytes);
	note_put(l, CODE_VADDR, 0, STRINGS("hotspot\0gc__end\0"));
	note_put(l, CODE_VADDR + 0x10, 0x5280 - BASE_MOVED, STRINGS("spoor\0lock\0-8@%rbx 8@%r13"));
	note_put(l, CODE_VADDR + 0x20, 0, STRINGS("hotspot\0gc__begin\0001@%dil"));
	note_put(l, CODE_VADDR, 0, STRINGS("hotspot\0gc__begin\0001@%sil"));
	note_put(l, 0x100000, 0, STRINGS("a\0outside\0"));
	note_put(l, CODE_VADDR, 0x100000, STRINGS("spoor\0never\0"));
	note_put(l, CODE_VADDR + 0x30, 0, STRINGS("spoor\0three\0"));
	sections[1].sh_size = l->notes_len;
	memcpy(l->bytes, &head, sizeof(head));
	memcpy(l->bytes + sizeof(head), &segment, sizeof(segment));
	memcpy(l->bytes + SECTIONS_OFFSET, sections, sizeof(sections));
	memcpy(l->bytes + NAMES_OFFSET, names, sizeof(names));
}

static void probes_are_listed(void **state)
{
	static struct library l;
	struct usdt_list list;
	const struct usdt_probe *p;

	(void)state;
	library_make(&l);
	assert_int_equal(usdt_list_parse(l.bytes, LIBRARY_SIZE, &list), 0);
	assert_int_equal(list.count, 6);
	p = usdt_find(&list, "hotspot", "gc__begin");
	assert_non_null(p);
	assert_int_equal(p->locations, 2);
	assert_string_equal(p->args, "1@%dil");
	assert_int_equal(p->site, USDT_SITE_OTHER);
	assert_false(p->semaphore);
	assert_int_equal(p->at[1].semaphore, 0);
	p = usdt_find(&list, "hotspot", "gc__end");
	assert_non_null(p);
	assert_int_equal(p->site, USDT_SITE_NOP);
	assert_string_equal(p->args, "");
	p = usdt_find(&list, "spoor", "lock");
	assert_non_null(p);
	assert_int_equal(p->site, ARCH_HERE.nop_call_bytes ? USDT_SITE_NOP_CALL : USDT_SITE_OTHER);
	assert_true(p->semaphore);
	assert_int_equal(p->at->semaphore, 0x280);
	assert_int_equal(p->at->file_offset, CODE_OFFSET + 0x10);
	p = usdt_find(&list, "spoor", "three");
	assert_int_equal(p->site, ARCH_HERE.nops_bytes ? USDT_SITE_NOPS : USDT_SITE_OTHER);
	assert_int_equal(p->at->site, p->site);
	/* Its semaphore is nowhere in the file. */
	assert_int_equal(usdt_find(&list, "spoor", "never")->at->file_offset, 0);
	assert_int_equal(usdt_find(&list, "a", "outside")->site, USDT_SITE_OTHER);
	assert_null(usdt_find(&list, "spoor", "gc__begin"));
	usdt_list_free(&list);
	assert_null(usdt_find(&list, "spoor", "lock"));
	usdt_list_free(&list);
}

static void notes_that_are_cut_short_are_refused(void **state)
{
	static const char desc[] = "12345678"
				   "abcdefgh"
				   "ABCDEFGH"
				   "p\0n\0a";
	struct usdt_note n;

	(void)state;
	assert_int_equal(usdt_note_parse(desc, sizeof(desc), &n), 0);
	assert_string_equal(n.provider, "p");
	assert_string_equal(n.name, "n");
	assert_string_equal(n.args, "a");
	for (size_t len = 0; len < sizeof(desc); len++)
		assert_int_equal(usdt_note_parse(desc, len, &n), -EPROTO);
}

static void what_is_no_library_is_refused(void **state)
{
	static struct library l;
	struct usdt_list list;

	(void)state;
	library_make(&l);
	l.bytes[EI_CLASS] = ELFCLASS32;
	assert_int_equal(usdt_list_parse(l.bytes, LIBRARY_SIZE, &list), -ENOEXEC);
	library_make(&l);
	l.bytes[0] = 0;
	assert_int_equal(usdt_list_parse(l.bytes, LIBRARY_SIZE, &list), -ENOEXEC);
	assert_int_equal(usdt_list_parse(l.bytes, 0, &list), -ENOEXEC);
	library_make(&l);
	memset(l.bytes + NOTES_OFFSET, 0, 0x400);
	assert_int_equal(usdt_list_parse(l.bytes, LIBRARY_SIZE, &list), 0);
	assert_int_equal(list.count, 0);
	usdt_list_free(&list);
}

static void damage_is_survived(void **state)
{
	static struct library l, damaged;
	struct usdt_list list;

	(void)state;
	library_make(&l);
	for (size_t at = 0; at < LIBRARY_SIZE; at++) {
		if (!l.bytes[at] && at % 7)
			continue;
		damaged = l;
		damaged.bytes[at] ^= 0xff;
		if (!usdt_list_parse(damaged.bytes, LIBRARY_SIZE, &list))
			usdt_list_free(&list);
	}
}

/* What a parser that was taken over may answer. */
static void forged_answers_are_survived(void **state)
{
	static struct library l;
	struct usdt_list list;
	struct elf_file f;
	size_t len, refused = 0;
	char *flat, *forged;

	(void)state;
	library_make(&l);
	assert_int_equal(elf_file_open_image(l.bytes, LIBRARY_SIZE, &f), 0);
	assert_int_equal(usdt_flat_read(&f, &flat, &len), 0);
	elf_file_close(&f);
	forged = malloc(len);
	assert_non_null(forged);
	for (size_t at = 0; at < len * 8; at++) {
		memcpy(forged, flat, len);
		forged[at / 8] ^= (char)(1 << at % 8);
		if (usdt_list_decode(forged, len, &list)) {
			refused++;
			continue;
		}
		for (size_t i = 0; i < list.count; i++)
			for (uint32_t k = 0; k < list.probes[i].locations; k++)
				assert_true(strlen(list.probes[i].at[k].args) < len);
		usdt_list_free(&list);
	}
	/* Both counts at least, and most offsets. */
	assert_true(refused > 64 && refused < len * 8);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(usdt_list_decode(flat, cut, &list), -EPROTO);
	free(forged);
	free(flat);
}

/* 16,384 locations that shared 4 MiB of text took minutes to sort. */
static void texts_of_an_answer_may_not_overlap(void **state)
{
	/* As usdt.c has them: numbers of locations and of bytes; then the locations. */
	const size_t head_len = 2 * sizeof(uint32_t), location_len = 32, first_text = 16;
	static struct library l;
	struct usdt_list list;
	struct elf_file f;
	uint32_t locations, offset, zero = 0;
	size_t len;
	char *flat;

	(void)state;
	library_make(&l);
	assert_int_equal(elf_file_open_image(l.bytes, LIBRARY_SIZE, &f), 0);
	assert_int_equal(usdt_flat_read(&f, &flat, &len), 0);
	elf_file_close(&f);
	memcpy(&locations, flat, sizeof(locations));
	for (size_t i = 0; i < locations * 3; i++) {
		char *at = flat + head_len + i / 3 * location_len + first_text +
			   i % 3 * sizeof(offset);

		memcpy(&offset, at, sizeof(offset));
		if (!offset)
			continue;
		memcpy(at, &zero, sizeof(zero));
		assert_int_equal(usdt_list_decode(flat, len, &list), -EPROTO);
		memcpy(at, &offset, sizeof(offset));
	}
	assert_int_equal(usdt_list_decode(flat, len, &list), 0);
	usdt_list_free(&list);
	free(flat);
}

/* Each location costs a look at the file; the list is sorted. */
static void locations_have_a_cap(void **state)
{
	static const char note[] = "\10\0\0\0\36\0\0\0\3\0\0\0stapsdt\0"
				   "abcdefghABCDEFGH\0\0\0\0\0\0\0\0p\0n\0\0\0\0";
	const size_t count = 16385, note_len = 12 + 8 + 32;
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_shoff = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1};
	Elf64_Shdr section = {.sh_type = SHT_NOTE,
			      .sh_offset = sizeof(head) + sizeof(section),
			      .sh_size = count * note_len};
	char *image = malloc(section.sh_offset + section.sh_size);
	struct usdt_list list;

	(void)state;
	assert_non_null(image);
	memcpy(image, &head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		memcpy(image + section.sh_offset + i * note_len, note, note_len);
	memcpy(image + sizeof(head), &section, sizeof(section));
	assert_int_equal(usdt_list_parse(image, section.sh_offset + section.sh_size, &list),
			 -E2BIG);
	section.sh_size -= note_len;
	memcpy(image + sizeof(head), &section, sizeof(section));
	assert_int_equal(usdt_list_parse(image, section.sh_offset + section.sh_size, &list), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.probes->locations, count - 1);
	usdt_list_free(&list);
	free(image);
}

static void allocations_may_fail(void **state)
{
	static struct library l;
	struct usdt_list list = {0};
	unsigned long n = 0;
	int err;

	(void)state;
	library_make(&l);
	do {
		alloc_fail_at(n++);
		err = usdt_list_parse(l.bytes, LIBRARY_SIZE, &list);
		assert_true(err == 0 || (err == -ENOMEM && alloc_fail->failed));
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_int_equal(list.count, 6);
	usdt_list_free(&list);
}

static void functions_read(const char *path, struct usdt_list *ret)
{
	char image[8192], *flat;
	FILE *in = fopen(path, "r");
	struct elf_file f;
	size_t size, len;

	assert_non_null(in);
	size = fread(image, 1, sizeof(image), in);
	fclose(in);
	assert_int_equal(elf_file_open_image(image, size, &f), 0);
	assert_int_equal(usdt_flat_functions(&f, &flat, &len), 0);
	assert_int_equal(usdt_list_decode(flat, len, ret), 0);
	free(flat);
	elf_file_close(&f);
}

/* A small library with two of HotSpot's functions, one of them local, and a third that nobody wants. */
static void functions_are_found(void **state)
{
	const struct usdt_probe *epilog, *tried;
	struct usdt_list list;

	(void)state;
	functions_read("tests/fuzz/corpus/usdt/functions", &list);
	assert_int_equal(list.count, 2);
	epilog = usdt_find(&list, USDT_FUNCTIONS, "vthread_epilog");
	tried = usdt_find(&list, USDT_FUNCTIONS, "vthread_monitor_enter" USDT_RETURN);
	assert_non_null(epilog);
	assert_non_null(tried);
	assert_int_equal(epilog->at->file_offset, 0x200);
	assert_string_equal(epilog->at->args, ARCH_HERE.call_arguments);
	assert_int_equal(tried->at->file_offset, 0x210);
	assert_string_equal(tried->at->args, ARCH_HERE.call_bool);
	assert_false(epilog->semaphore);
	usdt_list_free(&list);
}

/* What unmounts and mounts virtual threads: freeze() of two kinds of heap, of one of which the
 * compiler has made a second part; behind an endbr64, if there is one. */
static void where_virtual_threads_park_is_found(void **state)
{
	const struct usdt_probe *unmount, *mount;
	struct usdt_list list;

	(void)state;
	functions_read("tests/fuzz/corpus/usdt/continuations", &list);
	assert_int_equal(list.count, 2);
	unmount = usdt_find(&list, USDT_FUNCTIONS, "freeze");
	mount = usdt_find(&list, USDT_FUNCTIONS, "prepare_thaw");
	assert_non_null(unmount);
	assert_non_null(mount);
	assert_int_equal(unmount->locations, 2);
	assert_int_equal(unmount->at[0].file_offset, 0x164);
	assert_int_equal(unmount->at[1].file_offset, 0x170);
	assert_int_equal(mount->at->file_offset, 0x194);
	assert_string_equal(mount->at->args, ARCH_HERE.call_arguments);
	usdt_list_free(&list);
}

/* Another one: what spins for a monitor, in two parts; a third part without a size; a function of
 * another class. */
static void where_threads_spin_is_found(void **state)
{
	const struct usdt_probe *spin;
	struct usdt_list list;

	(void)state;
	functions_read("tests/fuzz/corpus/usdt/spins", &list);
	assert_int_equal(list.count, 1);
	spin = usdt_find(&list, USDT_FUNCTIONS, USDT_SPIN);
	assert_non_null(spin);
	assert_int_equal(spin->locations, 2);
	assert_string_equal(spin->at[0].args, "160-164");
	assert_string_equal(spin->at[1].args, "170-173");
	usdt_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_are_listed),
		cmocka_unit_test(notes_that_are_cut_short_are_refused),
		cmocka_unit_test(what_is_no_library_is_refused),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(forged_answers_are_survived),
		cmocka_unit_test(texts_of_an_answer_may_not_overlap),
		cmocka_unit_test(locations_have_a_cap),
		cmocka_unit_test(allocations_may_fail),
		cmocka_unit_test(functions_are_found),
		cmocka_unit_test(where_virtual_threads_park_is_found),
		cmocka_unit_test(where_threads_spin_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
