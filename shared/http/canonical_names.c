/* Query parameters that track the origin of a visit, from the lists of Firefox's query stripping, ClearURLs and
 * courlan. Parameters that can also name content ("ref", "source", "id") are left out. */
#include "http/canonical.h"

#include <strings.h>

static const char *const names[] = {
    "_ga",
    "_gl",
    "_hsenc",
    "_openstat",
    "__hsfp",
    "__hssc",
    "__hstc",
    "__s",
    "__twitter_impression",
    "action_object_map",
    "action_ref_map",
    "action_type_map",
    "ceneo_spo",
    "clickid",
    "cmpid",
    "dclid",
    "echobox",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "gs_l",
    "hmb_campaign",
    "hmb_medium",
    "hmb_source",
    "hsctatracking",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mc_tc",
    "mkt_tok",
    "ml_subscriber",
    "ml_subscriber_hash",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "os_ehash",
    "partnerid",
    "rb_clickid",
    "s_cid",
    "spm",
    "srsltid",
    "tracking_source",
    "ttclid",
    "twclid",
    "utm",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "wt_mc",
    "wt_zmc",
    "wtrid",
    "xtor",
    "yclid",
    "ysclid",
};
static const char *const prefixes[] = {"utm_", "mtm_", "pk_", "ga_", "otm_", "itm_", "vn_"};

bool canonical_is_tracking(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (length > strlen(prefixes[i]) && strncasecmp(prefixes[i], name, strlen(prefixes[i])) == 0)
            return true;
    return false;
}
