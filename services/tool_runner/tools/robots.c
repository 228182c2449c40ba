#include "tools/robots.h"

#include <string.h>
#include <strings.h>

/* A path or a rule with its escapes in canonical form: %XX in capitals for all but the unreserved characters. */
struct robots_octets {
    char at[3 * ROBOTS_RULE_MAX];
    size_t length;
};

struct robots_span {
    const char *at;
    size_t length;
};

/* The longest rule so far that matches. */
struct robots_verdict {
    size_t length;
    bool forbids;
};

struct robots_reading {
    const char *token;
    const struct robots_octets *path;
    struct robots_verdict own, others; /* of the groups that name us, and of those for all */
    bool is_named;                     /* a group names us */
    bool in_own, in_others;            /* the group at hand */
    bool has_rules;                    /* the group at hand: the next user-agent begins another */
};

static bool robots_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct robots_span robots_span_trim(struct robots_span span)
{
    while (span.length && robots_is_blank(span.at[span.length - 1]))
        span.length--;
    for (; span.length && robots_is_blank(*span.at); span.length--)
        span.at++;
    return span;
}

static bool robots_span_is(struct robots_span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.at, word, span.length) == 0;
}

/* ---- escapes ----------------------------------------------------------------------------------------------------- */

static int robots_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static bool robots_is_unreserved(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c && strchr("-._~", c));
}

static void robots_put(struct robots_octets *octets, unsigned char c, bool escaped)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!escaped) {
        octets->at[octets->length++] = (char)c;
        return;
    }
    octets->at[octets->length++] = '%';
    octets->at[octets->length++] = digits[c >> 4];
    octets->at[octets->length++] = digits[c & 15];
}

/* In a rule, * and $ keep their meaning; in a path they are characters. */
static void robots_normalise(struct robots_octets *octets, struct robots_span text, bool is_rule)
{
    octets->length = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        int high = c == '%' && i + 2 < text.length ? robots_hex(text.at[i + 1]) : -1;
        int low = high >= 0 ? robots_hex(text.at[i + 2]) : -1;
        if (low >= 0) {
            c = (unsigned char)(high * 16 + low);
            i += 2;
            robots_put(octets, c, !robots_is_unreserved(c));
        } else {
            robots_put(octets, c, c <= ' ' || c >= 0x7f || (!is_rule && (c == '*' || c == '$')));
        }
    }
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* Between stars, pieces are found from left to right; the last piece before a $ must be the end of the path. */
static bool robots_rule_matches(const struct robots_octets *rule, const struct robots_octets *path)
{
    const char *at = path->at, *end = at + path->length;
    size_t length = rule->length;
    bool is_anchored = length && rule->at[length - 1] == '$', is_first = true;
    const char *piece = rule->at, *rule_end = rule->at + length - is_anchored;
    for (;;) {
        const char *star = memchr(piece, '*', (size_t)(rule_end - piece)), *to = star ? star : rule_end;
        size_t size = (size_t)(to - piece), left = (size_t)(end - at);
        if (size > left)
            return false;
        if (is_first && memcmp(at, piece, size) != 0)
            return false;
        if (!star && is_anchored)
            return is_first ? size == left : memcmp(end - size, piece, size) == 0;
        const char *found = is_first ? at : memmem(at, left, piece, size);
        if (!found)
            return false;
        if (!star)
            return true;
        at = found + size;
        piece = star + 1;
        is_first = false;
    }
}

static void robots_weigh_rule(struct robots_verdict *verdict, size_t length, bool forbids)
{
    if (length > verdict->length || (length == verdict->length && !forbids))
        *verdict = (struct robots_verdict){length, forbids};
}

static void robots_read_rule(struct robots_reading *reading, struct robots_span rule, bool forbids)
{
    struct robots_octets octets;
    reading->has_rules = true;
    if (!rule.length || rule.length > ROBOTS_RULE_MAX || !(reading->in_own || reading->in_others))
        return;
    robots_normalise(&octets, rule, true);
    if (!robots_rule_matches(&octets, reading->path))
        return;
    if (reading->in_own)
        robots_weigh_rule(&reading->own, octets.length, forbids);
    if (reading->in_others)
        robots_weigh_rule(&reading->others, octets.length, forbids);
}

static void robots_read_agent(struct robots_reading *reading, struct robots_span agent)
{
    size_t size = 0;
    if (reading->has_rules)
        reading->has_rules = reading->in_own = reading->in_others = false;
    while (size < agent.length && ((agent.at[size] | 0x20) >= 'a' && (agent.at[size] | 0x20) <= 'z'
                                       ? true
                                       : agent.at[size] == '_' || agent.at[size] == '-'))
        size++;
    bool names_us = robots_span_is((struct robots_span){agent.at, size}, reading->token);
    reading->in_own |= names_us;
    reading->is_named |= names_us;
    reading->in_others |= robots_span_is(agent, "*");
}

static void robots_read_line(struct robots_reading *reading, struct robots_span line)
{
    const char *comment = memchr(line.at, '#', line.length);
    line.length = comment ? (size_t)(comment - line.at) : line.length;
    const char *colon = memchr(line.at, ':', line.length);
    if (!colon)
        return;
    struct robots_span key = robots_span_trim((struct robots_span){line.at, (size_t)(colon - line.at)});
    struct robots_span value =
        robots_span_trim((struct robots_span){colon + 1, line.length - (size_t)(colon + 1 - line.at)});
    if (robots_span_is(key, "user-agent"))
        robots_read_agent(reading, value);
    else if (robots_span_is(key, "allow"))
        robots_read_rule(reading, value, false);
    else if (robots_span_is(key, "disallow"))
        robots_read_rule(reading, value, true);
}

bool robots_allow(const char *text, size_t length, const char *token, const char *path)
{
    struct robots_octets octets;
    size_t size = strlen(path), at = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct robots_reading reading = {.token = token, .path = &octets};
    if (strcmp(path, "/robots.txt") == 0)
        return true;
    robots_normalise(&octets, (struct robots_span){path, size < ROBOTS_RULE_MAX ? size : ROBOTS_RULE_MAX}, false);
    length = length < ROBOTS_TEXT_MAX ? length : ROBOTS_TEXT_MAX;
    while (at < length) {
        size_t from = at;
        while (at < length && text[at] != '\n' && text[at] != '\r')
            at++;
        robots_read_line(&reading, (struct robots_span){text + from, at - from});
        at++;
    }
    return reading.is_named ? !reading.own.forbids : !reading.others.forbids;
}
