#include "jvm/elf/elf_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The owner of the file may write, truncate or forge it at any time. So it is read with pread(),
 * never mapped (a mapping of a truncated file ends its reader with SIGBUS), every length is
 * compared with what is there, and all that is proportional to a number in the file has a cap:
 * headers, bytes of sections. Addresses are looked up by bisection: notes times segments would be
 * work without a bound.
 */

#define SEGMENTS_MAX 1024
#define SECTIONS_MAX 4096
#define NAMES_MAX (1u << 20)
#define SECTION_BYTES_MAX (64u << 20)

int elf_file_read(const struct elf_file *f, uint64_t at, void *ret, size_t len)
{
	char *to = ret;

	if (at > f->size || len > f->size - at)
		return -ENOEXEC;
	if (f->image) {
		memcpy(ret, f->image + at, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(f->fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) /* it was cut short meanwhile */
			return n ? -errno : -ENOEXEC;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const Elf64_Phdr *x = a, *y = b;

	return x->p_vaddr < y->p_vaddr ? -1 : x->p_vaddr > y->p_vaddr;
}

static int segments_read(struct elf_file *f)
{
	size_t count = f->head.e_phnum;
	int err;

	if (!count)
		return 0;
	if (count > SEGMENTS_MAX || f->head.e_phentsize != sizeof(*f->loads))
		return -ENOEXEC;
	f->loads = malloc(count * sizeof(*f->loads));
	if (!f->loads)
		return -ENOMEM;
	err = elf_file_read(f, f->head.e_phoff, f->loads, count * sizeof(*f->loads));
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		if (f->loads[i].p_type == PT_LOAD)
			f->loads[f->load_count++] = f->loads[i];
	qsort(f->loads, f->load_count, sizeof(*f->loads), by_address);
	return 0;
}

static int names_read(struct elf_file *f)
{
	const Elf64_Shdr *s = &f->sections[f->head.e_shstrndx];

	if (f->head.e_shstrndx >= f->section_count || s->sh_type != SHT_STRTAB ||
	    s->sh_size > NAMES_MAX)
		return 0;
	return elf_file_section(f, s, &f->names, &f->names_len);
}

static int sections_read(struct elf_file *f)
{
	size_t count = f->head.e_shnum;
	int err;

	if (!count)
		return 0;
	if (count > SECTIONS_MAX || f->head.e_shentsize != sizeof(*f->sections))
		return -ENOEXEC;
	f->sections = malloc(count * sizeof(*f->sections));
	if (!f->sections)
		return -ENOMEM;
	err = elf_file_read(f, f->head.e_shoff, f->sections, count * sizeof(*f->sections));
	if (err)
		return err;
	f->section_count = count;
	return names_read(f);
}

static int headers_read(struct elf_file *f)
{
	int err = elf_file_read(f, 0, &f->head, sizeof(f->head));

	if (err)
		return err;
	if (memcmp(f->head.e_ident, ELFMAG, SELFMAG) || f->head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    f->head.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	err = segments_read(f);
	return err ? err : sections_read(f);
}

static int finish(struct elf_file *f, struct elf_file *ret)
{
	int err;

	f->budget = SECTION_BYTES_MAX;
	err = headers_read(f);
	if (err)
		elf_file_close(f);
	else
		*ret = *f;
	return err;
}

int elf_file_open(int fd, struct elf_file *ret)
{
	struct elf_file f = {.fd = fd};
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	f.size = (uint64_t)st.st_size;
	return finish(&f, ret);
}

int elf_file_open_image(const void *image, size_t size, struct elf_file *ret)
{
	struct elf_file f = {.fd = -1, .image = image, .size = size};

	return finish(&f, ret);
}

void elf_file_close(struct elf_file *f)
{
	free(f->loads);
	free(f->sections);
	free(f->names);
	*f = (struct elf_file){.fd = -1};
}

int elf_file_section(struct elf_file *f, const Elf64_Shdr *s, char **ret, size_t *ret_len)
{
	size_t size = s->sh_type == SHT_NOBITS ? 0 : s->sh_size;
	char *bytes;
	int err;

	if (size > f->budget || size > f->size)
		return -ENOEXEC;
	f->budget -= size;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	err = size ? elf_file_read(f, s->sh_offset, bytes, size) : 0;
	if (err) {
		free(bytes);
		return err;
	}
	bytes[size] = 0;
	*ret = bytes;
	*ret_len = size;
	return 0;
}

const char *elf_file_section_name(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_name < f->names_len ? f->names + s->sh_name : "";
}

/* The last segment that begins at addr or before it is the only one that can have it, if segments
 * do not overlap; where they do, any answer is as good. */
uint64_t elf_file_offset(const struct elf_file *f, uint64_t addr)
{
	size_t low = 0, high = f->load_count;
	const Elf64_Phdr *p;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->loads[mid].p_vaddr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	p = &f->loads[low - 1];
	return addr - p->p_vaddr < p->p_filesz ? addr - p->p_vaddr + p->p_offset : 0;
}

int elf_note_next(const char *bytes, size_t len, uint64_t align, uint64_t *at, struct elf_note *ret)
{
	uint64_t name_end, end;
	Elf64_Nhdr head;

	if (*at > len || len - *at < sizeof(head))
		return 0;
	align = align == 8 ? 8 : 4;
	memcpy(&head, bytes + *at, sizeof(head));
	name_end = (*at + sizeof(head) + head.n_namesz + align - 1) & ~(align - 1);
	end = name_end + head.n_descsz;
	if (name_end > len || end > len)
		return 0;
	*ret = (struct elf_note){.type = head.n_type,
				 .name_len = head.n_namesz,
				 .desc_len = head.n_descsz,
				 .name = bytes + *at + sizeof(head),
				 .desc = bytes + name_end};
	*at = (end + align - 1) & ~(align - 1);
	return 1;
}
