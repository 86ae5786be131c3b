"""Questions about the asker's own affairs: a balance, an order, an appointment, what they did.

"My" is not enough. "How do I change my password" and "why was my card declined" have the same answer for everyone, and
a help desk lives on them; "what is my balance" has as many answers as there are customers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, sign

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_EVERYBODY = (  # what help desks, lawyers and teachers are asked about in general, though it is called "my"
    r"(?:[\w'-]+ ){0,2}?(?:cards?|pin|payments?|transfers?|top-?ups?|top|transaction|identity|funds|friends"
    r"|statement|accounts?(?! (?:number|balance|manager)\b)|money|cash|cheques?|checks?|withdrawals?|exchange"
    r"|virtual|visa or|rights?|options?|chances?|obligations?|dut(?:y|ies)|liabilit(?:y|ies)|alternatives|choices"
    r"|boss|landlord|employer|neighbou?rs?|child|children|kids?|daughter|son|wife|husband|partner|parents?|mother"
    r"|father|mum|mom|dad|dog|cat|pet|baby|tenant|friend|colleague|ex|code|essay|text|sentence|grammar|draft"
    r"|spelling|homework|english|cv|resume|letter|function|query|script|solution|math|understanding|[\w-]+'s)\b"
)
_GENERAL = (
    r"(?!.*\b(?:allowed|legal(?:ly)?|illegal|protected|required|obliged|liable|have to|need(?:s|ed)? to|supposed"
    r"|normal|safe|compatible|covers?|includes?|included|pay out|taxed|taxable|considered|counted|entitled|limit for"
    r"|limits for|used for|made of|worth knowing|missing|wrong|broken|work with)\b)"
)
_ASKS = r"(?:^|[.?!,;] +|\b(?:and|know|tell me|see|check|wondering|say|remember|find out|if|whether) )"
_SIGNS = (
    sign(
        "the asker's own record",
        "my our",
        rf"{_ASKS}(?:what|when|where|which|who|how (?:much|many|high|low|big|far|old|close|soon|often|is"
        rf"|are))\b{_GENERAL}(?: [\w'-]+){{0,6}}? (?:is|are|was|were|will|does|did|has|have|do)(?: (?!(?:if|that"
        rf"|when|to|because|while|after|before|unless|\w{{2,}}ing)\b)[\w'-]+){{0,4}}? (?:my|our) (?!{_EVERYBODY})"
        rf"|{_ASKS}how long (?:until|before|till|has|have|is left)\b.{{0,20}}\b(?:my|our) (?!{_EVERYBODY})"
        rf"|^how (?:is|are|was) (?:my|our) (?!{_EVERYBODY})",
    ),
    sign(
        "the asker's own record, to be shown",
        "my our",
        rf"(?:^|[.?!,;] +)(?:please )?(?:i (?:want|need|would like) to )?(?:(?:can|could|would|will) you (?:please "
        rf"|help me )?)?(?:i wanna |help me )?(?:show|check|tell|give|list|see|read|pull up|look up|view|display"
        rf"|know|review|fetch|get|find|track|confirm)(?: me| out)?\b(?:(?! how\b) [\w'-]+){{0,5}}? (?:my"
        rf"|our) (?!{_EVERYBODY}){_GENERAL}",
    ),
    sign(
        "the state of the asker's affair",
        "file status saved stored my our",
        rf"{_ASKS}(?:is|are|was|were|has|have|did|will) (?:my|our) (?!{_EVERYBODY}){_GENERAL}"
        r"|\bdid (?:my|our) (?:payment|transfer) (?:go|arrive)\b|\bstatus (?:of|on|for) (?:my|our)\b|\b(?:my"
        r"|our) (?!marital)(?:\w+ ){0,3}status\b|\b(?:order|application|claim|refund) status\b|\bstatus of (?:the"
        r"|an?) (?:order|application|claim|refund)\b|\b(?:what|which|the) \w+ (?:do you|you) have on file\b"
        r"|\b(?:on file|stored|registered|saved) (?:for|about|under) (?:me|my)\b",
    ),
    sign(
        "the asker's own schedule, account or allowance",
        "due payday paid paycheck history appointment request to-do do refund card cart basket diary inbox calendar"
        " schedule agenda shopping to-do todo reminder reminders playlist balance account accounts vacation pto sick"
        " leave package parcel order orders flight meeting meetings appointments bill bills paycheck payday savings"
        " checking bank spent spend spending transactions salary",
        r"\b(?:on|in|from|to|off|for|at|of|back|is|read|list|see|check|review|retrieve|find|locate|track|where|with"
        r"|when|did|has|have|was|was|were|are|will|what|which|about) (?:(?:all|the|of|out|if|me"
        r"|anything) ){0,3}(?:my|our) (?:[\w'-]+ ){0,2}?(?:calendar|schedule|agenda|(?:shopping|to-do|todo|to do"
        r"|grocery|reminders?) list|reminders|meetings?|appointments?|package|parcel|paycheck|delivery order"
        r"|online order|orders?|flight|pto|vacation request|bills?|salary|transactions|transaction history|spending"
        r"|tax refund)\b(?!.{0,30}\b(?:app|online service|software|template|wrong|missing|damaged|late|lost)\b)"
        r"|\b(?:bank|checking|savings|current account|bank account|card|total|available|account|pto|points|rewards"
        r"|vacation|leave) balances?\b(?=\W*$)|\b(?:what|show|check|tell|know|give|get)\b.{0,30}\bbalances? (?:of|in"
        r"|on|for|at) (?:my|all my|the \w+ account)\b|\bhow much(?: [\w'$-]+){0,4} in (?:my|all my|all of my"
        r"|our) (?:[\w'-]+ ){0,3}(?:accounts?|savings|checking|bank|wallet|budget)\b(?!.{0,30}\b(?:top|transfer"
        r"|deposit|put|charged|withdraw)\b)|\b(?:vacation|pto|sick|paid time off|days off|leave|holiday)\b(?: days?"
        r"| time| leave)?\b.{0,40}\b(?:left|remaining|did i|(?:do|have) i (?:still )?(?!get|need|have to|to)"
        r"|i have(?! to)|i can use|used up|available to me|i (?:still )?have|taken|saved)\b|\bi (?:have )?(?:spent"
        r"|spend|been spending) (?:\w+ ){0,3}(?:on|in|at|this|last|for|yesterday|recently)\b|\b(?:any|all|what|the"
        r"|which|have|attend) meetings? (?:\w+ ){0,3}(?:today|tomorrow|scheduled|this week)\b|^track (?:an?|the"
        r"|this) (?:order|package|parcel)\b|\bbalance (?:on|of) (?:card|account)\b|\b(?:in|on) my (?:cart|basket"
        r"|diary|inbox|wallet|wish ?list|feed)\b(?!.{0,30}\bwhy\b)|\b(?:is|when is|what (?:day"
        r"|date) is)\b.{0,30}\b(?:bill|rent|payment|mortgage|loan|invoice) due\b(?! (?:if|when|after|for a)\b)"
        r"|\bwhen (?:do|will|should) i (?:get|receive|expect) (?:my|another|the) (?:next )?(?:pay|check|wages)"
        r"|\bwhat (?:do|would|will) you call me\b",
    ),
    sign(
        "what the asker did or has",
        "my under you i we",
        r"(?:^|[.?!,;] +|\b(?:and|know|tell me|see|if|remember) )(?:did|have) (?:i|we) (?!to\b|the right\b|need"
        r"|receive the|get the|get charged|do )(?:already |ever |just )?(?!been asked|lost|to\b)\w+|(?:^|[.?!,;] +"
        r"|\b(?:and|know|tell me|see) )(?:what|when|where|which|who|how (?:much|many|often"
        r"|long))\b(?: [\w'-]+){0,5}? (?:did|have|had|was) (?:i|we) (?!to\b|do wrong|been asked|need|done wrong)\w+"
        r"|(?:^|[.?!,;] +)(?:what|which|when|where|who)\b(?: [\w'-]+){0,3}? (?:am|was) (?:i|we) (?!supposed|expected"
        r"|legally|going|looking|able|allowed|entitled|charged|doing wrong|required|liable|missing)\w+|\b(?:what"
        r"|which)\b(?: [\w'-]+){0,3}? am i (?:on|in)\b|\bhow (?:much|many)\b(?: [\w'-]+){0,5}? (?:do|have|am"
        r"|did) (?:i|we) (?:currently |still )?(?:have|owe|earn|make|own|still|got|left|spend|spent|get paid|paying"
        r"|been)\b(?! to\b)|(?:^|[.?!,;] +|\b(?:what|which|when|where) (?:(?!options?|choices?"
        r"|rights?)[\w'-]+ ){0,2})do (?:i|we) (?:have|owe)\b(?! to\b| (?:the |a |any )?(?:tries|rights?|recourse"
        r"|choice|options?|obligation|chance|duty|card|visa card|\w+ option))|(?:^|[.?!,;] +)(?:am|are|was"
        r"|were) (?:i|we) (?:still |already |currently |on |in |over |behind )?(?:overdrawn|enrolled|registered"
        r"|insured|covered|booked|signed|subscribed|logged|list|late|paid|debt|free|budget|rent|limit|available"
        r"|invited|approved|up to date|eligible for my|due|getting paid|scheduled|busy|overspending|overweight)\b"
        r"|\bwhen (?:do|will|am) i (?:get(?:ting)? paid|get my (?:salary|paycheck|refund)|meet|fly|see my|next"
        r"|due)\b|\bwhat time (?:do|am) i\b(?! (?:need|have) to)|\bhow (?:am i doing|have i been)\b|^do (?:i"
        r"|we) still (?:have|owe)\b|^(?:did|have) you (?:get|got|receive|received|seen|read) (?:my|our)\b"
        r"|^do you (?:have|know) my\b|^(?:was|were) (?:i|we) (?:at|on|in)\b|\bwhich of my\b|\bname is the (?:booking"
        r"|reservation|order) under\b",
    ),
    sign(
        "who the asker is",
        "i me my name",
        r"\b(?:who|where|how old) am i\b(?! able| supposed| allowed)|\b(?:is|say|know|think|call) my name\b"
        r"|^my name\b|\bwhat (?:is|was) my (?:\w+ )?name\b|\bdo you (?:know|remember) (?:me\b|my\b|who i)"
        r"|^remember (?:me|my|that i|when i)\b|\bwhat do you (?:know|remember) about me\b|\bam i (?:married|pregnant"
        r"|rich|your)\b",
    ),
)
_ABROAD = (
    sign(
        "eigene Angelegenheiten",
        "mein meine meinem meinen meiner ich unsere unser",
        r"\b(?:was|wo|wann|wer|welche\w*|wie(?: (?:hoch|viel|alt|lautet|ist))?|zeig\w*|prüf\w*|nenn\w*|ist|wurde"
        r"|sag\w*|status)\b(?: [\w'-]+){0,4}? (?:mein|unser)(?:e|en|em|er|es|s)?(?: \w+)? ?(?:konto\w*|kontostand"
        r"|bestell\w+|paket\w*|liefer\w+|sendung|termine?|arzttermin|rechnung|gehalt|urlaub\w*|resturlaub|buchung"
        r"|flug|guthaben|pin|passwort|antrag|erstattung|name|punkte\w*|vertrag|umsätze|saldo|rate|zug|adresse"
        r"|noten?)\b|\b(?:habe?|hatte|bin|war) ich\b(?! (?:recht|anspruch|pflicht))"
        r"|\bwie viel\w*(?: \w+){0,3} (?:habe|schulde|verdiene) ich\b|\bwie heiße ich\b|\bwer bin ich\b",
    ),
    sign(
        "les affaires du demandeur",
        "est-ce mon ma mes je j'ai ai notre",
        r"\b(?:quel\w*|où|quand|combien|montre\w*|affiche\w*|vérifie\w*|donne\w*|est|sont"
        r"|statut)\b(?: [\w'-]+){0,5}? (?:de |du |d')?(?:mon|ma|mes|notre)(?: [\w'-]+)? ?(?:solde|compte|commande"
        r"|colis|numéro de client|livraison|rendez-vous|facture|salaire|congés|réservation|vol|remboursement"
        r"|mot de passe|nom|dossier|points|abonnement|adresse|demande|train|forfait)\b|\bai-je\b|\bcombien j'ai\b"
        r"|\b(?:qui|où) suis-je\b|\bcomment je m'appelle\b|\best-ce que j'ai\b(?! (?:le droit|besoin))"
        r"|\best-ce que (?:mon|ma|mes) (?:commande|colis|dossier|demande|vol|train|réservation|paiement)\b",
    ),
    sign(
        "los asuntos de quien pregunta",
        "quedan mi mis he tengo debo soy gasté pagué nuestro",
        r"\b(?:cuál|cuáles|dónde|cuándo|cuánto\w*|qué|muestra\w*|muéstrame|enséñame|revisa|consulta|dime|está"
        r"|estado)\b(?: [\w'-]+){0,5}? (?:mi|mis|nuestr[oa])(?: [\w'-]+)? ?(?:saldo|cuenta|pedido|paquete|envío|cita"
        r"|factura|sueldo|nómina|vacaciones|reserva|vuelo|reembolso|contraseña|nombre|solicitud|puntos|suscripción"
        r"|dirección|tren|plan|tarjeta)\b|\b(?:he|había) (?:pagado|pedido|gastado|recibido|reservado|enviado)\b"
        r"|\bcuánt\w+(?: \w+){0,3} (?:tengo|me quedan?|debo|gasté|gano)\b|\bquién soy\b|\bcómo me llamo\b"
        r"|^¿?tengo (?!que|derecho)|\b(?:llegó|salió|enviaron|aprobaron) mi\b",
    ),
)
_HOW = re.compile(
    r"\bwie (?:kann|soll|muss|geht|\w+e) (?:ich|man)\b|\bcomment\b|\bcómo\b|\bcomo\b|\bhow (?:do|can|should|would|to"
    r"|could)\b|\b(?:what|where) (?:can|could|should|do|happens)\b|\bwhy\b|\bcan i\b|\bwhat (?:if|does)\b"
)


_SUPPOSED = re.compile(
    r"^(?:if|suppose|as an?|once)\b|(?<!know)(?<!me)(?<!see)(?<!check)(?<!wondering)(?<!out) if (?:i|my|the|an?|it"
    r"|we|you|someone|they)\b"
)


def spot(reading: Reading) -> str | None:
    """Say whose affair the question is about, or None when the answer is the same for everyone."""
    if reading.method and _HOW.search(reading.ask) and not reading.ask.startswith(("what do i ", "what do we ")):
        return None
    if _SUPPOSED.search(reading.ask):  # a rule is asked for, not a record
        return None
    return first(_SIGNS, reading.ask, reading.words) or first(_ABROAD, reading.ask, reading.words)
