#include "analyze/stacks/idle_methods.h"

#include <stddef.h>
#include <string.h>

#include "log/read/names.h"

/* Methods of classes whose names begin and end in the same way. */
struct idle_methods {
	const char *package; /* the class's name begins with it */
	const char *ends;    /* and ends with it; NULL: the package is the whole name */
	const char *names[8];
};

static const struct idle_methods table[] = {
	/* New connections. */
	{"sun.nio.ch.ServerSocketChannelImpl",
	 NULL,
	 {"accept", "implAccept", "blockingAccept", "accept0"}},
	{"sun.nio.ch.ServerSocketAdaptor", NULL, {"accept"}},
	{"sun.nio.ch.NioSocketImpl", NULL, {"accept", "timedAccept"}},
	{"sun.nio.ch.Net", NULL, {"accept"}},
	{"sun.nio.ch.UnixDomainSockets", NULL, {"accept", "accept0"}},
	{"java.net.ServerSocket", NULL, {"accept", "implAccept", "platformImplAccept"}},
	{"java.net.", "SocketImpl", {"accept", "socketAccept"}},
	{"sun.security.ssl.SSLServerSocketImpl", NULL, {"accept"}},
	/* Events of connections, and datagrams. */
	{"sun.nio.ch.", "SelectorImpl", {"select", "lockAndDoSelect", "doSelect"}},
	{"sun.nio.ch.EPoll", NULL, {"wait"}},
	{"sun.nio.ch.DatagramChannelImpl", NULL, {"receive", "receive0", "blockingReceive"}},
	{"java.net.", "DatagramSocketImpl", {"receive", "receive0", "peekData"}},
	{"java.net.DatagramSocket", NULL, {"receive"}},
	{"io.netty.channel.epoll.", "Native", {"epollWait", "epollWait0"}},
	{"org.apache.tomcat.jni.", "Socket", {"accept"}},
	{"org.apache.tomcat.jni.", "Poll", {"poll"}},
	/* Tasks: of a queue, of a pool, of a timer. */
	{"java.util.concurrent.",
	 "Queue",
	 {"take", "poll", "transfer", "xfer", "awaitMatch", "awaitFulfill"}},
	{"java.util.concurrent.",
	 "Deque",
	 {"take", "poll", "takeFirst", "takeLast", "pollFirst", "pollLast"}},
	{"java.util.concurrent.ThreadPoolExecutor", NULL, {"getTask"}},
	{"java.util.concurrent.ForkJoinPool", NULL, {"awaitWork"}},
	{"java.util.concurrent.Executor", "CompletionService", {"take", "poll"}},
	{"java.lang.ref.ReferenceQueue", NULL, {"remove", "remove0", "await"}},
};

static bool is_class(const struct idle_methods *of, const char *name)
{
	size_t package = strlen(of->package), length = strlen(name), ends;

	if (!of->ends)
		return !strcmp(name, of->package);
	ends = strlen(of->ends);
	return length >= package + ends && !strncmp(name, of->package, package) &&
	       !strcmp(name + length - ends, of->ends);
}

bool idle_method(const struct log_method *m)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		for (size_t k = 0; k < sizeof(table[i].names) / sizeof(*table[i].names); k++) {
			if (table[i].names[k] && !strcmp(m->name, table[i].names[k]) &&
			    is_class(&table[i], m->class_name))
				return true;
		}
	}
	return false;
}
