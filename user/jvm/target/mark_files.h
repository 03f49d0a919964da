/* jvm/target/mark_files.h: the files that a process has mapped, each looked at once for marks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_lib;
struct uprobe_links;

#define MARK_FILES_MAX 4096

enum mark_probe { MARK_BEGIN, MARK_END, MARK_PROBE_COUNT };

struct mark_file {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool mapped;   /* seen in this look */
	bool attached; /* by the following */
	struct uprobe_links *links[MARK_PROBE_COUNT];
	int fd[MARK_PROBE_COUNT]; /* of uprobe_multi links; 0: none */
};

/* Sorted by device and inode; begins as {0}, ends with free(list). */
struct mark_files {
	struct mark_file *list;
	uint32_t count, capacity;
};

/* 0: it is known, *ret is lent until the next call. -ENOENT: it is not. */
int mark_files_find(const struct mark_files *m, const struct process_lib *lib,
		    struct mark_file **ret);
/* For one that is not known. -E2BIG: MARK_FILES_MAX are known already. -ENOMEM. */
int mark_files_add(struct mark_files *m, const struct process_lib *lib, struct mark_file **ret);
/* Takes out all that are not mapped; each is passed to gone before. */
void mark_files_forget(struct mark_files *m, void (*gone)(void *ctx, struct mark_file *f),
		       void *ctx);
