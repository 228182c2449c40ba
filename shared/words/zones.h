/* Time zones by their IANA names, and the date and time in a zone. The functions may be called from any thread. */
#ifndef RENGA_WORDS_ZONES_H
#define RENGA_WORDS_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONE_NAME_MAX 64 /* bytes, the NUL included */

/* Writes the canonical IANA name of a zone to `out`: "Asia/Calcutta" becomes "Asia/Kolkata". False if unknown. */
bool zone_canonical(const char *zone, char out[ZONE_NAME_MAX]);

/* Lists at most `room` zones of a country (ISO 3166), the zones with most people first; returns their number. */
size_t zones_of_country(const char *country, char (*zones)[ZONE_NAME_MAX], size_t room);

/* `weekday` is 0 on Sunday. */
struct civil {
    int year, month, day, weekday, hour, minute;
};

/* The date and the time in a zone, in the Gregorian calendar; "" is UTC. False for an unknown zone. */
bool zone_civil(const char *zone, int64_t unix_ms, struct civil *civil);

/* The city that a zone is named after, in a language: "東京". False if the zone has no city. */
bool zone_city(const char *zone, const char *language, char *out, size_t room);

#endif
