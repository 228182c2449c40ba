#include "store/sqlite/checksum.h"

#include "base/crc32c.h"

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

/* Kind, size and bytes, so that no two lists of values are alike: 'ab', 'c' is not 'a', 'bc'. */
static uint32_t add_value(uint32_t sum, sqlite3_value *value)
{
    uint8_t head[9] = {(uint8_t)sqlite3_value_type(value)};
    int64_t number = 0;
    double real;
    const void *bytes = NULL;
    switch (sqlite3_value_type(value)) { /* read as its own kind alone: SQLite would convert it for another */
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        bytes = sqlite3_value_blob(value);
        number = sqlite3_value_bytes(value);
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        memcpy(&number, &real, sizeof number);
        break;
    case SQLITE_INTEGER:
        number = sqlite3_value_int64(value);
        break;
    }
    for (int i = 0; i < 8; i++)
        head[1 + i] = (uint8_t)((uint64_t)number >> 8 * i);
    sum = crc32c(sum, head, sizeof head);
    return bytes ? crc32c(sum, bytes, (size_t)number) : sum;
}

static void seal_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint32_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = add_value(sum, values[i]);
    sqlite3_result_int64(context, sum);
}

bool sqlite_checksum_register(struct sqlite3 *connection)
{
    return sqlite3_create_function_v2(connection, "seal_of", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                      NULL, seal_of, NULL, NULL, NULL) == SQLITE_OK;
}
