/* What the holders of a lock did while others were blocked on it: the merge of both. */
#include "base/text/print.h"
#include "report/text/text_report.h"

#include "analyze/groups/groups.h"
#include "base/text/format.h"

#define CHAIN_MAX 8

static const struct group *lock_in(const struct group *locks, uint64_t lock)
{
	for (uint32_t i = 0; i < locks->group_count; i++) {
		if (locks->groups[i].cell->lock == lock)
			return &locks->groups[i];
	}
	return NULL;
}

static int print_table(struct text *t, const struct group *lock)
{
	const struct findings_view view = {.indent = 4};
	struct findings *f = section_holding(&t->section, lock);
	int err = findings_to_text(f, &view, t->out);

	findings_free(f);
	return err;
}

/* The lock that the holders of this one were blocked on for most of the time; NULL: on none. */
static const struct group *most_blocked_on(const struct group *lock)
{
	for (uint32_t i = 0; lock && i < lock->group_count; i++) {
		if (lock->groups[i].cell->blocked_on && lock->groups[i].blocked_ns)
			return &lock->groups[i];
	}
	return NULL;
}

/* Whoever is at the end of the chain keeps all the others waiting. */
static void print_chain(struct text *t, const struct group *locks, const struct group *lock)
{
	uint64_t seen[CHAIN_MAX] = {lock->cell->lock};
	const struct group *next = most_blocked_on(lock);
	char name[LABEL_MAX], time[FORMAT_MAX];
	unsigned depth = 1;

	if (!next || !most_blocked_on(lock_in(locks, next->cell->blocked_on)))
		return; /* one link stands in the table */
	print_text(t->out, "    chain: %s", label_lock(t->labels, lock->cell->lock, name));
	for (; next && depth < CHAIN_MAX;
	     next = most_blocked_on(lock_in(locks, next->cell->blocked_on))) {
		bool again = false;

		for (unsigned i = 0; i < depth; i++)
			again |= seen[i] == next->cell->blocked_on;
		print_text(t->out, " <- %s (%s)%s",
			   label_lock(t->labels, next->cell->blocked_on, name),
			   time_format(next->blocked_ns, time), again ? ", in a circle" : "");
		if (again)
			break;
		seen[depth++] = next->cell->blocked_on;
	}
	fputc('\n', t->out);
}

static void print_delayed(struct text *t, const struct group *lock)
{
	const struct split *s = &lock->split;
	uint64_t delayed = s->stolen_ns + s->runnable_ns + s->throttled_ns;
	const struct {
		const char *how;
		uint64_t ns;
	} parts[] = {{"stolen by the hypervisor", s->stolen_ns},
		     {"waiting for a CPU", s->runnable_ns},
		     {"throttled", s->throttled_ns}};
	char all[FORMAT_MAX], time[FORMAT_MAX], share[FORMAT_MAX];
	unsigned shown = 0;

	if (!delayed)
		return;
	print_text(t->out,
		   "    => Of %s lost on this lock, %s (%s) were lost because its holder was not "
		   "running although it wanted to:",
		   time_format(lock->blocked_ns, all), time_format(delayed, time),
		   share_format(delayed, lock->blocked_ns, share));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].ns)
			print_text(t->out, "%s %s %s", shown++ ? "," : "",
				   time_format(parts[i].ns, time), parts[i].how);
	}
	fputs(".\n", t->out);
}

int text_holding(struct text *t, const struct group *blocked_on, uint64_t number)
{
	const struct group *lock = lock_in(blocked_on, number);
	int err;

	/* That they ran all the time stands in the table of the holders. */
	if (!lock || lock->split.unknown_ns + lock->split.running_ns == lock->blocked_ns)
		return 0;
	err = print_table(t, lock);
	if (err)
		return err;
	print_chain(t, blocked_on, lock);
	print_delayed(t, lock);
	return 0;
}
