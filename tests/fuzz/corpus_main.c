/* Runs a fuzz target once on each of the files that are named, in memory of exactly their size. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path)
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
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= run(argv[i]);
	return failed;
}
