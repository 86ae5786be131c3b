"""Requests for a deed: an answer that was kept says "done" where nothing was done.

A request to do something with text, numbers or code is not a deed: "delete the spaces from this string", "how do I
cancel my order" and "write an e-mail" change nothing in the world.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, sign

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_DET = (
    r"(?:a|an|the|my|our|this|that|these|those|his|her|their|all|all my|all the|another|one|two|three|four|\d+|some"
    r"|any|every|it|them|him)"
)
_SIGNS = (
    sign(
        "to send or to call",
        "drop shoot give get make place initiate start send text call email e-mail message forward reply post tweet"
        " dial ring phone share fax ping notify tell let mail publish",
        r"^(?:send|forward|e-?mail|text|message|mail|fax|ping|notify)(?: off| out)? (?!(?:me (?:a |the |some "
        r"|more )?(?:info|link|example|detail|joke|poem|story)|messages? (?:queue|broker)|address|template|format"
        r"|data (?:to|over)|classification|a (?:post|get|http|put|tcp|udp)|requests?|an? (?:api|http|xml|json)"
        r"|marketing|etiquette|size|encoding)\b)\S|^(?:(?:i (?:want|need|would like|have|must|should)(?: to)? "
        r"|let us )?(?:make|place|initiate|start) a (?:phone )?call\b|i (?:need|want|must|should"
        r"|have)(?: to)? (?:call|text|phone) \w+)|^(?:call|dial|ring|phone)(?: up)? (?!(?:a|an|the) (?:function"
        r"|method|api|stored|procedure|rest|endpoint|python|javascript|bash|shell|c|dll|webhook|subroutine"
        r"|superclass|parent)|it a\b|of\b|stack|sign|center|option|to action)\S|^(?:tell|let) (?!me\b|us\b|you\b|x\b"
        r"|a\b|n\b)(?:my \w+|[\w']+|the \w+)(?: know)? (?:that|to|i|i am|know|we)\b|^(?:post|tweet|publish|share"
        r"|reply) (?:this|that|it|on|to|my|the|a (?:message|photo|comment|status))\b(?! (?:difference|meaning"
        r"|steps))|^(?:drop|shoot|give) (?!me\b)(?:the |my )?[\w.-]+ (?:a|an) (?:[\w%]+ )?(?:note|line|call|ring"
        r"|discount|refund|heads[- ]up|e-?mail|message|text|raise|bonus)\b|^(?:shoot|fire"
        r"|drop)(?: off)? an? (?:e-?mail|message|line)\b|^get (?!me\b)\w+ on the (?:phone|line)\b"
        r"|^give \w+ a (?:call|ring)\b",
    ),
    sign(
        "to book or to buy",
        "cancel move table reservation reservations book reserve order buy purchase rent hire get schedule arrange"
        " make set add put plan rebook reschedule uber taxi cab",
        rf"^(?:(?:i (?:want|need|would like) to|let us|help me) )?(?:book|reserve|rebook|reschedule|rent"
        rf"|hire) (?:me |us )?(?:{_DET}\b|for |table|tickets?|seats?|flights?|next |dinner"
        rf"|online )(?!.{{0,60}}\b(?:summary|review|club|report|recommendation)s?\b)|\b(?:table|reservation) (?:for"
        rf"|under)(?: a party of)? (?:\d+|one|two|three|four|five|six|seven|eight|ten|twelve|me"
        rf"|us)\b(?!.{{0,30}}\b(?:cost|take)\b)|\breservations? (?:for|at|under) .{{0,40}}\b(?:at \d|pm|am|people"
        rf"|tonight|under)\b|^(?:let us )?(?:buy|purchase|order|reorder|get) (?:me |us )?(?:{_DET} |more "
        rf"|new )(?:[\w-]+ ){{0,3}}(?:pizzas?|tickets?|shares?|stocks?|taxi|cab|uber|lyft|milk|groceries|flowers"
        rf"|coffee|tea|burgers?|sushi|checks?|cards?|food|paper|toner|batteries|shoes|book|copies|dinner|lunch"
        rf"|laptops?|phones?|ride|beers?|wine|bread|eggs|chicken|thai|chinese|gift|bouquet)\b|^order (?:(?:me"
        rf"|us) )?(?!by\b|of\b|these|them|the (?:following|list|words|numbers|sentences|steps|events)|history|status"
        rf"|number|confirmation)(?:\w+ ){{0,3}}(?:pizzas?|from (?:amazon|[\w']+)|online|for (?:me|delivery|dinner"
        rf"|lunch))\b|^(?:schedule|arrange|set up|make|plan|put|organi[sz]e|cancel|move) (?:me "
        rf"|us )?(?:{_DET} )?(?:[\w'-]+ ){{0,3}}(?:meetings?|appointments?|reservations?|bookings?|calls?"
        rf"|interviews?|visits?|pickup|pick-up|taxi|cab|transfers?|payments?|deliver(?:y|ies)|events?|phone call"
        rf"|on (?:my|the) (?:calendar|list)|demo|service|maintenance|oil change|flight|dinner|lunch|order|orders"
        rf"|subscription)\b(?!.{{0,40}}\b(?:in (?:python|sql|java)|policy|template|agenda|checklist|script|table)\b)",
    ),
    sign(
        "to pay or to transfer",
        "sell convert redeem exchange cash issue give take put send pay transfer move wire deposit withdraw invest"
        " donate top refund charge increase raise lower",
        rf"^(?:(?:i (?:want|need|would like) to|let us) (?=.*(?:\d|\b(?:hundred|dollars|euros)\b))|let us )?(?:pay"
        rf"|transfer|wire|move|deposit|withdraw|invest|donate|refund|charge|top up)(?: (?:me|him|her|them|off"
        rf"|up))? (?:{_DET}\b|[$€£]|\d|bills?|rent|money|from |to my|into )(?!.{{0,60}}\b(?:file|files|directory"
        rf"|data|column|row|cursor|element|folder|branch|database|attention|heat|energy|equation|learning)\b)"
        rf"|^(?:take|put|move|send|transfer)\b(?=.*(?:[$€£]|\b(?:dollars|euros|pounds|bucks)\b)).*\b(?:savings"
        rf"|checking|accounts?)\b|^(?:increase|raise|lower|reduce|lift) (?:my|our|the) (?:[\w-]+ ){{0,2}}(?:limit"
        rf"|overdraft|volume|brightness|temperature|thermostat|heating|salary|deductible|credit)\b"
        r"|^sell (?:\d+|all|my|the|our)\b|^(?:convert|redeem|exchange|cash in|spend) my\b|^issue (?:a|the) (?:refund"
        r"|voucher|credit|invoice|gift)\b",
    ),
    sign(
        "to change or to end something of the asker's",
        "create get take reactivate archive escalate scan download share enrol connect deregister shut scale"
        " provision kill back suspend transfer book move switch opt check redeploy raise rollback disable cancel"
        " delete remove update change block unblock freeze unfreeze close reset activate deactivate renew"
        " unsubscribe subscribe enrol enroll sign register report stop pause resume replace return rename add put"
        " submit file approve reject revoke grant restart reboot deploy lock unlock disable enable upgrade downgrade"
        " switch terminate start log clear erase merge open hang print upload assign mark invite confirm extend"
        " connect ship arrange activate start give",
        rf"^(?:cancel|delete|remove|update|change|block|unblock|freeze|unfreeze|close|reset|activate|deactivate"
        rf"|renew|report|stop|pause|resume|replace|return|rename|submit|file|approve|reject|revoke|lock|unlock"
        rf"|disable|enable|upgrade|downgrade|switch|terminate|clear|erase|start|open|log|register|merge)(?: down"
        rf"| off| out)? (?:(?:all|both)(?: of)? )?(?:my|our)\b(?!.{{0,80}}\b(?:code|function|string|query|script"
        rf"|essay|sentence|paragraph|text below|in python|in sql|regex)\b)|^(?:cancel|block|freeze|renew|reactivate"
        rf"|approve|reject|revoke|suspend|disable|delete|close|unsubscribe|terminate"
        rf"|reset) (?:{_DET} )?(?:[\w'-]+ ){{0,3}}(?:subscriptions?|orders?|accounts?|cards?|appointments?"
        rf"|reservations?|bookings?|meetings?|flights?|alarms?|timers?|reminders?|memberships?|payments?|transfers?"
        rf"|requests?|access|users?|tickets?|policy|contract|leave|invoice|expense|password of|password for"
        rf"|events?)\b(?!.{{0,60}}\b(?:in (?:python|sql|bash|java\w*|django|excel)|using|command|query|table"
        rf"|policy document|template|rules?)\b)"
        r"|^(?:add|put|append|remove|take|delete)\b.{1,50}\b(?:to|on|onto|from|off|in) (?:my|our"
        r"|the) (?:[\w-]+ ){0,2}(?:list|cart|basket|calendar|playlist|order|queue|account|todo|to-do|reminders"
        r"|wish ?list|library|agenda|contacts)\b(?!.{0,20}\b(?:in python|in java)\b)|^hang up\W*$|^(?:print|upload"
        r"|ship|extend|confirm|archive|assign|escalate|sign|scan|download|share) (?:(?:out|off) )?(?:this|that|my"
        r"|our|the (?:document|file|files|ticket|order|report|contract|form|invoice|photo|photos|label|package|page"
        r"|booking|task|letter|slides|deadline|rental|lease))\b(?!.{0,60}\b(?:theorem|proof|equation)\b)"
        r"|^mark (?:all|this|that|my|these|as)\b|^invite (?!letter)[\w']+\b.*\b(?:to|for)\b|^(?:put|downgrade"
        r"|upgrade|connect|transfer|give|get|book|move|switch) me (?:through|to|with|on|in|a (?:wake|call|table|seat"
        r"|ride|refund|room)|(?:a|the|two|three|\d) (?:\w+ )?(?:seats?|tickets?|rooms?|tables?|taxi|ride|refund"
        r"|wake))|^add \w+ (?:as|to the (?:booking|reservation|call|meeting|group|team|order))\b|^(?:activate"
        r"|deactivate|enable|disable)\b.{1,50}\b(?:for me|on my)\b|^(?:sign|log|check|opt) me (?:up|in|out|off)\b"
        r"|^(?:enrol|enroll|register|subscribe|unsubscribe|deregister|transfer|connect) me\b|^unsubscribe\b\W*$"
        r"|^(?:open|create|file|raise|submit|log|close|escalate) (?:a |an |the |another |this )?(?:new |urgent "
        r"|support |jira |it |service |help desk |helpdesk )*(?:ticket|case|complaint|claim|incident|bug report"
        r"|refund request|expense|leave request|timesheet)\b(?!.{0,30}\b(?:template|example|about how)\b)"
        r"|^(?:restart|reboot|deploy|redeploy|shut down|roll back|rollback|scale|merge|provision|kill"
        r"|back up) (?:the |my |our |this )?(?:[\w'-]+ ){0,3}(?:servers?|production|prod|staging|services?|clusters?"
        r"|pods?|routers?|vms?|machines?|instances?|app|backend|deployment|database|laptop|computer|pull request"
        r"|main)\b(?!.{0,40}\b(?:command|steps|checklist)\b)|^(?:grant|give) (?:[\w.@-]+ ){1,3}(?:access"
        r"|permissions?|admin rights)\b",
    ),
    sign(
        "to set off a device or a reminder",
        "raise rise lower decrease adjust reduce increase volume lights light music tv heating heat preheat run"
        " charge launch trigger fill note remember put roll revert change entry event task give countdown shut do"
        " make create have initiate begin i remind reminder turn switch set play alarm timer lights light thermostat"
        " volume wake dim pause skip lock unlock close mute start stop record navigate take snooze open record",
        r"^(?:i (?:want|need|would like|must have) |make |create |start |have |initiate |begin |add |do |put on "
        r"|give me )(?:up )?(?:an?|another|the|new) (?:[\w-]+ ){0,3}(?:alarm|timer|countdown|reminder)\b(?! (?:app"
        r"|clock radio|function|component|class))|^(?:an? )?(?:alarm|timer) (?:for|at|\d)"
        r"|^(?:start )?counting down\b|^(?:(?:i (?:want|need|would like)(?: you)?(?: to)?) )?(?:remind me|wake me"
        r"|set (?:me )?(?:a|an|the|my|another|up a|up an)? ?(?:[\w-]+ ){0,4}(?:alarm|timer|reminder|thermostat"
        r"|volume|temperature|lights?|brightness|heating|countdown)|(?:an? |add a |create a |make a "
        r"|new )?(?:reminder|alarm|timer) (?:for|to|in|at)\b)|^(?:turn|switch|shut|dim|mute|unmute)(?: (?:on|off|up"
        r"|down))?(?: the| my| all| all the)? (?:[\w'-]+ ){0,4}(?:lights?|lamps?|tv|radio|music|heating|heat|ac|fan"
        r"|volume|thermostat|air conditioning|oven|alarm|speaker|wifi|bluetooth|phone|kettle|heater|sound|microphone"
        r"|dishwasher|sprinklers?|camera)\b|^play (?:me )?(?!(?:a |the )?(?:roles?|devil|part|games?|audio|sound"
        r"|video|sounds|piano|guitar|chess|poker|card|on words|\w+ (?:major|minor)|c major)\b)\S|^(?:skip|pause"
        r"|resume|stop|repeat|replay|snooze|rewind) (?:the|this|that|my|to the next)?\s?(?:current )?(?:song|track"
        r"|music|alarm|video|podcast|playlist|timer|recording)\b|^(?:navigate|drive|take me|directions) (?:to"
        r"|home)\b|^(?:lock|unlock|open|close) the (?:\w+ )?(?:doors?|garage|gate|blinds|curtains|windows?"
        r"|shutters)\b|^start (?:the |my )?(?:\w+ )?(?:car|engine|vacuum|dishwasher|washing machine|robot"
        r"|coffee machine|oven|timer|recording)\b|^take a (?:photo|picture|selfie|screenshot|note)\b"
        r"|^(?:the )?(?:lights?|music|tv|heating|radio) (?:on|off)\b|^(?:stop|start|run|heat|preheat|cool|charge"
        r"|launch|trigger|fill|empty) (?:the |my |our )(?:[\w-]+ ){0,2}(?:dishwasher|washing machine|dryer|oven|room"
        r"|house|car|heater|vacuum|backups?|jobs?|pipeline|migration|import|export|sync|batch|payroll|campaign|sauna"
        r"|bath|robot)\b(?! to \d{3})|^(?:make a |take a )?note (?:that|down)\b|^remember (?:that|to)\b|^(?:add"
        r"|create|make|put)(?: in)? (?:a |an |the )?(?:new )?(?:\w+ )?(?:calendar )?(?:entry|event|appointment|task"
        r"|contact)\b(?! (?:listener|loop|handler|bus|queue|driven|points?))|^put (?:off|back) the\b"
        r"|^put the \w+ off\b|^roll (?:\w+ )?back\b|^roll \w+ (?:back|out)\b|^change the (?:[\w-]+ )?(?:password"
        r"|owner|booking|order|appointment|meeting|recipient|wallpaper|ringtone|channel|station)\b|^(?:increase"
        r"|raise|rise|lower|decrease|adjust|reduce)(?: (?:the|your|that))? (?:\w+ )?(?:volume|sound|brightness"
        r"|lights?|thermostat)\b|^(?:i want )?(?:the |that )?volume (?:to|at|up|down|set)\b",
    ),
)
_ABROAD = (
    sign(
        "etwas zu tun",
        "schick schicke sende send buche buch reserviere bestell bestelle erinnere erinner stell stelle überweise"
        " überweis storniere kündige lösche ruf schalte schalt mach spiel spiele sperre trag trage kauf kaufe"
        " verschiebe verschieb leg lege öffne melde bezahle erstelle schreibe sperren stornieren kündigen buchen"
        " senden schicken reservieren bestellen überweisen löschen",
        r"^(?:schicke?|sende?|buche?|reserviere?|bestelle?|erinnere?|überweise?|erstelle? (?:mir )?(?:einen termin"
        r"|ein ticket|eine erinnerung)|storniere?|kündige?|lösche?|ruf|schalte?|spiele?|sperre?|trage?|kaufe?"
        r"|verschiebe?|melde|bezahle?|sperren|stornieren|kündigen|buchen|senden|schicken|reservieren|bestellen"
        r"|überweisen|löschen) (?:sie )?(?:mir |mich |uns |bitte )*(?:\w|€)|^(?:stelle?|lege?"
        r"|mach)\b.{0,30}\b(?:wecker|timer|licht|termin|alarm|heizung|musik)\b|^öffne (?:ein ticket|das tor|die tür)",
    ),
    sign(
        "une action",
        "réveille-moi envoie envoyer réserve réserver commande commander rappelle annule supprime appelle vire"
        " allume éteins mets achète bloque ajoute paie joue programme transfère résilie ouvre désactive active"
        " modifie réveille",
        r"^réveille-moi\b|^(?:envoie\w*|réserve\w*|désactive|active|commande|rappelle|annule|supprime|appelle|vire"
        r"|allume|éteins|mets|achète|bloque|ajoute|paie|programme|transfère|résilie|envoyer|réserver|commander"
        r"|annuler|joue)(?:-moi|-nous|-lui|-leur)? (?:un |une |le |la |les |l'|mon |ma |mes |des |du |cet |cette |à "
        r"|de |\d)\S",
    ),
    sign(
        "una acción",
        "envía envíale enviar reserva resérvame pide pídeme recuérdame cancela borra elimina llama transfiere"
        " enciende apaga pon compra bloquea añade paga programa abre cambia manda mándale",
        r"^(?:envía(?:le|me)?|manda(?:le)?|mándale|reserva|resérvame|pide|pídeme|recuérdame|cancela|borra|elimina"
        r"|llama|transfiere|enciende|apaga|pon|compra|bloquea|añade|paga|programa)\b (?:a |un |una |el |la |los "
        r"|las |mi |mis |que |al |este |\d)\S",
    ),
)
_IN_CODE = re.compile(
    r"\b(?:in|using|with|via) (?:python|java|javascript|typescript|sql|bash|c\+\+|c#|rust|ruby|php|go|golang|excel"
    r"|pandas|numpy|curl|git|django|react|node|postman|docker|kubectl|postgres\w*|mysql|regex|powershell|terraform"
    r"|ansible|swift|kotlin|r|vim|html|css|word|google sheets)\b|\b(?:regex|dataframe|json|boolean|string|array"
    r"|tuple|linked list)\b"
)


def spot(reading: Reading) -> str | None:
    """Say what deed is asked for, or None when only words are."""
    if reading.method and not reading.polite and not reading.start.startswith(("i want", "i need")):
        return None
    if _IN_CODE.search(reading.ask):
        return None
    return first(_SIGNS, reading.start, reading.words) or first(_ABROAD, reading.start, reading.words)
