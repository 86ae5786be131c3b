"""Questions whose answer ages: the weather, a price on a market, a score, whether a thing works just now.

A word such as "now" or "current" is not enough: "how do I change my current password" has had the same answer for
years. A state must be asked for, and the time must be the asker's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, sign

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_CURRENCY = (
    r"(?:us |american |canadian |australian )?(?:dollars?|euros?|pounds?(?: sterling)?|yens?|rupees?|pesos?|francs?"
    r"|yuan|lira|rubles?|riyals?|usd|eur|gbp|jpy|chf|cad|aud|inr|krona|won)"
)
_EVENT = (
    r"(?:train|bus|tram|flight|ferry|metro|subway|plane|boat|shuttle|game|match|race|fixture|episode|election"
    r"|full moon|solar eclipse|lunar eclipse|general election|strike|sale|update|full-moon|eclipse|bank holiday"
    r"|holiday|public holiday|meeting|concert|launch|release|season|appointment)"
)
_GOODS = (
    r"(?:gold|silver|oil|crude|brent|petrol|gasoline|gas|diesel|bitcoin|btc|ethereum|eth|crypto|dogecoin|copper"
    r"|ether|natural gas|electricity)"
)
_STATE = (
    r"(?:what|which|who|where|when|how (?:much|many|has|have|is|are|was|were|did|far|long|hot|cold|busy|late|strong"
    r"|high|low|full)|is|are|was|were|will|did|does|has|have|any|show|list|give|tell|find)\b"
)
_DEICTIC = (
    r"(?:(?:right|just|as of|even) now|now(?=\W*$)|today(?!'s equiv)|tonight|tomorrow|yesterday|currently(?! in\b)"
    r"|at (?:the|this) moment|at present|this (?:very )?(?:week|weekend|month|morning|afternoon|evening|season|year"
    r"|quarter|instant|minute)|last (?:night|week|weekend|month|quarter)|next (?:week|weekend|month)|so far"
    r"|these days|as we speak)"
)

_SIGNS = (
    sign(
        "the weather",
        "thunderstorms thunderstorm storms humidity weather snow hail heatwave frost sun tides forecast weather"
        " weather forecast rain raining snow snowing umbrella jacket coat temperature hot cold sunny windy humid"
        " warm storm pollen sunrise sunset tide showers wind foggy outside fog cloudy air",
        r"\b(?:like|is it) outside\b|\b(?:sunset|sunrise) time\b|\b(?:chance|risk|sign) of (?:showers|fog|storms?"
        r"|snow|rain)\b|\b(?:wind|fog|rain|snow|air quality|storms?)\b.{0,30}\b(?:now|today|tonight|tomorrow"
        r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|\b(?:predicted|kind of|what) weather\b(?! (?:is"
        r"|conditions) (?:best|good|ideal))|\b(?:weekend|weekly|\d+ day|rain|hourly) forecast\b|\bweather\W*$"
        r"|\b(?:tell|know|check|see|wondering)\b.{0,25}\bweather (?:is|will)\b|\bweather (?:is|will be) (?:in|like"
        r"|there|today)\b|\bchance of (?:rain|snow|showers)\b|\bweather (?:in|for|at|like|today|tomorrow|this|next"
        r"|right|now|outside|forecast|report|on|be|update)\b|\b(?:the|today's|tomorrow's|current) (?:weather"
        r"|forecast|pollen count)\W*$|^\W*(?:the )?weather\b|\b(?:how|what) (?:is|will be|was) the (?:weather"
        r"|forecast)\b|\bforecast (?:for|today|tomorrow|this|in)\b|\b(?:will|is) (?:it|there) (?:going to "
        r"|likely to |gonna |be |be any )?(?:rain|snow|hot|cold|sunny|windy|warm|humid|a storm|cloudy|chilly)"
        r"|\bhow (?:hot|cold|warm|windy|humid) (?:is it|will it|was it)\b|\b(?:do i need|should i (?:take|bring|wear"
        r"|carry|grab)|will i need)\b.{0,20}\b(?:umbrella|jacket|coat|sweater|sunscreen)\b|\btemperature (?:outside"
        r"|now|today|tomorrow|tonight|right now|in [^\W\d]+)\W*$|\bwhen (?:is|does|will)\b.{0,12}\b(?:sunrise|sunset"
        r"|high tide|low tide|the sun (?:rise|set))\b|\bweather\b.{0,10}\b(?:improved|changed|cleared|better"
        r"|worse)\b|\btide times?\b|\b\d+[- ]day forecast\b|\bhow is the snow\b|\b(?:price|level) of \w+ (?:today"
        r"|now)\b|\bweather\b(?=(?: [\w-]+){0,3}\W*$)|^(?:will there be|is there|any"
        r"|is there going to be)\b.{0,15}\b(?:thunderstorms?|storms?|hail|frost|snow|fog|rain|wind|heatwave|ice)\b"
        r"|\b(?:humidity|pollen|uv index)\b.{0,25}\b(?:in|now|today)\b(?!.*\b(?:houses?|rooms?|cellar|fridge)\b)"
        r"|\b(?:snow|surf|ski|storm) (?:report|warning)\b",
    ),
    sign(
        "a price on a market",
        "index today going btc stock stocks share shares price prices worth gold silver oil bitcoin btc eth ethereum"
        " crypto dow nasdaq dax ftse trading rate rates market markets cost mortgage ether copper selling usd",
        r"^(?:how|what) (?:is|are) (?:the )?(?:stock )?markets?(?: doing| up| down| at)?\W*$|\b(?:selling|trading"
        r"|going) (?:for|at)\b|\bshares?, up\b|\b(?:stock|share) (?:price|value|quote)s?\b(?! (?:means?|is|are"
        r"|index)\b)(?<!what is a stock price)(?<!what is a share price)|\b(?:stocks?|shares?|nasdaq|dow|dax|ftse"
        r"|markets?)\b.{0,20}\b(?:trading|doing|performing|worth|up|down|at)\b"
        rf"|\b(?:price|value|cost|rate)s? (?:of|for) (?:an? |one )?(?:\w+ of )?{_GOODS}\b|\b{_GOODS} (?:price|rate"
        rf"|worth|trading|value)s?\b|\b(?:how much|what) (?:is|are|does) (?:a |an |one )?{_GOODS}\b|\b(?:price|value"
        rf"|worth) of (?:\w+ ){{1,3}}(?:stocks?|shares?)\b"
        r"|\b(?:mortgage|interest|inflation|savings) rates? (?:today|now|right now|currently|at the moment)"
        r"|\bcurrent(?:ly)? (?:\w+ ){0,2}(?:mortgage|interest|inflation|savings|unemployment|base|exchange) rates?\b"
        r"|\bgoing rate\b|\bprice of \w+ (?:today|now|right now)\b|\b(?:stocks?|shares?|index|platinum|palladium"
        r"|wheat|coffee futures|futures|bonds?) (?:price )?(?:today|now|yesterday)\b|\bclose(?:d)? at (?:today"
        r"|yesterday|last)\b|\bper (?:gram|ounce|barrel|ton|litre|liter|gallon|kilo) (?:today|now|right now"
        r"|at the moment)\b",
    ),
    sign(
        "an exchange rate",
        "dollars rate exchange conversion lira rubles riyal won dollar dollars euro euros pound pounds yen rupees"
        " pesos usd eur gbp jpy chf franc francs yuan cad aud inr rupee peso",
        r"\b(?:what|which|how|tell me|know|give me|check|show)\b.{0,30}\bexchange rates? (?:for|of|bet\w+|from|to"
        r"|today|now|right|at)\b(?! (?:my|a|an|getting|cash|your)\b)|\b(?:currency )?conversion (?:rate )?(?:between"
        r"|from|for) \w+ (?:and|to) \w+|\bwhat (?:is|are) the(?: current)? (?:exchange|conversion) rates?\W*$"
        rf"|\b{_CURRENCY}s?(?: are)?(?: is)? (?:to|in|into|vs|against|equal|equals|for|worth in) (?:an? "
        rf"|one )?{_CURRENCY}\b|\b{_CURRENCY}\b.{{0,15}}\b(?:trading|worth|doing|stronger|weaker)\b|\bhow (?:many"
        rf"|much) {_CURRENCY}\b.{{0,30}}\b\d[\d.,]* ?{_CURRENCY}"
        r"|\b(?:euro|dollar|pound|yen|franc|usd|eur|gbp)s?[ /-](?:euro|dollar|pound|yen|franc|usd|eur"
        r"|gbp)s? (?:exchange )?rate\b|^(?:the )?(?:current )?exchange rates?\b(?=(?: [\w-]+){0,4}\W*$)"
        r"|\bhow (?:much|many) \w+ (?:can|do|will|would) i get (?:for|with|from) (?:\w+ ){0,2}(?:dollars?|euros?"
        r"|pounds?|usd|eur|gbp|yen|pesos?)\b",
    ),
    sign(
        "the clock or the calendar",
        "today time date day hour longer old time clock day date days weeks long week month year hours minutes"
        " today's age",
        r"\bwhat time (?:is it|it is|do you have|zone am i)\b"
        r"|^\W*(?:what is )?the (?:current )?time\b(?! (?:complexity|zone|signature|limit|frame|period|difference"
        r"|needed|required|it|of|when|to|for|value|constant))|\bwhat is the time\b(?! \w)|\bwhat is the time (?:now"
        r"|right|in|there|please)\b|\bcurrent (?:time|date|day|week|year|month)\b|\btime (?:is it"
        r"|in [^\W\d]+(?: [^\W\d]+)?)\W*$|\b(?:what|which) (?:day|date|month|year|week)(?: of the (?:week|month"
        r"|year))? (?:is it|is today|is tomorrow|are we|was yesterday|it is|will it be|is this)\b"
        r"|\bwhat is (?:today's|tomorrow's|the|this) (?:date|day|week number)\b(?!\w| of| when| that| for| limit"
        r"| format| on| frame)|\btoday's date\b|\b(?:tell|give)(?: me)? (?:the |what )?(?:current "
        r"|exact )?time (?:in|is|right|now|there|at|it)\b|\bwhat (?:hour|time of day) is it\b|\bhow (?:many|much"
        r"|long)\b.{0,25}\b(?:until|till|til|before|left until|left in|since)\b(?!.{0,30}\b(?:expires?|can|you|i|i'm"
        r"|my|it is|is considered|cooked|done|ready|they)\b)(?=.{0,40}\b(?:christmas|easter|new year|summer|winter"
        r"|spring|autumn|fall|weekend|midnight|noon|halloween|thanksgiving|the (?:year|month|quarter|week|world cup"
        r"|olympics|election|holidays)|january|february|march|april|may|june|july|august|september|october|november"
        r"|december|friday|monday|ramadan|valentine's day|kickoff|launch)\b)|\bhow old (?:is|are) (?!a\b|an\b|my\b"
        r"|your?\b|the (?:earth|universe|sun|moon)\b)[^\W\d]|^(?:the )?(?:date|day"
        r"|time)(?: of the week)?(?:,? (?:today|now|please))?\W*$|\bhow much longer until\b|\b(?:tell|know"
        r"|give)\b.{0,20}\bthe (?:exact |current |right )?(?:time|date)\b(?=(?: (?:is|it is|now|today|tomorrow"
        r"|please|there|in [\w ]+|right now))*\W*$)|\b(?:what|which) (?:the )?(?:date|day|time) (?:is|will|was"
        r"|does) (?:it|today|tomorrow|the|be)\b|\bwhat (?:day|date) (?:today|tomorrow|it) (?:is|will be)\b"
        r"|\bwhat (?:will|is) the (?:date|day) (?:be|in|on|today|tomorrow)\b|\b(?:have|got) the time\b"
        r"|\bdays? from (?:now|today)\b.{0,20}\W*$(?<=.)",
    ),
    sign(
        "whether it works just now",
        "traffic gridlock crowded busy possible accepted line something free outage trouble back location taken down"
        " up offline online working open closed delayed late cancelled canceled available stock outage outages"
        " delays delay strike strikes disruptions disrupted running status busy traffic crowded full sold problems"
        " issues happening queue wait incident incidents congestion accident accidents jam yet again still"
        " responding blocked jammed anything check tickets seats rooms",
        r"^(?:is|are|has|have|did)\b(?! (?:it|i|we|my)\b)(?: [\w'.-]+){1,8} (?:yet|again|still)\W*$|^is (?:the "
        r"|there )?\w+ still (?:open|up|on|down|going|running|available|valid)\b|\b(?:check|see|know"
        r"|tell me) (?:whether|if) (?:the |your )?[\w.'-]+(?: \w+){0,3} (?:is|are) (?:down|up|open|closed|working"
        r"|available|online|offline|running)\b|\b(?:anything|something) wrong with the\b"
        r"|\bin stock\b(?!.{0,20}\bmean\b)|^is the .{1,30}\b(?:blocked|jammed|backed up|congested|flooded)\b"
        r"|^(?:are there|is there|do you have|have you got|any)\b.{0,20}\b(?:tickets?|seats?|rooms?|tables?"
        r"|spaces?)\b.{0,15}\b(?:left|available|free|for (?:the|tonight|today|this|next|tomorrow|mon|sat|sun|fri))"
        r"|^(?:is|are)(?: the| your| our)? (?!(?:a|an|it|this|that|there|my)\b)[\w.'-]+(?: [\w.'-]+){0,4} (?:down"
        r"|(?<!top )up|offline|online|working|open|closed|live|delayed|late|on time|cancelled|canceled|back up"
        r"|running|out of stock|in stock|sold out|on strike|busy|full|disrupted|back online)(?: (?:right )?now"
        r"| again| today| tonight| tomorrow| currently| at the moment| yet| still| this \w+| on time| normally)*\W*$"
        r"|\b(?:is|are) (?:there )?(?:any )?(?:current |known |major |ongoing |still )*(?:outages?|delays?|strikes?"
        r"|disruptions?|incidents?|traffic|accidents?|congestion|problems|issues)\b(?=.{0,30}\b(?:on|with|at|for|in"
        r"|to|now|today|currently|right)\b)(?!.{0,40}\b(?:if|when|using|taking|mixing|side)\b)|\bhow (?:busy|crowded"
        r"|full|bad|heavy|long) (?:is|are)\b(?!.*\b(?:transfer|delivery|refund)\b)(?=.{0,30}\b(?:traffic|queue|wait"
        r"|line|right now|now|today|tonight|at the moment|restaurant|airport)\b)|\b(?:how is|how are|what is|check"
        r"|any|is there) (?:the )?(?:traffic|queue|wait time|wait)\b(?! (?:for a|for the|for my|time"
        r"|of)\b)(?! (?:light|sign|law|rule|calming|engineering|in networking))|\bcurrent(?:ly)? (?:status|wait"
        r"|delays?|outages?|traffic|incidents?|location|situation|events|news|availability|stock)\b|\b(?:service"
        r"|system|server|network|line) status\W*$|\bstatus of (?:flight|train|the (?:service|server|network|system"
        r"|line))|^(?:is|are) .{1,30} having (?:an? |any )?(?:\w+ )?(?:outage|trouble|problems?|issues?)\b"
        r"|\bcome back (?:up|online)\b|\bcurrent (?:queue|queues|line|load|capacity)\b|\bhow much traffic is\b"
        r"|^(?:is|are) (?:the |a |any |there a )?(?:meeting |court )?(?:rooms?|desks?|tables?|seats?|slots?|courts?"
        r"|parking spaces?)\b.{0,20}\b(?:free|available|taken|occupied)\W*$|^are you (?:open"
        r"|closed)\b.{0,30}\b(?:today|tomorrow|tonight|now|this|christmas|new year|easter)\b|^(?:is"
        r"|are) .{1,60}\bstill (?:open|available|running|going|on|possible|accepted|on sale|free)\b|\bhow long (?:is"
        r"|are) the (?:lines?|queues?|waits?)\b|\btraffic (?:is|look|looks|like|situation|near|predictions?|report"
        r"|update|jam|delays?)\b(?! (?:light|sign|law))|\b(?:heavy|bad|much|any|hit) traffic\b(?!.{0,40}\bwebsite\b)"
        r"|\bgridlock\b|\bhow busy\b.{0,30}\b(?:at \d|around|right now|tonight|today|be)\b|\b(?:be|is it) crowded\b",
    ),
    sign(
        "news, scores and fixtures",
        "off payday developments new going news headlines score scores winning won leading playing play standings"
        " trending happening happened next scored showing cinema theaters tv ranking halftime half-time result top"
        " leads polls films movies announced released launched film",
        r"\b(?:half-?time|full-?time|interim) (?:score|result)\b|\bwho (?:leads|tops)\b"
        r"|\b(?:on )?top of the (?:\w+ )?(?:league|table|group|charts|polls|standings)\b|^what (?:films|movies"
        r"|shows?|plays) (?:is|are) (?:on|playing|showing)\b|^(?:has|have) (?!you\b|i\b"
        r"|we\b)[\w ]{2,40} (?:announced|released|launched|published|unveiled|been released|come out)\b|\b(?:latest"
        r"|today's|breaking|recent|current|any|in the|world|top|local) (?:\w+ )?(?:news|headlines)\b|\bwhat (?:is"
        r"|are) the (?:news|headlines)\b|^(?:the )?(?:news|headlines)\b|\bnews (?:about|on|from|today)\b"
        r"|\bwhat is (?:happening|going on)\b(?! (?:when|if|here|to my|with))(?=.{0,30}\b(?:in|at|today|now|tonight"
        r"|world|town)\b)|\b(?:what is|what was|tell me|show me|give me"
        r"|check) the (?:\w+ )?(?:final )?scores?(?: (?:of|in|for|between)\b.{0,40}\b(?:game|match|final|race)\b"
        r"|\W*$)|\b(?:game|match) score\b|\bscore of the .{0,30}(?:game|match)\b|\blive scores?\b"
        r"|\bwho is (?:winning|leading|ahead|playing|in the lead|on tv|top of)\b|\bwho (?:won"
        r"|scored)\b(?!.*\b\d{4}\b)(?=.{0,30}\b(?:game|match|race|debate|election|fight|final|cup|grand prix|last"
        r"|yesterday|today|tonight|derby|series|oscar)\b)"
        rf"|\b(?:when|what time|where|what|how long|who)\b.{{0,30}}\b(?:the|my|our"
        rf"|your)? ?(?:very )?next (?:[\w-]+ ){{0,3}}?{_EVENT}\b|^next {_EVENT}\b|\bnext {_EVENT} (?:to|from|at|in"
        rf"|home)\b"
        r"|\b(?:standings|trending)\b(?! (?:mean|desk|order))|\bwhat is (?:playing|showing|on) (?:at|on"
        r"|in) (?:the )?(?:cinema|theaters?|tv|movies)\b|\btop stories\b|\brecent (?:developments|events|changes"
        r"|news)\b|\bwho is the new\b|^next departures?\b|\bnext (?:\w+ )?(?:holiday|day off|payday|paycheck"
        r"|long weekend)\b",
    ),
    sign(
        "the latest of its kind",
        "current currently latest newest recent current reigning",
        r"\b(?:what|which|who|where|when|how|is|are|show|list|give|tell|any|has|have|did|get"
        r"|find)\b.{0,40}\b(?:latest|newest|most recent)\b(?! (?:i|we|you|one|time|date|possible|check|by|that"
        r"|at which)\b)|^(?:the )?(?:latest|newest|most recent)\b(?! (?:i|we|you|time|date|possible|check)\b)"
        r"|\bcurrent(?:ly)?(?: \w+)? (?:price|value|rate|temperature|weather|score|president|ceo|prime minister|king"
        r"|queen|pope|chancellor|mayor|governor|champion|champions|population|record|holder|leader|chairman|chair"
        r"|manager|world|price of|cto|cfo|owner|coach|minister|secretary)s?\b(?<!\bcurrent account rate)|\b(?:what"
        r"|which) (?:is|are) the current (?:\w+ )?(?:version|release)\b|\breigning\b|\bwho is currently\b|\b(?:what"
        r"|which|who|how \w+) (?:is|are) (?:the |your |our )?current (?!in\b|through\b|ac?count|password|pin\b|limit"
        r"|ratio|liabilit|assets|address|employer|directory|user|branch|density|polic|rules?|law|guideline|fee|terms"
        r"|flow|best practice|standard|procedure|process|node|thread|row|line|time complexity|api)\w",
    ),
)
_NOW = sign(
    "a state at the time of asking",
    "now today tonight tomorrow yesterday currently moment present week weekend month morning afternoon evening"
    " season year quarter instant minute night far days speak today's tonight's tomorrow's yesterday's",
    rf"(?:^|[.?!,;] +)(?!what now|when (?:i|we|my|going|using|trying)\b|is there (?:some"
    rf"|any)thing){_STATE}(?: (?!i\b|you\b|my\b|me\b|we\b|since\b|after\b|because\b)\S+){{0,14}}? {_DEICTIC}\b"
    rf"|^(?!(?:i|my|the|our|we|how|why|since|can|could)\b)(?:(?!i\b|my\b|we\b)[\w'&-]+ ){{1,5}}{_DEICTIC}\W*$"
    rf"|^(?:what|which|who|how \w+|is|are|do)\b.{{0,40}}\b(?:we|you)\b.{{0,25}}\b(?:right now|at the moment|today"
    rf"|tonight)\W*$|^{_DEICTIC}\b.{{0,20}}\b{_STATE}|\b(?:what|which|who|when|where|is|are|show|list|give"
    rf"|tell)\b.{{0,40}}\b(?:today|tonight|tomorrow|yesterday)'s\b",
)
_STILL_SO = re.compile(
    r"\b(?:used|relevant|spoken|known|found|matter|matters|important|seen|exist|exists|practi[sc]ed|popular"
    r"|valid) (?:\w+ ){0,2}(?:today|these days)\b|\bfrom yesterday to today\b|\b(?:days|months|weeks) in (?:this"
    r"|the)\b|\blive (?:in|with|without|on|longer|to|music|stream\w*|coding|data|objects?)\b|\bwhere do\b.*\blive\b"
)
_ABROAD = (
    sign(
        "das Wetter, der Tag, der Kurs",
        "wetter wetterbericht regnet regnen schneit uhr spät uhrzeit datum heute jetzt gerade aktuell aktuelle"
        " aktuellen aktueller morgen gestern abend kurs aktienkurs wechselkurs neueste neuesten nachrichten nächste"
        " nächster nächsten stau steht momentan börse derzeit geöffnet",
        r"\bwetter\b(?! ?(?:karte|frosch|kunde))|\b(?:regnet|schneit) es\b|\bwird es\b.*\b(?:regnen|schneien|heiß"
        r"|kalt)\b|\bwie (?:spät|viel uhr)\b|\bwelche(?:r|n|s)? (?:tag|datum|uhrzeit)\b|\b(?:wechsel|aktien|bitcoin"
        r"|gold|euro|dollar)-?kurs\b|\bkurs (?:der|von|des)\b|\bneueste[nrs]?\b|\bnachrichten\b.*\b(?:heute|von)\b"
        r"|\b(?:wann|wo) (?:fährt|kommt|geht|ist|spielt)\b.*\bnächste\w*\b|\bwie steht (?:es|der)\b"
        r"|\bstau\b.*\b(?:auf|heute)\b|^(?:was|wer|wann|wo|wie|welche\w*|ist|sind|hat|gibt|kommt|läuft|haben"
        r"|wird)\b.*\b(?:heute|jetzt|gerade|momentan|morgen|gestern|derzeit|aktuell(?:e[nrsm]?)?)\b(?! (?:passwort"
        r"|kennwort))",
    ),
    sign(
        "la météo, le jour, le cours",
        "météo pleut pleuvoir neige heure date aujourd demain hier maintenant soir actuellement actuel actuelle"
        " cours bourse taux prochain prochaine dernières dernière score actualités moment ouvert ouverte température",
        r"\bmétéo\b|\b(?:pleut|pleuvoir|neiger)\b|\bquelle heure\b|\bquel jour (?:est|sommes)|\bquelle est la date\b"
        r"|\b(?:cours|prix|taux) (?:de l'|du |de |des )?(?:action|bitcoin|or|euro|dollar|change|pétrole)|\b(?:quand"
        r"|à quelle heure)\b.*\bprochaine?\b|\bdernières (?:nouvelles|actualités|infos)\b|^(?:que|quel\w*|qui|quand"
        r"|où|combien|est-ce|il y a|y a-t-il|qu'est)\b.*\b(?:aujourd'hui|demain|hier|maintenant|ce soir|actuel(?:le"
        r"|lement)?|en ce moment|cette semaine)\b",
    ),
    sign(
        "el tiempo, el día, el cambio",
        "cuánto clima tiempo llueve llover lloverá hora fecha hoy mañana ayer ahora noche actualmente actual"
        " cotización acción acciones cambio próximo próxima últimas última marcador noticias momento abierto abierta"
        " precio temperatura semana",
        r"\bqué tiempo\b|\b(?:clima|tiempo) (?:en|hace|hará|de hoy|para)\b|\b(?:llueve|lloverá|va a llover)\b"
        r"|\bqué (?:hora|día) es\b|\ba cuánto está\b|\btipo de cambio\b|\bprecio (?:del|de la|de) (?:oro|bitcoin"
        r"|dólar|petróleo|acción|luz)|\bcotiza|\b(?:cuándo|a qué hora)\b.*\bpróxim[oa]\b|\búltimas noticias\b"
        r"|^\W*(?:qué|cuál\w*|quién|cuándo|dónde|cuánt\w+|hay|está|están|cómo está)\b.*\b(?:hoy|mañana|ayer|ahora"
        r"|esta noche|actual(?:mente)?|en este momento|esta semana)\b",
    ),
)


def spot(reading: Reading) -> str | None:
    """Say what ages in the answer, or None when the answer stays true."""
    if reading.method:
        return None
    what = first(_SIGNS, reading.ask, reading.words)
    if what is None and not _STILL_SO.search(reading.ask):
        what = first((_NOW,), reading.ask, reading.words)
    return what or first(_ABROAD, reading.ask, reading.words)
