/* tests/walk/image_files.h: all recorded stacks of a folder, for tests that go through them. */
#pragma once

#include <dirent.h>

#include "tests/walk/image.h"

#define FILES_MAX 1024

struct file {
	char name[256];
	unsigned char *bytes;
	size_t size;
};

static struct file files[FILES_MAX];
static size_t file_count;

/* 0, or -1: the folder or a file cannot be read. */
static inline int files_read(const char *folder)
{
	struct dirent *entry;
	char path[1024];
	DIR *dir = opendir(folder);
	int err = dir ? 0 : -1;

	while (!err && (entry = readdir(dir)) && file_count < FILES_MAX) {
		struct file *f = &files[file_count];

		if (!strstr(entry->d_name, ".walk"))
			continue;
		snprintf(f->name, sizeof(f->name), "%s", entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		err = image_file(path, &f->bytes, &f->size) ? -1 : 0;
		file_count += !err;
	}
	if (dir)
		closedir(dir);
	return err;
}

static inline void files_forget(void)
{
	while (file_count)
		free(files[--file_count].bytes);
}
