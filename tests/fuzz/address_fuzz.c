/* libFuzzer on addresses and queries of searches. The first byte is the reader, the second a number of characters. */
#include "base/text.h"
#include "http/canonical.h"
#include "http/client.h"
#include "search/provider.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* ---- of shared/http, which stands on curl ------------------------------------------------------------------------ */

bool http_headers_add(struct http_headers *headers, const char *name, const char *value, struct status *st)
{
    return true;
}

char *http_host_ascii(const char *host, struct status *st)
{
    return NULL;
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

static void fuzz_read_address(const char *text)
{
    struct buffer form, again;
    buffer_init(&form, CANONICAL_MAX);
    buffer_init(&again, CANONICAL_MAX);
    if (canonical_write(text, &form) == CANONICAL_WEB) {
        must(strncmp(buffer_text(&form), "https://", 8) == 0);
        must(canonical_write(buffer_text(&form), &again) == CANONICAL_WEB || again.failed);
        must(again.failed || strcmp(buffer_text(&form), buffer_text(&again)) == 0);
    }
    buffer_fini(&form);
    buffer_fini(&again);
}

static void read_query(const char *text, size_t characters)
{
    size_t whole = strlen(text), cut = search_query_cut(text, characters, 0);
    must(cut <= whole && search_query_cut(text, whole, 0) == whole && search_query_cut(text, characters, 3) <= cut);
    must(!text_is_clean(text, whole) || text_is_clean(text, cut));
}

static void fuzz_encode_address(const char *text)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX / 2);
    search_target_add(&out, text, text);
    must(out.length >= 2 && !strpbrk(buffer_text(&out) + 1, " ?#&\r\n"));
    buffer_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    char *text = strndup((const char *)data + 2, size - 2);
    if (data[0] % 3 == 0)
        fuzz_read_address(text);
    else if (data[0] % 3 == 1)
        read_query(text, data[1]);
    else
        fuzz_encode_address(text);
    free(text);
    return 0;
}
