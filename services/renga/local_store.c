#include "local_store.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* "20261122-k3f9": of today, and short enough to be typed. */
static void local_store_make_name(char name[LOCAL_STORE_NAME_SIZE])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char random[6] = {0};
    char day[16], end[sizeof random + 1] = "";
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(day, sizeof day, "%Y%m%d", &local);
    if (getrandom(random, sizeof random, 0) < 0)
        random[0] = (unsigned char)getpid();
    for (size_t i = 0; i < sizeof random; i++)
        end[i] = letters[random[i] % 32];
    snprintf(name, LOCAL_STORE_NAME_SIZE, "%s-%s", day, end);
}

/* As a file's name: separators of paths are written as %2F. */
static void local_store_encode(const char *name, char out[3 * LOCAL_STORE_NAME_SIZE])
{
    for (const char *c = name; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        bool plain = byte >= 0x80 || isalnum(byte) || strchr("-_", byte) || (byte == '.' && c != name);
        out += snprintf(out, 4, plain ? "%c" : "%%%02X", byte);
    }
}

bool local_store_open(struct local_store *store, const char *kind, const char *name)
{
    char folder[PATH_MAX], file[3 * LOCAL_STORE_NAME_SIZE] = "";
    *store = (struct local_store){.made = !name};
    if (name)
        snprintf(store->name, sizeof store->name, "%s", name);
    else
        local_store_make_name(store->name);
    local_store_encode(store->name, file);
    if (!command_data_folder(folder) || strlen(folder) + strlen(kind) + strlen(file) + 9 > sizeof store->path) {
        snprintf(store->target, sizeof store->target, "memory:");
        return false;
    }
    snprintf(store->path, sizeof store->path, "%.*s/%.16s", (int)(sizeof store->path / 2), folder, kind);
    mkdir(store->path, 0700);
    snprintf(store->path + strlen(store->path), sizeof store->path - strlen(store->path), "/%s.db", file);
    snprintf(store->target, sizeof store->target, "sqlite:%s", store->path);
    store->existed = access(store->path, F_OK) == 0;
    return true;
}

void local_store_close(const struct local_store *store, bool opened)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".lock", NULL};
    char path[sizeof store->path + 8];
    for (const char *const *ending = endings; *store->path && !store->existed && !opened && *ending; ending++) {
        snprintf(path, sizeof path, "%s%s", store->path, *ending);
        unlink(path);
    }
}

bool local_store_rename(struct local_store *store, const char *kind, const char *name)
{
    static const char *const kept[] = {"", "-wal"};
    struct local_store to;
    char from[sizeof store->path + 8], other[sizeof store->path + 8];
    if (!*store->path || !local_store_open(&to, kind, name) || to.existed)
        return false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(from, sizeof from, "%s%s", store->path, kept[i]);
        snprintf(other, sizeof other, "%s%s", to.path, kept[i]);
        if (rename(from, other) != 0 && i == 0)
            return false;
    }
    local_store_close(store, false); /* the lock */
    *store = to;
    return true;
}
