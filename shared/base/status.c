#include "base/status.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int code;
} codes[] = {
#define STATUS_CODE(name, number) {#name, number},
    STATUS_CODES(STATUS_CODE)
#undef STATUS_CODE
};

/* Through a buffer of its own, so that an argument may be the text that is replaced:
 * fail(st, st->code, "%s: %s", path, st->text). One byte more than is kept shows whether a character would be cut. */
static size_t print_cut(char *out, size_t size, const char *format, va_list arguments)
{
    char whole[STATUS_TEXT_MAX + 1];
    int printed = vsnprintf(whole, sizeof whole, format, arguments);
    size_t length = printed < 0 ? 0 : (size_t)printed;
    if (length > STATUS_TEXT_MAX)
        length = STATUS_TEXT_MAX;
    length = text_cut(whole, length, size - 1);
    memcpy(out, whole, length);
    out[length] = '\0';
    return length;
}

void status_set(struct status *st, enum status_code code, const char *format, va_list arguments)
{
    print_cut(st->text, sizeof st->text, format, arguments);
    st->code = code;
    st->retry_after_ms = 0;
    st->field[0] = '\0';
}

void status_clear(struct status *st)
{
    *st = (struct status){.code = OK};
}

bool fail(struct status *st, enum status_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status_set(st, code, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_field(struct status *st, const char *field, const char *format, ...)
{
    char name[STATUS_FIELD_MAX];
    size_t length = strlen(field);
    length = text_cut(field, length, sizeof name - 1);
    memcpy(name, field, length);
    name[length] = '\0';

    char why[STATUS_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    print_cut(why, sizeof why, format, arguments);
    va_end(arguments);

    fail(st, INVALID_ARGUMENT, "%s: %s", name, why);
    memcpy(st->field, name, length + 1);
    return false;
}

const char *status_code_name(int code)
{
    static _Thread_local char unknown[24];
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == code)
            return codes[i].name;
    }
    snprintf(unknown, sizeof unknown, "CODE_%d", code);
    return unknown;
}

int status_code_parse(const char *name)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strcmp(codes[i].name, name) == 0)
            return codes[i].code;
    }
    return -1;
}
