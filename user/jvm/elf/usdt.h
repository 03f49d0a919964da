/* jvm/elf/usdt.h: the USDT probes that a library says it has, from its ELF notes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* What stands at a probe's location: decides what a hit costs, or that the file is not what its
 * notes say. */
enum usdt_site {
	USDT_SITE_NOP,      /* a hit is a trap */
	USDT_SITE_NOP_CALL, /* a longer one: newer kernels make a call of it, which costs less */
	USDT_SITE_NOPS,     /* several (struct arch's nops), to choose from by the kernel */
	USDT_SITE_OTHER,
};

struct usdt_location {
	const char *args;     /* as in the note: "-8@%rbx 8@%r13"; usdt_arg.h reads them */
	uint64_t file_offset; /* of the probe's instruction; 0: it, or its semaphore, is in no
				 segment */
	uint64_t semaphore;   /* the file offset of that; 0: it has none */
	enum usdt_site site;
};

struct usdt_probe {
	const char *provider, *name;
	const char *args;               /* of the first location */
	const struct usdt_location *at; /* [locations] */
	uint32_t locations;
	bool semaphore;       /* has one: it only fires while somebody has raised it */
	enum usdt_site site;  /* of the first location */
	uint64_t file_offset; /* likewise */
	uint64_t semaphore_offset;
};

struct usdt_list {
	struct usdt_probe *probes; /* by provider and name */
	size_t count;
	struct usdt_location *locations; /* of all probes */
	char *text;                      /* what the strings point into */
};

/*
 * The probes of a file as one flat piece of memory, freed with free(): what the parser process
 * (parser.h) hands to the recorder. A library without probes gives one of no probes. -ENOEXEC,
 * -ENOMEM and others of elf_file.h; -E2BIG: more than 16,384 locations or 4 MiB of text.
 */
int usdt_flat_read(struct elf_file *f, char **ret, size_t *ret_len);
/*
 * The same of functions without probes, of provider USDT_FUNCTIONS, where the file's symbol table
 * has them (a stripped one has none): those of HotSpot in which virtual threads begin and end what
 * has no probe. A probe is the entry of its function, its arguments those of the calling
 * convention; or, if its name ends with USDT_RETURN, the function's return, with its result.
 * USDT_SPIN has no arguments, but the addresses in the file, "LOW-HIGH" in hexadecimal digits,
 * between which threads spin.
 */
#define USDT_FUNCTIONS "libjvm"
#define USDT_RETURN "__return"
#define USDT_SPIN "monitor_spin"
int usdt_flat_functions(struct elf_file *f, char **ret, size_t *ret_len);
/* The list that is in such a piece; nothing in the piece is believed. -EPROTO: it is not one. */
int usdt_list_decode(const char *flat, size_t len, struct usdt_list *ret);
/* Both, of a file in memory. */
int usdt_list_parse(const void *image, size_t size, struct usdt_list *ret);
void usdt_list_free(struct usdt_list *l);
/* NULL: it has none of that name. */
const struct usdt_probe *usdt_find(const struct usdt_list *l, const char *provider,
				   const char *name);

/* The description of one note of type 3 and owner "stapsdt"; strings are lent. */
struct usdt_note {
	uint64_t location, base, semaphore;
	const char *provider, *name, *args;
};

/* -EPROTO: cut short. */
int usdt_note_parse(const char *desc, size_t len, struct usdt_note *ret);
