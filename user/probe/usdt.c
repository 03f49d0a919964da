#include "probe/usdt.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * <sys/sdt.h> leaves a note per location of a probe: its address, the address that .stapsdt.base
 * had when the note was assembled (prelinking moves both: the difference corrects the location),
 * its semaphore's address or 0, then provider, name and arguments as C strings.
 */

#define NOTE_TYPE 3
#define NOTE_OWNER "stapsdt"
#define PROBES_MAX 65536

struct reader {
	Elf *elf;
	struct usdt_list list;
	size_t capacity, text_len, text_capacity;
	uint64_t base; /* address of .stapsdt.base; 0: none */
};

int usdt_note_parse(const char *desc, size_t len, struct usdt_note *ret)
{
	struct usdt_note n;
	const char *strings[3], *at = desc + 24, *end = desc + len;

	if (len < 24 + 3)
		return -EPROTO;
	memcpy(&n.location, desc, 8);
	memcpy(&n.base, desc + 8, 8);
	memcpy(&n.semaphore, desc + 16, 8);
	for (int i = 0; i < 3; i++) {
		const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

		if (!stop)
			return -EPROTO;
		strings[i] = at;
		at = stop + 1;
	}
	n.provider = strings[0];
	n.name = strings[1];
	n.args = strings[2];
	*ret = n;
	return 0;
}

static int probe_order(const void *a, const void *b)
{
	const struct usdt_probe *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	return order ? order : strcmp(x->name, y->name);
}

/* The locations of a probe stay in the order of the notes, which is that of the text. */
static int location_order(const void *a, const void *b)
{
	const struct usdt_probe *x = a, *y = b;
	int order = probe_order(x, y);

	return order ? order : x->args < y->args ? -1 : x->args > y->args;
}

/* Where the file has what is at an address of its memory image; 0: nowhere. */
static uint64_t file_offset(Elf *elf, uint64_t addr)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && addr >= p.p_vaddr &&
		    addr - p.p_vaddr < p.p_filesz)
			return addr - p.p_vaddr + p.p_offset;
	return 0;
}

/* Which instruction stands there. */
static enum usdt_site site_read(Elf *elf, uint64_t at)
{
	static const unsigned char nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	size_t size;
	const unsigned char *file = (const unsigned char *)elf_rawfile(elf, &size);

	if (!file || !at || at >= size)
		return USDT_SITE_OTHER;
	if (file[at] == 0x90)
		return USDT_SITE_NOP1;
	return size - at >= sizeof(nop5) && !memcmp(file + at, nop5, sizeof(nop5))
		       ? USDT_SITE_NOP5
		       : USDT_SITE_OTHER;
}

/* Strings move while the text grows: they are kept as offsets until all are there. */
static int text_add(struct reader *r, const char *text, const char **ret_offset)
{
	size_t len = strlen(text) + 1;

	if (r->text_len + len > r->text_capacity) {
		size_t capacity = (r->text_capacity + len) * 2;
		char *grown = realloc(r->list.text, capacity);

		if (!grown)
			return -ENOMEM;
		r->list.text = grown;
		r->text_capacity = capacity;
	}
	memcpy(r->list.text + r->text_len, text, len);
	*ret_offset = (const char *)r->text_len;
	r->text_len += len;
	return 0;
}

static int note_add(struct reader *r, const struct usdt_note *n)
{
	uint64_t moved = r->base ? r->base - n->base : 0;
	uint64_t offset = file_offset(r->elf, n->location + moved);
	uint64_t semaphore = n->semaphore ? file_offset(r->elf, n->semaphore + moved) : 0;
	struct usdt_location *l;
	struct usdt_probe *p;
	int err;

	if (r->list.count >= PROBES_MAX)
		return -E2BIG;
	if (r->list.count == r->capacity) {
		size_t capacity = r->capacity ? r->capacity * 2 : 256;

		p = realloc(r->list.probes, capacity * sizeof(*p));
		if (!p)
			return -ENOMEM;
		r->list.probes = p;
		l = realloc(r->list.locations, capacity * sizeof(*l));
		if (!l)
			return -ENOMEM;
		r->list.locations = l;
		r->capacity = capacity;
	}
	p = &r->list.probes[r->list.count];
	*p = (struct usdt_probe){
		.locations = 1,
		.semaphore = n->semaphore != 0,
		.semaphore_offset = semaphore,
		.site = site_read(r->elf, offset),
		/* Without its semaphore it would never fire. */
		.file_offset = n->semaphore && !semaphore ? 0 : offset,
	};
	err = text_add(r, n->provider, &p->provider);
	if (!err)
		err = text_add(r, n->name, &p->name);
	if (!err)
		err = text_add(r, n->args, &p->args);
	r->list.count += !err;
	return err;
}

static int notes_read(struct reader *r, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t offset = 0, name_at, desc_at;
	struct usdt_note note;
	GElf_Nhdr head;
	int err = 0;

	while (!err && data &&
	       (offset = gelf_getnote(data, offset, &head, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (head.n_type != NOTE_TYPE || head.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + name_at, NOTE_OWNER, sizeof(NOTE_OWNER)))
			continue;
		/* A note that is cut short is no probe; the others are still good. */
		if (!usdt_note_parse(bytes + desc_at, head.n_descsz, &note))
			err = note_add(r, &note);
	}
	return err;
}

static int sections_read(struct reader *r)
{
	size_t names;
	GElf_Shdr header;
	Elf_Scn *section = NULL;
	int err = 0;

	if (elf_getshdrstrndx(r->elf, &names))
		return -ENOEXEC;
	while ((section = elf_nextscn(r->elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			return -ENOEXEC;
		name = elf_strptr(r->elf, names, header.sh_name);
		if (name && !strcmp(name, ".stapsdt.base"))
			r->base = header.sh_addr;
	}
	while (!err && (section = elf_nextscn(r->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			err = notes_read(r, section);
	return err;
}

/* Puts pointers in place of offsets, and the locations of a probe together. */
static void list_finish(struct usdt_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct usdt_probe *p = &l->probes[i];

		p->provider = l->text + (size_t)p->provider;
		p->name = l->text + (size_t)p->name;
		p->args = l->text + (size_t)p->args;
	}
	if (l->count)
		qsort(l->probes, l->count, sizeof(*l->probes), location_order);
	for (size_t i = 0; i < l->count; i++) {
		l->locations[i] = (struct usdt_location){
			l->probes[i].args, l->probes[i].file_offset, l->probes[i].semaphore_offset};
		l->probes[i].at = &l->locations[i];
		if (n && !probe_order(&l->probes[n - 1], &l->probes[i])) {
			l->probes[n - 1].locations++;
			l->probes[n - 1].semaphore |= l->probes[i].semaphore;
		} else {
			l->probes[n++] = l->probes[i];
		}
	}
	l->count = n;
}

static int elf_list(Elf *elf, struct usdt_list *ret)
{
	struct reader r = {.elf = elf};
	GElf_Ehdr head;
	int err;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head) ||
	    gelf_getclass(elf) != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	err = sections_read(&r);
	if (err) {
		usdt_list_free(&r.list);
		return err;
	}
	list_finish(&r.list);
	*ret = r.list;
	return 0;
}

int usdt_list_read(const char *path, struct usdt_list *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	err = elf_list(elf, ret);
	elf_end(elf);
	close(fd);
	return err;
}

int usdt_list_parse(void *image, size_t size, struct usdt_list *ret)
{
	Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_memory(image, size) : NULL;
	int err = elf_list(elf, ret);

	elf_end(elf);
	return err;
}

void usdt_list_free(struct usdt_list *l)
{
	free(l->probes);
	free(l->locations);
	free(l->text);
	*l = (struct usdt_list){0};
}

const struct usdt_probe *usdt_find(const struct usdt_list *l, const char *provider,
				   const char *name)
{
	struct usdt_probe key = {.provider = provider, .name = name};

	return l->count ? bsearch(&key, l->probes, l->count, sizeof(key), probe_order) : NULL;
}
