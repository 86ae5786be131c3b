"""Texts that do not stand alone: a nod, a "more", a pronoun whose noun was said before.

Of 61,422 messages to a public assistant 12 % repeat one another word for word, and the commonest are "continue",
"please continue" and "more": the last message alone would serve one conversation's continuation to another.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import words

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_FEWEST_CONTENT_WORDS = 2
_FEWEST_WORDS = 4
_FEWEST_BEFORE = 2
_MANY = 4  # so many words of content say enough by themselves
_SHORT = 6
_JOINTS = frozenset({"and", "but", "or", "und", "aber", "et", "mais", "y", "pero"})

_NOTION = re.compile(
    r"^(?:what (?:is|are|was|were|does|do)|who (?:is|was|are|were|invented|wrote|painted|discovered)|where is|define"
    r"|explain|describe|how (?:do|does|is|are|to|can)|why (?:is|are|do|does)|meaning of|was (?:ist|sind|bedeutet)"
    r"|wer (?:ist|war)|qu'est-ce que?|que signifie|qui (?:est|était)|qué (?:es|son|significa)|quién (?:es|fue)"
    r"|when (?:is|was|did)|tell me about|what)\b"
)
_VAGUE = words(
    "difference problem question answer example examples point reason next step steps first second last previous"
    " above same similar rest part option options way ways idea wrong right long short details detail mean means"
    " meant again further more less better worse shorter longer simpler again cost costs price explain elaborate"
    " continue stop help repeat summarize summarise clarify expand unterschied beispiel grund weiter exemple suite"
    " raison ejemplo razón siguiente work works happen happens possible true correct good bad sense else sure doing"
    " going back used done use important called"
)
_NOD = re.compile(
    r"^(?>(?:the (?:first|second|third|last|former|latter|other)(?: one| option)?|yes|yeah|yep|yup|no|nope|nah|ok"
    r"|okay|sure|right|correct|exactly|true|false|maybe|perhaps|agreed|fine|great|good|perfect|awesome|cool|nice"
    r"|thanks?|thank you|thx|please|hi|hello|hey|bye|goodbye|continue|go on|go ahead|keep going|proceed|carry on"
    r"|more|next|again|stop|wait|help|done|repeat|one more|and|so|then|why|how|what|when|who|where|really|sorry"
    r"|pardon|hmm+|lol|very|much|so much|do|it|that|that is|do that|do it|not really|i see|got it|i understand"
    r"|sounds|never ?mind|forget it|try|later|there|you|a lot|for|your help|the|of course|absolutely|definitely"
    r"|certainly|same|both|neither|either|none|all of them|option|number|one|two|three|[a-d1-9]|i (?:do not|don't"
    r"|dont) (?:understand|know|get it)|das verstehe ich nicht|no entiendo|je ne comprends pas|wieso|warum|nicht"
    r"|pourquoi|pas|por qué|are|correct|ja|nein|danke|weiter|mehr|genau|bitte|noch|mal|gut|stimmt|hallo|good|morning"
    r"|afternoon|evening|night|guten|morgen|tag|abend|buenos|días|oui|non|merci|continue[rz]?|encore|plus|d'accord"
    r"|bonjour|salut|vas-y|suite|la|s'il te plaît|sí|gracias|continúa|sigue|más|vale|claro|hola|por favor|otra|vez"
    r"|de acuerdo)\b[\s,.!?…-]*)+$"
)
_MANNERS = re.compile(
    r"^(?:(?:ok|okay|great|well|sorry|no|yes|actually|please|oh)\\b[ ,]*)*(?:(?:thanks|thank you|thx|cheers|good job"
    r"|well done|bye|see you|you are (?:welcome|right|wrong|the best)|i appreciate)\\b[^?:]{0,60}$|i (?:am "
    r"|was )?(?:so |very )?(?:grateful|thankful)\\b[^?:]{0,40}$|(?:i )?(?:did not|didn't|could not|couldn't"
    r"|missed)(?: quite)? (?:hear|catch|get|understand|that|what) ?(?:you|that|it|what you said)?\\b|(?:(?:can|could"
    r"|will|would) you )?(?:please )?(?:say|repeat|restate|ask)(?: me)? (?:that|it|this|yourself|the last"
    r"|what you)\\b|(?:cancel|stop|undo|abort|ignore|negate|forget) (?:that|the|your|what)\\b.{0,12}\\b(?:last"
    r"|previous|present|current|doing|command|talking|task|request)\\b|stop talking\\b|one more time\\b)"
)
_ELLIPSIS = re.compile(
    r"^(?:and |but |so |or |ok |okay |then )*(?:(?:what|how) about\b|same (?:question|thing|again|but|for|with"
    r"|one)\b|what else\b|what are the (?:alternatives|others?|differences|options)\W*$|(?:is|are) there (?:another"
    r"|any other|other)(?: \w+)?\W*$|how so\b|why (?:not|so|that|is that|this)\W*$|what if (?:not|it|they|so)\b"
    r"|which one\b|how come\W*$|(?:und|et|y) (?:was|wie|der|die|das|in|für|mit|wenn|le|la|les|si|pour|en|el|los|las"
    r"|para)\b|was ist mit\b|et (?:pour|si|en|à)\b|y (?:si|en|para|qué)\b|qué tal\b|wie sieht es mit\b)"
)
_CONTINUE = re.compile(
    r"^(?:tell me (?:(?:a bit |a little )?more|again|why)\W*$|(?:give|show|write|list|send|say)(?: me)? (?:(?:some "
    r"|a few |\d+ )?more|another(?: one| example)?|the (?:rest|next|other|same)\b[\w ]{0,15}|(?:a |an "
    r"|some )?(?:more |other |different |new )?(?:examples?|details?|alternatives?)|it again|that again)\W*$"
    r"|(?:please )?(?:explain|elaborate|clarify|expand|summari[sz]e|translate|rewrite|rephrase|shorten|simplify"
    r"|continue|finish|repeat|redo|retry|fix|improve|undo|format|compare|convert)(?: (?:on|it|that|this|them|these"
    r"|those|again|more|further|please|a bit|in more detail|with examples?|to me|the (?:above|last|previous|second"
    r"|first|third|text|answer|code|response|list|table|sentence|paragraph|point|part|message|email|result)"
    r"|your (?:answer|response|last \w+|previous \w+|point))){0,5}(?: (?:in|to|into|as|for|with|by|like) (?:a |an "
    r"|the )?(?!.*\b(?:what|how|why|when)\b)[\w ]{1,40}| shorter| simpler| better| please)?\W*$|(?:make|keep|put|do"
    r"|write|say|try|read|turn|change|format|have|get|move|add|run) (?:it|that|this|them|these|those)\b|(?:shorter"
    r"|longer|simpler|more|less|even|too|only|not|also|again|instead|better|funnier|clearer)\b[\w ,-]{0,25}\W*$"
    r"|(?:in|as|with|without|for)(?: [\w-]+){1,3}(?: please)?\W*$|(?:erzähl|sag|gib|zeig)\w*(?: mir)? (?:mehr|weiter"
    r"|noch)|mach (?:weiter|es)|(?:erkläre?|übersetze?|wiederhole|kürze?) (?:das|es|mir das)\b|(?:dis|donne|explique"
    r"|raconte|montre)(?:-m'en|-moi)? (?:plus|davantage|encore|ça)\b|(?:traduis|répète|explique|résume"
    r"|continue)-(?:le|la|ça)\b|(?:cuéntame|dame|dime) más|(?:explícalo|tradúcelo|repítelo|hazlo|resúmelo|cancélalo"
    r"|continúa)\b)"
)
_BACKWARD = words(
    "before earlier above already previous previously last yesterday just now ago first second third preceding"
    " former latter same other one ones cheaper bigger smaller red blue better next say mean ask tell talk talking"
    " talked instead again said told mentioned wrote explained discussed described suggested minute time gesagt"
    " erwähnt geschrieben sagte dit mentionné dije mencioné dijiste comenté letzte dernière última"
)
_EARLIER = re.compile(
    r"\b(?:as|like|what) (?:i|we|you) (?:just |already |have )*(?:said|told|mentioned|wrote|explained|discussed"
    r"|described|suggested)(?: (?:you|me|us))?(?: (?:before|earlier|above|already|last|yesterday"
    r"|previously))?\b(?=.{0,25}(?:before|earlier|above|already|previous|last|yesterday|,|\W*$))|\b(?:you|we"
    r"|i) (?:just |already )?(?:said|mentioned|told me|told you|wrote|suggested|recommended|gave me|discussed"
    r"|talked about|sent|listed|showed me)\b(?=.{0,30}\b(?:before|earlier|above|previously|just now|last time"
    r"|yesterday|a minute ago)\b)|\byou (?:just|already) (?:said|mentioned|told|wrote|suggested|recommended|gave"
    r"|listed|showed)\b|\b(?:your|my|the) (?:previous|last|earlier|first|second|preceding) (?:answer|message"
    r"|question|response|suggestion|reply|point|sentence|paragraph|example|instruction)s?\b|\b(?:earlier"
    r"|previously) in (?:this|our) (?:chat|conversation)\b|\b(?:the|from) (?:above|former|latter)\b(?! (?:all"
    r"|average|sea|the))|\bmentioned above\b|\bwhat was the (?:first|second|third|last) (?:\w+ )?(?:again|you)\b"
    r"|\bwe (?:were )?talk(?:ing)? about\b|\b(?:first|second|third|last) (?:part|point|step|one|option) (?:again"
    r"|mean)\b|^(?:use|try|do|with|put|make) [\w ]{1,30} instead\W*$|\bthe (?:other|same|first|second|third|last"
    r"|cheaper|bigger|smaller|red|blue|better|next) ones?\b(?! (?:to|who|that|in the|of)\b)|\b(?:that"
    r"|this) one\b(?! of)|^which one(?: (?:is|are|should|do|would|was)\b[\w ]{0,15})?\W*$|\bwhat did (?:you|i"
    r"|we) (?:just )?(?:say|mean|ask|tell|talk)\b|\bwie (?:ich |vorhin |schon |bereits |oben )+(?:gesagt|erwähnt"
    r"|geschrieben|sagte)|\bcomme (?:je l'ai|vous l'avez|tu l'as|je) (?:dit|mentionné)|\bcomo (?:te |le "
    r"|ya )*(?:dije|mencioné|dijiste|comenté)|\bdeine letzte antwort\b|\bta dernière réponse\b"
    r"|\btu última respuesta\b"
)
_DUMMY = re.compile(
    r"\b(?:is|was|be|are|does|did|would|will|has|make|makes|made|if|when|why|that|how|because|think|find|isn't"
    r"|wasn't) it\b(?:'s|s)?(?: (?:really|so|very|be|been|take|cost|mean|make|feel|get|matter|hurt|pay|help|usually"
    r"|normally|always|still|even|not|ok|okay|too|more|less|much|better|cheaper|faster|legal|safe|possible|true"
    r"|worth|necessary|normal|bad|good|important|sense|rude|common|illegal|hard|easy|difficult|dangerous|healthy"
    r"|allowed|considered|wrong|\w+ly|\w+ing|\w+able|\w+ible|a|an|the|\w+)){0,4} (?:to|that|when|if|for|between"
    r"|before|until|than|in|from|using|while|at|on|with)\b \w{2}|\bit (?:seems?|looks?|appears?|sounds?|says|said"
    r"|say|saying|matters?|won't|swallowed|charged|does not look|doesn't look|has been|is been|will not|would not"
    r"|keeps)\b|\bit mean(?:s)? (?:by|to|when|if)\b|\bit (?:is|was|be|takes?|costs?|possible"
    r"|means?)(?: [\w']+){0,4} (?:to|that|when|if|for|before|until)\b \w{2}|\bmakes? it (?:possible|easy|hard"
    r"|difficult|illegal|clear|work when)|\bit (?:rains?|snows?|raining|snowing|dark|cold|hot|warm)\b|\bhow (?:much"
    r"|long|far|many \w+) (?:does|will|would|did|do|is|has|can) it (?:usually |normally |typically |really )?(?:take"
    r"|cost|been|need|require|to)?\b.{0,20}\b(?:to|for|from|since|before|until|if|when)\b \w{2}|\b(?:what"
    r"|which) (?:time|day|date|year|month) is it\b|\bwhat is it (?:like|called)\b.{0,10}\b(?:to|when|in|if)\b"
    r"|\bgibt es\b|\bwie spät\b|\bgeht es\b.{3,}|\bist es\b.{6,}|\bes posible\b|\bqué es\b|\bes (?:un|una|el|la"
    r"|legal|seguro|necesario|normal|mejor|obligatorio|verdad)\b|\bwird es\b|\bregnet es\b|\bit service\b"
    r"|\bit (?:support|department|desk|team|security|help|manager|policy|infrastructure|consultant)\b"
)
_POINTED = re.compile(
    r"(?:\b(?:this|these|those)|(?:^|\b(?:is|does|do|did|about|with|why|how|what|explain|if|and|but"
    r"|will) )that)(?= (?:is|are|was|were|mean|means|work|works|do|does|happen|happens|one|thing|stuff|affect|apply"
    r"|right|true|correct|ok|okay|possible|normal|legal|a|an|the|in|to|for|with|and|not|any|so|also|cost|help|needs?"
    r"|be)\b|\W*$)|\b(?:this|these) (?=(?:code|text|file|error|error message|document|sentence|paragraph|email"
    r"|e-mail|image|picture|photo|table|message|function|script|article|query|essay|list|pdf|log|screenshot"
    r"|spreadsheet|contract|word|poem|song|letter|report|product|item|page|form|line|bug|question|answer|problem"
    r"|issue|person|man|woman|place|number|numbers|data|snippet|book|quote|phrase|class|chart)s?\b)|\b(?:his|her"
    r"|their|its|theirs|hers)\b(?! own\b)|\b(?:he|she|they|them|him|it|itself)\b|\b(?:das|es|er|ihn|ihm)(?=\W*$)"
    r"|\b(?:bedeutet|heißt|kostet|geht|funktioniert|ist|macht|war|mach|storniere|lösche|erkläre) (?:das|es|er|sie"
    r"|dies)\b(?= ?(?:genau|denn|eigentlich|auch|nicht)?\W*$)|\b(?:ça|cela|celui-ci|celle-ci|celui-là)\b|\b(?:esto"
    r"|eso|aquello|ese|ésta|éste)(?=\W*$)"
)


def spot(reading: Reading) -> str | None:
    """Say what is missing from the text, or None when it stands alone."""
    ask = reading.ask
    if not ask or _NOD.match(ask):
        return "a nod or a greeting"
    if _MANNERS.match(ask):
        return "manners"
    if not reading.words.isdisjoint(_BACKWARD) and _EARLIER.search(ask):
        return "something said before"
    return None if reading.material else _gap(reading)


def _gap(reading: Reading) -> str | None:
    if _ELLIPSIS.match(reading.ask):
        return "an ellipsis"
    if _CONTINUE.match(reading.start):
        return "more of what came before"
    if _too_short(reading):
        return "too short"
    return "a pronoun without its noun" if _dangling(reading) else None


def _too_short(reading: Reading) -> bool:
    spoken = reading.ask.split()
    if not any(word not in _VAGUE for word in reading.content):
        return len(spoken) <= _SHORT
    if spoken[0] in _JOINTS:
        return len(spoken) <= _SHORT
    few = len(reading.content) < _FEWEST_CONTENT_WORDS and len(spoken) < _FEWEST_WORDS
    return few and _NOTION.match(reading.start) is None


def _dangling(reading: Reading) -> bool:
    """Tell whether the first word that points back has too little before it to point at."""
    pointer = _POINTED.search(reading.ask)
    if pointer is None or len(reading.content) >= _MANY or _DUMMY.search(reading.ask):
        return False
    before = reading.ask[: pointer.start()].split()
    named = sum(word.strip(".,!?;:") in reading.content for word in before)
    return named < _FEWEST_BEFORE
