/* jvm/elf/elf_file.c: what a forged, cut or growing file makes of it is an error, and bounded work. */
#include "jvm/elf/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

#define SECTIONS_AT 0x1000
#define NOTES_AT 0x2000
#define NAMES_AT 0x3000
#define SIZE 0x4000

struct image {
	_Alignas(8) char bytes[SIZE];
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Shdr sections[3];
};

static const char names[] = "\0.note\0.names";

static void image_make(struct image *m)
{
	memset(m, 0, sizeof(*m));
	m->head = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = SECTIONS_AT,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2};
	m->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_vaddr = 0x9000, .p_offset = 0x2000, .p_filesz = 0x100};
	m->segments[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_vaddr = 0x9800, .p_filesz = 0x100};
	m->segments[2] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_vaddr = 0x5000, .p_offset = 0x40, .p_filesz = 0x1000};
	m->sections[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = NOTES_AT, .sh_size = 64};
	m->sections[2] = (Elf64_Shdr){.sh_name = 7,
				      .sh_type = SHT_STRTAB,
				      .sh_offset = NAMES_AT,
				      .sh_size = sizeof(names)};
}

static void image_put(struct image *m)
{
	memcpy(m->bytes, &m->head, sizeof(m->head));
	memcpy(m->bytes + sizeof(m->head), m->segments, sizeof(m->segments));
	memcpy(m->bytes + SECTIONS_AT, m->sections, sizeof(m->sections));
	memcpy(m->bytes + NAMES_AT, names, sizeof(names));
}

static int image_open(struct image *m, struct elf_file *ret)
{
	image_put(m);
	return elf_file_open_image(m->bytes, SIZE, ret);
}

static int image_fd(struct image *m)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	image_put(m);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, m->bytes, SIZE), SIZE);
	return fd;
}

static void headers_are_read(void **state)
{
	static struct image m;
	struct elf_file f;

	(void)state;
	image_make(&m);
	assert_int_equal(image_open(&m, &f), 0);
	assert_int_equal(f.load_count, 2);
	assert_int_equal(elf_file_offset(&f, 0x5000), 0x40);
	assert_int_equal(elf_file_offset(&f, 0x5fff), 0x103f);
	assert_int_equal(elf_file_offset(&f, 0x6000), 0);
	assert_int_equal(elf_file_offset(&f, 0x9010), 0x2010);
	assert_int_equal(elf_file_offset(&f, 0x9100), 0);
	assert_int_equal(elf_file_offset(&f, 0x4fff), 0);
	assert_int_equal(elf_file_offset(&f, UINT64_MAX), 0);
	assert_string_equal(elf_file_section_name(&f, &f.sections[1]), ".note");
	f.sections[1].sh_name = 1u << 31;
	assert_string_equal(elf_file_section_name(&f, &f.sections[1]), "");
	elf_file_close(&f);
}

static void counts_have_caps(void **state)
{
	static const uint16_t segments[] = {PN_XNUM, 1025, 65000};
	static struct image m;
	struct elf_file f;

	(void)state;
	for (size_t i = 0; i < sizeof(segments) / sizeof(*segments); i++) {
		image_make(&m);
		m.head.e_phnum = segments[i];
		m.sections[0].sh_info = 4000000; /* what PN_XNUM leads to */
		assert_int_equal(image_open(&m, &f), -ENOEXEC);
	}
	image_make(&m);
	m.head.e_shnum = 4097;
	assert_int_equal(image_open(&m, &f), -ENOEXEC);
	image_make(&m);
	m.head.e_phentsize = 8;
	assert_int_equal(image_open(&m, &f), -ENOEXEC);
	/* Headers and sections that are outside of the file, also by a sum that wraps. */
	image_make(&m);
	m.head.e_phoff = UINT64_MAX - 8;
	assert_int_equal(image_open(&m, &f), -ENOEXEC);
	image_make(&m);
	m.head.e_shoff = SIZE - 8;
	assert_int_equal(image_open(&m, &f), -ENOEXEC);
	image_make(&m);
	m.sections[2].sh_offset = UINT64_MAX;
	assert_int_equal(image_open(&m, &f), -ENOEXEC);
}

static void sections_have_a_budget(void **state)
{
	static struct image m;
	struct elf_file f;
	Elf64_Shdr whole = {.sh_type = SHT_NOTE, .sh_size = 24u << 20};
	char *bytes;
	size_t len;
	int fd;

	(void)state;
	image_make(&m);
	fd = image_fd(&m);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_int_equal(elf_file_open(fd, &f), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(elf_file_section(&f, &whole, &bytes, &len), 0);
		assert_int_equal(len, 24u << 20);
		free(bytes);
	}
	assert_int_equal(elf_file_section(&f, &whole, &bytes, &len), -ENOEXEC);
	whole.sh_type = SHT_NOBITS;
	assert_int_equal(elf_file_section(&f, &whole, &bytes, &len), 0);
	assert_int_equal(len, 0);
	free(bytes);
	elf_file_close(&f);
	close(fd);
}

/* A mapping would end this process with SIGBUS. */
static void a_file_may_be_cut_at_any_time(void **state)
{
	static struct image m;
	struct elf_file f;
	char *bytes;
	size_t len;
	int fd;

	(void)state;
	for (size_t size = 0; size < SIZE; size += 61) {
		image_make(&m);
		fd = image_fd(&m);
		assert_int_equal(elf_file_open(fd, &f), 0);
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		if (!elf_file_section(&f, &f.sections[1], &bytes, &len)) {
			assert_true(size >= NOTES_AT + 64);
			free(bytes);
		}
		elf_file_close(&f);
		if (!elf_file_open(fd, &f)) {
			assert_true(size >= NAMES_AT + sizeof(names));
			elf_file_close(&f);
		}
		close(fd);
	}
}

static void notes_end_with_their_section(void **state)
{
	static const uint32_t words[] = {4, 4, 3, 0x554e47, 0x01020304, 0, 0xfffffff0, 7, 0};
	struct elf_note n;
	uint64_t at = 0;

	(void)state;
	assert_int_equal(elf_note_next((const char *)words, sizeof(words), 4, &at, &n), 1);
	assert_int_equal(n.type, 3);
	assert_int_equal(n.desc_len, 4);
	assert_string_equal(n.name, "GNU");
	assert_int_equal(n.desc[0], 4);
	assert_int_equal(at, 20);
	/* The second is longer than what is there. */
	assert_int_equal(elf_note_next((const char *)words, sizeof(words), 4, &at, &n), 0);
	for (size_t len = 0; len < 20; len++) {
		at = 0;
		assert_int_equal(elf_note_next((const char *)words, len, 4, &at, &n), 0);
	}
	at = UINT64_MAX;
	assert_int_equal(elf_note_next((const char *)words, sizeof(words), 8, &at, &n), 0);
}

static void what_is_no_regular_file_is_not_read(void **state)
{
	struct elf_file f;
	int fds[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(elf_file_open(fds[0], &f), -ENOEXEC);
	assert_int_equal(elf_file_open(null, &f), -ENOEXEC);
	assert_int_equal(elf_file_open(-1, &f), -EBADF);
	close(fds[0]);
	close(fds[1]);
	close(null);
}

static void allocations_may_fail(void **state)
{
	static struct image m;
	struct elf_file f;
	unsigned long n = 0;
	int err;

	(void)state;
	image_make(&m);
	do {
		alloc_fail_at(n++);
		err = image_open(&m, &f);
		assert_true(!err || err == -ENOMEM);
		if (!err)
			elf_file_close(&f);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_read),
		cmocka_unit_test(counts_have_caps),
		cmocka_unit_test(sections_have_a_budget),
		cmocka_unit_test(a_file_may_be_cut_at_any_time),
		cmocka_unit_test(notes_end_with_their_section),
		cmocka_unit_test(what_is_no_regular_file_is_not_read),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests_name("elf_file", tests, NULL, NULL);
}
