#include "jvm/target/code_mappings.h"

#include <stdlib.h>

#include "base/tables/array.h"
#include "base/text/units.h"

#define LOOK_NS (20 * NS_PER_MS)
#define MAPPINGS_MAX 512u /* each with a path */

static void take(void *ctx, const struct process_lib *lib)
{
	struct code_mappings *m = ctx;

	if (m->count == MAPPINGS_MAX ||
	    array_grow(&m->rows, &m->capacity, m->count, sizeof(*m->rows)))
		return;
	m->rows[m->count++] = *lib;
}

static void read_again(struct code_mappings *m)
{
	uint64_t now_ns = clock_mono_ns(), code_kb = 0;
	char *text;
	size_t len;

	if (m->looked_ns && now_ns - m->looked_ns < LOOK_NS)
		return;
	if (process_code(m->pid, &code_kb))
		code_kb = 0; /* then they are read once */
	if (m->looked_ns && code_kb == m->code_kb) {
		m->looked_ns = now_ns;
		return;
	}
	m->looked_ns = now_ns;
	m->code_kb = code_kb;
	if (process_file(m->pid, "maps", &text, &len))
		return;
	m->count = 0;
	process_code_each(text, take, m);
	free(text);
}

static const struct process_lib *find(const struct code_mappings *m, uint64_t pc)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (pc >= m->rows[i].start && pc < m->rows[i].end)
			return &m->rows[i];
	return NULL;
}

const struct process_lib *code_mappings_find(struct code_mappings *m, uint64_t pc)
{
	const struct process_lib *lib = find(m, pc);

	if (lib)
		return lib;
	read_again(m);
	return find(m, pc);
}

void code_mappings_clear(struct code_mappings *m)
{
	free(m->rows);
	*m = (struct code_mappings){.pid = m->pid};
}
