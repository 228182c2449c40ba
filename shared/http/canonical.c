#include "http/canonical.h"

#include "http/client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SEGMENTS_MAX   1024 /* of a path; the rest of a longer path is compared unchanged */
#define PARAMETERS_MAX 1024 /* of a query, likewise */
#define PORT_MAX       6    /* bytes of ":65535" */

struct piece {
    const char *text;
    size_t length;
};

/* ---- characters -------------------------------------------------------------------------------------------------- */

static int canonical_hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* The byte that the percent escape at `i` encodes; -1: no escape there. */
static int canonical_decode(struct piece piece, size_t i)
{
    int high = piece.text[i] == '%' && i + 2 < piece.length ? canonical_hex(piece.text[i + 1]) : -1;
    int low = high >= 0 ? canonical_hex(piece.text[i + 2]) : -1;
    return low >= 0 ? high * 16 + low : -1;
}

static bool canonical_unreserved(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void canonical_put_encoded(struct buffer *out, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char encoded[] = {'%', digits[c >> 4], digits[c & 15]};
    buffer_append(out, encoded, sizeof encoded);
}

/* Step 5. */
static void canonical_put(struct buffer *out, struct piece piece)
{
    for (size_t i = 0; i < piece.length; i++) {
        int decoded = canonical_decode(piece, i);
        bool encoded = decoded >= 0;
        unsigned char c = encoded ? (unsigned char)decoded : (unsigned char)piece.text[i];
        i += encoded ? 2 : 0;
        if (canonical_unreserved(c) || (!encoded && c > ' ' && c < 0x7f && c != '%'))
            buffer_put(out, (char)c);
        else
            canonical_put_encoded(out, c);
    }
}

/* Up to the first of `ends`, which `end` receives: NUL at the end. */
static struct piece canonical_until(const char **at, const char *ends, char *end)
{
    size_t length = strcspn(*at, ends);
    struct piece piece = {*at, length};
    *end = (*at)[length];
    *at += length;
    return piece;
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* Decoded and in lower case; false if it has a byte that no host has. */
static bool canonical_host_bytes(struct piece piece, struct buffer *out)
{
    for (size_t i = 0; i < piece.length; i++) {
        int decoded = canonical_decode(piece, i);
        char c = decoded >= 0 ? (char)decoded : piece.text[i];
        i += decoded >= 0 ? 2 : 0;
        if ((unsigned char)c <= ' ' || c == 0x7f || strchr("#/<>?@\\^|%\"", c))
            return false;
        buffer_put(out, (char)tolower((unsigned char)c));
    }
    return piece.length > 0;
}

static bool canonical_is_numeric(const char *host)
{
    const char *dot = strrchr(host, '.'), *label = dot ? dot + 1 : host;
    return *label && (label[strspn(label, "0123456789")] == '\0' ||
                      (label[0] == '0' && (label[1] | 0x20) == 'x' && isxdigit((unsigned char)label[2]) &&
                       label[2 + strspn(label + 2, "0123456789abcdef")] == '\0'));
}

/* Cuts the host. */
static bool canonical_put_ascii_host(char *host, struct buffer *out)
{
    size_t length = strlen(host);
    struct in_addr address;
    char text[INET_ADDRSTRLEN];
    if (strstr(host, ".."))
        return false;
    if (length && host[length - 1] == '.')
        host[--length] = '\0';
    if (!length || host[0] == '.')
        return false;
    if (host[0] != '[' && canonical_is_numeric(host)) {
        if (!inet_aton(host, &address) || !inet_ntop(AF_INET, &address, text, sizeof text))
            return false;
        buffer_print(out, text);
        return true;
    }
    bool www = strncmp(host, "www.", 4) == 0 && strchr(host + 4, '.') && strncmp(host + 4, "www.", 4) != 0;
    buffer_append(out, host + (www ? 4 : 0), length - (www ? 4 : 0));
    return true;
}

static bool canonical_is_ascii(const char *text)
{
    while ((unsigned char)*text && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

static bool canonical_put_host(struct piece piece, struct buffer *out)
{
    struct buffer bytes;
    struct status ignored = {0};
    buffer_init(&bytes, CANONICAL_MAX);
    bool good = canonical_host_bytes(piece, &bytes);
    const char *host = buffer_text(&bytes);
    char *ascii = !good ? NULL : canonical_is_ascii(host) ? strdup(host) : http_host_ascii(host, &ignored);
    good = ascii && canonical_put_ascii_host(ascii, out);
    free(ascii);
    buffer_fini(&bytes);
    return good;
}

/* The port, unless it is a default one. False if it is no number. */
static bool canonical_put_port(struct piece port, struct buffer *out)
{
    char digits[PORT_MAX] = "";
    if (!port.length)
        return true;
    while (port.length > 1 && port.text[0] == '0')
        port = (struct piece){port.text + 1, port.length - 1};
    if (port.length >= sizeof digits)
        return false;
    memcpy(digits, port.text, port.length);
    if (digits[strspn(digits, "0123456789")] || atoi(digits) > UINT16_MAX)
        return false;
    if (atoi(digits) != 80 && atoi(digits) != 443)
        buffer_printf(out, ":%s", digits);
    return true;
}

static bool canonical_put_authority(struct piece piece, struct buffer *out)
{
    const char *user = memrchr(piece.text, '@', piece.length);
    if (user)
        piece = (struct piece){user + 1, piece.length - (size_t)(user + 1 - piece.text)};
    const char *bracket = piece.length && piece.text[0] == '[' ? memchr(piece.text, ']', piece.length) : NULL;
    const char *after = bracket ? bracket + 1 : piece.text;
    const char *colon = memchr(after, ':', piece.length - (size_t)(after - piece.text));
    struct piece host = {piece.text, colon ? (size_t)(colon - piece.text) : piece.length}, port = {"", 0};
    if (colon)
        port = (struct piece){colon + 1, piece.length - host.length - 1};
    return canonical_put_host(host, out) && canonical_put_port(port, out);
}

/* ---- the path ---------------------------------------------------------------------------------------------------- */

/* "." or "%2e", once or twice: 1 or 2; otherwise 0. */
static int canonical_dots(struct piece piece)
{
    int dots = 0;
    while (piece.length) {
        size_t taken = piece.text[0] == '.' ? 1 : piece.length >= 3 && strncasecmp(piece.text, "%2e", 3) == 0 ? 3 : 0;
        if (!taken || ++dots > 2)
            return 0;
        piece = (struct piece){piece.text + taken, piece.length - taken};
    }
    return dots;
}

static void canonical_put_path(const char **at, struct buffer *out)
{
    struct piece kept[SEGMENTS_MAX];
    size_t count = 0;
    char end = '/';
    while (end == '/' || end == '\\') {
        *at += **at == '/' || **at == '\\';
        struct piece segment = canonical_until(at, "/\\?#", &end);
        int dots = canonical_dots(segment);
        if (dots == 2 && count)
            count--;
        if (!dots && segment.length && count < SEGMENTS_MAX)
            kept[count++] = segment;
    }
    for (size_t i = 0; i < count; i++) {
        buffer_put(out, '/');
        canonical_put(out, kept[i]);
    }
    if (!count)
        buffer_put(out, '/');
}

/* ---- the query --------------------------------------------------------------------------------------------------- */

static size_t canonical_name_length(const struct piece *parameter)
{
    const char *equals = memchr(parameter->text, '=', parameter->length);
    return equals ? (size_t)(equals - parameter->text) : parameter->length;
}

/* By name, then in their original order. */
static int canonical_by_name(const void *a, const void *b)
{
    const struct piece *one = a, *other = b;
    size_t length = canonical_name_length(one), other_length = canonical_name_length(other);
    int order = memcmp(one->text, other->text, length < other_length ? length : other_length);
    if (order == 0 && length != other_length)
        return length < other_length ? -1 : 1;
    return order ? order : one->text < other->text ? -1 : one->text > other->text;
}

/* The parameters one behind the other, percent-encoded as the form has it; returns their lengths. */
static size_t canonical_gather(const char **at, struct buffer *encoded, size_t lengths[PARAMETERS_MAX])
{
    size_t count = 0;
    char end = '&';
    while (end == '&') {
        ++*at;
        size_t before = encoded->length;
        struct piece parameter = canonical_until(at, "&#", &end);
        if (count < PARAMETERS_MAX)
            canonical_put(encoded, parameter);
        if (encoded->length > before)
            lengths[count++] = encoded->length - before;
    }
    return encoded->failed ? 0 : count;
}

static void canonical_put_query(const char **at, struct buffer *out)
{
    struct piece kept[PARAMETERS_MAX];
    size_t lengths[PARAMETERS_MAX], count = 0, gathered;
    struct buffer encoded;
    buffer_init(&encoded, CANONICAL_MAX);
    gathered = canonical_gather(at, &encoded, lengths);
    const char *next = buffer_text(&encoded);
    for (size_t i = 0; i < gathered; i++) {
        kept[count] = (struct piece){next, lengths[i]};
        next += lengths[i];
        count += !canonical_is_tracking(kept[count].text, canonical_name_length(&kept[count]));
    }
    qsort(kept, count, sizeof *kept, canonical_by_name);
    for (size_t i = 0; i < count; i++) {
        buffer_put(out, i ? '&' : '?');
        buffer_append(out, kept[i].text, kept[i].length);
    }
    buffer_fini(&encoded);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Without blanks at its ends, without tabs and line ends. */
static void canonical_tidy(const char *uri, struct buffer *out)
{
    size_t length = strlen(uri);
    while (length && (unsigned char)uri[length - 1] <= ' ')
        length--;
    while (length && (unsigned char)*uri <= ' ') {
        uri++;
        length--;
    }
    for (size_t i = 0; i < length; i++)
        if (!strchr("\t\r\n", uri[i]))
            buffer_put(out, uri[i]);
}

/* Bytes of "scheme:"; 0: no scheme. */
static size_t canonical_scheme(const char *text)
{
    size_t length = isalpha((unsigned char)text[0]) ? 1 : 0;
    while (length && (isalnum((unsigned char)text[length]) || (text[length] && strchr("+-.", text[length]))))
        length++;
    return length && text[length] == ':' ? length + 1 : 0;
}

static enum canonical_kind canonical_write_web(const char *at, struct buffer *out)
{
    char end;
    at += strspn(at, "/\\");
    buffer_print(out, "https://");
    if (!canonical_put_authority(canonical_until(&at, "/\\?#", &end), out))
        return CANONICAL_BROKEN;
    canonical_put_path(&at, out);
    if (*at == '?')
        canonical_put_query(&at, out);
    if (*at == '#' && (at[1] == '!' || at[1] == '/'))
        canonical_put(out, (struct piece){at, strlen(at)});
    return out->failed ? CANONICAL_BROKEN : CANONICAL_WEB;
}

/* Schemes that open no document, or run the text behind them. */
static bool canonical_is_document(const char *text, size_t scheme)
{
    static const char *const others[] = {"about:", "blob:", "data:", "javascript:", "mailto:", "tel:", "vbscript:"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (scheme == strlen(others[i]) && strncasecmp(text, others[i], scheme) == 0)
            return false;
    return true;
}

static enum canonical_kind canonical_write_tidy(const char *text, struct buffer *out)
{
    size_t scheme = canonical_scheme(text);
    if ((scheme == 5 && strncasecmp(text, "http:", 5) == 0) || (scheme == 6 && strncasecmp(text, "https:", 6) == 0))
        return canonical_write_web(text + scheme, out);
    if (!*text || !canonical_is_document(text, scheme))
        return CANONICAL_BROKEN;
    buffer_print(out, text);
    return CANONICAL_NAME;
}

enum canonical_kind canonical_write(const char *uri, struct buffer *out)
{
    struct buffer tidy;
    buffer_init(&tidy, CANONICAL_MAX);
    buffer_clear(out);
    canonical_tidy(uri, &tidy);
    enum canonical_kind kind = tidy.failed ? CANONICAL_BROKEN : canonical_write_tidy(buffer_text(&tidy), out);
    buffer_fini(&tidy);
    return kind;
}
