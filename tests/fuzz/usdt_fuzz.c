/* Reads any bytes as an ELF file with USDT notes, as the list of them that the parser process hands
 * over, and as one note: no wrong access, and strings that end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/elf/elf_file.h"
#include "jvm/elf/libjvm.h"
#include "jvm/elf/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())

static void list_check(const struct usdt_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct usdt_probe *p = &l->probes[i];

		ENSURE(p->locations &&
		       strlen(p->provider) + strlen(p->name) + strlen(p->args) < SIZE_MAX);
		ENSURE(usdt_find(l, p->provider, p->name) == p);
		for (uint32_t k = 0; k < p->locations; k++)
			ENSURE(strlen(p->at[k].args) < SIZE_MAX);
	}
}

/* Its functions, as the parser process finds them and hands them over. */
static void functions_check(const char *image, size_t size)
{
	struct usdt_list list;
	struct elf_file f;
	char *flat;
	size_t len;

	if (elf_file_open_image(image, size, &f))
		return;
	if (!usdt_flat_functions(&f, &flat, &len)) {
		ENSURE(!usdt_list_decode(flat, len, &list));
		list_check(&list);
		usdt_list_free(&list);
		free(flat);
	}
	elf_file_close(&f);
}

/* As libjvm.so: its symbols, build id and segments. */
static void libjvm_check(const char *image, size_t size)
{
	struct libjvm lib;
	struct elf_file f;

	if (elf_file_open_image(image, size, &f))
		return;
	if (!libjvm_read(&f, &lib))
		ENSURE(libjvm_sound(&lib));
	elf_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: ASan sees a step beyond. */
	char *copy = malloc(size ? size : 1);
	struct usdt_list list;
	struct usdt_note note;

	ENSURE(copy);
	if (size)
		memcpy(copy, data, size);
	if (!usdt_list_parse(copy, size, &list)) {
		list_check(&list);
		usdt_list_free(&list);
	}
	functions_check(copy, size);
	libjvm_check(copy, size);
	/* As the answer of a parser process that was taken over. */
	if (!usdt_list_decode(copy, size, &list)) {
		list_check(&list);
		usdt_list_free(&list);
	}
	if (!usdt_note_parse(copy, size, &note))
		ENSURE(note.provider + strlen(note.provider) < note.name &&
		       note.name + strlen(note.name) < note.args &&
		       note.args + strlen(note.args) < copy + size);
	free(copy);
	return 0;
}
