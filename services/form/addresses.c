/* E-mail addresses and addresses of the web in an answer. */
#include "form/reading.h"

#include <string.h>

static bool is_local(uint32_t code)
{
    return code_is_latin(code) || code_is_digit(code) ||
           (code != 0 && code < 0x80 && strchr(".!#$%&'*+/=?^_`{|}~-", (int)code));
}

static bool is_host(uint32_t code)
{
    return code_is_latin(code) || code_is_digit(code) || code == '.' || code == '-';
}

/* A letter of another script than kana and Han goes on with the address: the address is cut in it. */
static bool is_foreign_letter(uint32_t code)
{
    return code >= 0x80 && (script_of(code) == SCRIPT_LETTER || script_of(code) == SCRIPT_DIGIT);
}

/* A host has at least two labels; the last label consists of letters only. */
static bool host_is_good(const struct reading *in, size_t first, size_t end)
{
    size_t label = first, labels = 0;
    bool letters = true;
    if (end - first > 253)
        return false;
    for (size_t i = first; i <= end; i++) {
        uint32_t code = i < end ? code_at(in, i) : '.';
        if (code != '.') {
            letters = (i == label || letters) && code_is_latin(code);
            continue;
        }
        if (i == label || i - label > 63 || code_at(in, label) == '-' || code_at(in, i - 1) == '-')
            return false;
        labels++;
        if (i < end)
            label = i + 1;
    }
    return labels >= 2 && letters && end - label >= 2;
}

static bool local_is_good(const struct reading *in, size_t first, size_t end)
{
    if (end == first || end - first > 64 || code_at(in, first) == '.' || code_at(in, end - 1) == '.')
        return false;
    for (size_t i = first + 1; i < end; i++) {
        if (code_at(in, i) == '.' && code_at(in, i - 1) == '.')
            return false;
    }
    return true;
}

/* The local part as the person wrote it, the host in small letters. */
static const char *email_text(const struct reading *in, size_t first, size_t at, size_t end)
{
    const char *local = reading_narrow(in, first, at);
    char *host = arena_alloc(in->arena, end - at + 1);
    for (size_t i = at; host && i < end; i++)
        host[i - at] = (char)code_at(in, i);
    if (!local || !host)
        return NULL;
    host[end - at] = '\0';
    return arena_printf(in->arena, "%s%s", local, host);
}

void emails_find(const struct reading *in, struct candidates *out)
{
    size_t least = 0;
    for (size_t i = 0; i < in->in.count; i++) {
        if (code_at(in, i) != '@')
            continue;
        size_t first = i, end = i + 1;
        while (first > least && is_local(code_at(in, first - 1)))
            first--;
        while (first < i && (code_at(in, first) == '\'' || code_at(in, first) == '='))
            first++;
        while (is_host(code_at(in, end)))
            end++;
        while (end > i + 1 && (code_at(in, end - 1) == '.' || code_at(in, end - 1) == '-'))
            end--;
        bool good = local_is_good(in, first, i) && host_is_good(in, i + 1, end) && end - first <= 254 &&
                    !is_foreign_letter(code_at(in, end)) && code_at(in, end) != '@' && code_at(in, end) != '_' &&
                    (first == 0 || (!is_foreign_letter(code_at(in, first - 1)) && code_at(in, first - 1) != '@'));
        candidate_add(out, first, end, good ? FORM_FINE : FORM_BAD_EMAIL, good ? email_text(in, first, i, end) : "");
        least = end;
        i = end - 1;
    }
    /* "ada.example.com" and "ada at example.com" are meant as addresses: report a bad e-mail. */
    for (size_t i = 0; out->count == 0 && i < in->in.count; i++) {
        size_t end = i;
        while (is_host(code_at(in, end)) || code_at(in, end) == '_')
            end++;
        size_t next = end;
        while (end > i && (code_at(in, end - 1) == '.' || code_at(in, end - 1) == '-'))
            end--;
        if (end > i && host_is_good(in, i, end))
            candidate_add(out, i, end, FORM_BAD_EMAIL, "");
        i = next;
    }
}

/* ---- addresses of the web ---------------------------------------------------------------------------------------- */

static bool is_url(uint32_t code)
{
    return code_is_latin(code) || code_is_digit(code) ||
           (code != 0 && code < 0x80 && strchr("-._~:/?#[]@!$&'()*+,;=%", (int)code));
}

/* Marks of the sentence around it: a stop, a comma, a bracket that is not opened within. */
static size_t url_trim(const struct reading *in, size_t first, size_t end)
{
    int brackets = 0;
    for (size_t i = first; i < end; i++)
        brackets += code_at(in, i) == '(' ? 1 : code_at(in, i) == ')' ? -1 : 0;
    while (end > first) {
        uint32_t last = code_at(in, end - 1);
        if (last == ')' && brackets < 0)
            brackets++;
        else if (!strchr(".,;:!?'", (int)last))
            break;
        end--;
    }
    return end;
}

/* Characters are as the person wrote them: paths know cases. Scheme and host are in small letters. */
static const char *url_text(const struct reading *in, size_t first, size_t host, size_t host_end, size_t end)
{
    const char *tail = reading_narrow(in, host_end, end);
    char *head = arena_alloc(in->arena, host_end - first + 1);
    for (size_t i = first; head && i < host_end; i++)
        head[i - first] = (char)code_at(in, i);
    if (!tail || !head)
        return NULL;
    head[host_end - first] = '\0';
    return arena_printf(in->arena, "%s%s%s", host == first ? "https://" : "", head, tail);
}

static bool port_is_good(const struct reading *in, size_t i)
{
    size_t digits = 0;
    if (code_at(in, i) != ':')
        return true;
    while (code_is_digit(code_at(in, i + 1 + digits)))
        digits++;
    uint32_t behind = code_at(in, i + 1 + digits);
    return digits >= 1 && digits <= 5 && (!is_url(behind) || behind == '/' || behind == '?' || behind == '#');
}

void urls_find(const struct reading *in, struct candidates *out)
{
    for (size_t i = 0; i < in->in.count;) {
        size_t host, host_end, end = i, colon;
        if (!code_is_latin(code_at(in, i)) && !code_is_digit(code_at(in, i))) {
            i++;
            continue;
        }
        while (is_url(code_at(in, end)))
            end++;
        size_t next = end;
        bool cut = is_foreign_letter(code_at(in, end));
        end = url_trim(in, i, end);
        for (colon = i; code_is_latin(code_at(in, colon)); colon++)
            ;
        bool scheme = code_at(in, colon) == ':' && code_at(in, colon + 1) == '/' && code_at(in, colon + 2) == '/';
        bool http = scheme && (word_at(in, i, "http") == colon || word_at(in, i, "https") == colon);
        host = scheme ? colon + 3 : i;
        for (host_end = host; is_host(code_at(in, host_end)) && host_end < end; host_end++)
            ;
        uint32_t behind = host_end < end ? code_at(in, host_end) : '/';
        bool good = host < end && host_is_good(in, host, host_end) && !cut && port_is_good(in, host_end) &&
                    (behind == '/' || behind == '?' || behind == '#' || behind == ':');
        bool dotted = host_is_good(in, host, host_end) && behind != '@';
        if (http || (!scheme && good))
            candidate_add(out, i, end, good ? FORM_FINE : FORM_BAD_URL,
                          good ? url_text(in, i, host, host_end, end) : "");
        else if (scheme || (dotted && cut))
            candidate_add(out, i, end, FORM_BAD_URL, "");
        i = next > i ? next : i + 1;
    }
}
