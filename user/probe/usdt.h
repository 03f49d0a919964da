/* probe/usdt.h: the USDT probes that a library says it has, from its ELF notes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands at a probe's location: decides what a hit costs, or that the file is not what its
 * notes say. */
enum usdt_site { USDT_SITE_NOP1, USDT_SITE_NOP5, USDT_SITE_OTHER };

struct usdt_location {
	const char *args;     /* as in the note: "-8@%rbx 8@%r13"; usdt_arg.h reads them */
	uint64_t file_offset; /* of the probe's instruction; 0: it, or its semaphore, is in no
				 segment */
	uint64_t semaphore;   /* the file offset of that; 0: it has none */
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

/* A library without probes gives an empty list. -ENOEXEC: not a 64-bit ELF file. -errno of open. */
int usdt_list_read(const char *path, struct usdt_list *ret);
/* The same of a file in memory, which stays unchanged. */
int usdt_list_parse(void *image, size_t size, struct usdt_list *ret);
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
