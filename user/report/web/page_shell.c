#include "report/web/page_shell.h"

#include <errno.h>
#include <string.h>

#include "report/web/pack64.h"

/* What the template has where the title and the data go. */
#define TITLE_MARK "@TITLE@"
#define DATA_MARK "@DATA@"

static void html_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'')
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
	}
}

/* Base64 has no character that means anything to HTML: whatever names are in the data, nothing of
 * them is markup or script. */
static int data_write(const struct page_shell *p, FILE *out)
{
	FILE *packed = pack64_open(out);
	int err = packed ? p->data(p->ctx, packed) : -ENOMEM;

	if (packed && fclose(packed) && !err)
		err = -ENOMEM;
	return err;
}

int page_shell_write(const struct page_shell *p, FILE *out)
{
	const char *text = (const char *)p->template;
	const char *title = strstr(text, TITLE_MARK), *data = strstr(text, DATA_MARK);
	int err;

	if (!title || !data || data < title)
		return -EINVAL;
	fwrite(text, 1, (size_t)(title - text), out);
	html_text(p->title, out);
	title += strlen(TITLE_MARK);
	fwrite(title, 1, (size_t)(data - title), out);
	err = data_write(p, out);
	fputs(data + strlen(DATA_MARK), out);
	return err;
}
