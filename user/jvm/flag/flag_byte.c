#include "jvm/flag/flag_byte.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/*
 * Several recorders may hold the flag of one JVM. They do not know of each other; the last one to
 * leave turns it off. They meet in locks on the target's /proc/PID/mem, on the byte of the very
 * flag:
 * - Only those who may trace the target can open that file, so a stranger can neither feign a
 * holder nor make one wait. (Locks on libjvm.so are open to everybody who
 * may read that file: a read lock on all of it kept the flag on for good.) Whoever can take these
 * locks, the target's own user, could write the byte as well.
 * - procfs keeps one inode for /proc/PID/mem as long as anybody has it open, so all opens meet
 * (measured on 6.18; also after drop_caches), whatever user or mount namespace they come from.
 * - The locks are of the open file description (F_OFD_SETLK, Linux 3.15): the guardian's and its
 * recorder's are the same one; it goes when both are gone, however they end. Nothing is left
 * after.
 *
 * A holder has a read lock. To leave is to turn it into a write lock without waiting, which works
 * for the last one only: it then writes 0, and nobody can come in between. Two that leave at once
 * both fail at that, so both give up their read lock and try once more: at least the one that gave
 * up last succeeds, or finds a newcomer, who then owes the 0.
 *
 * Where recorders do not meet, because they see the target in different procfs mounts (two
 * containers, or a mount of its own for a pid namespace), two other things make up for that. The
 * JVM keeps for each flag who set it (JVMFlag::_flags, the low four bits; the same in JDK 8 to 25;
 * 0 is "nobody"): a flag that is on and that nobody set is a recorder's, living or killed, and so
 * everybody who finds it owes the 0. And who holds the flag looks once a second whether it still is
 * on, and turns it on again: so the first of two that leaves costs the other one second of monitor
 * events at the most, which its log says, and the last one still leaves 0 behind.
 */

#define ORIGIN_MASK 0xfu /* JVMFlag::VALUE_ORIGIN_MASK */
#define LOCK_TRIES 50    /* a write lock is held for microseconds */
#define LOCK_RETRY_NS 2000000

static int lock_set(const struct flag_byte *b, short type)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)b->addr, .l_len = 1};

	return fcntl(b->mem, F_OFD_SETLK, &lock) ? -errno : 0;
}

static bool lock_is_busy(int err)
{
	return err == -EAGAIN || err == -EACCES;
}

static bool others_hold(const struct flag_byte *b)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)b->addr, .l_len = 1};

	return !fcntl(b->mem, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* A write lock that is not given up, or a kernel without these locks: it goes on as if alone, for
 * the origin and flag_byte_keep() make up for it. */
static void lock_join(const struct flag_byte *b)
{
	const struct timespec pause = {.tv_nsec = LOCK_RETRY_NS};

	for (int i = 0; i < LOCK_TRIES && lock_is_busy(lock_set(b, F_RDLCK)); i++)
		nanosleep(&pause, NULL);
}

/* 0: a write lock is held now, or there are no locks here. -EBUSY: others hold it. */
static int lock_leave(const struct flag_byte *b)
{
	int err = lock_set(b, F_WRLCK);

	if (lock_is_busy(err)) {
		lock_set(b, F_UNLCK);
		err = lock_set(b, F_WRLCK);
	}
	return lock_is_busy(err) ? -EBUSY : 0;
}

static int byte_read(const struct flag_byte *b, bool *ret)
{
	unsigned char byte;
	ssize_t n = pread(b->mem, &byte, 1, (off_t)b->addr);

	if (n != 1)
		return n ? -errno : -ESRCH;
	if (byte > 1)
		return -EINVAL;
	*ret = byte;
	return 0;
}

static int byte_write(const struct flag_byte *b, unsigned char value)
{
	ssize_t n = pwrite(b->mem, &value, 1, (off_t)b->addr);

	if (n == 1)
		return 0;
	return n ? -errno : -ESRCH;
}

/* Who has set the flag: 0: nobody, 1: somebody. -ENOTSUP: it does not say. */
static int origin_read(const struct flag_byte *b)
{
	uint32_t flags;

	if (!b->origin || pread(b->mem, &flags, sizeof(flags), (off_t)b->origin) != sizeof(flags))
		return -ENOTSUP;
	return (flags & ORIGIN_MASK) != 0;
}

int flag_byte_look(const struct flag_byte *b, enum flag_state *ret)
{
	bool on;
	int err = byte_read(b, &on);

	if (err)
		return err;
	if (!on)
		*ret = FLAG_OFF;
	else if (others_hold(b))
		*ret = FLAG_HELD;
	else
		switch (origin_read(b)) {
		case 0:
			*ret = FLAG_LEFT;
			break;
		case 1:
			*ret = FLAG_SET;
			break;
		default:
			*ret = FLAG_UNKNOWN;
		}
	return 0;
}

int flag_byte_take(const struct flag_byte *b, enum flag_kind *ret)
{
	enum flag_kind kind = FLAG_WAS_OFF;
	enum flag_state found;
	int err = flag_byte_look(b, &found);
	bool on;

	if (err)
		return err;
	if (found == FLAG_SET || found == FLAG_UNKNOWN) {
		*ret = FLAG_WAS_ON; /* as long as it is: see flag_byte_keep() */
		return 0;
	}
	lock_join(b);
	err = byte_read(b, &on);
	if (!err && on && !others_hold(b))
		kind = FLAG_WAS_LEFT;
	if (!err && !on)
		err = byte_write(b, 1);
	if (err)
		lock_set(b, F_UNLCK);
	else
		*ret = kind;
	return err;
}

int flag_byte_keep(const struct flag_byte *b, enum flag_kind *kind)
{
	bool on;
	int err = byte_read(b, &on);

	if (err || on)
		return err;
	/* Then it was not the user's: another spoor's, which has turned it off at its end. */
	if (*kind == FLAG_WAS_ON) {
		*kind = FLAG_WAS_OFF;
		lock_join(b);
	}
	err = byte_write(b, 1);
	return err ? err : 1;
}

int flag_byte_give_back(const struct flag_byte *b, enum flag_kind kind)
{
	int err = 0;

	if (kind != FLAG_WAS_ON && !lock_leave(b))
		err = byte_write(b, 0);
	lock_set(b, F_UNLCK);
	return err == -ESRCH ? 0 : err;
}

int flag_byte_repair(const struct flag_byte *b)
{
	enum flag_state found;
	int err = flag_byte_look(b, &found);

	if (!err && found == FLAG_HELD)
		err = -EBUSY;
	if (!err && found != FLAG_LEFT)
		err = -ENODATA;
	if (!err)
		err = lock_leave(b);
	if (!err)
		err = byte_write(b, 0);
	lock_set(b, F_UNLCK);
	return err;
}
