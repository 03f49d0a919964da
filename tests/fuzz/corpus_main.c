/* Runs a fuzz target once on each of the files that are named, in memory of exactly their size. Only the names are
 * printed: what a target prints itself is of no use. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path, int names)
{
	FILE *in = fopen(path, "rbe");
	uint8_t *data;
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0 || fseek(in, 0, SEEK_SET)) {
		perror(path);
		return 1;
	}
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, in) != (size_t)size) {
		perror(path);
		return 1;
	}
	fclose(in);
	dprintf(names, "%s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0, names = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (names < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		return 1;
	for (int i = 1; i < argc; i++)
		failed |= run(argv[i], names);
	return failed;
}
