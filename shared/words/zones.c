#include "words/zones.h"

#include <stdio.h>
#include <string.h>
#include <unicode/ucal.h>
#include <unicode/udat.h>
#include <unicode/ustring.h>

/* ICU's canonical names are CLDR's, which never change; IANA's have. */
static const struct {
    const char *cldr, *iana;
} renamed[] = {
    {"Africa/Asmera", "Africa/Asmara"},
    {"America/Buenos_Aires", "America/Argentina/Buenos_Aires"},
    {"America/Catamarca", "America/Argentina/Catamarca"},
    {"America/Coral_Harbour", "America/Atikokan"},
    {"America/Cordoba", "America/Argentina/Cordoba"},
    {"America/Godthab", "America/Nuuk"},
    {"America/Indianapolis", "America/Indiana/Indianapolis"},
    {"America/Jujuy", "America/Argentina/Jujuy"},
    {"America/Louisville", "America/Kentucky/Louisville"},
    {"America/Mendoza", "America/Argentina/Mendoza"},
    {"Asia/Calcutta", "Asia/Kolkata"},
    {"Asia/Katmandu", "Asia/Kathmandu"},
    {"Asia/Rangoon", "Asia/Yangon"},
    {"Asia/Saigon", "Asia/Ho_Chi_Minh"},
    {"Atlantic/Faeroe", "Atlantic/Faroe"},
    {"Europe/Kiev", "Europe/Kyiv"},
    {"Pacific/Enderbury", "Pacific/Kanton"},
    {"Pacific/Ponape", "Pacific/Pohnpei"},
    {"Pacific/Truk", "Pacific/Chuuk"},
};

/* Countries with several zones: the zones with most people, the largest first. The others follow in ICU's order. */
static const struct {
    const char *country, *zones;
} peopled[] = {
    {"AR", "America/Argentina/Buenos_Aires America/Argentina/Cordoba America/Argentina/Mendoza"},
    {"AU", "Australia/Sydney Australia/Melbourne Australia/Brisbane Australia/Perth Australia/Adelaide"},
    {"BR", "America/Sao_Paulo America/Bahia America/Fortaleza America/Recife America/Belem America/Manaus"},
    {"CA", "America/Toronto America/Vancouver America/Edmonton America/Winnipeg America/Halifax America/Regina"},
    {"CD", "Africa/Kinshasa Africa/Lubumbashi"},
    {"CL", "America/Santiago Pacific/Easter"},
    {"CN", "Asia/Shanghai Asia/Urumqi"},
    {"CY", "Asia/Nicosia Asia/Famagusta"},
    {"DE", "Europe/Berlin"},
    {"EC", "America/Guayaquil Pacific/Galapagos"},
    {"ES", "Europe/Madrid Atlantic/Canary"},
    {"FM", "Pacific/Pohnpei Pacific/Chuuk"},
    {"GL", "America/Nuuk"},
    {"ID", "Asia/Jakarta Asia/Makassar Asia/Pontianak Asia/Jayapura"},
    {"KI", "Pacific/Tarawa"},
    {"KZ", "Asia/Almaty Asia/Aqtobe"},
    {"MH", "Pacific/Majuro"},
    {"MN", "Asia/Ulaanbaatar"},
    {"MX", "America/Mexico_City America/Monterrey America/Tijuana America/Hermosillo America/Cancun"},
    {"MY", "Asia/Kuala_Lumpur Asia/Kuching"},
    {"NZ", "Pacific/Auckland Pacific/Chatham"},
    {"PF", "Pacific/Tahiti"},
    {"PG", "Pacific/Port_Moresby Pacific/Bougainville"},
    {"PS", "Asia/Gaza Asia/Hebron"},
    {"PT", "Europe/Lisbon Atlantic/Madeira Atlantic/Azores"},
    {"RU", "Europe/Moscow Asia/Yekaterinburg Asia/Novosibirsk Asia/Krasnoyarsk Europe/Samara Asia/Omsk Asia/Irkutsk "
           "Asia/Vladivostok"},
    {"UA", "Europe/Kyiv"},
    {"UM", "Pacific/Wake"},
    {"US", "America/New_York America/Chicago America/Los_Angeles America/Denver America/Phoenix America/Detroit "
           "America/Indiana/Indianapolis Pacific/Honolulu America/Boise America/Anchorage"},
    {"UZ", "Asia/Tashkent Asia/Samarkand"},
};

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

static bool zone_units(const char *zone, UChar units[ZONE_NAME_MAX])
{
    if (strlen(zone) >= ZONE_NAME_MAX)
        return false;
    for (const char *c = zone; *c; c++) {
        if ((unsigned char)*c >= 0x80)
            return false;
    }
    u_charsToUChars(zone, units, (int32_t)strlen(zone) + 1);
    return true;
}

bool zone_canonical(const char *zone, char out[ZONE_NAME_MAX])
{
    UErrorCode error = U_ZERO_ERROR;
    UChar given[ZONE_NAME_MAX], canonical[ZONE_NAME_MAX];
    UBool known = false;
    if (zone[0] == '\0' || !zone_units(zone, given))
        return false;
    int32_t length = ucal_getCanonicalTimeZoneID(given, -1, canonical, ZONE_NAME_MAX, &known, &error);
    if (U_FAILURE(error) || !known || length >= ZONE_NAME_MAX)
        return false;
    u_UCharsToChars(canonical, out, length + 1);
    for (size_t i = 0; i < ELEMENTS(renamed); i++) {
        if (strcmp(out, renamed[i].cldr) == 0)
            snprintf(out, ZONE_NAME_MAX, "%s", renamed[i].iana);
    }
    return strcmp(out, "Etc/Unknown") != 0;
}

static size_t zone_add(char (*zones)[ZONE_NAME_MAX], size_t count, size_t room, const char *zone)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(zones[i], zone) == 0)
            return count;
    }
    if (count < room)
        snprintf(zones[count++], ZONE_NAME_MAX, "%s", zone);
    return count;
}

static size_t zones_peopled(const char *country, char (*zones)[ZONE_NAME_MAX], size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < ELEMENTS(peopled); i++) {
        if (strcmp(peopled[i].country, country) != 0)
            continue;
        for (const char *at = peopled[i].zones; *at;) {
            char zone[ZONE_NAME_MAX];
            size_t length = strcspn(at, " ");
            snprintf(zone, sizeof(zone), "%.*s", (int)length, at);
            count = zone_add(zones, count, room, zone);
            at += length + (at[length] == ' ');
        }
    }
    return count;
}

size_t zones_of_country(const char *country, char (*zones)[ZONE_NAME_MAX], size_t room)
{
    UErrorCode error = U_ZERO_ERROR;
    size_t count = zones_peopled(country, zones, room);
    UEnumeration *all = ucal_openTimeZoneIDEnumeration(UCAL_ZONE_TYPE_CANONICAL_LOCATION, country, NULL, &error);
    const char *zone;
    while (U_SUCCESS(error) && (zone = uenum_next(all, NULL, &error)) != NULL) {
        char canonical[ZONE_NAME_MAX];
        if (zone_canonical(zone, canonical))
            count = zone_add(zones, count, room, canonical);
    }
    uenum_close(all);
    return count;
}

bool zone_civil(const char *zone, int64_t unix_ms, struct civil *civil)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar units[ZONE_NAME_MAX];
    char canonical[ZONE_NAME_MAX];
    if (!zone_canonical(zone[0] ? zone : "UTC", canonical) || !zone_units(canonical, units))
        return false;
    UCalendar *calendar = ucal_open(units, -1, "en", UCAL_GREGORIAN, &error);
    ucal_setMillis(calendar, (double)unix_ms, &error);
    civil->year = ucal_get(calendar, UCAL_EXTENDED_YEAR, &error);
    civil->month = ucal_get(calendar, UCAL_MONTH, &error) + 1;
    civil->day = ucal_get(calendar, UCAL_DATE, &error);
    civil->weekday = ucal_get(calendar, UCAL_DAY_OF_WEEK, &error) - UCAL_SUNDAY;
    civil->hour = ucal_get(calendar, UCAL_HOUR_OF_DAY, &error);
    civil->minute = ucal_get(calendar, UCAL_MINUTE, &error);
    ucal_close(calendar);
    return U_SUCCESS(error);
}

bool zone_city(const char *zone, const char *language, char *out, size_t room)
{
    static const UChar exemplar[] = {'V', 'V', 'V', 0};
    UErrorCode error = U_ZERO_ERROR;
    UChar units[ZONE_NAME_MAX], city[128];
    char canonical[ZONE_NAME_MAX];
    if (!zone_canonical(zone, canonical) || !zone_units(canonical, units))
        return false;
    UDateFormat *format = udat_open(UDAT_PATTERN, UDAT_PATTERN, language, units, -1, exemplar, -1, &error);
    udat_format(format, 0, city, ELEMENTS(city), NULL, &error);
    udat_close(format);
    u_strToUTF8(out, (int32_t)room, NULL, city, -1, &error);
    return U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING && out[0] != '\0';
}
