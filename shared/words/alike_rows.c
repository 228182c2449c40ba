/* Words that can stand for each other, and forms of a word whose stems differ. Opposites do not belong here, nor words
 * that share only one of several frequent meanings. Behind a word stands its stem, if that differs: to stem them all
 * at the start would take 2.6 million instructions. */
#include "words/alike.h"

#include <stddef.h>

const char *const alike_rows[] = {
    /* other words */
    "big large=larg huge", "biggest largest", "bigger larger", "small little=littl tiny=tini", "smallest littlest",
    "fast quick rapid speedy=speedi", "fastest quickest", "new recent", "newest latest", "oldest eldest",
    "rich wealthy=wealthi", "famous renowned=renown notable=notabl", "beautiful=beauti pretty=pretti", "difficult hard",
    "easy=easi simple=simpl", "correct accurate=accur", "wrong incorrect", "important=import significant=signific",
    "main primary=primari principal=princip", "several=sever multiple=multipl numerous=numer", "entire=entir whole",
    "last final", "near nearby=nearbi", "adjacent=adjac neighboring=neighbor", "begin start commence=commenc",
    "founded=found established=establish", "build construct erect", "finish complete=complet",
    "end conclude=conclud conclusion=conclus", "film movie=movi", "author writer", "kill slay", "buy purchase=purchas",
    "obtain acquire=acquir", "help assist aid", "car automobile=automobil", "doctor physician", "lawyer attorney",
    "picture=pictur image=imag photo photograph", "house=hous home dwelling=dwell",
    "company=compani firm corporation=corpor", "people=peopl person", "earthquake=earthquak quake=quak", "child kid",
    "job occupation=occup profession=profess", "price cost", "salary=salari wage",
    "revenue=revenu income=incom proceeds=proceed", "location=locat situated=situat", "show display",
    "use utilize=util usage=usag", "change=chang alter modify=modifi", "produce=produc manufacture=manufactur",
    "destroy demolish destruction=destruct", "damage=damag harm", "repair fix mend",
    "remove=remov delete=delet erase=eras", "allow permit permission=permiss", "forbid prohibit ban",
    "require=requir need", "happen occur", "reason cause=caus", "result consequence=consequ outcome=outcom",
    "answer reply=repli response=respons", "try=tri attempt", "battle=battl fight combat", "attack assault",
    "ship vessel", "plane aircraft airplane=airplan", "railway railroad", "sea ocean",
    "illness=ill disease=diseas sickness=sick", "medicine=medicin drug medication=medic", "error mistake=mistak",
    "teacher instructor", "exam examination=examin test", "religion faith", "god deity=deiti", "king monarch",
    "law legislation=legisl", "crime offense=offens", "jail prison imprison", "arrest detain", "steal theft",
    "rain rainfall=rainfal precipitation=precipit", "speed=sped velocity=veloc", "percent percentage=percentag",
    "amount quantity=quantiti", "part portion", "kind type sort", "way method manner",
    "goal aim objective=object purpose=purpos", "idea concept notion", "rule regulation=regul",
    "magazine=magazin journal periodical=period", "singer vocalist", "father dad", "mother mom",
    "woman female=femal lady=ladi", "man male", "baby=babi infant newborn", "drink beverage=beverag",
    "merge=merg combine=combin unite=unit", "divide=divid separate=separ split division=divis", "send transmit",
    "provide=provid supply=suppli", "keep retain preserve=preserv", "contain include=includ", "carry=carri transport",
    "travel journey trip voyage=voyag", "live reside=resid inhabit", "employee=employe worker staff",
    "treaty=treati pact", "refuse=refus reject", "own possess", "computer=comput machine=machin",
    "directory=directori folder", "mail email", "beat defeat", "choose=choos select pick choice=choic",
    "win victory=victori", "border boundary=boundari", "area region", "soldier troop",
    "decline=declin decrease=decreas", "rise increase=increas", "nickname=nicknam moniker=monik", "quit resign",
    /* other forms */
    "die death dead deceased=deceas", "born birth", "marry=marri marriage=marriag wed", "sell sale",
    "think believe=believ belief", "lose loss", "weight weigh", "high height tall", "long length", "wide width",
    "deep depth", "strong strength", "hot heat", "warm warmth", "young youth",
    "poor poverty=poverti impoverished=impoverish", "free freedom", "true truth", "wise wisdom",
    "eat consume=consum consumption=consumpt", "grow growth", "depart departure=departur",
    "discover=discov discovery=discoveri", "explain explanation=explan", "describe=describ description=descript",
    "decide=decid decision=decis", "expand expansion=expans", "invade=invad invasion=invas",
    "compete=compet competition=competit", "succeed success", "fail failure=failur", "prove proof", "speak speech",
    "injure=injur injury=injuri hurt", "bury=buri burial", "compose=compos composition=composit", "pay payment",
    "know knowledge=knowledg", "maintain maintenance=mainten", "store storage=storag", "hungry=hungri hunger",
    "reduce=reduc reduction=reduct",
    /* countries, and what belongs to them */
    "america american", "china chinese=chines", "japan japanese=japanes", "france=franc french",
    "germany=germani german", "spain spanish", "italy=itali italian", "russia russian", "britain british",
    "england english", "india indian", "africa african", "asia asian", "australia australian", "canada canadian",
    "mexico mexican", "greece=greec greek", "rome roman", "egypt egyptian", "turkey turkish", "korea korean",
    "poland polish", "sweden swedish", "norway norwegian", "denmark danish", "portugal=portug portuguese=portugues",
    "ireland irish", "scotland scottish", "vietnam vietnamese=vietnames", "israel israeli=isra", "iran iranian",
    "brazil brazilian", "austria austrian", "belgium belgian", "hungary=hungari hungarian", "finland finnish",
    "switzerland swiss", "thailand thai", "iraq iraqi", "cuba cuban", "europe=europ european", NULL};
