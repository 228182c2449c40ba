#include "html.h"

void html_escape(struct buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '&')
            buffer_print(out, "&amp;");
        else if (c == '<')
            buffer_print(out, "&lt;");
        else if (c == '>')
            buffer_print(out, "&gt;");
        else if (c == '"')
            buffer_print(out, "&quot;");
        else if (c == '\'')
            buffer_print(out, "&#39;");
        else
            buffer_put(out, (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? ' ' : (char)c);
    }
}
