/*
 * Collapsed stacks, the input of flamegraph.pl and its like: a line per chain, its frames with ";"
 * between them, a space, the weight. There is no way to quote: what would be read as something else
 * is replaced, as stackcollapse-perf.pl does it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/export_tree.h"

static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		const unsigned char *c = (const unsigned char *)text;

		if (*c == ';') {
			putc_unlocked(':', out);
		} else if (*c == ' ') {
			putc_unlocked('_', out);
		} else if (*c < 0x20 || *c == 0x7f) {
			putc_unlocked('?', out);
		} else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
			/* C1 control characters, U+0080 to U+009F */
			putc_unlocked('?', out);
			text++;
		} else {
			putc_unlocked(*c, out);
		}
	}
}

static void put_frame(const struct export_frame *frame, FILE *out)
{
	fputs(frame->before, out);
	put_text(frame->outer, out);
	fputs(frame->joint, out);
	put_text(frame->name, out);
	fputs(frame->after, out);
	if (frame->line)
		fprintf(out, ":%" PRIu64, frame->line);
}

int export_collapsed(const struct export_input *in, enum export_side side, FILE *out)
{
	struct export_frames frames;
	struct export_tree tree = {0};
	uint32_t *chain = NULL, count;
	int err = export_frames_init(&frames, in);

	if (!err)
		err = export_tree_init(&tree, &frames, side);
	if (!err) {
		chain = malloc((tree.depth_max + 1) * sizeof(*chain));
		err = chain ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; i < tree.leaf_count && !err && !ferror_unlocked(out); i++) {
		count = export_tree_chain(&tree, tree.leaves[i], chain);
		for (uint32_t k = 0; k < count; k++) {
			if (k)
				putc_unlocked(';', out);
			put_frame(&frames.rows[chain[k]], out);
		}
		fprintf(out, " %" PRIu64 "\n", tree.nodes[tree.leaves[i]].self_ns);
	}
	free(chain);
	export_tree_free(&tree);
	export_frames_free(&frames);
	return err;
}
