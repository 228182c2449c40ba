#include "telemetry/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define KEY_MIN 16 /* letters: shorter words are not keys */

/* The first letters of keys: OpenAI and Anthropic, LangSmith, Tavily, Brave, GitHub, Slack, AWS, Google, JSON web
 * tokens. */
static const char *const beginnings[] = {"sk-",         "lsv2_", "tvly-", "BSA",  "ghp_",  "gho_",
                                         "github_pat_", "xox",   "AKIA",  "AIza", "ya29.", "eyJ"};

static bool is_key_letter(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* The letters that may stay; 0 if the word is not a key. */
static size_t key_beginning(const char *word, size_t size, bool behind_bearer)
{
    if (size < KEY_MIN)
        return 0;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
            return strlen(beginnings[i]);
    return behind_bearer ? 1 : 0;
}

void redact_keys(char *text, size_t length)
{
    static const char bearer[] = "Bearer ";
    const size_t bearer_size = sizeof bearer - 1;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && is_key_letter(text[end]))
            end++;
        bool behind = at >= bearer_size && memcmp(text + at - bearer_size, bearer, bearer_size) == 0;
        size_t kept = key_beginning(text + at, end - at, behind);
        if (kept)
            memset(text + at + kept, '*', end - at - kept);
        at = end > at ? end : at + 1;
    }
}
