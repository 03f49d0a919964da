/* jvm/elf/elf_file.h: a 64-bit little-endian ELF file, read with bounds: nothing in it is
 * believed. */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* Of a descriptor, which is read and never mapped, or of an image in memory. */
struct elf_file {
	int fd;
	const char *image; /* NULL: fd is read */
	uint64_t size;
	uint64_t budget; /* bytes of sections that may still be read */
	Elf64_Ehdr head;
	Elf64_Phdr *loads; /* its PT_LOADs, by address */
	size_t load_count;
	Elf64_Shdr *sections;
	size_t section_count;
	char *names; /* of sections; ends with a NUL */
	size_t names_len;
};

/*
 * The descriptor and the image are lent until elf_file_close(). -ENOEXEC: it is no such file, is
 * cut short, or has more headers than a library has (1,024 segments, 4,096 sections; no PN_XNUM).
 * -ENOMEM; -EIO and others of pread().
 */
int elf_file_open(int fd, struct elf_file *ret);
int elf_file_open_image(const void *image, size_t size, struct elf_file *ret);
void elf_file_close(struct elf_file *f);

/* All of len bytes at an offset in the file. -ENOEXEC: they are not all there. */
int elf_file_read(const struct elf_file *f, uint64_t at, void *ret, size_t len);
/*
 * A section's bytes and a NUL after them, freed with free(). -ENOEXEC: they are not all there, or
 * more than 64 MiB of the file would have been read by now.
 */
int elf_file_section(struct elf_file *f, const Elf64_Shdr *s, char **ret, size_t *ret_len);
/* "": it has none. Lent until elf_file_close(). */
const char *elf_file_section_name(const struct elf_file *f, const Elf64_Shdr *s);
/* Where the file has what is at an address of its memory image; 0: nowhere. */
uint64_t elf_file_offset(const struct elf_file *f, uint64_t addr);

/* One note of a section's bytes. */
struct elf_note {
	uint32_t type, name_len, desc_len;
	const char *name, *desc; /* lent from the bytes */
};

/* The note at *at of a section with these bytes, whose sh_addralign is align, and *at after it. 0:
 * there is none. */
int elf_note_next(const char *bytes, size_t len, uint64_t align, uint64_t *at,
		  struct elf_note *ret);
