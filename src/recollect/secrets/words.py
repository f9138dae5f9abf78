"""The words and formats by which secrets are known, as data: `secrets.py` reads a text with them.

A format is a pattern that stands for itself (`ghp_…`). A word says what comes after it ("password is …"); it is looked
for in twelve languages, and what may stand between it and the secret are links ("is") and fillers (any few words).
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _patterns(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# Keys and tokens that are known by how they begin: kind, then a pattern. What they are made of is checked afterwards.
FORMATS = (
    ("API key", r"sk-(?:[a-z]{2,8}\d{0,2}-){0,3}[A-Za-z0-9_-]{16,}"),
    ("API key", r"AIza[A-Za-z0-9_-]{24,}"),
    ("API key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{14,20}(?![A-Za-z0-9])"),
    ("API key", r"(?:LTAI|AKID)[A-Za-z0-9]{16,32}(?![A-Za-z0-9])"),
    ("API key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9_]{10,}"),
    ("API key", r"rk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}"),
    ("API key", r"SK[0-9a-f]{28,40}(?![A-Za-z0-9])"),
    ("API key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("API key", r"key-[0-9a-f]{24,40}(?![A-Za-z0-9])"),
    ("API key", r"[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    (
        "API key",
        r"(?:gsk_|xai-|pplx-|r8_|fw_|nvapi-|pcsk_|lsv2_(?:pt|sk)_|tvly-|csk-|esecret_|voy-|pa-|jina_|phc_|phx_|re_|"
        r"xkeysib-|PMAK-|NRAK-|NRAL-|figd_|lin_api_|lin_oauth_|ntn_|secret_|CFPAT-|tskey-[a-z]+-|pul-|rdme_|"
        r"shippo_(?:live|test)_|duffel_(?:live|test)_|EZ[AT]K|FLWSECK(?:_TEST)?-|live_|test_|aio_|fio-u-|ico-|"
        r"HRKU-|rnd_|nfp_|pnu_|sbp_|sb_secret_|tfp_|ops_|dt0[a-z]\d\d\.|sq0[a-z]{3}-|shp(?:at|ca|pa|ss)_|"
        r"do[opr]_v1_|dapi|dp\.(?:pt|st|ct|sa)\.|pscale_(?:tkn|pw|oauth)_|sntry[su]_|glsa_|glc_|waka_|"
        r"AGE-SECRET-KEY-1|ATATT3|ATCTT3|ATBB|ory_[a-z]{2}_|ww_|apify_api_|key_live_|GOCSPX-)"
        r"[A-Za-z0-9_=.+/-]{16,}",
    ),
    ("token", r"gh[pousr]_[A-Za-z0-9]{16,}"),
    ("token", r"github_pat_[A-Za-z0-9_]{16,}"),
    ("token", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|wt|oas)-[A-Za-z0-9_.-]{16,}"),
    ("token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("token", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    (
        "token",
        r"(?:npm_|hf_|api_org_|dckr_(?:pat|oat)_|rubygems_|cio|vercel_|fo1_|fm2_|whsec_|hv[sbr]\.)[A-Za-z0-9_+/=-]{16,}",
    ),
    ("token", r"pypi-[A-Za-z0-9_-]{16,}"),
    ("token", r"ya29\.[A-Za-z0-9_-]{16,}"),
    ("token", r"1//0[A-Za-z0-9_-]{16,}"),
    ("token", r"EAA[A-Za-z0-9_-]{40,}"),
    ("token", r"AQ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{60,}"),
    ("token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}"),
    ("token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    ("token", r"sha256~[A-Za-z0-9_-]{30,}"),
    ("token", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{24,45}"),
    ("token", r"mfa\.[A-Za-z0-9_-]{40,}"),
    ("private key", r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
)
# Addresses by which anybody may post: the whole of it is the secret.
WEBHOOKS = (
    r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    r"https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[A-Za-z0-9_-]{20,}",
    r"https://[\w.-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{30,}",
    r"https://chat\.googleapis\.com/v1/spaces/[^\s?]{1,60}\?[^\s]{20,}",
    r"https://hooks\.zapier\.com/hooks/catch/\d+/[A-Za-z0-9/]{5,}",
)
# Commands and settings that are given a password: one of which a text must hold for the pattern to be tried (with
# strokes between them), then the pattern, whose group is the password.
COMMANDS = (
    ("WIFI:", r"WIFI:[^\n]{0,80}?P:([^;\n]{4,63});"),
    (" -u|--user|--proxy-user", r"(?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'@/]{1,60}:([^\s\"']{2,120})"),
    (" -p", r"\b(?:mysql\w{0,10}|mariadb|mongo\w{0,8}|7z[ar]?)\b[^\n]{0,80}?\s-p[\"']?([^\s\"'-][^\s\"']{2,80})"),
    ("requirepass", r"requirepass\s+[\"']?([^\s\"']{4,80})"),
    ("sshpass", r"sshpass -p ?[\"']?([^\s\"'-][^\s\"']{2,80})"),
    (
        " -p | -P | -a | -w | -k ",
        r"\b(?:login|redis-cli|zip|unzip|ldap\w{1,8}|twine upload|openssl)\b[^\n]{0,100}?\s-[pPawk] "
        r"[\"']?(?=[^\s\"']*[\d!@#$%^&*~])([^\s\"'-][^\s\"']{2,80})",
    ),
    ("/p:", r"(?<=\s/p:)[\"']?([^\s\"']{3,80})"),
    ("htpasswd", r"htpasswd -b\w* \S{1,80} \S{1,60} ([^\s\"']{3,80})"),
    ("chpasswd", r"\b[\w.-]{1,40}:([^\s\"':]{3,80})[\"']? \| (?:sudo )?chpasswd"),
    ("net user", r"net user [\w.-]{1,40} ([^\s/][^\s]{3,80})"),
    (" -U ", r"\s-U [\w.\\-]{1,40}%([^\s\"']{3,80})"),
    ("@//", r"\b[\w.-]{1,40}/([^\s/@\"']{3,80})@//"),
    ("auth", r"auth\s?=\s?\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"'](?=[^\"'\n]*[\d!@#$%^&*~])([^\"'\n]{4,80})[\"']"),
)
DATABASES = (
    "postgres postgresql mysql mariadb mongodb redis rediss amqp amqps mssql sqlserver oracle clickhouse cassandra"
)
DATABASES += " couchdb neo4j bolt cockroachdb snowflake jdbc db2 elasticsearch memcached influxdb"

# Words after which a password stands. Those in PASSWORD_PARTS also count inside a longer word (DB_PASSWORD, şifresi).
PASSWORD_PARTS = (
    "password", "passwd", "passwort", "passwrd", "passphrase", "pass phrase", "pass word", "passkey phrase",
    "kennwort", "losungswort",
    "mot de passe", "mots de passe", "motdepasse",
    "contraseña", "contrasena", "contraseñas",
    "senha", "palavra-passe", "palavra passe",
    "parola d'ordine", "parola d’ordine",
    "пароль", "пароля", "паролем", "пароли", "пасс",
    "şifre", "sifre", "parola",
    "密码", "密碼", "口令",
    "パスワード", "暗証番号", "パスコード",
    "비밀번호", "비번", "패스워드", "암호",
    "كلمة السر", "كلمة سر", "كلمة مرور", "كلمة المرور", "كلمه السر", "كلمه المرور", "باسورد", "الباسورد",
    "الرقم السري",
    "पासवर्ड", "पासवर्ड़",
    "wachtwoord", "hasło", "haslo", "lösenord", "adgangskode", "passord", "salasana", "heslo", "jelszó", "parolă",
    "κωδικός", "סיסמה", "סיסמא", "รหัสผ่าน", "mật khẩu", "kata sandi", "kata laluan", "رمز عبور", "گذرواژه",
    "лозинка",
)  # fmt: skip
PASSWORD_WORDS = ("pass", "passw", "pw", "pwd", "psw", "psk", "passe", "mdp", "clave", "parola", "chiave")
LINKED_PASSWORD_WORDS = ("pass", "passe", "clave", "chiave")  # with other uses: only after a link
LOGIN_WORDS = (
    "login", "log-in", "log in", "log into", "logon", "sign in", "sign into", "signin",
    "credential", "credentials", "creds", "user", "username",
    "wifi", "wi-fi", "wlan", "account", "zugang", "zugangsdaten", "anmeldung", "identifiants", "identifiant",
    "usuario",
    "acceso", "accesso", "credenziali", "credenciales", "utente", "логин", "вход", "giriş", "kullanıcı", "账号",
    "帳號",
    "ログイン", "계정", "usuário",
)  # fmt: skip
PIN_WORDS = (
    "pin", "pins", "pin-code", "pincode", "pin code", "pin number", "passcode", "code pin", "codice pin", "código pin",
    "codigo pin", "geheimzahl", "пин", "пин-код", "пинкод", "пин код", "pin kodu", "türcode", "digicode",
    "zugangscode", "puk", "puk2", "puk-code", "puk code", "пук", "combo", "sperrcode", "暗証番号", "暗证号码", "핀번호",
    "핀 번호", "الرقم السري", "पिन", "pin numarası", "combination", "kombination", "combinaison", "combinación",
    "combinação", "combinazione", "комбинация", "mpin",
)  # fmt: skip
CODE_WORDS = (
    "one-time password", "one-time passcode", "otp", "authenticator", "totp", "bestätigungscode", "sicherheitscode",
    "einmalcode", "tan",
    "backup-codes", "backupcodes", "codes de secours", "códigos de respaldo", "резервные коды", "验证码", "驗證碼",
    "認証コード", "認証番号", "確認番号", "確認コード", "인증번호", "인증 코드", "인증코드", "رمز التحقق", "كود التحقق",
    "doğrulama kodu", "onay kodu", "ओटीपी",
)  # fmt: skip
# Words that mean a code of any kind: what is named near them tells which.
ANY_CODE_WORDS = (
    "code", "codes", "código", "códigos", "codigo", "codice", "codici", "код", "кода", "кодом", "коды", "kod", "kodu",
    "kodum", "コード", "코드", "门禁码", "密碼鎖", "كود", "कोड",
)  # fmt: skip
CARD_CODE_WORDS = (
    "cvv", "cvv2", "cvc", "cvc2", "csc", "prüfnummer", "prüfziffer", "kartenprüfnummer",
    "cryptogramme", "kartenprüfziffer", "güvenlik kodu", "安全码", "セキュリティコード", "보안코드", "cvn",
    "digits on the back", "numbers on the back", "number on the back", "digits on the front", "numbers on the front",
    "number on the front", "code on the front",
)  # fmt: skip
# Words after which a key or a token stands; after the weak ones only what is surely random.
KEY_WORDS = (
    "apikey", "apikeys", "appid", "appkey", "apitoken", "token", "tokens", "secret", "secrets", "jeton", "clé api",
    "clé secrète", "clé d'api",
    "clave api", "clave secreta", "clave de api", "chave api", "chave secreta", "chave de api", "chave da api",
    "chiave api", "chiave segreta", "schlüssel", "токен", "api anahtarı", "令牌", "密钥", "金鑰", "トークン",
    "apiキー",
    "シークレット", "토큰", "api 키", "رمز الوصول", "टोकन", "sessionid", "sessid", "phpsessid", "jsessionid",
    "cookie", "クッキー", "쿠키", "куки",
    "accountkey", "sharedaccesskey", "accesskey", "secretkey",
)  # fmt: skip
WIRELESS = (  # whose key is a password
    r"wi-?fi|wlan|\bssid\b|\bnetwork(?: name)?\s?[:=]|\bnetzwerk(?:name)?\s?:|\bréseau\s?:|\bwpa|wep|hotspot|router|"
    r"вай-?фа|无线|無線|와이파이|واي فاي|वाईफाई"
)
WEAK_KEY_WORDS = (
    "clé",
    "chave",
    "キー",
    "鍵",
    "키",
    "auth",
    "pat",
    "session",
    "sid",
    "ключ",
    "مفتاح",
    "anahtar",
    "कुंजी",
    "key",
    "keys",
)
# Parts of several of these words: a text without the part has none of them.
ROOTS = ("cv", "cod", "log", "sign", "cred", "ombina", "on the back", "on the front", "wort", "kata ")
# Before "key": which are secret, and which are not.
SECRET_KEYS = _set(
    """
    api access secret private encryption signing account license licence auth master ssh service consumer client
    deploy
    product activation webhook live storage subscription maps app bot admin openai azure aws stripe session hmac jwt
    cookie instrumentation write read ingest project publish security recovery gemini claude anthropic google twilio
    sendgrid github gitlab slack test prod production server root vpn wireguard wep wpa wifi token
    """
)
OTHER_KEYS = _set(
    """
    primary foreign partition sort cache public idempotency issue row object lookup hash unique dictionary dict map
    index
    group composite natural surrogate publishable site host gpg pgp recv receive send refresh
    """
)
# Near a word for "code": what says that it opens something, and what says that it proves who somebody is. Any other
# code (zip, promo, error) is no secret.
PIN_HINTS = _patterns(
    r"""
    \bdoor\b \bgate\b \balarm\b \bentry\b \bunlock\b \block\b \blockbox\b \baccess\b \bsafe\b \bgarage\b
    \bkeypad\b \bbuilding\b \bpin\b \bvoicemail\b \bentrance\b \blocker\b \bintercom\b \bbuzzer\b \belevator\b
    \blift\b \bshed\b \bapartment\b \bluggage\b \bbike\b tür \btor\b tresor haus gegensprech schloss \bkarte\b
    handy wohnung \bsafe schließfach \bport(?:e|ail|ão|one|a|al|ón)\b immeuble coffre interphone entrée
    \bcarte\b téléphone cadenas puerta caja\sfuerte \bcaja\b alarm edificio tarjeta móvil candado cofre prédio
    cartão celular cancello cassaforte citofono \bcarta\b telefono домофон двер подъезд сейф сигнализ ворот
    калитк замк bram kasten
    kapı kasa bina 门 門 保险 ドア 玄関 金庫 オートロック 현관 금고 출입 도어 باب خزنة दरवा गेट अलार्म
    """
)
PIN_PLACES = _patterns(
    r"""
    \bcard\b \bphone\b \bhouse\b \bfront\sdoor\b \bback\sdoor\b \boffice\sdoor\b \broom\ssafe\b
    """
)
# How something is opened, and what: the number by which that is done is a PIN.
OPENING = _patterns("unlock open disarm entsperr öffne déverrouill desbloque sblocc")
KEYPADS = ("unlock", "gate", "door", "safe", "keypad", "alarm", "phone", "padlock", "lockbox", "garage")
OPENED_THINGS = _patterns(
    r"""
    phone\b \bipad\b \btablet\b \blaptop\b \bsafe\b \bdoor\b \bgate\b \bpadlock\b \blockbox\b \blocker\b \bgarage\b
    \balarm\b \bhandy\b tür\b \btor\b \btresor\b téléphone \bporte\b \bcoffre\b \bpuerta\b \bmóvil\b teléfono
    \bporta\b \bcancello\b \bportão\b \bcelular\b telefono \bcomputer\b
    """
)
PROOF_HINTS = _patterns(
    r"""
    backup recovery rescue scratch verif vérif authent one[-\s]?time \blog-?in \bsecurity 2fa \bmfa \bsms \botp
    sign-?in two-factor emergency steam whatsapp telegram signal confirmation bestätig sicherheit einmal secours
    sécurité connexion doğrula onay confirmaci confirmaç conferma segur sicurezza respaldo acceso entrar\b подтвержд
    \bсмс резерв вход 验证 驗證 認証 確認 인증 تحقق تأكيد सत्याप वेरिफ
    """
)
OTHER_CODES = _patterns(
    r"""
    zip post(?:al|leitzahl)? area country promo discount error exit status http dress source colou?r bar qr morse
    booking reservation voucher coupon referral gift swift sort bank machine byte product airport flight iata icd plus
    fehler gutschein rabatt vorwahl quell erreur postale? promotion réduction descuento promocional errore? erro
    desconto sconto ошибк\w+ город\w* промо\w* скидк\w+ hata alan posta indirim 郵便 エラー 에러 우편 할인 خطأ बग
    """
)
# What may join a word and its secret.
LINKS = _set(
    "is was are be it's it’s ist war sind lautet heißt heisst est était c'est sont es era son é era "
    "são è sono это был هو هي هى "
    "كانت है हैं था is: are: = : -> => := → ： ＝ – — reads equals remains becomes be: value "
    "er är jest to: olarak"
)  # fmt: skip
# Those after which a plain word may be the secret: the words that tell about passwords are known in these languages.
PLAIN_LINKS = _set("is was be it's it’s ist lautet heißt heisst is:")
STILL = _set(
    "now currently still just actually simply probably always literally btw übrigens jetzt aktuell immer noch nun "
    "momentan ahora actualmente toujours maintenant agora sempre "
    "adesso ora теперь сейчас şimdi artık حاليا الآن अब set changed"
)  # fmt: skip
# What joins them as well, but has other uses: after it no plain word is a secret.
LOOSE_LINKS = _set("to auf zu à en a per på para olarak with mit avec con com на")
# After a link: words that tell about a password and are none; what ends in these parts tells about it, too.
TELLING = _set(
    """
    weak strong wrong right correct incorrect invalid valid required optional secure insecure safe unsafe secret long
    short longer shorter good bad fine ok okay great easy hard simple complex stupid silly old new older newer blank
    empty hidden null none nil true false undefined string str int text char varchar bytes boolean any unknown same
    different case-sensitive unique random private public here there below above it this that these those what
    where how
    gone lost compromised broken stolen missing available ready needed yours mine ours his hers theirs important
    necessary sensitive confidential temporary permanent default plain plaintext hash hashed everything nothing
    something
    important enough too very so not never also only both all your my the a an and or but if then else no yes one two
    password passwort passwd secret token key pin code username login email user admin later soon today tomorrow
    yesterday online offline static dynamic alphanumeric numeric mandatory redacted masked sensible cryptic crazy
    obvious common guessable stale current weird funny annoying useless worthless essential key crucial vital critical
    falsch richtig korrekt weg neu alt sicher unsicher geheim nötig erforderlich abgelaufen vergessen schwach stark
    incorrect correct faux oublié obligatoire incorrecta correcta obligatoria errada correta obrigatória sbagliata
    corretta obbligatoria неверный верный неправильный правильный yanlış doğru gerekli falsche richtige
    serializers models fields forms request self this await new return const let var function async type field
    """
)
TELLING_ENDS = ("ed", "ing", "able", "ible", "ive", "ful", "less")
# Before the secret: words after which none comes.
NO_SECRET = _set(
    """
    must should shall may might can could cannot can't need needs needed require requires required has have had
    contain
    contains containing least minimum min max maximum length like such e.g. e.g., example reset resets forgot
    forgotten
    hash hashes hashed hashing manager managers field fields policy policies strength generator generators using than
    without within per costs cost cost: count limit limits between over under about after before every until since ago
    if whether because when while never not no isn't wasn't doesn't don't won't length: usage address contract id ids
    attempt attempts tries leak leaks
    muss müssen soll sollte mindestens darf braucht hat debe deben tener mínimo doit doivent avoir moins minimum deve
    devono devem ter avere almeno должен должна должно быть не короче минимум olmalı en az must: bucket
    area postal delivery fingerprint fingerprint: digest checksum
    """
)
# Between a word for a code and a number: words that say that the number is another one, anywhere or right before it.
NO_CODE_BETWEEN = _set(
    "not isn't wasn't never without expired error errors wrong id ids address area postal pincode ago flight order "
    "invoice version since extension ext phone tel number: required requires need needs costs cost price limit limits "
    "nicht falsch pas erreur equivocado errado sbagliato неверный не geçersiz"
)
NUMBER_LEADS = _set(
    "in within for error line port after before since than until room year by at of über seit vor um page version "
    "dans en depuis il есть в через за до"
)
# Of a name that holds a word: what it tells about is not the secret (`password_hash`, `max_tokens`, `token_count`).
NAME_ENDS = (
    "hash", "field", "count", "limit", "length", "len", "reset", "file", "path", "url", "uri", "name", "policy",
    "type",
    "manager", "form", "_at", "expir", "izer", "ize", "ary", "ive", "budget", "usage", "class", "view", "input",
    "label",
    "valid", "check", "strength", "confirm", "column", "id", "ids", "_in", "error", "store", "service", "provider",
    "handler", "rotation", "version", "encoder", "size", "frame", "word", "board", "less", "ent", "ion", "ionist",
    "placeholder", "hint", "help", "rule", "protect",
)  # fmt: skip
# Values that stand for one, in examples.
PLACEHOLDERS = (
    "your", "placeholder", "dummy", "redacted", "change_me", "change-me", "changeme", "_here", "xxxx", "....", "****",
    "••••", "fixme", "1234567890abcdef", "example",
)  # fmt: skip
# Things with letters and digits that are talked about next to passwords.
KNOWN_THINGS = _set(
    "wpa2 wpa3 wpa2-psk wpa3-psk sha1 sha-1 sha256 sha-256 sha512 sha-512 md5 md4 2fa mfa oauth2 oauth2.0 1password "
    "base64 utf8 utf-8 argon2 argon2id pbkdf2 scrypt bcrypt aes256 aes-256 aes128 aes-128 rsa2048 ed25519 x509 x.509 "
    "ipv4 ipv6 windows10 windows11 win10 win11 office365 web3 log4j mp3 mp4 s3 ec2 k8s i18n a11y h2 "
    "hs256 rs256 es256 "
    "http2 http/2 tls1.2 tls1.3 log4shell 802.11ac covid-19 covid19 gpt-4 gpt4 gpt-4o gpt-3.5 llama3 claude3 24/7 "
    "totp2 fido2 u2f nfc2 ntlmv2 smbv1 smb1 smb2 m365 ps4 ps5 mfa2 3des des3 rc4 sso2 saml2 saml2.0 pkcs8 pkcs12"
)

# Runs of random letters that are no secrets. How the ids of things begin, and files in base64:
ID_PREFIXES = _patterns(
    """
    req_ evt_ price_ cus_ prod_ sub_ pi_ pm_ ch_ in_ txn_ acct_ seti_ si_ cs_ ii_ il_ po_ src_ tok_ card_ ba_ msg_
    run_ thread_ asst_ file_ call_ chatcmpl_ cmpl_ resp_ org_ user_ usr_ proj_ batch_ vs_ step_ conv_ mandate_ plan_
    coupon_ promo_ dp_ du_ fee_ tr_ we_ app_ ord_ order_ inv_ job_ task_ item_ doc_ page_ node_ team_ ws_ dpl_ prj_
    build_ deploy_ trace_ span_ chatcmpl- cmpl- org- proj- msg- run- asst- file- css- sc- arn: GTM- UA- G-
    """
)
ENCODED_FILES = _patterns("iVBORw0KGgo /9j/ R0lGOD UklGR JVBERi0 PHN2Zy PD94bWw d09GM AAABAA UEsDB T2dnUw")
# What is told of a run of random letters: which words before it say that it is an id, a sum or something public,
ID_WORDS = _patterns(
    r"""
    (?<!session_)(?<!session)(?<!sess)(?<![^a-z]s)id(?:s|entif\w+)?[\"'`]?\s?[:=]?\s{0,2}[\"'`(]?$ \buu?id\b
    \b[gu]lid\b object_?id \bhash \bsha-?\d \bmd5 checksum digest integrity etag commit revert cherry-pick
    \bblob\b \btree\b merge fingerprint public pública publique pubblica öffentlich публичн открыт\w+\sключ 公钥
    公開鍵 공개키 address\b adresse dirección endereço indirizzo адрес 地址 donat \btrace \bspan\b request \breq\b
    \bevent \border\b customer invoice track parcel serial model\b modell version build\b \bclass \bfile datei
    fichier archivo certificat nonce tx\b transaction block video channel playlist \bdecode \bencode booking
    container \bpod\b image\b \bdoc\b \bcid\b ipfs \bsignature site_?key measurement \bseed\b
    \btest(?:ing)?\svector \bh1: cf-ray [\"'](?:x|y|n|x5[ct])[\"']:\s?[\"']$
    """
)
# and which that secrets are spoken of.
SECRET_HINTS = _patterns(
    r"""
    (?<![a-z])(?:api|app|access|secret|private|signing|encryption|license|licence|master|auth)?_?-?keys?(?![a-z])
    token secret credential \bcreds?\b log-?\s?in(?![a-z]) log-?\s?on(?![a-z]) sign-?\s?in(?![a-z]) cookie
    session sess \bsid\b auth bearer passw \bpass\b \bpwd?\b kennwort zugangs schlüssel sitzung \bclé\b \bcle\b
    jeton identifiant mot\sde\spasse sesión sessão \bclave contraseña credencia \bchave senha chiave credenzial
    ключ токен секрет парол сесси anahtar şifre 密钥 密鑰 金鑰 秘钥 令牌 密码
    クッキー セッション トークン キー 鍵 키 토큰 비밀 쿠키 세션 مفتاح رمز
    कुंजी टोकन akia[a-z0-9]{12} \bapi\b 2fa totp
    """
)

# By what a number is told to be, or not to be, a card's.
CARD_HINTS = (
    "card", "visa", "master", "amex", "american express", "maestro", "diners", "discover", "jcb", "unionpay", "cvv",
    "cvc",
    "kart", "carte", "tarjeta", "cartão", "cartao", "carta", "карт", "卡", "カード", "카드", "بطاقة", "कार्ड",
    "kart", "credit",
    "debit", "exp", "valid", "mm/yy",
)  # fmt: skip
NO_CARD_HINTS = (
    "order", "invoice", "track", "parcel", "package", "shipment", "refund", "reference", "ref", "ticket", "imei",
    "isbn",
    "ean", "serial", "customer", "confirmation", "booking", "account", " id", "bestell", "rechnung", "sendung",
    "commande",
    "facture", "pedido", "factura", "ordine", "fattura", "заказ", "sipariş", "订单", "單號", "注文", "주문", "طلب",
    "ऑर्डर",
    "case", "meter", "member", "policy", "barcode", "encomenda", "colis", "paket", "number of", "phone",
    "timestamp", "claim",
)  # fmt: skip
EXAMPLE_HINTS = (
    "format",
    "e.g.",
    "for example",
    "regex",
    "pattern",
    "fake ",
    "dummy",
)  # before a number that shows a form
NO_SSN_HINTS = (
    "order", "part", "phone", "ticket", "model", "call", "fax", "tel", "serial", "sku", "invoice", "isbn",
    "issn", "case", "item", "cas ", "cas no", "track", "ref", "version", "barcode", "catalog", "batch", "build",
    "bestell", "pedido", "commande", "ordine", "заказ", "account", "policy", "permit", "example", "format",
    "fake", "regex", "pattern", "ein ", "parcel", "badge", "claim", "docket", "code", "lot ", "stock", "spare",
    "id-", "booking", "member",
)  # fmt: skip
# Near letters of base32: what is set up with them.
SEED_HINTS = (
    "otp", "2fa", "authenticator", "two-factor", "2-factor", "mfa", "zwei-faktor", "authy",
)  # fmt: skip
SSN_HINTS = (
    "ssn", "social security", "soc sec", "soc. sec", "socials", "social #", "social number", "my social",
    "social is", "social:", "sozialversicherung", "itin", "tax id", "seguro social", "seguridad social",
    "segurança social", "sécurité sociale", "sicurezza sociale", "соцстрах", "социальн", "社会保障", "社会安全",
    "사회보장",
    "sosyal güvenlik",
)  # fmt: skip
# What a text calls a recovery phrase.
PHRASE_HINTS = _patterns(
    r"""
    seed recovery mnemonic wallet phrase ledger metamask bip-?39 wiederherstellung récupération recuper frase semilla
    semente фраз 助记词 助記詞 リカバリー ニーモニック シード 시드 복구 kurtarma
    \b(?:12|24|twelve|zwölf)\s(?:words|wörter|mots|palabras|parole|слов)
    """
)
_IBANS = (
    "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BI:27 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 "
    "DE:22 DJ:27 DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FK:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 "
    "GT:28 HN:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 "
    "LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19 MN:20 MR:27 MT:31 MU:30 NI:28 NL:18 NO:15 OM:23 PK:24 "
    "PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 RU:33 SA:24 SC:31 SD:18 SE:24 SI:19 SK:24 SM:27 SO:23 ST:25 "
    "SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20 YE:30 "
)
IBAN_LENGTHS = {pair[:2]: int(pair[3:]) for pair in _IBANS.split()}
