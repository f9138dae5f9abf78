"""English words that name no subject: what greetings, thanks and praise are made of, and what is too general for a
title.

A sentence of nothing but phatic words, function words and words that every message has ("so proud of you!", "long time
no see") says nothing: it opens no topic and names none. A faint word says something, but no title begins or ends with
it, and a short message of faint words alone opens no topic. A describing word may begin a title ("virtual tour"), but
not end it.
"""

from __future__ import annotations

from functools import cache

_PHATIC = """
    'cause aah adorable afternoon ages amazing anytime apparently appreciate appreciated appreciation awesomeness
    aww awww beans blast bless blessed bro bud buddy buds bummer bye catch catchin catching caught certainly chat
    chats chatted chatting cheer cheering cheers cherish congrats congratulations convo crazy crossed cute cuz dang
    day days deserve deserved deserves doin doubt doubts dude dunno encouragement encouraging enjoy enjoyed
    enjoying evening excite excited excitement exciting fab fabulous fam few fingers folks forever fun gonna
    gorgeous gotcha gotta grateful gratitude greetings guts guy haha hang happen happened happiness heard hearing
    heck hello here's hilarious honor honored honoured hooray hour hours how's how've hug hugs huh i'll i'm i've
    impressed impressive incredible insane inspiration inspirational inspired inspires it's jealous joy kind kinda
    kindness kudos last lately legit lemme let's lmao lol love loved lovely loves loving luck luckily lucky mad
    magical mate mean meaningful means meantime memorable met mind-blowing minute minutes miss missed missing month
    months morning nailed neat next nicely night nights nope nowadays okay-ish omg oops ouch past phew pleased
    pleasure posted proud pumped recently respect reward rewarding rock rocks rooting sad safe seriously shame
    shoutout sigh soon sorry spill spoke spoken stoked stuff stunning superb support supportive surely swamped
    sweet sweetie talked talking terrific thankful thankfully that's there's tho thoughtful thrilled thrilling
    tight today tomorrow tonight totally touching tough true truly ugh understanding unreal wait waiting wanna
    we're we've week weekend weekends weeks welcome what're what's what've where's who's whoa wild willing wish
    wishes wishing woah wonderful woo woohoo words worries worry wow y'all ya yall yay yeah yesterday you'd you'll
    you're you've yum yup
"""
_FAINT = """
    abilities ability able accept achieve act action active actual add adds admire adult adults advice affect
    affects afford afterwards again agree ahead air alive allow allows alone amount answer answers anymore anywhere
    apart appears area areas arm article aspect aspects attempt attend aware back balance base basic beautiful
    beauty become becomes becoming beginning behind belong belonged benefit benefits bet bigger biggest black block
    blue body bonding boost born box boy boys brand brave break breath brief bring bringing brings broken brown
    build building bunch busy calm calming capture care careful carries carry carrying case cause celebrate
    celebrated center challenge challenges chance change changed changes chasing check child children chill choice
    choose chose circle class clear close closer collection color colors colour comfort comfortable coming common
    complete concern concerning condition confidence connect connection constant constantly control conversation
    cool corner cost could've couple courage cover cozy create creating creative creativity crew crowd current
    currently custom daily dark date deal dealing dear decide decided decision dedication deep definite degree
    deliver depend describe desire detail details determination develop difference different difficult direction
    discover discovered discuss display distance door dream dreams drive drop due earlier ease easier easily easy
    edge effect effort efforts eight emotion emotional emotions encounter encountered encourage end energy engage
    engages ensure entire environment epic escape event events everyday everywhere exact expand expect experience
    experiences explain explore exploring express extra eye eyes face facing fact fail fair fall familiar families
    family fan fantastic fast favorite favorites favourite fear feature feed feeling feelings field fight figure
    fill filled filling fills final finally finds fine finish finished fire fit five fix flow focus focused fold
    folk follow food force forget form forms forward found four freedom fresh friend friends front frustrating full
    funny future gain gang gather gave general generation gets gig girl girls given gives giving glad goal goals
    goes gone green grow growing grown growth guess guide habit half hand handle hands happy harder hardest hate
    head health healthy heart helped helping hey hidden higher highest hit hobby hold holding home honest hooked
    hoped hopes house huge human hurt idea ideal ideas identity imagine immersive impact importance improve
    improved improving incident increase individual influence info information inner inside interest interested
    interests introduce involved issue issues item items job join joined journey keeps kid kids kinds knew knowing
    knowledge known lack ladies lady large lasting late later laugh lead learned learning learnt led legs lesson
    lessons let's level light likes limit line lines list listen lives living local locals look looked looks loss
    lost low lower lowest main major makes man managed mark match matters meaning meant meet meeting member members
    memories memory men mention mentioned mess message messed mile miles mind minds mindset mine mistake mistakes
    mix mode mom moment moments mood motivate motivated motivates motivating motivation move moved moving multiple
    must've name names natural nature near necessary need needed needs nerve news nine noise note notice noticed
    nowhere number numbers object objects obstacle obstacles odd offered offering offline older one online open
    opened opinion opportunities opportunity opposite option order ordinary organize organizing original outcome
    outlet outlook outside overcome overcoming pace pack packed pain pair part parts passed passion passionate path
    patience patient pause peace peaceful people perfectly performance period person personal personally persons
    perspective photo photos pic pick picked pics picture pictures piece pieces pile pink plan planned planning
    plans played player playing plays plenty plus popular positive positivity possible power powerful practice
    practicing prepare presence present pressure previous pride prior priority problem problems process produce
    product productive professionally progress promise proper purpose pursue push pushing quality question
    questions quick quiet quote raise ran rare reach reached reaction read reading ready reality realize realized
    realizing reason reasons recent recharge recommendation red reflect refresh refreshing regard regarding regret
    regrets regular relate relationship relationships relax relaxed relaxing relief rely remain remember remind
    reminded reminder reminders reminding reminds remove replace request resilience resource resources response
    rest result return rise risk road role room rough rude run rush save saw scary scene schedule search season
    seat seeing seek seemed seems selection self sense series serious serve serves service session sessions setback
    setbacks seven shape shared sharing sharp shift short shot shots shout showed showing shown side sight sign
    significant similar simple simply sit sitting situation six size skill skills skip slow smaller smart smile
    smiles snap society soft solid solution someday somewhere song sort sorts soul sound sounds source space spark
    speak speaking spend spending spent spirit spot spots spread squad stable stage stand standing stands starting
    state stayed staying steady stick stood stop stopped stories story strange stranger strategy strength strengths
    stress strive striving strong stronger struggle struggles struggling stuck style styles subject succeed success
    successful suggestion suggestions suit summer surprise surprised surround surrounded switch system table takes
    talent talented target task tasks taste taught technique techniques tells ten term test thing things thinks
    thoughts three threw ties tiny tips title ton tons topic topics touch touched track trade transform treat trick
    tried trigger trouble trust truth turn turned two type types unconditional uncover understood unforgettable
    unique unity upcoming update upset usual valuable values various version vibe vibes view views visit visited
    visiting visual vital voice walk walked wall warm watch watched wave wear weather weird well-being white win
    wins winter wise woman women wondering worked works worthwhile write wrong wrote yearly yellow young younger
    yours zone
"""

_DESCRIBING = """
    absolute accurate adventurous affordable afraid aggressive alert amused ancient angry annoyed annoying anxious
    artistic ashamed asleep attractive authentic automatic available awake awkward bitter blind bold bored boring
    bright brilliant capable casual charming cheap cheerful clean clever cold compassionate competitive confident
    confused confusing contemporary convenient correct cosy courageous crucial curious damp decent delicate
    delicious desperate determined digital disappointed disappointing distant dramatic dry dull eager elegant
    embarrassed embarrassing empty endless energetic enormous enthusiastic essential excellent exhausted
    exhausting exotic expensive expressive extraordinary extreme fancy fascinating federal fierce flexible foreign
    fortunate fragile frequent friendly frustrated furious generous gentle genuine giant gloomy golden gradual
    guilty handy heavy helpful helpless historic honest hopeful horrible hot humble hungry imaginative immediate
    immense impatient impossible independent innocent innovative intelligent intense intensive interactive
    invisible jolly juicy keen lazy legal likely lively lonely long loose loud loyal massive mature mental mere
    mild minor miserable modern modest mutual mysterious narrow nasty nervous noisy normal numb numerous obvious
    occasional optimistic outdoor outgoing overall overwhelmed overwhelming painful pale parallel perfect
    permanent physical plain playful pleasant polite poor portable precious precise pretty private productive
    proper public pure radical random rapid realistic reasonable relevant reliable reluctant remarkable remote
    resilient responsible rich ridiculous romantic rotten round royal rural sacred satisfied satisfying scared
    secure selfish sensible sensitive separate serene severe shallow shiny shocked shocking shy sick silent silly
    sincere sleepy slight slim smooth sore sorry spare special specific spectacular spicy spiritual splendid
    spontaneous sporty steep sticky stiff straight strict stubborn stupid sturdy sudden sufficient suitable super
    sure surprising surreal suspicious symbolic sympathetic talkative tall tasty tender tense terrible terrified
    therapeutic thick thin thirsty thorough tired tiring total tragic transparent tremendous tricky typical ugly
    ultimate unable uncertain uncomfortable unexpected unfair unfortunate unhappy universal unknown unlikely
    unpleasant unusual urban urgent useful useless vague vast vibrant vicious virtual vivid vulnerable weak
    wealthy wet wicked wide wonderful wooden worried worse worst worth worthy
"""
_WHEN = "monday tuesday wednesday thursday friday saturday sunday sometimes besides"


@cache
def phatic_words() -> frozenset[str]:
    return frozenset(_PHATIC.split())


@cache
def faint_words() -> frozenset[str]:
    return frozenset([*_FAINT.split(), *_WHEN.split()])


@cache
def describing_words() -> frozenset[str]:
    return frozenset(_DESCRIBING.split())
