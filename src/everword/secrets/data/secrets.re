# Patterns by which secrets are found. Groups are the secret, unless the code that uses them says something else.

[known_key]
(?<![A-Za-z0-9_])(?:(?P<api_key>(?:{api_key})|(?:{API_KEY_BY_ITS_BEGINNING})[A-Za-z0-9_=.+/-]{16,})|(?P<token>(?:{token})|(?:{TOKEN_BY_ITS_BEGINNING})[A-Za-z0-9_+/=-]{16,})|(?P<private_key>(?:{private_key})))

[figures_of_a_card]
\d\d\d\d[ \u00a0.-]?\d{4}

[figures_of_a_social_security_number]
\d\d\d[- ]?\d\d[- ]?\d{4}

[token_of_a_bot]
(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])

[web_token]
(?<![A-Za-z0-9_.-])(eyJ[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}

[begin_of_a_private_key]
-----BEGIN\ ([A-Z0-9 ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?)-----

[lines_of_a_key]
[A-Za-z0-9+/=\s\\]{40,}

[address_with_a_password]
://([^\s:/@\"'`<>]{0,100}):([^\s\"'`<>]{1,200}?)@(?=[\w\[.-])

[scheme]
[A-Za-z][A-Za-z0-9+.:-]{1,24}$

[rest_of_a_password]
[^\s\"'`<>/?#@]{0,80}@(?=[\w\[.-])

[basic_header]
Basic\s{1,3}([A-Za-z0-9+/]{8,400}={0,2})

[bearer_header]
(?:B|b)(?:earer|EARER)\s{1,3}([A-Za-z0-9._~+/-]{16,}={0,2})

[signature_in_an_address]
[?&;](?:[sS]ig|(?:[xX]-[A-Za-z]{3,4}-)?[sS]ignature)=([A-Za-z0-9%+/_-]{20,}=?)

[card_number]
(?<![A-Za-z0-9_.+/#-])(?:\d{12,19}|\d{4}([ \u00a0.-])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|\d{4}([ \u00a0.-])\d{6}\2\d{4,5})(?![A-Za-z0-9_/]|[.-]\d)

[code_after_a_card]
[\s,;|]{1,3}(?:exp\w{0,8}[:.]?\s)?\d{1,2}/\d{2}(?:\d{2})?[\s,;|]{1,3}(\d{3,4})(?![\w/])

[begin_of_an_iban]
\d\d(?<=[A-Za-z]{2}\d\d)(?<![A-Za-z0-9][A-Za-z]{2}\d\d)(?=[ \u00a0-]?[A-Za-z0-9]{2})

[form_of_an_iban]
[A-Za-z0-9]+|[A-Za-z]{2}\d\d([ \u00a0-])(?:[A-Za-z0-9]{4}\1){2,7}[A-Za-z0-9]{0,4}|[A-Z]{2}\d\d(?:[ -]?[A-Z0-9])+

[social_security_number]
(?<![A-Za-z0-9_-])(?!000|666|9)\d{3}([- ]?)(?!00)\d{2}\1(?!0000)\d{4}(?![A-Za-z0-9_-])

[letters_of_base32]
(?<![A-Za-z0-9+/_-])(?:[A-Z2-7]{16,64}=*|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})(?![A-Za-z0-9+/_-])

[word]
[A-Za-z]+

[stretch_of_words]
(?<![A-Za-z])[A-Za-z]{3,8}+(?![A-Za-z])(?>(?:(?![\"'][.)])[\s,;.|/•*\"'_-]{1,8}(?:\#?\d{1,2}[.):\]]?[\s.]{0,3})?[A-Za-z]{3,8}+(?![A-Za-z]))*)

[called_a_phrase]
(?i:(?:{RECOVERY_PHRASES}))

[published]
\b(?:tests?|dummy|sandbox|example|sample|beispiel|exemple|ejemplo|exemplo|esempio)[\s-]{1,2}(?:[\w'-]{1,12}\s)?(?:cards?|visa|mastercard|iban|vector|phrase)\b

# Around words that announce a secret.

[letters_and_figures]
[^\W_]+

[rest_of_a_name]
[A-Za-z_-][\w-]{0,30}|[^\W\x00-\x7f]{0,12}

[name_of_an_error]
(?:Invalid|Wrong|Bad|Incorrect|Missing|Unknown)_?$

[end_of_a_sentence]
[.!?;]\s|\n|。

[other_code]
(?<![a-z])(?:{OTHER_CODES})(?![a-z])

[backup]
backup|recovery|rescue|scratch|secours|respaldo|резерв

[safety_of_a_card]
\bsecurity\s?$|\s?(?:de|di)\ (?:seguridad|segurança|sicurezza|sécurité)|\s?на\ оборот

[yours]
\b(?:your|dein|ihr|votre|ton|tu|su|seu|tuo|ваш|твой)\b

[is_a_number]
(?:\s\w{1,16}){0,3}\s?(?:\b(?:is|ist|lautet|est|es|é|è|это)|[:=])\s?\d{3}

[letters_written_without_spaces]
[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]

[link_by_a_sign]
[\"'`*_]{0,4}[ \t]{0,3}(?:>(?=[^<>\s]{3,100}</)|=>|->|:=|=(?!=)|:(?!:)|：|＝|→)[ \t*_]{0,8}(?:\n[ \t]{0,8})?

[link_by_an_attribute]
[\"'][\s,]{1,3}value[\"']?\s{0,2}[=:]\s{0,2}(?=[\"'])

[piece]
\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“\n]{1,120}“|\S+

[piece_among_letters_without_spaces]
\"[^\"\n]{1,120}\"|「[^」\n]{1,60}」|“[^”\n]{1,120}”|[!-~]+|[^\s!-~]+

[rest_up_to_a_space]
[^\s\"'`]*

[end_of_a_value_in_code]
[\"'`<>;,)}\]\\]

[reference]
\$?\{?\{?\s?[A-Za-z_][\w]*(?:(?:\.|->|::)[A-Za-z_]\w*)+
|\$\{?[A-Za-z_]
|\$\(
|%[A-Za-z_(]
|\{
|<
|\[
|\(
|\*{2,}
|[\w.]+[(\[]

[variable]
\$\{?\w+\}?|\$\(.*|%\(?\w+\)?[s%]?

[template]
^[<\[{$%].*[>\]})%]$|\$\{|\{\{|\$\(|%\(|^\$\w+$|^%\w+$|\{\w*\}|\s

[code]
\?
|\^?\(\?
|\^[\[(]
|![a-z]+(?:-[a-z]+)+$
|[A-Za-z_][\w.]*[(\[]
|(?:process\.env|import\.meta\.env|os\.environ|env|secrets|config|settings|vars)\.\w
|![a-z]+$

[name_of_a_type]
(?:[A-Z][a-z]+)*(?:Str|String|Text|Field|Bytes|Type|Input|Password|Secret|Property|Column)

[made_up_name]
(?:{MADE_UP})+(?:\d|12|123|1234|12345)?

[year]
(?:19|20)\d\d

[wireless_key]
(?<![\w-])(?:\d{4}(?:[ -]\d{4}){1,5}|\d{8,63}|[0-9A-F]{10,64}|[0-9a-f]{10,64})(?![\w-])

[long_number]
\d{4}(?:[ -]?\d{4}){2,5}|\d{10,63}

[link_to_a_phrase]
(?i:\s*(?:is|was|:|=|ist|lautet|est|es)\s+)

[passphrase]
[\"'“]?([a-z]+(?:[ -][a-z]+){2,9})[\"'”]?(?=[.,;!?]?\s*(?:\n|$))

[alone_on_the_next_line]
(?:\ (?:below|is|here|now|for\ [^\s?]{1,20}))?[:.]?[ \t]?\n{1,2}[ \t]{0,4}([^\s=:;,]{8,60})[ \t]*(?=\n|$)

[pointer]
(?i:(?:(?<![^\W_])(?:{POINTERS})[:,]?\s{1,3}|[:=→—–]\s{1,3}|\s-\s{1,3}|[：是为為はが는은成]\s{0,3})[\"'`“«„「(]?$)

[means_the_announced]
(?i:(?<![^\W_])(?:{MEANS_THE_SECRET})(?![^\W_])|[现新在今는は])

[rule_for_passwords]
(?i:\b(?:{RULES})\b)

[goes_on_as_code]
[\"'\[\](){}<>=.]\S|[_(]

[told_before]
(?i:(?<![^\W_])((?:{VERBS_BEFORE_A_PASSWORD})|{loose_verbs_before_a_password})(?:\ in|\ now|\ jetzt|\ einfach)?\s[\"'`“«„(]?([^\s]{8,60})(?!\S)(?!\ (?:and|und|et|y|e)\ )(?=[^.!?;\n]*$))

[use]
\ (?:{USES})\b

[PAIR]
[^\n/|,\"]{0,40}?(?<=[\s:=])[^\s/|:;=<,\"]{2,40}(?:\s[/|]\s|\s?:\s?(?=\S*\d)|/(?=[^\s/]*\d))([^\s\"/]{4,60})(?![^\s\"])

[pair]
{PAIR}|[^\n/|\"]{0,30}?\b(?:with|as|using|mit|als|avec|con|com|under|is|are|[:=])\s[^\s/|:;=<\"]{2,40}\s?(?:and|with|und|mit|et|avec|y|con|e|com|i|и|ve|\+|,|/)\s(?=[^\s\"]*\d)(?=[^\s\"]*[a-z])([^\s\"]{6,60})

[new_login]
\s(?:is\ now|is|to)\s(?=\S*\d)(\S{8,60})

[line_with_a_sign]
\n\s{0,4}(?=\S*\d)(?=\S*[a-z])([A-Za-z0-9_.-]{2,40}[!@#$%^&*+~][^\s/@]{0,40})(?=\n|$)

[mail_and_password]
[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,20}\s[/|]\s([^\s/|\"']{6,60})(?!\S)

[account_and_password]
(?<![\w/.@:-])(?:root|admin|administrator|guest|postgres|sa|pi)\s?[/:]\s?([^\s/\"']{6,60})

[four_figures]
\d\d\d\ ?-?\d|\d-\d{1,2}-\d

[use_this_code]
use\ (?<!\wuse\ )(?:code\ )?(\d{4,8}|\d{3}[ -]\d{3})\ to\ (?:verify|log\ ?in|sign\ ?in|confirm|reset|continue|authenticate)

[NUMBER_AT_THE_END_OF_A_CLAUSE]
([#*]?\d{4,8}[#*]?|\d{1,2}(?:-\d{1,2}){2,3})(?=\s{0,2}(?:$|[.,;!?)](?!\d)|\n|(?:and|und|et|y|e|then|to|but|on\ the|at\ the|in\ the|please)\b))

[number_that_opens]
{opening}\w{0,6}\b[^.!?\n\d]{0,50}?(?:\b(?:with|using|typing|is|code|mit|avec|con|com)|[:=])\s?(?:{NUMBER_AT_THE_END_OF_A_CLAUSE})

[number_typed]
{NUMBER_OF_A_THING}|\b(?:type|enter|punch|press|key)(?:\ in)?\ ([#*]?\d{4,8}[#*]?)\s(?=to\ |at\ |on\ |in\ |into\ |for\ |when\ |and\ |then\ )(?:[^\s.!?]+\s){0,5}?{keypads}

[NUMBER_OF_A_THING]
\b(?:gate|door|lockbox|keypad|safe|garage)\s?:\s?(?:{NUMBER_AT_THE_END_OF_A_CLAUSE})

[card_numbers]
(?<![A-Za-z0-9_./+-])(\d{3,4})(?:{END_OF_A_NUMBER})

[proof_numbers]
(?<![A-Za-z0-9_./+-])((?:{FORMS_OF_A_ONE_TIME_CODE}))(?:{END_OF_A_NUMBER})

[pin_numbers]
(?<![A-Za-z0-9_./+-])((?:{FORMS_OF_A_PIN}))(?:{END_OF_A_NUMBER})

[END_OF_A_NUMBER]
# It is no part of a longer number, a word, an amount or an address.
(?![A-Za-zА-я0-9_%€$£/]|[.,:-]\d|-[a-z])

[FORMS_OF_A_ONE_TIME_CODE]
\d{3}[ -]\d{3}
|\d{2}[ -]\d{2}[ -]\d{2}
|\d{4}\ \d{4}
|[A-Z]{1,2}-\d{4,8}
|\d{4,8}

[FORMS_OF_A_PIN]
# Those with two figures in each part are of a lock, those with a letter of a door.
[#*]?\d{4,10}[#*]?
|[#*]\d{3,8}[#*]?
|\d{1,2}([ -])\d{1,2}(?:\2\d{1,2}){1,3}
|\d{3,4}[ -]\d{3,4}
|[#*]?\d{1,6}[A-Za-zА-я]\d{2,6}[#*]?
|\d{3,6}(?![xkms])[A-Za-zА-я]
|[A-ZА-Я]\d{3,6}[#*]?

[beginning_of_a_list_of_codes]
[^\d\n:]{0,40}?(?:[:=]|\bare\b|\bis\b|\bsind\b|\bsont\b|\bson\b|(?=\s[A-Za-z0-9-]*\d))\s*

[beginning_of_a_list_of_codes_after_a_colon]
[^\n:]{0,60}:\s*

[words_for_lists_of_codes]
(?:codes|коды|códigos)$|codes\ de|códigos\ de|backup|recovery

[next_code]
(?:[\s,;:.•*|/-]|\b(?:and|or|und|et|y|e|\d{1,2}[.)])(?=\s)){0,8}(?<![A-Za-z0-9])([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,3}|(?=[A-Za-z]*\d)[A-Za-z0-9]{6,12}|(?=[a-f ]*\d)[0-9a-f]{4}\ [0-9a-f]{4})(?![A-Za-z0-9])

[two_words_with_a_dash]
([a-z]{4,8})-[a-z]{4,8}

[number_before]
(?<![\w.-])((?:[A-Z]{1,3}-)?\d{4,8}|\d{3}[ -]\d{3})\ (?:is|ist|est|es|é|è|—|-|это)(?:\ [^\W\d]+){1,5}\ $

[code_with_letters]
(?:\ is)?(?:\ now)?\s?[:=]?\s(?=[A-Z]*\d)(?=\d*[A-Z])([A-Z0-9]{5,8})(?![\w-])

[booked]
(?i:confirm|best[aä]|book|flight|hotel)

[amount]
\s?(?:{AMOUNTS})

[own]
(?i:card|bank|phone|sim\b|door|unlock|\bapp\b|my\ |mein|mon\ |mi\ |alarm|safe|atm)

[does]
(?i:\b(?:i|we|you|to|they)\ $)

[named_value]
-{0,2}(?:[A-Za-z_][\w.-]{0,40}=)?([A-Za-z_][\w.-]{0,40})=(?=[^=]{8})

[letters_of_a_token]
(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_\-./+=~:%$!@#^&*|]{6,}

[cookie]
[:=;\s\"']{1,6}[\w.-]{1,60}=([^;\s\"',]{1,4000})

# What a value looks like.

[thing]
(?i:(?:{THINGS}))

[vowel]
(?i)[aeiouy]

[uuid]
[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}

[word_of_a_path]
(?:^|/)(?:[a-z]{3,}|[A-Z][a-z]{2,}|[a-z]+[-_][a-z]+)(?=/|$)

[hexadecimal]
[0-9a-fA-F]+

[no_password]
\.[a-z]{2,4}\d?$|^[^@]+@[^@]+\.[a-z]{2,}$|^[$%]|^\w+=

# Runs and placeholders.

[placeholder]
\[secret:\ [a-zA-Z -]{1,30}\]

[run]
(?<![!-~])[!-~]{16,}

[piece_of_a_run]
(?<![A-Za-z0-9+/_~.%@#\\-])[A-Za-z0-9][A-Za-z0-9+/_~.%-]{15,}={0,2}(?![({\\@])

[begin_of_a_block]
-----BEGIN\ [A-Z0-9 ]{1,40}-----

[hexadecimal_number]
(?:0x)?[0-9a-fA-F]+

[id_before]
(?:{IDS})|\b{other_keys}[ _-]keys?

[api_key]
sk-(?:[a-z]{2,8}\d{0,2}-){0,3}[A-Za-z0-9_-]{16,}
|AIza[A-Za-z0-9_-]{24,}
|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{14,20}(?![A-Za-z0-9])
|(?:LTAI|AKID)[A-Za-z0-9]{16,32}(?![A-Za-z0-9])
|[sr]k_(?:live|test|prod)_[A-Za-z0-9_]{10,}
|rk_[0-9a-z]{6,}_[A-Za-z0-9_-]{20,}
|SK[0-9a-f]{28,40}(?![A-Za-z0-9])
|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
|key-[0-9a-f]{24,40}(?![A-Za-z0-9])
|[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])

[token]
gh[pousr]_[A-Za-z0-9]{16,}
|github_pat_[A-Za-z0-9_]{16,}
|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|wt|oas)-[A-Za-z0-9_.-]{16,}
|xox[abeoprs]-[A-Za-z0-9-]{10,}
|xapp-[A-Za-z0-9-]{10,}
|pypi-[A-Za-z0-9_-]{50,}
|(?:hf|npm)_[A-Za-z0-9]{16,}
|ya29\.[A-Za-z0-9_-]{16,}
|1//0[A-Za-z0-9_-]{16,}
|EAA[A-Za-z0-9_-]{40,}
|AQ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{60,}
|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}
|pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}
|sha256~[A-Za-z0-9_-]{30,}
|[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{24,}
|mfa\.[A-Za-z0-9_-]{40,}

[private_key]
[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}

[API_KEY_BY_ITS_BEGINNING]
gsk_|xai-|pplx-|r8_|fw_|nvapi-|pcsk_|lsv2_(?:pt|sk)_|tvly-|csk-|esecret_|voy-|pa-|jina_|phc_|phx_
|re_|xkeysib-|PMAK-|NRAK-|NRAL-|figd_|lin_api_|lin_oauth_|ntn_|secret_|CFPAT-|tskey-[a-z]+-|pul-|rdme_
|shippo_(?:live|test)_|duffel_(?:live|test)_|EZ[AT]K|FLWSECK(?:_TEST)?-|live_|test_|aio_|fio-u-|ico-|HRKU-
|rnd_|nfp_|pnu_|sbp_|sb_secret_|tfp_|ops_|dt0[a-z]\d\d\.|sq0[a-z]{3}-|shp(?:at|ca|pa|ss)_|do[opr]_v1_|dapi
|dp\.(?:pt|st|ct|sa)\.|pscale_(?:tkn|pw|oauth)_|sntry[su]_|glsa_|glc_|waka_|AGE-SECRET-KEY-1|ATATT3|ATCTT3
|ATBB|ory_[a-z]{2}_|ww_|apify_api_|key_live_|GOCSPX-

[TOKEN_BY_ITS_BEGINNING]
api_org_|dckr_(?:pat|oat)_|rubygems_|cio|vercel_|fo1_|fm2_|whsec_|hv[sbr]\.

[webhook_address]
# By which anybody may post: the whole of it is the secret.
https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}
|https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[A-Za-z0-9_-]{20,}
|https://[\w.-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{30,}
|https://chat\.googleapis\.com/v1/spaces/[^\s?]{1,60}\?[^\s]{20,}
|https://hooks\.zapier\.com/hooks/catch/\d+/[A-Za-z0-9/]{5,}

[COMMANDS]
# Commands and settings that are given a password: what a text must hold for the pattern to be tried, then the pattern,
# whose group is the password.
WIFI: => WIFI:[^\n]{0,80}?P:([^;\n]{4,63});
-u => (?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'@/]{1,60}:([^\s\"']{2,120})
 -p => \b(?:mysql\w{0,10}|mariadb|mongo\w{0,8}|7z[ar]?)\b[^\n]{0,80}?\s-p[\"']?([^\s\"'-][^\s\"']{2,80})
requirepass => requirepass\s+[\"']?([^\s\"']{4,80})
sshpass => sshpass\ -p\ ?[\"']?([^\s\"'-][^\s\"']{2,80})
 - => \b(?:login|redis-cli|zip|unzip|ldap\w{1,8}|twine\ upload|openssl)\b[^\n]{0,100}?\s-[pPawk]\ [\"']?(?=[^\s\"']*[\d!@#$%^&*~])([^\s\"'-][^\s\"']{2,80})
/p: => (?<=\s/p:)[\"']?([^\s\"']{3,80})
htpasswd => htpasswd\ -b\w*\ \S{1,80}\ \S{1,60}\ ([^\s\"']{3,80})
chpasswd => \b[\w.-]{1,40}:([^\s\"':]{3,80})[\"']?\ \|\ (?:sudo\ )?chpasswd
net user => net\ user\ [\w.-]{1,40}\ ([^\s/][^\s]{3,80})
 -U  => \s-U\ [\w.\\-]{1,40}%([^\s\"']{3,80})
@// => \b[\w.-]{1,40}/([^\s/@\"']{3,80})@//
auth => auth\s?=\s?\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"'](?=[^\"'\n]*[\d!@#$%^&*~])([^\"'\n]{4,80})[\"']

[card_issuers]
# How their numbers begin, and how long they are; the rare ones count where the text speaks of a card.
4\d{15}
|5[1-5]\d{14}
|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}
|35(?:2[89]|[3-8]\d)\d{12}
|6(?:[02]\d|4[4-9]|5\d)\d{13}
|8[12]\d{14}
|3[47]\d{13}
|3(?:[689]\d|0[0-5])\d{11}

[any_card_issuers]
{card_issuers}|[56]\d+
|4\d{12}
|4\d{18}
|22\d+

[things_with_a_pin]
# Near a word for "code": what says that it opens something; after the word also those of the next
# section.
\bdoor\b|\bgate\b|\balarm\b|\bentry\b|\bunlock\b|\block\b|\blockbox\b|\baccess\b|\bsafe\b|\bgarage\b
|\bkeypad\b|\bbuilding\b|\bpin\b|\bvoicemail\b|\bentrance\b|\blocker\b|\bintercom\b|\bbuzzer\b|\belevator\b
|\blift\b|\bshed\b|\bapartment\b|\bluggage\b|\bbike\b|tür|\btor\b|tresor|haus|gegensprech|schloss
|\bkarte\b|handy|wohnung|\bsafe|schließfach|\bport(?:e|ail|ão|one|a|al|ón)\b|immeuble|coffre|interphone
|entrée|\bcarte\b|téléphone|cadenas|puerta|caja\sfuerte|\bcaja\b|alarm|edificio|tarjeta|móvil|candado
|cofre|prédio|cartão|celular|cancello|cassaforte|citofono|\bcarta\b|telefono|домофон|двер|подъезд|сейф
|сигнализ|ворот|калитк|замк|bram|kasten|kapı|kasa|bina|门|門|保险|ドア|玄関|金庫|オートロック|현관|금고|출입|도어|باب
|خزنة|दरवा|गेट|अलार्म

[things_with_a_pin_after_it]
{things_with_a_pin}|\bcard\b|\bphone\b|\bhouse\b|\bfront\sdoor\b|\bback\sdoor\b|\boffice\sdoor\b|\broom\ssafe\b

[proof]
# Near a word for "code": what says that it proves who somebody is.
backup|recovery|rescue|scratch|verif|vérif|authent|one[-\s]?time|\blog-?in|\bsecurity|2fa|\bmfa|\bsms
|\botp|sign-?in|two-factor|emergency|steam|whatsapp|telegram|signal|confirmation|bestätig|sicherheit
|einmal|secours|sécurité|connexion|doğrula|onay|confirmaci|confirmaç|conferma|segur|sicurezza|respaldo
|acceso|entrar\b|подтвержд|\bсмс|резерв|вход|验证|驗證|認証|確認|인증|تحقق|تأكيد|सत्याप|वेरिफ

[OTHER_CODES]
# Near a word for "code": which is no secret.
zip|post(?:al|leitzahl)?|area|country|promo|discount|error|exit|status|http|dress|source|colou?r|bar
|qr|morse|booking|reservation|voucher|coupon|referral|gift|swift|sort|bank|machine|byte|product|airport
|flight|iata|icd|plus|fehler|gutschein|rabatt|vorwahl|quell|erreur|postale?|promotion|réduction
|descuento|promocional|errore?|erro|desconto|sconto|ошибк\w+|город\w*|промо\w*|скидк\w+|hata|alan|posta
|indirim|郵便|エラー|에러|우편|할인|خطأ|बग

[opened_things]
phone\b|\bipad\b|\btablet\b|\blaptop\b|\bsafe\b|\bdoor\b|\bgate\b|\bpadlock\b|\blockbox\b|\blocker\b
|\bgarage\b|\balarm\b|\bhandy\b|tür\b|\btor\b|\btresor\b|téléphone|\bporte\b|\bcoffre\b|\bpuerta\b
|\bmóvil\b|teléfono|\bporta\b|\bcancello\b|\bportão\b|\bcelular\b|telefono|\bcomputer\b

[wireless]
# Networks, whose key is a password.
wi-?fi|wlan|\bssid\b|\bnetwork(?:\ name)?\s?[:=]|\bnetzwerk(?:name)?\s?:|\bréseau\s?:|\bwpa|wep|hotspot
|router|вай-?фа|无线|無線|와이파이|واي\ فاي|वाईफाई

[IDS]
# Before a run of random letters: what says that it is an id, a sum or something public, and what says
# that secrets are spoken of.
(?<!session_)(?<!session)(?<!sess)(?<![^a-z]s)id(?:s|entif\w+)?[\"'`]?\s?[:=]?\s{0,2}[\"'`(]?$|\buu?id\b
|\b[gu]lid\b|object_?id|\bhash|\bsha-?\d|\bmd5|checksum|digest|integrity|etag|commit|revert|cherry-pick
|\bblob\b|\btree\b|merge|fingerprint|public|pública|publique|pubblica|öffentlich|публичн|открыт\w+\sключ
|公钥|公開鍵|공개키|address\b|adresse|dirección|endereço|indirizzo|адрес|地址|donat|\btrace|\bspan\b|request
|\breq\b|\bevent|\border\b|customer|invoice|track|parcel|serial|model\b|modell|version|build\b|\bclass
|\bfile|datei|fichier|archivo|certificat|nonce|tx\b|transaction|block|video|channel|playlist|\bdecode
|\bencode|booking|container|\bpod\b|image\b|\bdoc\b|\bcid\b|ipfs|\bsignature|site_?key|measurement
|\bseed\b|\btest(?:ing)?\svector|\bh1:|cf-ray|[\"'](?:x|y|n|x5[ct])[\"']:\s?[\"']$

[secrets]
(?<![a-z])(?:api|app|access|secret|private|signing|encryption|license|licence|master|auth)?_?-?keys?(?![a-z])|token
|secret|credential|\bcreds?\b|log-?\s?in(?![a-z])|log-?\s?on(?![a-z])|sign-?\s?in(?![a-z])|cookie|session
|sess|\bsid\b|auth|bearer|passw|\bpass\b|\bpwd?\b|kennwort|zugangs|schlüssel|sitzung|\bclé\b|\bcle\b
|jeton|identifiant|mot\sde\spasse|sesión|sessão|\bclave|contraseña|credencia|\bchave|senha|chiave
|credenzial|ключ|токен|секрет|парол|сесси|anahtar|şifre|密钥|密鑰|金鑰|秘钥|令牌|密码|クッキー|セッション|トークン|キー|鍵|키
|토큰|비밀|쿠키|세션|مفتاح|رمز|कुंजी|टोकन|akia[a-z0-9]{12}|\bapi\b|2fa|totp

[cards]
# Near a number: what says that it is a card's, and what that it is not.
card|visa|master|amex|american\ express|maestro|diners|discover|jcb|unionpay|cvv|cvc|kart|carte|tarjeta
|cartão|cartao|carta|карт|卡|カード|카드|بطاقة|कार्ड|credit|debit|exp|valid|mm/yy

[no_cards]
order|invoice|track|parcel|package|shipment|refund|reference|ref|ticket|imei|isbn|ean|serial|customer
|confirmation|booking|account|\sid|bestell|rechnung|sendung|commande|facture|pedido|factura|ordine|fattura
|заказ|sipariş|订单|單號|注文|주문|طلب|ऑर्डर|case|meter|member|policy|barcode|encomenda|colis|paket|number\ of
|phone|timestamp|claim

[social_security]
# The same of a social security number; and what says that a number shows a form.
ssn|social\ security|soc\ sec|soc.\ sec|socials|social\ \#|social\ number|my\ social|social\ is|social:
|sozialversicherung|itin|tax\ id|seguro\ social|seguridad\ social|segurança\ social|sécurité\ sociale
|sicurezza\ sociale|соцстрах|социальн|社会保障|社会安全|사회보장|sosyal\ güvenlik

[no_social_security]
order|part|phone|ticket|model|call|fax|tel|serial|sku|invoice|isbn|issn|case|item|cas\s|track
|ref|version|barcode|catalog|batch|build|bestell|pedido|commande|ordine|заказ|account|policy|permit
|example|format|fake|regex|pattern|ein\s|parcel|badge|claim|docket|code|lot\s|stock|spare|id-|booking
|member

[forms]
format|e.g.|for\ example|regex|pattern|fake\s|dummy

[RECOVERY_PHRASES]
# What a text calls a recovery phrase.
seed|recovery|mnemonic|wallet|phrase|ledger|metamask|bip-?39|wiederherstellung|récupération|recuper|frase
|semilla|semente|фраз|助记词|助記詞|リカバリー|ニーモニック|シード|시드|복구|kurtarma
|\b(?:12|24|twelve|zwölf)\s(?:words|wörter|mots|palabras|parole|слов)

[THINGS]
# How a word begins that has a form of its own and is no secret: an address, a date, a file, a version, an
# amount, a device.
https?://
|www\.
|\d{4}-(?:\d\d-\d\d(?:[T_]|$)|Q\d$)
|\d{1,2}(?::\d\d){1,2}(?:[.,]\d+)?Z?$
|[./~]+\w
|@
|\#\w+$
|[\w.+-]+@[\w-]+(?:\.[\w-]+)+$
|[\w-]+\.(?:[a-z]{2,4}|[a-z]{2}\d)$
|v?\d+(?:\.\d+)+\w*$
|\d+(?:st|nd|rd|th|s|x|k|m|h|kb|mb|gb|tb|km|kg|g|ml|cm|mm|px|am|pm|min|hrs?|ms|bits?)$
|\d+-[a-z]+(?:-[a-z]+)*$
|[a-z]+-\d{1,2}$
|\d{1,2}[:/.-]\d{1,2}(?:[:/.-]\d{2,4})?$
|[$€£]\d
|\d+%
|ssh-
|(?:iphone|ipad|galaxy|pixel|windows|win|office|python|node|java|ubuntu|debian|macos|ios|android)[-_ ]?\d

[public]
# How a run of random letters begins that everybody may know: a fingerprint, a position of chess, a
# certificate, a public key, the address of a wallet.
[0-9A-F]{40}$
|0x[0-9A-F]{8,16}$
|(?:[rnbqkpRNBQKP1-8]{1,8}/){7}
|AAAA[A-Z0-9]
|MII[A-Z]
|(?:sha\d+|SHA\d+|md5)[-:~]
|pk[_-]
|pub
|0x[0-9a-fA-F]{40}$
|[13][1-9A-HJ-NP-Za-km-z]{25,34}$
|Qm[1-9A-HJ-NP-Za-km-z]{44}
|T[1-9A-HJ-NP-Za-km-z]{33}$
|bc1
|[xyz]pub
|age1
|AC[0-9a-f]{32}$

[POINTERS]
# Right before a secret in a later clause: what points to it; and what says that the one announced is meant.
it'?s|it’s|is|was|be|to|with|use|used|using|try|as|now|here|picked|chose|chosen|took|put|typed?|him
|her|them|c['’]est|est|prends|es|son|era|ist|jetzt|nun|lautet|heißt|auf|mit|nimm|è|é|ora|agora|usa
|pon|con|com|avec|это|теперь|на|artık|oldu|yenisi|هو|هي|إلى|الى|है|अब

[MEANS_THE_SECRET]
it|its|it['’]s|that['’]?s|this|now|one|new|here|changed|set|went|picked|chose|made|use|try|remember
|c['’]est|le|ici|nouveau|es|está|ahora|nueva|la|aquí|ist|jetzt|neue[ns]?|hier|nun|è|é|ora|nuova|qui
|agora|nova|это|теперь|новый|вот|yeni|artık|şimdi

[VERBS_BEFORE_A_PASSWORD]
# Before a password that stands before the word for it; those of the next section have other uses.
type|typed|enter|put|it['’]s|it\ is|changed\ to|set\ to|tape[zr]?|escribe|digita|digite|inserisci

[USES]
as|for|when|if|where|als|wenn|für|comme|pour|quand|como|cuando|para|come|quando|per

[RULES]
# What tells how passwords must be.
must|should|at\ least|minimum|characters?|zeichen|caract\w+|example|e\.g|such\ as|like|hash|policy

[AMOUNTS]
# After a number that is no code.
line|edition|people|photo|ohm|pins|item|user|sec|min|hour|hrs|day|week|month|year|time|char|digit
|number|sek|stunden|tage|jour|heure|hora|día|час|дн|%

[MADE_UP]
# What names that stand for a secret in examples are made of.
password|passwd|passwort|pass|pwd|secret|token|key|test|user|foo|bar|demo|my|some|abc|api|admin|db
|new|old|client|access|auth|jwt|app|[-_ .]
