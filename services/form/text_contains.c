#include "form.h"

#include "words/words.h"

#include <string.h>

#define NORMAL_MAX ((size_t)1 << 20) /* bytes of a text in its normal form */

bool form_text_contains(const char *words, const char *text)
{
    struct buffer wanted, whole;
    buffer_init(&wanted, NORMAL_MAX);
    buffer_init(&whole, NORMAL_MAX);
    words_normalize(&wanted, words, strlen(words));
    words_normalize(&whole, text, strlen(text));
    bool said = wanted.length && !wanted.failed && !whole.failed && strstr(buffer_text(&whole), buffer_text(&wanted));
    buffer_fini(&wanted);
    buffer_fini(&whole);
    return said;
}
