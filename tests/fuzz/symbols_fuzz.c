/* Reads any bytes as an ELF file with symbols, as the kernel's list of its functions, and as the
 * name of a C++ function: no wrong access, and strings that end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/cxx_name.h"
#include "jvm/elf/elf_file.h"
#include "jvm/elf/elf_symbols.h"
#include "jvm/target/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(condition) ((condition) ? (void)0 : abort())

static void found_check(const struct elf_symbols *s, uint64_t at)
{
	struct elf_symbol symbol = {0};

	if (elf_symbols_find(s, at, &symbol))
		return;
	ENSURE(symbol.start <= at && at < symbol.end);
	ENSURE(memchr(symbol.name, 0, sizeof(symbol.name)));
}

static void elf_check(const char *bytes, size_t size)
{
	struct elf_symbols *s;
	struct elf_file f;

	if (elf_file_open_image(bytes, size, &f))
		return;
	if (!elf_symbols_read(&f, &s)) {
		for (size_t i = 0; i + sizeof(uint64_t) <= size && i < 512; i++) {
			uint64_t at;

			memcpy(&at, bytes + size - sizeof(at) - i, sizeof(at));
			found_check(s, at);
			found_check(s, at - 1);
		}
		found_check(s, 0);
		found_check(s, UINT64_MAX);
		elf_symbols_free(s);
	}
	elf_file_close(&f);
}

static void kernel_check(const char *text)
{
	struct kernel_symbols *s;
	uint64_t start, end;

	if (kernel_symbols_parse(text, &s))
		return;
	for (uint64_t at = 1; at; at <<= 1) {
		const char *name = kernel_symbols_find(s, at, &start, &end);

		ENSURE(!name || (start <= at && at < end && strlen(name) < 512));
	}
	kernel_symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), name[64];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	elf_check(text, size);
	kernel_check(text);
	cxx_name(text, name, sizeof(name));
	ENSURE(strlen(name) < sizeof(name));
	free(text);
	return 0;
}
