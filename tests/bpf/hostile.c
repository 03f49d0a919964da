/* tests/bpf/hostile.c: preloaded into a fake JVM, does what a hostile program may do with its own
 * process: HOSTILE_MAP names a folder whose files are all mapped executable, HOSTILE_EXEC a program
 * that takes the JVM's place. Both wait until the file HOSTILE_GO is there, and take it away.
 * HOSTILE_MAP makes the file HOSTILE_GO.done when all is mapped, and waits for the next HOSTILE_GO. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define MAPPED_MAX 10000

/* And nothing that was mapped before. */
static void map_all(const char *folder)
{
	static void *mapped[MAPPED_MAX];
	static size_t count;
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (count)
		munmap(mapped[--count], PAGE);
	while (dir && (entry = readdir(dir))) {
		int fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY);

		if (fd < 0)
			continue;
		mapped[count] = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (mapped[count] == MAP_FAILED)
			perror(entry->d_name);
		else if (++count == MAPPED_MAX)
			abort();
		close(fd);
	}
	if (dir)
		closedir(dir);
}

static void *run(void *go)
{
	const char *folder = getenv("HOSTILE_MAP"), *program = getenv("HOSTILE_EXEC");
	char done[4096];

	snprintf(done, sizeof(done), "%s.done", (const char *)go);
	do {
		while (unlink(go))
			usleep(1000);
		if (folder) {
			map_all(folder);
			close(open(done, O_CREAT | O_WRONLY, 0644));
		}
	} while (folder);
	if (program) {
		unsetenv("LD_PRELOAD");
		execl(program, program, "1000", NULL);
	}
	return NULL;
}

static __attribute__((constructor)) void begin(void)
{
	pthread_t thread;

	if (getenv("HOSTILE_GO"))
		pthread_create(&thread, NULL, run, getenv("HOSTILE_GO"));
}
