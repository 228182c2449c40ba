/* libcurl, loaded when its first function is called, or before a process serves. Debian's needs 25 more libraries
 * (LDAP, Kerberos, SSH, RTMP and GnuTLS): to load them took a third of the start of a command, which may never call a
 * server. The functions here have libcurl's names, so the files of this folder call it as if it were linked. */
#include "base/log.h"
#include "http/client_priv.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>

#define LIBRARY "libcurl.so.4"

/* type, name, parameters, arguments */
#define LIBCURL_FUNCTIONS(F)                                                                                           \
    F(CURLcode, curl_global_init, (long flags), (flags))                                                               \
    F(void, curl_free, (void *text), (text))                                                                           \
    F(CURL *, curl_easy_init, (void), ())                                                                              \
    F(void, curl_easy_cleanup, (CURL * easy), (easy))                                                                  \
    F(CURLcode, curl_easy_recv, (CURL * easy, void *to, size_t room, size_t *size), (easy, to, room, size))            \
    F(CURLcode, curl_easy_send, (CURL * easy, const void *from, size_t room, size_t *size), (easy, from, room, size))  \
    F(CURLcode, curl_easy_pause, (CURL * easy, int directions), (easy, directions))                                    \
    F(CURLHcode, curl_easy_header,                                                                                     \
      (CURL * easy, const char *name, size_t index, unsigned origin, int request, struct curl_header **found),         \
      (easy, name, index, origin, request, found))                                                                     \
    F(struct curl_header *, curl_easy_nextheader,                                                                      \
      (CURL * easy, unsigned origin, int request, struct curl_header *last), (easy, origin, request, last))            \
    F(const char *, curl_easy_strerror, (CURLcode code), (code))                                                       \
    F(CURLM *, curl_multi_init, (void), ())                                                                            \
    F(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                                         \
    F(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL * easy), (multi, easy))                                   \
    F(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL * easy), (multi, easy))                                \
    F(CURLMcode, curl_multi_socket_action, (CURLM * multi, curl_socket_t socket, int events, int *running),            \
      (multi, socket, events, running))                                                                                \
    F(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                                      \
    F(CURLSH *, curl_share_init, (void), ())                                                                           \
    F(CURLSHcode, curl_share_cleanup, (CURLSH * share), (share))                                                       \
    F(CURLU *, curl_url, (void), ())                                                                                   \
    F(void, curl_url_cleanup, (CURLU * url), (url))                                                                    \
    F(CURLU *, curl_url_dup, (CURLU * url), (url))                                                                     \
    F(CURLUcode, curl_url_get, (CURLU * url, CURLUPart part, char **text, unsigned flags), (url, part, text, flags))   \
    F(CURLUcode, curl_url_set, (CURLU * url, CURLUPart part, const char *text, unsigned flags),                        \
      (url, part, text, flags))                                                                                        \
    F(const char *, curl_url_strerror, (CURLUcode code), (code))

/* type, name, type of the handle, type of the key: the last argument is a long, a curl_off_t or a pointer. */
#define LIBCURL_SETTERS(F)                                                                                             \
    F(CURLcode, curl_easy_setopt, CURL *, CURLoption)                                                                  \
    F(CURLcode, curl_easy_getinfo, CURL *, CURLINFO)                                                                   \
    F(CURLMcode, curl_multi_setopt, CURLM *, CURLMoption)                                                              \
    F(CURLSHcode, curl_share_setopt, CURLSH *, CURLSHoption)

static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "each is passed as a pointer is");

#define LIBCURL_MEMBER(type, name, ...) __typeof__(name) *name;
static struct {
    LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
    LIBCURL_SETTERS(LIBCURL_MEMBER)
} libcurl;

static void *libcurl_find(void *library, const char *name)
{
    void *found = library ? dlsym(library, name) : NULL;
    if (!found)
        fatal("http.curl", "%s", dlerror());
    return found;
}

static void libcurl_load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
#define LIBCURL_FIND(type, name, ...) libcurl.name = (__typeof__(name) *)libcurl_find(library, #name);
    LIBCURL_FUNCTIONS(LIBCURL_FIND)
    LIBCURL_SETTERS(LIBCURL_FIND)
    if (libcurl.curl_global_init(CURL_GLOBAL_DEFAULT))
        fatal("http.curl", "libcurl cannot be initialised");
}

static void libcurl_need(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, libcurl_load);
}

void http_client_prepare(void)
{
    libcurl_need();
}

#define LIBCURL_FUNCTION(type, name, parameters, arguments)                                                            \
    type(name) parameters                                                                                              \
    {                                                                                                                  \
        libcurl_need();                                                                                                \
        return libcurl.name arguments;                                                                                 \
    }
LIBCURL_FUNCTIONS(LIBCURL_FUNCTION)

#define LIBCURL_SETTER(type, name, handle_type, key_type)                                                              \
    type(name)(handle_type handle, key_type key, ...)                                                                  \
    {                                                                                                                  \
        va_list last;                                                                                                  \
        va_start(last, key);                                                                                           \
        void *value = va_arg(last, void *);                                                                            \
        va_end(last);                                                                                                  \
        libcurl_need();                                                                                                \
        return (libcurl.name)(handle, key, value);                                                                     \
    }
LIBCURL_SETTERS(LIBCURL_SETTER)
