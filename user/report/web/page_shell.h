/* report/web/page_shell.h: a page of web/ with a title and its data put in. */
#pragma once

#include <stdio.h>

struct page_shell {
	const unsigned char *template; /* as web/embed makes it */
	const char *title;             /* foreign text */
	/* Writes one JSON value, which goes into the page packed. 0 or a negative errno. */
	int (*data)(void *ctx, FILE *out);
	void *ctx;
};

/* 0; -ENOMEM; what data said; out's error flag says the rest. */
int page_shell_write(const struct page_shell *p, FILE *out);
