/* The launcher of the fake JVM; as java does, it runs the VM in a second thread, with a stack of
 * its own. */
#include "fakejvm.h"

#include <stdlib.h>

struct arguments {
	int argc;
	char **argv;
};

static void *run(void *arg)
{
	struct arguments *a = arg;

	exit(fake_main(a->argc, a->argv));
}

int main(int argc, char **argv)
{
	struct arguments a = {argc, argv};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &a))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}
