#include "words/words.h"

void words_normalize(struct buffer *out, const char *text, size_t length)
{
    struct fold fold;
    struct folded c;
    bool space = false, any = false;
    fold_begin(&fold, text, length);
    while (fold_next(&fold, &c)) {
        if (script_of(c.code) == SCRIPT_SPACE) {
            space = any;
            continue;
        }
        if (space)
            buffer_put(out, ' ');
        char bytes[4];
        buffer_append(out, bytes, utf8_write(bytes, c.code));
        space = false;
        any = true;
    }
}
