"""English words that name no subject: what greetings, thanks and praise are made of, and what is too general for a title.

A sentence of nothing but phatic words, function words and words that every message has ("so proud of you!", "long time no
see") says nothing: it opens no topic and names none. A faint word says something, and stands for nothing in a title.
"""

from __future__ import annotations

from functools import cache

_PHATIC = """
    aah ages huh met past happened happen convo apparently yum appreciate appreciated appreciation awesomeness aww awww beans blast bless blessed bro bud buddy buds bummer bye
    catch catchin catching caught chat chats chatted chatting cheer cheering cheers cherish congrats congratulations crazy cute
    dang deserve deserved deserves doin doubt doubts dude encouragement encouraging enjoy enjoyed enjoying excite excited
    excitement exciting fab fabulous fam fingers crossed folks forever fun gorgeous gotcha grateful gratitude greetings guts
    guy haha hang happiness heard hearing heck hello hilarious honor honored honoured hooray how's how've hug hugs impressed
    impressive incredible inspired inspiration inspirational inspires insane jealous joy kind kinda kindness kudos legit lmao
    lol love loved lovely loves loving luck luckily lucky mad magical mate mean meaningful means memorable mind-blowing miss
    missed missing nailed neat nicely nope omg oops ouch phew pleased pleasure posted proud pumped respect reward rewarding
    rock rocks rooting sad safe seriously shoutout shame sigh soon sorry spill spoke spoken stoked stunning stuff superb
    support supportive surely sweet sweetie swamped talked talking terrific thankful thankfully thoughtful thrilled thrilling
    tight today tomorrow tonight totally touching tough true truly ugh understanding unreal wait waiting wanna welcome whoa wild
    willing wish wishes wishing wonderful woah woo woohoo words worries worry wow ya yall y'all yay yeah yesterday yup anytime
    what's what've what're where's who's there's here's that's it's let's i'm i've i'll you're you've you'll you'd we're we've
    gonna gotta lemme dunno 'cause cuz tho lately recently nowadays meantime morning evening afternoon night nights day days
    last next few week weeks month months weekend weekends hour hours minute minutes okay-ish certainly amazing adorable
"""
_FAINT = """
    able accept achieve act action actual add adds admire adult advice affect afford agree ahead air alive alone amount answer
    anymore apart area areas arm article aspect aspects attempt attend aware balance base basic beautiful beauty beginning
    benefit benefits block body bonding boost born box brand break breath bring bringing brings broken build building bunch busy
    calm capture care careful carry case cause center challenge challenges chance change changed changes chasing check choice
    choose chose circle class clear close closer collection color colors colour comfort comfortable coming common complete concern
    condition confidence connect connection control conversation cool corner cost couple courage cover create creating creative
    creativity current currently custom daily dark date deal dear decide decided decision dedication deep definite degree deliver
    depend describe desire detail details determination develop difference difficult direction discover discovered discuss display
    distance door dream dreams drive drop due ease easy edge effect effort efforts emotion emotional emotions encourage end energy
    ensure entire environment epic escape event events everyday exact expand expect experience experiences explain explore
    exploring express extra eye eyes face facing fact fail fair fall familiar fan fast favorite favorites favourite fear feature
    feed feeling feelings field fight figure fill filled final finally finds fine finish finished fire fit fix flow focus focused
    fold follow food force forget form forms forward found freedom fresh friend friends front full funny future gain gather gave
    general generation gets girl girls given gives giving glad goal goals goes gone grow growing grown growth guess guide habit
    half hand handle hands happy harder hate head health healthy heart helped helping hey hidden hit hobby hold holding home honest
    hoped hopes house huge human hurt idea ideal ideas imagine impact importance improve improved improving increase individual
    influence inner inside interest interested interests introduce involved item items job join joined journey keeps kid kids
    knew knowing knowledge known lack large lasting late laugh lead learned learning learnt led legs lesson lessons let's level
    light likes limit line lines list listen lives living local locals looked loss lost low main major makes managed mark match
    matters meaning meant meet meeting member members memories memory mention mentioned mess message mile miles mind minds mindset
    mine mistake mistakes mix mode mom moment moments mood motivate motivated motivates motivation motivating move moved moving
    multiple name names natural nature near necessary needed nerve noise note notice noticed object objects obstacle obstacles
    odd offered offering open opened opinion opportunities opportunity opposite option order ordinary original outcome outlet
    outlook outside pace pain pair part parts passed passion passionate path patience patient pause peace peaceful people
    perfectly performance period personal personally perspective photo photos pic pick picked pics picture pictures piece
    pieces pile planned planning played player plays plus popular positive positivity possible power powerful practice
    practicing prepare presence present pressure previous pride priority prior problem problems process produce product
    productive progress promise proper purpose pursue push pushing quality quiet quote raise ran rare reach reached reaction
    reading reality realize realized realizing reason reasons recent recharge recommendation reflect refresh refreshing regard
    regular relate relationship relationships relax relaxed relaxing relief rely remain remind reminded reminder reminders
    reminds remove replace request resilience response rest result return rise risk road role room run rush save saw scary scene
    schedule search season seat seeing seek seemed selection self sense series serious service session sessions setback setbacks
    shape shared sharing sharp shift short shot shots shout showed showing shown side sight sign significant similar sit sitting
    situation size skill skills skip slow smaller smart smile smiles snap society soft solid solution someday song soul source
    space spark speak speaking spend spending spent spirit spot spots spread stable stage stand standing stands starting state
    stayed staying steady stick stood stop stopped stories story strategy strength strengths stress strong stronger struggle
    struggles struggling style succeed success successful suggestion suit summer surprise surprised surround surrounded switch
    system table takes talent talented target task tasks taste taught technique techniques tells term test thinks thoughts
    threw ties tiny tips title topic touch touched track trade transform treat trick tried trigger trouble trust truth turn
    turned uncover understood unforgettable unique unity update upset valuable values vibe vibes view views visit visited visual
    vital voice walk walked wall warm watch watched wave wear weather weird well-being win wins winter wise woman women wondering
    worked works worthwhile write wrong wrote yearly yours zone must've could've families family back young younger
    older playing read red blue green black white brown yellow pink allow allows stuck somewhere everywhere anywhere nowhere
    belong belonged again plenty numbers number pack packed active chill cozy crew squad gang crowd folk lady ladies man men boy
    boys child children adults person persons reaction fantastic upcoming previous earlier later online offline
    various different difference similar topic topics subject question questions answer answers info information details need
    ton tons one two three four five six seven eight nine ten behind become becomes becoming afterwards usual brief constant
    constantly dealing issue issues news serve serves unconditional strive striving hooked messed brave ability abilities
    calming celebrate celebrated encounter encountered regarding concerning incident carries carrying engage engages affect
    affects regret regrets overcome overcoming frustrating professionally gig bet plan plans visiting suggestions suggestion
    reminding remember identity fills filling immersive organize organizing resources resource thing things push
    needs fast slow quick easier easily simple simply hardest harder biggest bigger smaller higher lower highest lowest
    sounds sound looks look appears seems ready rough rude strange stranger style styles sort sorts kinds types type version
"""


@cache
def phatic_words() -> frozenset[str]:
    return frozenset(_PHATIC.split())


@cache
def faint_words() -> frozenset[str]:
    return frozenset(_FAINT.split())
