#include "jvm/libjvm.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void symbol_take(const char *name, uint64_t value, struct libjvm *ret)
{
	for (int i = 0; i < VMSYM_COUNT; i++)
		if (!strcmp(name, vmstructs_symbol_names[i]))
			ret->symbols[i] = value;
}

static int symbols_read(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct libjvm *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	if (!data)
		return -ENOEXEC;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name && symbol.st_shndx != SHN_UNDEF)
			symbol_take(name, symbol.st_value, ret);
	}
	return 0;
}

static void build_id_read(Elf_Scn *section, struct libjvm *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at)) > 0) {
		const unsigned char *desc = (const unsigned char *)data->d_buf + desc_at;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((const char *)data->d_buf + name_at, "GNU", 4) ||
		    note.n_descsz > (BUILD_ID_TEXT_MAX - 1) / 2)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(ret->build_id + 2 * i, 3, "%02x", desc[i]);
	}
}

static void segment_take(const GElf_Phdr *p, bool *first, struct libjvm *ret)
{
	uint64_t end = p->p_vaddr + p->p_memsz;

	if (p->p_type != PT_LOAD)
		return;
	if (p->p_offset < 4096 && !*first) {
		*first = true;
		ret->first_vaddr = p->p_vaddr & ~4095ull;
	}
	if (!(p->p_flags & PF_X))
		return;
	if (!ret->text_high || p->p_vaddr < ret->text_low)
		ret->text_low = p->p_vaddr;
	if (end > ret->text_high)
		ret->text_high = end;
}

static int segments_read(Elf *elf, struct libjvm *ret)
{
	bool first = false;
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &p))
			segment_take(&p, &first, ret);
	return first ? 0 : -ENOEXEC;
}

static int elf_read(Elf *elf, struct libjvm *ret)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr head;
	GElf_Shdr header;
	int err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head) ||
	    gelf_getclass(elf) != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	err = segments_read(elf, ret);
	while (!err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -ENOEXEC;
		if (header.sh_type == SHT_DYNSYM)
			err = symbols_read(elf, section, &header, ret);
		else if (header.sh_type == SHT_NOTE && header.sh_flags & SHF_ALLOC)
			build_id_read(section, ret);
	}
	for (int i = 0; !err && i < VMSYM_COUNT; i++)
		if (!ret->symbols[i])
			err = -ENOENT;
	return err;
}

int libjvm_read(const char *path, struct libjvm *ret)
{
	struct libjvm lib = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = -ENOEXEC;
	Elf *elf = NULL;

	if (fd < 0)
		return -errno;
	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		err = elf_read(elf, &lib);
	elf_end(elf);
	close(fd);
	if (!err)
		*ret = lib;
	return err;
}
