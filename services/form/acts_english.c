/* The pieces of dialogue acts in English, and courtesies of some other languages. */
#include "form/acts.h"

static const char filler[] =
    "im sorry|excuse me|ok|okay|well|um|uh|hm|hmm|oh|hi|hello|hey|actually|just|can we|can i|could we|could i|"
    "may i|may we|can you|could you|would you|will you|id like to|i would like to|i want to|i wanna|we can|lets|"
    "let us|let me|i need to|i have to|i must|this|that|it|this one|that one|this question|that question|"
    "the question|this field|that field|for now|now|right now|yet|honestly|really|simply|unfortunately|im afraid|"
    "im afraid that|then|so|and|the|my|your|again|i gave|i entered|i said|i typed|you have|from before|earlier|"
    "field|answer|at the moment|at this time|at this point|currently|for the moment|as of now|to|tell me|to me|"
    "information|data|the question about|question about|is it possible to|do you mind if we|"
    "would it be possible to|i gave you|i told you|about|to you|you|to know|with it|with that|with this|still|"
    "so far|instead|from now on|here|us|we|question|";

static const char please[] =
    "please|pls|plz|thanks|thank you|thx|thank you very much|many thanks|kindly|por favor|bitte|sil vous plaît|"
    "sil te plaît|per favore|if possible|if you can|";

static const char skip[] =
    "skip|pass|pass on|leave out|leave it out|leave this out|leave it blank|leave this blank|leave blank|"
    "leave that blank|leave it empty|leave this empty|leave it open|leave this open|omit|move on|"
    "move on to the next question|go on to the next question|go to the next question|next please|next question|next "
    "one|"
    "the next question|skip to the next question|skip to the next one|skip ahead|rather not say|"
    "rather not answer|id rather not|id rather not say|id rather not answer|i would rather not|"
    "i would rather not say|i would rather not answer|prefer not to say|prefer not to answer|i prefer not to say|"
    "i prefer not to answer|i prefer not to|id prefer not to|id prefer not to say|id prefer not to answer|"
    "i dont want to say|i dont want to answer|i do not want to answer|i do not want to say|"
    "i do not wish to answer|i dont wish to answer|i dont want to tell you|i do not want to tell you|"
    "i wont answer|i will not answer|i refuse to answer|no comment|no answer|ill skip|i will skip|ill pass|"
    "i will pass|i skip|i pass|come back to this later|come back to it later|ask me later|ask me again later|"
    "answer later|answer this later|answer it later|answer that later|ill answer later|i will answer later|"
    "ill answer this later|ill answer that later|ill tell you later|i will tell you later|not going to answer|"
    "im not going to answer|ill leave it blank|ill leave this blank|";

static const char unknowing[] =
    "i dont know|dont know|i do not know|do not know|dunno|i dunno|idk|no idea|no clue|i have no idea|"
    "ive no idea|ive got no idea|i have no clue|not sure|im not sure|i am not sure|unsure|im unsure|i am unsure|"
    "i cant tell|i cannot tell|cant say|i cant say|i cannot say|cant remember|i cant remember|i dont remember|"
    "dont remember|i do not remember|i cannot remember|cannot remember|who knows|i forgot|i forget|ive forgotten|i "
    "have forgotten|hard to say|its hard to say|"
    "beats me|i couldnt say|i couldnt tell you|i cant tell you|we dont know|we do not know|were not sure|"
    "we are not sure|i am not certain|im not certain|i cant answer|i cannot answer|i am unable to answer|"
    "im unable to answer|i dont have that information|i dont have this information|"
    "i do not have that information|i do not have this information|i dont know the answer|"
    "i do not know the answer|i really dont know|i honestly dont know|i still dont know|i just dont know|"
    "i simply dont know|i actually dont know|im really not sure|i am really not sure|im still not sure|"
    "i wouldnt know|i would not know|i dont really know|no sé|ich weiss nicht|je ne sais pas|";

static const char undecided[] =
    "i havent decided|i have not decided|havent decided|not decided|its not decided|not decided yet|"
    "we havent decided|we have not decided|i havent decided yet|im undecided|i am undecided|"
    "it has not been decided|it hasnt been decided|";

static const char why[] =
    "why|why do you ask|why are you asking|why are you asking me|why do you need|why do you want|"
    "why do you need to know|why do you want to know|why would you need|why is this needed|why is that needed|"
    "why is it needed|why is this necessary|why is that necessary|why is it necessary|why is this required|"
    "why is that required|why is it required|why is this important|why is that important|why is it important|"
    "why do i need to answer|why do i have to answer|why should i answer|why must i answer|why should i tell you|"
    "why do i have to tell you|why do i need to tell you|why is that|why does it matter|why does that matter|"
    "why does this matter|what is this for|what is that for|what is it for|whats this for|whats that for|"
    "whats it for|what for|what do you need this for|what do you need that for|what do you need it for|"
    "what will you do with|what will this be used for|what will it be used for|what is this used for|"
    "what is it used for|how will this be used|how will it be used|how will you use|how come|do i have to answer|"
    "must i answer|do i need to answer|do i have to|do i really have to|do i really have to answer|"
    "do i have to tell you|is this required|is it required|is that required|is this necessary|is it necessary|"
    "is that necessary|is this really necessary|is that really necessary|is this mandatory|is it mandatory|"
    "is this optional|is it optional|what is the reason for|whats the reason for|tell me why|explain why|ask why|"
    "for what purpose|what is the purpose of|whats the purpose of|whats the point of|what is the point of|"
    "why ask|i dont see why you need|i dont understand why you need|i dont understand why|";

static const char what[] =
    "what does that mean|what does this mean|what does it mean|what does the question mean|"
    "what does this question mean|what do you mean|what do you mean by|what is meant|what is meant by|"
    "what is meant by that|what is meant by this|what does|mean|for example|for instance|give me an example|"
    "give an example|show me an example|do you have an example|an example|some examples|examples please|"
    "example please|i dont understand|i do not understand|i didnt understand|i dont get|i dont follow|explain|"
    "clarify|elaborate|what should i write|what should i enter|what should i say|what should i answer|"
    "what should i put|what do i write|what do i enter|what do i say|what do i put|what can i enter|"
    "what can i say|what can i answer|what can i choose|what kind of answer|what kind of answer do you expect|"
    "what kind of answer do you want|what do you want to know|what are you asking|what exactly do you mean|"
    "what exactly do you want to know|what are the options|what are my options|what are the choices|"
    "what are my choices|which options|what options are there|what options do i have|which options are there|"
    "what is this question about|repeat|repeat the question|say that again|ask again|come again|rephrase|pardon|"
    "i beg your pardon|how should i answer|how do i answer|how should i write|i dont know what that means|"
    "i dont know what this means|i dont know what you mean|i dont know what to write|i dont know what to say|"
    "i dont know what to enter|i dont know what to answer|im not sure what you mean|im not sure what that means|"
    "not sure what you mean|not sure what that means|in which format|in what format|what format|help|help me|"
    "i need help|can you help|i need an example|tell me more|what is|";

static const char what_asked[] = "what|huh|like what|such as|example|examples|meaning|sorry|eg|";

static const char state[] =
    "how far are we|how far along are we|how far have we got|how far have we gotten|how many questions are left|"
    "how many questions are there|how many more questions|how many more questions are there|how many questions|"
    "how many are left|how many more|how many left|how many questions left|how many questions remain|"
    "how much longer|how much longer will this take|how much longer will it take|how long will this take|"
    "how much more|how much is left|what have i said so far|what have i answered so far|what did i say so far|"
    "what did i answer so far|what have i told you so far|what have i entered so far|what do you have so far|"
    "what have you got so far|what have i said|what have i answered|what have i told you|what is left|whats left|"
    "what is missing|whats missing|whats still missing|what is still missing|what remains|show me my answers|"
    "show my answers|show me my answers so far|show my answers so far|list my answers|my answers so far|"
    "show me what i said so far|review my answers|see my answers|summarize my answers|summarise my answers|"
    "are we done|are we nearly done|are we almost done|are we finished|are we there|is that all|"
    "is that everything|is this the last question|is that the last question|where are we|show me the progress|"
    "show my progress|what is my progress|whats my progress|";

static const char back[] =
    "go back|take me back|go back one|go one back|go back one question|one question back|one back|one step back|"
    "go back a step|go back one step|back please|previous please|previous question|the previous question|"
    "the previous one|go to the previous question|go back to the previous question|go to the last question|"
    "go back to the last question|go back to the question before|go back to the previous one|"
    "go back to the last one|return to the previous question|return to the last question|"
    "back to the previous question|back to the last question|back one question|the question before|"
    "the question before this|undo|change my answer|change my last answer|change my previous answer|"
    "change the last answer|change the previous answer|correct my answer|correct my last answer|"
    "correct my previous answer|correct the last answer|correct the previous answer|fix my last answer|"
    "fix my previous answer|edit my last answer|edit my previous answer|redo the last question|"
    "redo the previous question|my last answer was wrong|my previous answer was wrong|my last answer is wrong|"
    "my previous answer is wrong|";

static const char change[] =
    "change|correct|fix|edit|update|modify|amend|redo|revise|adjust|revisit|there is a mistake in|"
    "theres a mistake in|there was a mistake in|there is an error in|theres an error in|i made a mistake in|"
    "i made a mistake with|i made an error in|there is a typo in|theres a typo in|i made a typo in|"
    "something is wrong with|go back to|back to|return to|i got the wrong|i gave you the wrong|i gave the wrong|"
    "i entered the wrong|i typed the wrong|you have the wrong|thats the wrong|make a change to|"
    "make a correction to|change my answer to|correct my answer to|change my answer for|change my answer about|"
    "change the answer to|";

static const char change_after[] =
    "is wrong|was wrong|is not right|isnt right|wasnt right|is incorrect|was incorrect|is not correct|"
    "isnt correct|is mistaken|has a typo|has a mistake|has an error|needs to be changed|needs changing|"
    "needs correcting|needs to be corrected|must be changed|should be changed|must be corrected|"
    "should be corrected|wrong|is not what i meant|";

static const char speak[] =
    "speak|talk|speak in|talk in|switch to|switch into|switch the language to|continue in|reply in|respond in|"
    "answer in|answer me in|ask me in|ask in|do you speak|do this in|do it in|write in|write to me in|"
    "communicate in|have this in|sprechen wir|hablar en|parler|parler en|hablar|on peut parler|podemos hablar en|"
    "können wir|sprechen|auf|";

static const char speak_weak[] = "in|en|use|change to|change the language to|set the language to|prefer|";

const struct piece_table acts_english[] = {
    {PIECE_FILLER, filler},       {PIECE_PLEASE, please},
    {PIECE_SKIP, skip},           {PIECE_DOES_NOT_KNOW, unknowing},
    {PIECE_UNDECIDED, undecided}, {PIECE_WHY, why},
    {PIECE_WHAT, what},           {PIECE_WHAT_ASKED, what_asked},
    {PIECE_STATE, state},         {PIECE_BACK, back},
    {PIECE_CHANGE, change},       {PIECE_CHANGE_AFTER, change_after},
    {PIECE_SPEAK, speak},         {PIECE_SPEAK_WEAK, speak_weak},
    {PIECE_FILLER, NULL},
};
