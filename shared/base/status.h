/* The error type of all services: a gRPC status code, a text that a person can act on, and details for the client.
 *
 * A function that can fail takes a `struct status *` last, fills it once and returns false. The function that stops the
 * error logs or sends it. The text names the error, the offending value and the remedy. Codes and their meaning:
 * https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
#ifndef RENGA_BASE_STATUS_H
#define RENGA_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define STATUS_TEXT_MAX  512 /* bytes, the NUL included; a longer text is cut at a character, never inside one */
#define STATUS_FIELD_MAX 96  /* bytes, the NUL included */

/* STATUS_CODE(name, number): the numbers are gRPC's own. */
#define STATUS_CODES(STATUS_CODE)                                                                                      \
    STATUS_CODE(OK, 0)                                                                                                 \
    STATUS_CODE(CANCELLED, 1)                                                                                          \
    STATUS_CODE(UNKNOWN, 2)                                                                                            \
    STATUS_CODE(INVALID_ARGUMENT, 3)                                                                                   \
    STATUS_CODE(DEADLINE_EXCEEDED, 4)                                                                                  \
    STATUS_CODE(NOT_FOUND, 5)                                                                                          \
    STATUS_CODE(ALREADY_EXISTS, 6)                                                                                     \
    STATUS_CODE(PERMISSION_DENIED, 7)                                                                                  \
    STATUS_CODE(RESOURCE_EXHAUSTED, 8)                                                                                 \
    STATUS_CODE(FAILED_PRECONDITION, 9)                                                                                \
    STATUS_CODE(ABORTED, 10)                                                                                           \
    STATUS_CODE(OUT_OF_RANGE, 11)                                                                                      \
    STATUS_CODE(UNIMPLEMENTED, 12)                                                                                     \
    STATUS_CODE(INTERNAL, 13)                                                                                          \
    STATUS_CODE(UNAVAILABLE, 14)                                                                                       \
    STATUS_CODE(DATA_LOSS, 15)                                                                                         \
    STATUS_CODE(UNAUTHENTICATED, 16)

enum status_code {
#define STATUS_CODE(name, number) name = number,
    STATUS_CODES(STATUS_CODE)
#undef STATUS_CODE
        STATUS_CODES_COUNT,
};

/* All zero means OK. `field` names the offending field of a request ("messages[2].role") or is empty; `retry_after_ms`
 * is 0 without a retry hint. Both travel as google.rpc details. */
struct status {
    enum status_code code;
    int32_t retry_after_ms;
    char field[STATUS_FIELD_MAX];
    char text[STATUS_TEXT_MAX];
};

/* Fills `st` and returns false, so that failing is one line: return fail(st, NOT_FOUND, "no agent '%s'", name); */
bool fail(struct status *st, enum status_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with the field that was wrong; the code is INVALID_ARGUMENT and the text begins with the field's name. */
bool fail_field(struct status *st, const char *field, const char *format, ...) __attribute__((format(printf, 3, 4)));

void status_set(struct status *st, enum status_code code, const char *format, va_list arguments);
void status_clear(struct status *st);

/* "NOT_FOUND"; "CODE_99" in a static buffer of the thread for a number that is no code. */
const char *status_code_name(int code);

/* The code of a name, or -1. */
int status_code_parse(const char *name);

#endif
