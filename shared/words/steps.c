/* Recognises numbered steps by the marks of lines. */
#include "words/steps.h"

#include <string.h>

#include "words/asked.h"
#include "words/sentences_priv.h"

bool words_asks_method(const char *question, size_t length)
{
    struct asked asked;
    return asked_read(question, length, &asked) && asked.type == ASKED_HOW;
}

unsigned steps_number(const char *text, size_t length, size_t at, size_t *behind)
{
    while (at < length && is_blank(text[at]))
        at++;
    struct marker marker = marker_of_line(text, length, at);
    *behind = marker.end;
    return marker.kind == 'n' ? marker.value : 0;
}

bool words_has_steps(const char *text, size_t length)
{
    unsigned last = 0;
    for (size_t at = 0, behind; at < length;) {
        unsigned number = steps_number(text, length, at, &behind);
        if (number > 1 && number == last + 1)
            return true;
        last = number ? number : last;
        const char *end = memchr(text + at, '\n', length - at);
        at = end ? (size_t)(end - text) + 1 : length;
    }
    return false;
}
