"""Requests to which the same answer twice is the wrong one: chance, jokes, ideas, one more of something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.detecting.signs import first, sign

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_WORK = (
    r"(?:poems?|haikus?|limericks?|sonnets?|verses?|love letters?|superhero(?:es)?|writing prompts?|songs?|lyrics"
    r"|raps?|(?:short |bedtime |ghost |love )*stor(?:y|ies)|fairy tales?|riddles?|jokes?|puns?|tongue[- ]twisters?"
    r"|trivia|fun facts?|facts?|quotes?|compliments?|insults?|pick[- ]?up lines?|limerick|would you rather"
    r"|icebreakers?|toasts?|slogans?|taglines?|motivational \w+)"
)
_ASK = (
    r"^(?:do you (?:know|have)|have you got|got|i (?:want|need|would like)(?: to (?:hear|read))?|let us (?:hear"
    r"|have)|let me hear|hit me with|make up|invent|come up with|think of|tell|give|write|compose|create|generate"
    r"|sing|share|make|read|send|show|suggest|crack|know)(?: me| us)?"
)
_SIGNS = (
    sign(
        "a work or an idea, new each time",
        "bored favourite favorite one-liner one-liners theme gedicht invent think compose improvise brainstorm amuse"
        " entertain verse verses letter letters superhero prompt prompts funny hilarious laugh smile giggle chuckle"
        " something poem poems haiku haikus limerick limericks sonnet song songs lyrics rap story stories tale tales"
        " riddle riddles joke jokes pun puns twister twisters trivia fact facts quote quotes compliment insult line"
        " lines slogan slogans tagline taglines toast icebreaker icebreakers motivational rather",
        rf"{_ASK}(?: [\w'-]+){{0,5}}? {_WORK}(?! (?:writing|mode|structure|points?|card|format|generator|tag"
        rf"|about how to write)\b)"
        r"|^(?:another |one more |more |any (?:good )?)?(?:jokes?|riddles?|fun facts?|puns?)\W*$|^(?:a "
        r"|another )(?:joke|riddle|poem|story|fun fact)\b|^(?:invent|make up (?:an?|some|your)|think up|compose"
        r"|improvise|brainstorm)\b|^(?:amuse|entertain) me\b|^make me (?:laugh|smile|giggle|chuckle)\b|\b(?:tell"
        r"|hear|know|share|crack|say|want|love|like|mood|any|good|give|got|another|throw)\b.{0,20}\b(?:jokes?|puns?"
        r"|riddles?|fun facts?)\b(?! (?:book|mean|funny|offensive))(?!.{0,40}\b(?:from|in) (?:the|a|an) (?:film"
        r"|movie|book|novel|play)\b)|\bsomething (?:funny|hilarious|that (?:will|would) make me laugh)\b"
        r"|^say something (?:funny|nice|random|interesting)|^spin the wheel\b|\bi am bored\b|\byour (?:favou?rite"
        r"|best|funniest) (?:joke|one-liner|riddle|pun|story)\b|^(?:an? )?(?:new |another |short "
        r"|funny )?(?:limerick|poem|haiku|riddle|joke|sonnet|story) (?:about|on|for|with)\b|^propose (?:a|an"
        r"|some) (?!law|marriage)",
    ),
    sign(
        "left to chance",
        "spin wheel one between again random randomly number card coin die dice heads pick choose roll flip toss"
        " surprise draw shuffle guess lottery",
        r"^(?:give|show|tell|pick|choose|generate|name|suggest|say|select|recommend|get|find|create|make|play)(?: me"
        r"| us)?(?: [\w-]+){0,3} random(?:ly)?\b(?! (?:forest|variables?|access|walks?|number generator in|seed"
        r"|effects?|sampling|function|class))|^random (?!access|forest|variables?|effects?|walks?"
        r"|sampling)\w+(?: \w+)?\W*$|\bat random\b(?=\W*$| from| out)|\b(?:pick|choose|think of|guess|say|draw"
        r"|name)(?: me)? (?:a|any|one|some)(?: \w+)? (?:number|card|colou?r|letter|name|winner"
        r"|word)\b(?!.{0,40}\b(?:for my|that|which|to describe|meaning|rhym))|\b(?:roll|throw|cast)(?: me)? (?:a|the"
        r"|some|two|three|\d+|an?)? ?(?:[\w-]+ ){0,2}(?:die|dice|d\d+)\b|\b(?:flip|toss)(?: me)? (?:a|the"
        r"|this) coin\b|\bheads or tails\b|\b(?:flip|toss) (?:a |the |that |this |your )?(?:virtual |fair )?coin\b"
        r"|\b(?:do|need|want|give me|decide with|require|perform|try)\b.{0,12}\bcoin (?:flip|toss)\b"
        r"|\bcoin\b.{0,10}\bflip it\b|\b(?:roll|throw)\b.{0,25}\b(?:dice|die)\b(?!.{0,30}\b(?:probability|odds"
        r"|chance)\b)|^(?:a )?random (?!access|forest|variable|effect|walk|sampling"
        r"|numbers? generat)\w+\b(?! (?:forest|variable|access|walk|seed|effect|sampling|number generator))"
        r"|\bdraw lots\b|^(?:choose|pick|decide) between\b.*\bfor me\b|\bsurprise me\b|\b(?:pick|choose"
        r"|decide) for me\b|\blottery numbers\b.{0,20}\b(?:pick|for me|suggest)|\b(?:pick|give me|suggest"
        r"|choose)\b.{0,20}\blottery numbers\b|\bshuffle (?:a|the|this|these|my)\b(?!.*\b(?:python|java|list in"
        r"|array)\b)|^spin the wheel\b|^(?:pick|choose) (?:one|any)\b|[.?!,:] choose\W*$|^(?:choose"
        r"|pick) an? \w+ for (?:me|us)\b|^roll again\b",
    ),
    sign(
        "a secret that must be unique",
        "new password passphrase uuid guid token pin username nickname key",
        r"\b(?:generate|create|make|give me|suggest|come up with|invent)(?: me)?(?: [\w-]+){0,4} (?:passwords?"
        r"|passphrases?|uuids?|guids?|api keys?|tokens?|usernames?|nicknames?)\b(?!.{0,30}\b(?:in (?:python|java|go"
        r"|rust|c#|javascript|php|bash)|function|script|reset|using|field|policy)\b)|^(?:a )?(?:new|strong"
        r"|secure) (?:password|passphrase|pin)\b",
    ),
    sign(
        "ideas",
        "suggestion podcast ideas idea names name brainstorm titles suggestions prompts captions",
        r"^(?:give|suggest|brainstorm|list|generate|i need|i want|share|come up with|think of|help me (?:find"
        r"|think of|brainstorm|with)|any|need|propose|got)(?: me| us| up)?(?: (?:some|a few|a|an|\d+|two|three|five"
        r"|ten|twenty|more|other|new|of|good|creative|fun|unique|fresh|couple))*(?: [\w'-]+){0,4}? (?:ideas?"
        r"|names? for|titles? for|suggestions? for|captions? for|prompts)\b(?! (?:of|behind|in))|^brainstorm\b"
        r"|\bwhat should i (?:name|call) my\b|^suggest (?:[\w-]+ ){0,4}names?\b(?! (?:server|tag|space))",
    ),
    sign(
        "one more, or a different one",
        "another different more new else other again alternative variation variations version",
        r"^(?:tell|give|show|write|make|suggest|try|generate|pick|create|do|find|recommend)(?: me"
        r"| us)? (?:(?:an)?other|(?:a |some |something )?(?:different|new)|(?:one|two|three|some|a few|\d+) (?:more"
        r"|others?))\b(?: [\w-]+){0,3}\W*$|^(?:an)?other (?:one|joke|story|example|idea|version|suggestion|poem"
        r"|option|riddle|name|quote|way|title)\b|^something (?:else|different|new)\W*$",
    ),
)
_ABROAD = (
    sign(
        "jedes Mal anders",
        "witz witze gedicht geschichte zufällig zufällige zufallszahl zahl münze würfel würfle wirf rätsel überrasch"
        " überrasche erfinde anderes andere anderen weiteres weitere ideen passwort vorschläge lied reim",
        r"^(?:ein |noch ein )?(?:gedicht|witz|rätsel)\b|^erfinde\b|^(?:ein |eine |einen )?(?:andere[rsn]?"
        r"|weitere[rsn]?) \w+|^(?:erzähl\w*|sag\w*|schreib\w*|gib\w*|mach\w*|dichte\w*|noch)(?: mir"
        r"| uns)?(?: bitte)?(?: [\w-]+){0,3}? (?:witze?|gedicht|geschichte|rätsel|lied|reim|märchen|zufalls\w+|ideen"
        r"|vorschläge|sicheres passwort)\b|^(?:wähl\w*|nenn\w*|denk\w*|such\w*|gib\w*)(?: [\w-]+){0,4} (?:zahl"
        r"|zufall\w*|karte)\b|\bzufällige?\w* (?:zahl|wort|name)\b|\bwürfle\b|\bwirf (?:eine|die) münze\b"
        r"|\büberrasche? mich\b|^noch (?:einen|ein|eine)\b",
    ),
    sign(
        "autre chose à chaque fois",
        "blague blagues poème histoire invente propose-moi drôle hasard aléatoire pièce dé devinette surprends"
        " nombre idées mot chanson",
        r"^(?:raconte|dis|écris|donne|fais|invente|compose|propose|trouve)(?:-moi|-nous"
        r"| moi)?(?: [\w'-]+){0,3}? (?:blagues?|poème|histoire|devinette|chanson|conte|idées)\b|^invente\b"
        r"|\bquelque chose de drôle\b|\bau hasard\b|\baléatoire\W*$|\b(?:lance|tire) (?:un dé|une pièce|à pile)"
        r"|\bpile ou face\b|\bsurprends-moi\b|^(?:une|encore une|un) autre\b|^encore (?:une|un)\b",
    ),
    sign(
        "otra cosa cada vez",
        "chiste chistes poema cuento historia azar aleatorio aleatoria moneda dado adivinanza sorpréndeme número"
        " ideas otro otra canción",
        r"^(?:cuéntame|dime|escribe|escríbeme|dame|haz|inventa|cuenta|compón|propón)(?: [\w-]+){0,3}? (?:chistes?"
        r"|poema|cuento|historia|adivinanza|canción|ideas)\b|\bal azar\b|\b(?:número|palabra|nombre) aleatori[oa]\b"
        r"|\b(?:lanza|tira) (?:una moneda|un dado)\b|\bcara o cruz\b|\bsorpréndeme\b|^(?:otr[oa]|un[ao]? más)\b",
    ),
)


def spot(reading: Reading) -> str | None:
    """Say what should differ from answer to answer, or None when the same answer is welcome twice."""
    if reading.method and not reading.polite:
        return None
    return first(_SIGNS, reading.start, reading.words) or first(_ABROAD, reading.start, reading.words)
