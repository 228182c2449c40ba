#include "zone.h"

#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ZONES_FOLDER  "/usr/share/zoneinfo/"
#define ZONE_FILE_MAX ((size_t)64 << 10) /* bytes */
#define HEADER        44
#define TYPE          6 /* bytes of a local time type */

/* ---- TZif -------------------------------------------------------------------------------------------------------- */

struct counts {
    size_t utc, standard, leaps, times, types, letters;
};

static uint64_t big(const unsigned char *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static struct counts read_counts(const unsigned char *header)
{
    const unsigned char *at = header + 20;
    return (struct counts){big(at, 4),      big(at + 4, 4),  big(at + 8, 4),
                           big(at + 12, 4), big(at + 16, 4), big(at + 20, 4)};
}

/* Size of a block with moments of `width` bytes. Counts are 32 bits: no overflow. */
static size_t block_size(const struct counts *counts, size_t width)
{
    return counts->times * (width + 1) + counts->types * TYPE + counts->letters + counts->leaps * (width + 4) +
           counts->standard + counts->utc;
}

static bool zone_is_header(const unsigned char *bytes, const unsigned char *end)
{
    return end - bytes >= HEADER && memcmp(bytes, "TZif", 4) == 0;
}

/* The type in force: that of the last transition up to then, or the first type. */
static bool find_type(const unsigned char *block, const struct counts *counts, int64_t at, int32_t *offset)
{
    size_t passed = 0;
    while (passed < counts->times && (int64_t)big(block + passed * 8, 8) <= at)
        passed++;
    size_t type = passed ? block[counts->times * 8 + passed - 1] : 0;
    if (type >= counts->types)
        return false;
    *offset = (int32_t)big(block + counts->times * 9 + type * TYPE, 4);
    return true;
}

/* The text behind the block: "\nJST-9\n", with a comma if the zone has summer time. Only without summer time is the
 * last transition enough. */
static bool zone_goes_on(const unsigned char *footer, const unsigned char *end)
{
    return memchr(footer, ',', (size_t)(end - footer)) != NULL;
}

bool zone_read(const char *bytes, size_t size, int64_t at, int32_t *offset)
{
    const unsigned char *start = (const unsigned char *)bytes, *end = start + size;
    if (!zone_is_header(start, end) || start[4] < '2')
        return false;
    struct counts old = read_counts(start);
    if (block_size(&old, 4) > (size_t)(end - start) - HEADER)
        return false;
    const unsigned char *second = start + HEADER + block_size(&old, 4);
    if (!zone_is_header(second, end))
        return false;
    struct counts counts = read_counts(second);
    const unsigned char *block = second + HEADER;
    if (block_size(&counts, 8) > (size_t)(end - block) || !counts.types)
        return false;
    bool beyond = !counts.times || (int64_t)big(block + (counts.times - 1) * 8, 8) <= at;
    if (beyond && zone_goes_on(block + block_size(&counts, 8), end))
        return false;
    return find_type(block, &counts, at, offset);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int two_digits(const char *text, int max)
{
    if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
        return -1;
    int number = (text[0] - '0') * 10 + text[1] - '0';
    return number <= max ? number : -1;
}

/* "+09:00", "-03:30" */
static bool read_offset(const char *name, int32_t *offset)
{
    if ((name[0] != '+' && name[0] != '-') || strlen(name) != 6 || name[3] != ':')
        return false;
    int hours = two_digits(name + 1, 14), minutes = two_digits(name + 4, 59);
    *offset = (hours * 60 + minutes) * 60 * (name[0] == '-' ? -1 : 1);
    return hours >= 0 && minutes >= 0;
}

/* A name of the database, never a path out of it. */
static bool zone_is_name(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == strlen(name) &&
           isalpha((unsigned char)name[0]) && strlen(name) <= ZONE_NAME_MAX;
}

static bool unknown(const char *name, struct status *st)
{
    return fail(st, INVALID_ARGUMENT, "there is no time zone '%.63s'; give one such as 'Asia/Tokyo', 'UTC' or '+09:00'",
                name);
}

bool zone_offset(const char *name, int64_t at, int32_t *offset, struct status *st)
{
    char path[sizeof ZONES_FOLDER + ZONE_NAME_MAX];
    struct buffer bytes;
    struct stat there;
    *offset = 0;
    if (strcmp(name, "UTC") == 0 || read_offset(name, offset))
        return true;
    if (!zone_is_name(name))
        return unknown(name, st);
    snprintf(path, sizeof path, ZONES_FOLDER "%s", name);
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size > (off_t)ZONE_FILE_MAX)
        return unknown(name, st);
    buffer_init(&bytes, ZONE_FILE_MAX);
    bool read = file_read(path, &bytes, st) && zone_read(bytes.data, bytes.length, at, offset);
    buffer_fini(&bytes);
    return read || fail(st, UNKNOWN,
                        "the system does not know the offset of '%s' now; give one such as "
                        "'+09:00'",
                        name);
}
