#include "live.h"

#include "commands.h"
#include "orchestrator_client.h"
#include "wrap.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t live_back(struct live *live)
{
    size_t rows = 0, width = command_terminal_width();
    for (size_t i = 0; i < live->count; i++)
        rows += live->drawn[i] ? (live->drawn[i] + width - 1) / width : 1;
    if (rows)
        printf("\033[%zuA\r", rows);
    live->count = 0;
    return width;
}

/* Only the rest of the old line is erased: the terminal does not flicker. */
void live_end_line(struct live *live, size_t columns)
{
    fputs("\033[K\n", stdout);
    if (live->count < LIVE_LINES_MAX)
        live->drawn[live->count++] = columns;
}

void live_erase(struct live *live)
{
    live_back(live);
    fputs("\033[J", stdout);
}

size_t live_print(const char *text, size_t columns)
{
    size_t bytes = wrap_fit(text, columns);
    bool cut = text[bytes] != '\0' && columns;
    bytes = cut ? wrap_fit(text, columns - 1) : bytes;
    char *shown = strndup(text, bytes);
    if (!shown)
        abort();
    show_text(shown);
    fputs(cut ? "…" : "", stdout);
    size_t taken = wrap_columns(shown) + cut;
    free(shown);
    return taken;
}

void live_time(char *out, size_t room, const char *seconds, int64_t ns)
{
    int64_t tenths = ns / (NS_PER_SEC / 10);
    if (tenths < 100)
        snprintf(out, room, "%d.%d%s", (int)(tenths / 10), (int)(tenths % 10), seconds);
    else
        snprintf(out, room, "%lld%s", (long long)tenths / 10, seconds);
}

void live_keep_tail(char tail[LIVE_TAIL], const char *text)
{
    char joined[2 * LIVE_TAIL];
    size_t length = strlen(text), room = LIVE_TAIL - 1;
    snprintf(joined, sizeof joined, "%s%s", tail, text + (length > room ? length - room : 0));
    length = strlen(joined);
    size_t from = length > room ? length - room : 0;
    while (((unsigned char)joined[from] & 0xc0) == 0x80)
        from++;
    snprintf(tail, LIVE_TAIL, "%s", joined + from);
    for (char *c = tail; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
}
