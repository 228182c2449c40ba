#include "documents/html_hints.h"

#include "documents/html_tokens.h"

#include <stdlib.h>
#include <string.h>

#define WORD_MAX  32 /* bytes of a word of a class that is looked up */
#define WORDS_MAX 12 /* words of a class that are looked at */

/* Words of classes and ids, by name for a binary search. */
static const struct word {
    const char *name;
    uint32_t hints;
} words[] = {
    {"abstract", HINT_CONTENT},
    {"ad", HINT_ADVERT},
    {"adbox", HINT_ADVERT},
    {"addthis", HINT_SHARE},
    {"addtoany", HINT_SHARE},
    {"admonition", HINT_NOTE},
    {"ads", HINT_ADVERT},
    {"adsbygoogle", HINT_ADVERT},
    {"adslot", HINT_ADVERT},
    {"adspot", HINT_ADVERT},
    {"adunit", HINT_ADVERT},
    {"advert", HINT_ADVERT},
    {"advertisement", HINT_ADVERT},
    {"advertising", HINT_ADVERT},
    {"adwrap", HINT_ADVERT},
    {"alert", HINT_NOTE},
    {"announcement", HINT_NAVIGATE},
    {"article", HINT_CONTENT},
    {"articlebody", HINT_BODY},
    {"articlecontent", HINT_BODY},
    {"articletext", HINT_BODY},
    {"author", HINT_META | HINT_AUTHOR},
    {"authorbox", HINT_META},
    {"banner", HINT_NAVIGATE},
    {"bio", HINT_META},
    {"blog", HINT_CONTENT},
    {"blogpost", HINT_CONTENT},
    {"body", HINT_CONTENT},
    {"bodycopy", HINT_BODY},
    {"bodytext", HINT_BODY},
    {"borlabs", HINT_CONSENT},
    {"breadcrumb", HINT_NAVIGATE},
    {"breadcrumbs", HINT_NAVIGATE},
    {"byline", HINT_META | HINT_AUTHOR},
    {"callout", HINT_NOTE},
    {"caption", HINT_CAPTION},
    {"carousel", HINT_NAVIGATE},
    {"catlinks", HINT_META},
    {"caution", HINT_NOTE},
    {"cmplz", HINT_CONSENT},
    {"colophon", HINT_FOOTER},
    {"comment", HINT_COMMENT},
    {"commentform", HINT_COMMENT},
    {"commenting", HINT_COMMENT},
    {"commentlist", HINT_COMMENT},
    {"comments", HINT_COMMENT},
    {"complementary", HINT_RELATED},
    {"consent", HINT_CONSENT},
    {"content", HINT_CONTENT},
    {"cookiebanner", HINT_CONSENT},
    {"cookiebot", HINT_CONSENT},
    {"copyright", HINT_FOOTER},
    {"credit", HINT_CAPTION},
    {"credits", HINT_CAPTION},
    {"cta", HINT_SIGNUP},
    {"date", HINT_META},
    {"dateline", HINT_META},
    {"description", HINT_CONTENT},
    {"dfp", HINT_ADVERT},
    {"didomi", HINT_CONSENT},
    {"disqus", HINT_COMMENT},
    {"docinfo", HINT_META},
    {"donate", HINT_SIGNUP},
    {"donation", HINT_SIGNUP},
    {"dropdown", HINT_NAVIGATE},
    {"editsection", HINT_NAVIGATE},
    {"entry", HINT_CONTENT},
    {"entrybody", HINT_BODY},
    {"entrycontent", HINT_BODY},
    {"feedback", HINT_SIGNUP},
    {"figcaption", HINT_CAPTION},
    {"follow", HINT_SHARE},
    {"followus", HINT_SHARE},
    {"footer", HINT_FOOTER},
    {"fulltext", HINT_BODY},
    {"gdpr", HINT_CONSENT},
    {"gpt", HINT_ADVERT},
    {"headerlink", HINT_NAVIGATE},
    {"hentry", HINT_CONTENT},
    {"inquiry", HINT_SIGNUP},
    {"latest", HINT_RELATED},
    {"leaderboard", HINT_ADVERT},
    {"lightbox", HINT_NAVIGATE},
    {"livefyre", HINT_COMMENT},
    {"login", HINT_SIGNUP},
    {"mailchimp", HINT_SIGNUP},
    {"main", HINT_CONTENT},
    {"maincontent", HINT_CONTENT},
    {"masthead", HINT_NAVIGATE},
    {"menu", HINT_NAVIGATE},
    {"meta", HINT_META},
    {"modal", HINT_SIGNUP},
    {"mostread", HINT_RELATED},
    {"mpu", HINT_ADVERT},
    {"nav", HINT_NAVIGATE},
    {"navbar", HINT_NAVIGATE},
    {"navbox", HINT_NAVIGATE},
    {"navi", HINT_NAVIGATE},
    {"navigation", HINT_NAVIGATE},
    {"newsletter", HINT_SIGNUP},
    {"newsletters", HINT_SIGNUP},
    {"noprint", HINT_NAVIGATE},
    {"note", HINT_NOTE},
    {"offcanvas", HINT_NAVIGATE},
    {"ogpcard", HINT_RELATED},
    {"onetrust", HINT_CONSENT},
    {"outbrain", HINT_RELATED},
    {"pager", HINT_NAVIGATE},
    {"pagination", HINT_NAVIGATE},
    {"pankuzu", HINT_NAVIGATE},
    {"phpbb", HINT_FORUM},
    {"popular", HINT_RELATED},
    {"popup", HINT_SIGNUP},
    {"post", HINT_CONTENT},
    {"postbody", HINT_BODY},
    {"postcontent", HINT_BODY},
    {"postmeta", HINT_META},
    {"postmetadata", HINT_META},
    {"premiumbox", HINT_SIGNUP},
    {"printfooter", HINT_FOOTER},
    {"promo", HINT_RELATED},
    {"prose", HINT_BODY},
    {"pubdate", HINT_META},
    {"published", HINT_META},
    {"pullquote", HINT_RELATED},
    {"ranking", HINT_RELATED},
    {"reactions", HINT_SHARE},
    {"readmore", HINT_RELATED},
    {"recirc", HINT_RELATED},
    {"recommend", HINT_RELATED},
    {"recommendation", HINT_RELATED},
    {"recommendations", HINT_RELATED},
    {"recommended", HINT_RELATED},
    {"references", HINT_META},
    {"reflist", HINT_META},
    {"registration", HINT_SIGNUP},
    {"related", HINT_RELATED},
    {"relatedposts", HINT_RELATED},
    {"replies", HINT_COMMENT},
    {"respond", HINT_COMMENT},
    {"revcontent", HINT_RELATED},
    {"richtext", HINT_BODY},
    {"rss", HINT_NAVIGATE},
    {"share", HINT_SHARE},
    {"sharebar", HINT_SHARE},
    {"sharedaddy", HINT_SHARE},
    {"sharing", HINT_SHARE},
    {"shoutbox", HINT_COMMENT},
    {"sidebar", HINT_NAVIGATE},
    {"signature", HINT_META},
    {"signup", HINT_SIGNUP},
    {"skip", HINT_NAVIGATE},
    {"skyscraper", HINT_ADVERT},
    {"slideshow", HINT_NAVIGATE},
    {"sns", HINT_SHARE},
    {"social", HINT_SHARE},
    {"sponsor", HINT_ADVERT},
    {"sponsored", HINT_ADVERT},
    {"standfirst", HINT_CONTENT},
    {"story", HINT_CONTENT},
    {"storybody", HINT_BODY},
    {"subscribe", HINT_SIGNUP},
    {"subscription", HINT_SIGNUP},
    {"taboola", HINT_RELATED},
    {"tag", HINT_META},
    {"taglist", HINT_META},
    {"tags", HINT_META},
    {"teaser", HINT_RELATED},
    {"text", HINT_CONTENT},
    {"timestamp", HINT_META},
    {"tip", HINT_NOTE},
    {"toc", HINT_NAVIGATE},
    {"toolbar", HINT_NAVIGATE},
    {"tools", HINT_NAVIGATE},
    {"tooltip", HINT_NAVIGATE},
    {"topbar", HINT_NAVIGATE},
    {"topicpath", HINT_NAVIGATE},
    {"trc", HINT_RELATED},
    {"trending", HINT_RELATED},
    {"upsell", HINT_SIGNUP},
    {"vote", HINT_META},
    {"warning", HINT_NOTE},
    {"wpdiscuz", HINT_COMMENT},
    {"wysiwyg", HINT_BODY},
    {"yarpp", HINT_RELATED},
    {"zergnet", HINT_RELATED},
};

/* Classes of which the words mean more together: parts of names, as they are written with hyphens. */
static const struct word names[] = {
    {"also-like", HINT_RELATED},      {"also-read", HINT_RELATED},
    {"article-body", HINT_BODY},      {"article-content", HINT_BODY},
    {"article-copy", HINT_BODY},      {"article-inner", HINT_CONTENT},
    {"article-main", HINT_CONTENT},   {"article-main-content", HINT_BODY},
    {"article-text", HINT_BODY},      {"article-tools", HINT_SHARE},
    {"article-wrap", HINT_CONTENT},   {"articletext", HINT_BODY},
    {"author-box", HINT_META},        {"back-to-top", HINT_NAVIGATE},
    {"blog-content", HINT_BODY},      {"blog-post-body", HINT_BODY},
    {"body-content", HINT_BODY},      {"body-copy", HINT_BODY},
    {"body-main", HINT_BODY},         {"body-text", HINT_BODY},
    {"cat-links", HINT_META},         {"content-body", HINT_BODY},
    {"content-text", HINT_BODY},      {"cookie-banner", HINT_CONSENT},
    {"cookie-bar", HINT_CONSENT},     {"cookie-law", HINT_CONSENT},
    {"cookie-notice", HINT_CONSENT},  {"cookie-policy", HINT_CONSENT},
    {"doc-info", HINT_META},          {"e-content", HINT_BODY},
    {"entry-body", HINT_BODY},        {"entry-content", HINT_BODY},
    {"entry-date", HINT_META},        {"entry-footer", HINT_FOOTER},
    {"entry-meta", HINT_META},        {"entry-text", HINT_BODY},
    {"field-name-body", HINT_BODY},   {"further-reading", HINT_RELATED},
    {"hash-link", HINT_NAVIGATE},     {"image-caption", HINT_CAPTION},
    {"jump-to", HINT_NAVIGATE},       {"like-button", HINT_SHARE},
    {"liked-by", HINT_SHARE},         {"main-content", HINT_CONTENT},
    {"markdown-body", HINT_BODY},     {"more-from", HINT_RELATED},
    {"more-news", HINT_RELATED},      {"more-stories", HINT_RELATED},
    {"most-popular", HINT_RELATED},   {"most-read", HINT_RELATED},
    {"mw-jump", HINT_NAVIGATE},       {"mw-parser-output", HINT_BODY},
    {"news-body", HINT_BODY},         {"news-content", HINT_BODY},
    {"news-text", HINT_BODY},         {"next-article", HINT_RELATED},
    {"next-story", HINT_RELATED},     {"next-up", HINT_RELATED},
    {"no-print", HINT_NAVIGATE},      {"node-content", HINT_CONTENT},
    {"page-body", HINT_CONTENT},      {"page-content", HINT_CONTENT},
    {"paywall-banner", HINT_SIGNUP},  {"paywall-marker", HINT_SIGNUP},
    {"paywall-message", HINT_SIGNUP}, {"pf-content", HINT_BODY},
    {"post-article", HINT_CONTENT},   {"post-body", HINT_BODY},
    {"post-content", HINT_BODY},      {"post-date", HINT_META},
    {"post-entry", HINT_BODY},        {"post-meta", HINT_META},
    {"post-text", HINT_BODY},         {"posts-navigation", HINT_NAVIGATE},
    {"print-friendly", HINT_SHARE},   {"read-more", HINT_RELATED},
    {"read-next", HINT_RELATED},      {"rich-link", HINT_RELATED},
    {"rich-text", HINT_BODY},         {"screen-reader", HINT_HIDDEN},
    {"site-footer", HINT_FOOTER},     {"site-header", HINT_NAVIGATE},
    {"site-info", HINT_FOOTER},       {"sr-only", HINT_HIDDEN},
    {"story-body", HINT_BODY},        {"story-content", HINT_BODY},
    {"story-copy", HINT_BODY},        {"story-main", HINT_CONTENT},
    {"story-text", HINT_BODY},        {"story-tools", HINT_SHARE},
    {"subscribe-box", HINT_SIGNUP},   {"tag-cloud", HINT_NAVIGATE},
    {"tag-list", HINT_META},          {"td-tags", HINT_META},
    {"up-next", HINT_RELATED},        {"update-time", HINT_META},
    {"visually-hidden", HINT_HIDDEN}, {"widget-area", HINT_NAVIGATE},
    {"you-may", HINT_RELATED},
};

static int hints_compare_word(const void *key, const void *row)
{
    return strcmp(key, ((const struct word *)row)->name);
}

static uint32_t hints_look_up(const struct word *table, size_t count, const char *name)
{
    const struct word *found = bsearch(name, table, count, sizeof *table, hints_compare_word);
    return found ? found->hints : 0;
}

static bool hints_is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool hints_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The next word of a name, in small letters: "articleBody" has two. Longer ones are cut. */
static size_t hints_next_word(struct piece *name, char word[WORD_MAX])
{
    size_t at = 0, length = 0;
    while (at < name->length && !hints_is_lower(name->at[at]) && !hints_is_upper(name->at[at]))
        at++;
    for (; at < name->length && (hints_is_lower(name->at[at]) || hints_is_upper(name->at[at])); at++) {
        bool begins = hints_is_upper(name->at[at]) && length && hints_is_lower(name->at[at - 1]);
        if (begins)
            break;
        if (length + 1 < WORD_MAX)
            word[length++] = (char)(hints_is_upper(name->at[at]) ? name->at[at] + ('a' - 'A') : name->at[at]);
    }
    word[length] = '\0';
    *name = (struct piece){name->at + at, name->length - at};
    return length;
}

/* Pairs and threes of words that stand side by side. */
static uint32_t hints_look_up_names(char found[][WORD_MAX], size_t count)
{
    char name[3 * WORD_MAX];
    uint32_t hints = 0;
    for (size_t i = 1; i < count; i++) {
        stpcpy(stpcpy(stpcpy(name, found[i - 1]), "-"), found[i]);
        hints |= hints_look_up(names, sizeof names / sizeof names[0], name);
        if (i + 1 < count) {
            strcat(strcat(name, "-"), found[i + 1]);
            hints |= hints_look_up(names, sizeof names / sizeof names[0], name);
        }
    }
    return hints;
}

static uint32_t hints_of_name(struct piece name)
{
    char found[WORDS_MAX][WORD_MAX];
    size_t count = 0;
    uint32_t hints = 0;
    while (count < WORDS_MAX && hints_next_word(&name, found[count]))
        hints |= hints_look_up(words, sizeof words / sizeof words[0], found[count++]);
    return hints | hints_look_up_names(found, count);
}

static uint32_t hints_of_names(struct piece names_text)
{
    uint32_t hints = 0;
    const char *at = names_text.at, *end = at + names_text.length;
    while (at < end) {
        const char *from = at;
        while (at < end && *at != ' ' && *at != '\t' && *at != '\n' && *at != '\r')
            at++;
        hints |= hints_of_name((struct piece){from, (size_t)(at - from)});
        at += at < end;
    }
    return hints;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const struct word roles[] = {
    {"alert", HINT_CONSENT},      {"alertdialog", HINT_CONSENT},
    {"banner", HINT_NAVIGATE},    {"complementary", HINT_RELATED},
    {"contentinfo", HINT_FOOTER}, {"dialog", HINT_CONSENT},
    {"main", HINT_MAIN},          {"menu", HINT_NAVIGATE},
    {"menubar", HINT_NAVIGATE},   {"navigation", HINT_NAVIGATE},
    {"search", HINT_SIGNUP},      {"tablist", HINT_NAVIGATE},
};

static uint32_t hints_of_value(const struct word *table, size_t count, struct piece value)
{
    for (size_t i = 0; i < count; i++)
        if (piece_is_word(value, table[i].name))
            return table[i].hints;
    return 0;
}

static const struct word properties[] = {
    {"articleBody", HINT_BODY},
    {"content:encoded", HINT_BODY},
    {"author", HINT_META | HINT_AUTHOR},
    {"datePublished", HINT_META},
    {"dateModified", HINT_META},
    {"comment", HINT_COMMENT},
    {"description articleBody", HINT_BODY},
};

static bool hints_hides(struct piece style)
{
    return memmem(style.at, style.length, "display:none", 12) || memmem(style.at, style.length, "display: none", 13) ||
           memmem(style.at, style.length, "visibility:hidden", 17);
}

uint32_t html_hints(struct piece attributes)
{
    struct piece name, value;
    uint32_t hints = 0;
    while (html_attribute(&attributes, &name, &value)) {
        if (piece_is_word(name, "class") || piece_is_word(name, "id"))
            hints |= hints_of_names(value);
        else if (piece_is_word(name, "href"))
            hints |= HINT_LINK;
        else if (piece_is_word(name, "role"))
            hints |= hints_of_value(roles, sizeof roles / sizeof roles[0], value);
        else if (piece_is_word(name, "itemprop") || piece_is_word(name, "property"))
            hints |= hints_of_value(properties, sizeof properties / sizeof properties[0], value);
        else if (piece_is_word(name, "rel") && piece_is_word(value, "author"))
            hints |= HINT_META | HINT_AUTHOR;
        else if (piece_is_word(name, "aria-hidden") && piece_is_word(value, "true"))
            hints |= HINT_NAVIGATE;
        else if (piece_is_word(name, "hidden") || (piece_is_word(name, "style") && hints_hides(value)))
            hints |= HINT_HIDDEN;
    }
    return hints;
}
