#include "jvm/elf/libjvm.h"

#include "base/arch/arch.h"
#include "base/text/strbuf.h"
#include "jvm/elf/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const symbol_names[VMSYM_COUNT] = {
	[VMSYM_STRUCTS] = "gHotSpotVMStructs",
	[VMSYM_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[VMSYM_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[VMSYM_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[VMSYM_STRUCT_TYPE_STRING] = "gHotSpotVMStructEntryTypeStringOffset",
	[VMSYM_STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[VMSYM_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[VMSYM_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[VMSYM_TYPES] = "gHotSpotVMTypes",
	[VMSYM_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[VMSYM_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[VMSYM_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[VMSYM_INTS] = "gHotSpotVMIntConstants",
	[VMSYM_INT_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
	[VMSYM_INT_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
	[VMSYM_INT_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
	[VMSYM_LONGS] = "gHotSpotVMLongConstants",
	[VMSYM_LONG_STRIDE] = "gHotSpotVMLongConstantEntryArrayStride",
	[VMSYM_LONG_NAME] = "gHotSpotVMLongConstantEntryNameOffset",
	[VMSYM_LONG_VALUE] = "gHotSpotVMLongConstantEntryValueOffset",
};

#define HOOKS_SYMBOL "spoor_hooks"

/* It is an int, const in the JVM: the file is right, also for a JVM that has only just mapped
 * it. */
static void hooks_take(const struct elf_file *f, uint64_t addr, struct libjvm *ret)
{
	uint64_t at = elf_file_offset(f, addr);
	int value;

	if (at && !elf_file_read(f, at, &value, sizeof(value)))
		ret->hooks = value;
}

static void symbol_take(const struct elf_file *f, const char *name, uint64_t value,
			struct libjvm *ret)
{
	for (int i = 0; i < VMSYM_COUNT; i++)
		if (!strcmp(name, symbol_names[i]))
			ret->symbols[i] = value;
	if (!strcmp(name, HOOKS_SYMBOL))
		hooks_take(f, value, ret);
}

static int symbols_read(struct elf_file *f, const Elf64_Shdr *section, struct libjvm *ret)
{
	char *text = NULL, *bytes = NULL;
	size_t text_len = 0, len = 0;
	Elf64_Sym symbol;
	int err;

	if (section->sh_link >= f->section_count)
		return -ENOEXEC;
	err = elf_file_section(f, section, &bytes, &len);
	if (!err)
		err = elf_file_section(f, &f->sections[section->sh_link], &text, &text_len);
	for (size_t at = 0; !err && len - at >= sizeof(symbol); at += sizeof(symbol)) {
		memcpy(&symbol, bytes + at, sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < text_len)
			symbol_take(f, text + symbol.st_name, symbol.st_value, ret);
	}
	free(bytes);
	free(text);
	return err;
}

static int build_id_read(struct elf_file *f, const Elf64_Shdr *section, struct libjvm *ret)
{
	struct elf_note n;
	uint64_t at = 0;
	char *bytes;
	size_t len;
	int err = elf_file_section(f, section, &bytes, &len);

	while (!err && elf_note_next(bytes, len, section->sh_addralign, &at, &n)) {
		if (n.type != NT_GNU_BUILD_ID || n.name_len != 4 || memcmp(n.name, "GNU", 4) ||
		    n.desc_len > (BUILD_ID_TEXT_MAX - 1) / 2)
			continue;
		*ret->build_id = '\0';
		for (uint32_t i = 0; i < n.desc_len; i++)
			buffer_add(ret->build_id, BUILD_ID_TEXT_MAX, "%02x",
				   (unsigned char)n.desc[i]);
	}
	if (!err)
		free(bytes);
	return err;
}

static int segments_read(const struct elf_file *f, struct libjvm *ret)
{
	bool first = false;

	for (size_t i = 0; i < f->load_count; i++) {
		const Elf64_Phdr *p = &f->loads[i];
		uint64_t end = p->p_vaddr + p->p_memsz;

		if (p->p_offset < ARCH_PAGE_MIN && !first) {
			first = true;
			ret->first_vaddr = p->p_vaddr & ~(ARCH_PAGE_MIN - 1);
		}
		if (!(p->p_flags & PF_X))
			continue;
		if (!ret->text_high || p->p_vaddr < ret->text_low)
			ret->text_low = p->p_vaddr;
		if (end > ret->text_high)
			ret->text_high = end;
	}
	return first ? 0 : -ENOEXEC;
}

int libjvm_read(struct elf_file *f, struct libjvm *ret)
{
	struct libjvm lib = {0};
	int err = segments_read(f, &lib);

	for (size_t i = 0; !err && i < f->section_count; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (s->sh_type == SHT_DYNSYM)
			err = symbols_read(f, s, &lib);
		else if (s->sh_type == SHT_NOTE && s->sh_flags & SHF_ALLOC)
			err = build_id_read(f, s, &lib);
	}
	for (int i = 0; !err && i < VMSYM_COUNT; i++)
		if (!lib.symbols[i])
			err = -ENOENT;
	if (!err)
		*ret = lib;
	return err;
}

bool libjvm_sound(const struct libjvm *l)
{
	size_t len = strnlen(l->build_id, sizeof(l->build_id));

	return len < sizeof(l->build_id) && strspn(l->build_id, "0123456789abcdef") == len;
}
