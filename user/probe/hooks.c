#include "probe/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jvm-hooks/probes.h"
#include "probe/usdt.h"

#define SYMBOL "spoor_hooks"

/* The int that stands in the file where addr is mapped from. It is const there: the file is right,
 * also for a JVM that has only just mapped it. */
static bool int_read(Elf *elf, uint64_t addr, int *ret)
{
	size_t size, count = 0;
	const char *file = elf_rawfile(elf, &size);
	GElf_Phdr p;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; file && i < count; i++) {
		uint64_t at;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || addr < p.p_vaddr ||
		    addr - p.p_vaddr >= p.p_filesz)
			continue;
		at = addr - p.p_vaddr + p.p_offset;
		if (at > size || size - at < sizeof(*ret))
			return false;
		memcpy(ret, file + at, sizeof(*ret));
		return true;
	}
	return false;
}

/* 0: it exports none, or nothing that can be read. */
static int version_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	int version = 0;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (name && symbol.st_shndx != SHN_UNDEF && !strcmp(name, SYMBOL))
			return int_read(elf, symbol.st_value, &version) ? version : 0;
	}
	return 0;
}

static int version_read(const char *path, int *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	*ret = 0;
	while (elf && !*ret && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			*ret = version_in(elf, section, &header);
	elf_end(elf);
	close(fd);
	return elf ? 0 : -ENOEXEC;
}

/* The name of a probe that is not there; NULL: all are. */
static const char *probes_count(const struct usdt_list *list, struct hooks *h)
{
#define NAME(name) #name,
	static const char *const names[] = {SPOOR_PROBES(NAME)};
#undef NAME
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct usdt_probe *p = usdt_find(list, SPOOR_PROVIDER, names[i]);

		if (p) {
			h->probes += p->locations;
			h->nop5 += p->site == USDT_SITE_NOP5 ? p->locations : 0;
		} else {
			missing = names[i];
		}
	}
	return missing;
}

int hooks_read(const char *path, struct hooks *ret)
{
	struct hooks h = {0};
	struct usdt_list list;
	const char *missing;
	int err = version_read(path, &h.version);

	if (!err && h.version) {
		err = usdt_list_read(path, &list);
		if (err)
			return err;
		missing = probes_count(&list, &h);
		usdt_list_free(&list);
		h.usable = h.version == SPOOR_HOOKS && !missing;
		if (h.version != SPOOR_HOOKS)
			snprintf(h.why, sizeof(h.why),
				 "its hooks are of version %d, this spoor knows version %d",
				 h.version, SPOOR_HOOKS);
		else if (missing)
			snprintf(h.why, sizeof(h.why), "it lacks the probe " SPOOR_PROVIDER ":%s",
				 missing);
	}
	if (!err)
		*ret = h;
	return err;
}
