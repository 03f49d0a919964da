/* base/text/print.h: the only way of text into an output: each kind of output has its own encoding.
 */
#pragma once

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Names of threads, classes, files and commands come from whoever runs the recorded program or made
 * the log. A format is spoor's own and goes out as it is; what takes the place of a %s is foreign,
 * and is encoded. tests/lint knows no other way for a text that is no literal.
 */

/*
 * For a terminal, and for all that people read: what a terminal obeys, or what nobody sees (control
 * characters, line ends, the marks that turn the direction of writing), becomes visible: \n, \x1b,
 * \u202e; a byte that is not UTF-8 becomes \xff. Widths count bytes, after that. All return how
 * many bytes there are, as printf() and snprintf() do.
 */
int print_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int print_textv(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Cuts between characters, and always ends with a NUL. */
int print_buffer(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int print_bufferv(char *buf, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/*
 * JSON: %s becomes a string with its quotes. The same characters are escaped as for a terminal, so
 * that one that JSON goes to has nothing to obey; the value is the same. U+FFFD takes the place of
 * a byte that is not UTF-8.
 */
void print_json(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_json_string(FILE *out, const char *text);
/* What is between the quotes. */
void print_json_piece(FILE *out, const char *text);
/* As json_dumpf(); -EIO if jansson or the file fails. */
int print_json_value(FILE *out, const json_t *value, size_t flags);

/*
 * CSV, RFC 4180: %s becomes a field, in quotes where it needs them. A text that a spreadsheet would
 * take for a formula gets an apostrophe in front, and so does one that begins with an apostrophe:
 * taking one away gives the text back. On a terminal, see print_text().
 */
void print_csv(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum print_csv {
	PRINT_CSV_RAW = 1,      /* formulas stay what they are */
	PRINT_CSV_TERMINAL = 2, /* the file is a terminal */
};
void print_csv_field(FILE *out, const char *text, unsigned how);
/* A field in pieces: the quote with the apostrophe that first asks for, pieces, a quote. */
void print_csv_open(FILE *out, const char *first, unsigned how);
void print_csv_piece(FILE *out, const char *text, unsigned how);
/* PRINT_CSV_TERMINAL or 0. */
unsigned print_csv_of(FILE *out);

/* The value of a label of a metric, between its quotes: as for a terminal, and a quote or a
 * backslash has a backslash in front. */
void print_metric_label(FILE *out, const char *text);

/* Text of spoor itself, such as the name of a field, or text that is encoded already. */
void print_own(FILE *out, const char *text);

/* Bytes of the UTF-8 character that text begins with, and what it is; 0: none begins there. A NUL,
 * a surrogate, and an overlong form are none. */
size_t utf8_character(const char *text, size_t length, uint32_t *ret);
/* A terminal obeys it, or nobody sees it. */
bool print_is_hidden(uint32_t code);
