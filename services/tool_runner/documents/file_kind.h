/* Detects the kind of a file by its first bytes. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_FILE_KIND_H
#define RENGA_TOOL_RUNNER_FILE_KIND_H

#include "documents/reading.h"

/* The format by which the file is to be read, if it was said to be of `format`: a packed format stays, a text may turn
 * out to be packed. */
Renga__V1__DocumentFormat file_kind(struct piece bytes, Renga__V1__DocumentFormat format);

/* INVALID_ARGUMENT with the name of the kind, for a known kind that is not read. */
bool file_kind_check(struct piece bytes, struct status *st);

/* False with the reason for a file of an office or a book that is no zip archive; `name` is "DOCX". */
bool file_kind_is_zip(struct piece bytes, const char *name, struct status *st);

#endif
