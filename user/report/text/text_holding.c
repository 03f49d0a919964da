/* What the holders of a lock did while others were blocked on it: the merge of both. */
#include "base/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <string.h>

#include "analyze/cells/groups.h"
#include "base/format.h"
#include "report/text/table.h"

#define CHAIN_MAX 8
#define BEHIND_MAX 3 /* locks named that holders were blocked on */

static const struct group *lock_in(const struct group *locks, uint64_t lock)
{
	for (uint32_t i = 0; i < locks->group_count; i++) {
		if (locks->groups[i].cell->lock == lock)
			return &locks->groups[i];
	}
	return NULL;
}

/* "Ledger #2 (0.9 s), Table #5 (0.3 s)": what the holders were blocked on, for this reason. */
static void name_behind(const struct text *t, const struct group *lock, int reason, char *buf,
			size_t size)
{
	char name[LABEL_MAX], time[FORMAT_MAX];
	unsigned named = 0, more = 0;
	size_t length = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < lock->group_count && length < size; i++) {
		const struct group *g = &lock->groups[i];

		if (!g->cell->behind || !g->split.reason_ns[reason])
			continue;
		if (named == BEHIND_MAX) {
			more++;
			continue;
		}
		length += (size_t)snprintf(buf + length, size - length, "%s%s (%s)",
					   named++ ? ", " : "",
					   label_lock(t->labels, g->cell->behind, name),
					   time_format(g->split.reason_ns[reason], time));
	}
	if (more && length < size)
		snprintf(buf + length, size - length, ", and %u more", more);
}

static int print_table(struct text *t, const struct group *lock)
{
	static const struct table_column columns[] = {{"what its holders did", true, 34, 0, false},
						      {"share", false, 7, 0, false},
						      {"time", false, 8, 0, false},
						      {"on", true, 0, 0, false}};
	const struct split *s = &lock->split;
	const struct {
		const char *what;
		uint64_t ns;
		int reason; /* 0: none */
	} rows[] = {
		{"running", s->running_ns, 0},
		{"stolen by the hypervisor", s->stolen_ns, 0},
		{"runnable, without a CPU", s->runnable_ns, 0},
		{"throttled by the CPU quota", s->throttled_ns, 0},
		{"blocked on a lock", s->reason_ns[BLOCKED_REASON_LOCK], BLOCKED_REASON_LOCK},
		{"in Object.wait", s->reason_ns[BLOCKED_REASON_WAIT], 0},
		{"parked", s->reason_ns[BLOCKED_REASON_PARK], BLOCKED_REASON_PARK},
		{"asleep", s->reason_ns[BLOCKED_REASON_SLEEP], 0},
		{"in I/O or native code", s->reason_ns[BLOCKED_REASON_IO], 0},
		{"stopped by a pause", s->reason_ns[BLOCKED_REASON_PAUSE], 0},
		{"blocked otherwise, or not told", split_other(s), 0},
		{"no holder, or not known", s->unknown_ns, 0},
	};
	bool named = s->reason_ns[BLOCKED_REASON_LOCK] || s->reason_ns[BLOCKED_REASON_PARK];
	struct table *table = table_new(columns, named ? 4 : 3);
	char share[FORMAT_MAX], time[FORMAT_MAX], behind[4 * LABEL_MAX];
	int err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].ns)
			continue;
		*behind = '\0';
		if (rows[i].reason)
			name_behind(t, lock, rows[i].reason, behind, sizeof(behind));
		table_add(table, "%s", rows[i].what);
		table_add(table, "%s", share_format(rows[i].ns, lock->blocked_ns, share));
		table_add(table, "%s", time_format(rows[i].ns, time));
		if (named)
			table_add(table, "%s", behind);
	}
	err = table_print(table, 4, t->out);
	table_free(table);
	return err;
}

/* The lock that the holders of this one were blocked on for most of the time; NULL: on none. */
static const struct group *most_behind(const struct group *lock)
{
	for (uint32_t i = 0; lock && i < lock->group_count; i++) {
		if (lock->groups[i].cell->behind && lock->groups[i].blocked_ns)
			return &lock->groups[i];
	}
	return NULL;
}

/* Whoever is at the end of the chain keeps all the others waiting. */
static void print_chain(struct text *t, const struct group *locks, const struct group *lock)
{
	uint64_t seen[CHAIN_MAX] = {lock->cell->lock};
	const struct group *next = most_behind(lock);
	char name[LABEL_MAX], time[FORMAT_MAX];
	unsigned depth = 1;

	if (!next || !most_behind(lock_in(locks, next->cell->behind)))
		return; /* one link stands in the table */
	print_text(t->out, "    chain: %s", label_lock(t->labels, lock->cell->lock, name));
	for (; next && depth < CHAIN_MAX; next = most_behind(lock_in(locks, next->cell->behind))) {
		bool again = false;

		for (unsigned i = 0; i < depth; i++)
			again |= seen[i] == next->cell->behind;
		print_text(t->out, " <- %s (%s)%s", label_lock(t->labels, next->cell->behind, name),
			   time_format(next->blocked_ns, time), again ? ", in a circle" : "");
		if (again)
			break;
		seen[depth++] = next->cell->behind;
	}
	fputc('\n', t->out);
}

static void print_wanted(struct text *t, const struct group *lock)
{
	const struct split *s = &lock->split;
	uint64_t wanted = s->stolen_ns + s->runnable_ns + s->throttled_ns;
	const struct {
		const char *how;
		uint64_t ns;
	} parts[] = {{"stolen by the hypervisor", s->stolen_ns},
		     {"waiting for a CPU", s->runnable_ns},
		     {"throttled", s->throttled_ns}};
	char all[FORMAT_MAX], time[FORMAT_MAX], share[FORMAT_MAX];
	unsigned shown = 0;

	if (!wanted)
		return;
	print_text(t->out,
		   "    => Of %s lost on this lock, %s (%s) were lost because its holder was not "
		   "running although it wanted to:",
		   time_format(lock->blocked_ns, all), time_format(wanted, time),
		   share_format(wanted, lock->blocked_ns, share));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].ns)
			print_text(t->out, "%s %s %s", shown++ ? "," : "",
				   time_format(parts[i].ns, time), parts[i].how);
	}
	fputs(".\n", t->out);
}

int text_holding(struct text *t, const struct group *behind, uint64_t number)
{
	const struct group *lock = lock_in(behind, number);
	int err;

	/* That they ran all the time stands in the table of the holders. */
	if (!lock || lock->split.unknown_ns + lock->split.running_ns == lock->blocked_ns)
		return 0;
	err = print_table(t, lock);
	if (err)
		return err;
	print_chain(t, behind, lock);
	print_wanted(t, lock);
	return 0;
}
