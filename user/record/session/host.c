#include "record/session/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "steal/sources/hypervisor.h"

json_t *host_describe(void)
{
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:i}", "name", u.nodename, "kernel", u.release,
			 "arch", u.machine, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN),
			 "hypervisor", hypervisor_name(), "user_hz", (int)sysconf(_SC_CLK_TCK));
}

void host_boot_id(char ret[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	ret[0] = 0;
	if (!f)
		return;
	if (fgets(ret, 40, f))
		ret[strcspn(ret, "\n")] = 0;
	fclose(f);
}
