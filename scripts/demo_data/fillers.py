# Copyright 2026 The gemma_node authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What people say around a wish: anecdotes, apologies, thanks, thoughts; none of it asks for anything."""

from __future__ import annotations

# Before a wish rather than after it.
_BEFORE = """
I am sorry to trouble you once more|I hope I am not disturbing you in the middle of something|forgive me for asking a second time|I know that you have had a long shift already|I do not want to be a nuisance, really
excuse me for rambling on like this|you must be tired of hearing my voice by now|I hate to be the one who always asks|I feel a little silly saying this aloud|sorry, I am new at this and a bit nervous
I was told that you are the one to ask|they said at the desk that you would help me|I have never talked to a robot before, so bear with me|my daughter showed me how to speak to you|I am not sure that I am doing this right
hello, it is me again, the one with the loud voice|good evening to you, I hope the day was kind|well, good morning, you look very shiny today|hey there, long time no see, how have you been|hi, nice to meet you, I am the new one
let me think for a moment, my head is full today|hm, what was it that I came for|now where was I before the phone rang|wait, I had it on the tip of my tongue|there was something else, it will come back to me
oh dear, I almost forgot why I came over here|right, so, the coffee is gone and the work is not|okay, deep breath, one thing after the other|let me see, I wrote it down somewhere|give me a second to sort out my thoughts
I have been meaning to say this all morning|I have thought about it the whole way here|it just crossed my mind while I was on the stairs|before I forget it again, as I always do|I had to laugh about myself just now
you know how it is with Mondays|you will not believe what happened to me today|I suppose somebody has told you about it|as you may have heard from {person}|you have probably guessed it from my face
first of all, thank you for all you did this week|I want to thank you for your patience with us|you did a wonderful job yesterday, everybody said so|I must say that you are getting better at this every day|{person} could not stop praising you at breakfast
I know it is late and nobody likes extra work|I know we said that we were done for today|this may sound odd, coming from me|I would do it myself, but my back is bad|normally I would not bother you with such a thing
my wife says I talk too much, and she is right|I am told that I never come to the point|I will try to keep it short this time|where to begin, that is the question|this is going to be a long story, I fear
listen, I have spoken with {person} about it for an hour|look, we have all had a difficult week|you see, {person} is not here today|so, here we are again, the two of us|well now, that was quite a morning
""".replace('\n', '|').strip('|').split('|')
# Before or after a wish.
_ANYWHERE = """
my sister is coming at {n} and I have not even had a shower|my grandmother had a saying for days like these|my father worked in a place like this for thirty years|my brother has moved to the coast and never writes|my aunt has bought a horse, of all things
my son wants to become an engineer one day|my daughter has her exam tomorrow and cannot sleep|my neighbour has a new car and talks of nothing else|my uncle came early, as he always does|my cousin got married last weekend and it poured
the children were up half of the night|the twins have started school this week|the little one has lost her first tooth|my mother-in-law is staying with us until Sunday|we have been married for {n} years next month
the dog ate one of my shoes this morning|our old cat sleeps all day and who can blame her|there was a bird on the window sill that looked at me|I saw a fox on the way to work|the neighbours have got hens and they are loud
the weather has been dreadful since Tuesday|it has been raining cats and dogs in my home town|they say it will snow on the weekend, but they always say that|what a lovely sky there was this morning|I have not seen the sun for a week
the summer went by so fast this year|autumn is my favourite time of the year|it was so foggy on the bridge that I got off my bike|the wind nearly took my hat on the way|I got soaked on the way here, as usual
the train was late again because of the strike|there was a traffic jam from here to the river|I missed the bus by a hair and walked|somebody parked in my spot, so I drove round for ages|it took me an hour to get across town
the new road works are a pain for everybody|I had a flat tyre on the motorway yesterday|my bicycle was stolen on Friday, but the police found it|the ferry did not run because of the storm|I drove past the old factory and got quite sentimental
I have not had a proper meal since yesterday|the soup at the canteen was too salty for me|I burnt my toast this morning, twice|there was cake for {person}, and I had two pieces|I am trying to eat less sugar, it is not easy
lunch was late and the potatoes were hard|we had fish on Friday, which was quite good|I could do with a holiday, to be honest|I dream of a week at the sea with a book|last year we went to the mountains and it was splendid
I did not sleep well, the moon was so bright|I have had this cough for two weeks now|my knee hurts when the weather changes|the doctor says that I should walk more|I got new glasses and everything looks strange
my hands are cold, they always are|I have a headache from all the noise|I turned fifty in March and I feel it|getting old is not for the faint of heart|I left my hearing aid at home, so never mind my shouting
the meeting went on forever and nothing came of it|head office has sent another form to fill in|they want a report on everything these days|the boss took a picture of it and was very proud|the new manager seems to be a decent fellow
we are two people short this week|half of the team is down with the flu|{person} is on holiday and everything lands on my desk|the night shift left early, I hear|the trainees are doing well, I have to say
the auditors come next week and everyone is nervous|the paperwork can wait until tomorrow|I called them twice and nobody picked up|the printer ate my timetable this morning|the phone has not stopped ringing since eight
the delivery was late because the driver got lost|a customer told me his whole life this morning|the people from the conference are everywhere|a school class came through and asked a thousand questions|there was a journalist here who wanted to know everything
I used to do all of this by hand|in the old days we had no machines for it|times change, and mostly for the better|the old line was slower, but it had charm|when I started here there were only {n} of us
{person} laughed when I told him about it|{person} sends his best regards, by the way|{person} thinks that I worry too much|{person} bet me five euros that you would not understand me|{person} was here a minute ago and left in a hurry
{person} has been waiting for ages, poor thing|{person} told me a joke that I cannot repeat|{person} is a bit lost without his phone|{person} once worked with a robot like you|{person} said something similar the other day
I ran into {person} at the market on Saturday|I owe {person} a favour for last week|I have known {person} since we were at school|I promised it to {person} and then the post came|I talked with {person} about football until midnight
the {thing} that I ordered has not come yet|I left my {thing} on the train this morning|somebody gave me {thing_a} for my birthday|I never liked that {thing}, but {person} does|the {thing} was a bargain, only {n} euros
we had {thing_a} just like it when I was a child|I saw {thing_a} in a shop window and thought of {person}|I was looking for my {thing} for an hour|the {thing} of my neighbour is much nicer than mine|{person} collects things like {thing_a}, can you imagine
I was in {place} all morning and saw nobody|{place} looks so different since the winter|I have fond memories of {place}|they talked about {place} on the radio|{person} got lost on the way to {place} last week
I like {place} best when nobody is there|yesterday we had a party in {place}|I met {person} in {place} some days ago|{place} was full of people this morning|I do not often come to {place}, it is too far for me
the {value} is what everybody talked about yesterday|I have heard so much about the {value}|last week it was all about the {value}|{person} mentioned the {value} the other day|we had trouble with the {value} in spring, but that is over
between you and me, I did not expect that|to tell the truth, I am rather pleased|if you ask me, it was about time|it is a pity, but that is life|it could have been worse, I suppose
I do not mean to complain, it is a good place|it is not your fault, of course|nobody is to blame, these things happen|it was my own mistake, I admit it|I should have said so earlier, I know
it has been such a morning|it has been quite a week, I can tell you|what a day, and it is not even noon|one of those days when nothing goes right|so much to do and so little time
I am in no hurry whatsoever, take it as it comes|there is no rush, I have the whole afternoon|time flies when you are busy|I have to leave in {n} minutes, sadly|I am already late for my appointment
the lights in the street went out last night|there was a power cut at home and we lit candles|the heating at my place broke down on Christmas Eve|our roof leaks and nobody comes to repair it|my washing machine makes a funny noise since Monday
the plumber cost me a fortune|I painted my kitchen yellow and regret it|we are thinking of moving to the countryside|the rent has gone up again, would you believe it|I finally tidied up my attic on Sunday
I read an interesting article about robots|the newspaper was full of bad news again|there was a film on television about the moon|I am reading a novel with eight hundred pages|I listened to the same song all day
our team lost again on Saturday, three to nil|my nephew scored the winning goal|I am learning to play the piano at my age|I tried yoga once and fell asleep|the choir meets on Thursdays and we sing badly
the new colleague from the north has a funny accent|everybody here is so friendly, it is remarkable|I like the way people greet each other here|some people have no manners at all|the visitors were very well behaved this time
the lady at the desk was very friendly about it|the gentleman over there has been most patient|the couple from yesterday wrote a nice letter|the man with the beard has asked for you twice|the guests stayed up until three, I heard
thank heavens it is nearly the weekend|fingers crossed that it all works out|well, we shall see what comes of it|that is how it goes, you know|and so on and so forth, you get the idea
I have been on my feet since five o'clock|I have been thinking about it since last night|I have seen worse, believe me|I have never been good with technology|I have told this story a hundred times
a friend of mine says that patience is a virtue|my teacher always said that haste makes waste|an old man once told me to enjoy every day|people say that good things come to those who wait|they do say that the early bird catches the worm
when I was young we had no such thing|when I was at sea we did it differently|when we lived abroad nobody cared about that|when my husband was still alive he would have known|when it is all over we shall have a drink
it reminds me of my time in the army|it reminds me of a holiday in Norway|it is funny how things turn out|it is strange how quiet it is today|it is so lively here on market days
I cannot for the life of me remember his name|I cannot believe that it is December already|I cannot complain, all in all|I could write a book about it|I could hardly read my own handwriting
some of us have been here since dawn|some days are better than others|somebody left a nice note on my desk|someone at the gate was singing this morning|nobody told me that it would be this busy
the clock in my office is wrong by an hour|the coffee machine is a mystery to me|the chair in my office squeaks when I lean back|the lift at the station was out of order again|the stairs at my house have ninety steps
it all started with a letter from the council|there is a rumour that we get new uniforms|there was a fire drill and nobody knew where to go|there were balloons all over town because of the fair|there has been a wedding at the church across the street
we won a prize for our garden last year|we celebrated until late, as you can imagine|we had visitors from abroad the whole week|we are all a bit tired from the move|we counted {n} people at the opening
I spilt tea over my new shirt, typical|I lost a bet and had to wear a silly hat|I found an old photograph of my parents|I got a postcard from an old friend|I bought a lottery ticket, one never knows
apparently it is the hottest month since {n}|apparently they are going to build a bridge|honestly, I am just glad that it is quiet now|frankly, I was never fond of meetings|luckily nobody was hurt, it was only a scare
by the way, your new colour suits you|by the way, I am moving house in spring|incidentally, today is my birthday|oddly enough, I was just dreaming of you|speaking of which, {person} has had a baby
the museum in my town is closed on Mondays|the river was so high that the path was gone|the apples in our garden are the best in years|the bees were everywhere this summer|the stars were so clear last night
yesterday I was at the dentist and could not speak for hours|last night I dreamt that I could fly|last spring I broke my leg on the ice|this morning I put on two different socks|some time ago I was in hospital with my appendix
""".replace('\n', '|').strip('|').split('|')
# After a wish rather than before it.
_AFTER = """
I would be so grateful to you|you would make my day with it|that would be a great help to all of us|that is all I wanted to say|and then I will leave you in peace
after that we can all go home|and after that I owe you one|I knew that I could rely on you|I will tell everybody how kind you are|you are a treasure, I mean it
I do not know what we would do without you|thanks ever so much, and sorry again|thank you in advance, my friend|many thanks, also from {person}|thanks a million, you are the best
and sorry for the long speech|and forgive me for going on and on|and please do not be cross with me|I hope that was not too complicated|I hope I have made myself clear
no need to thank me, I am only the messenger|{person} will be pleased to hear it|{person} says hello, and thanks as well|I promised it to {person}, you see|then {person} can finally get some rest
I almost forgot it, it has been such a day|I would have forgotten it but for {person}|I should have thought of it myself, hours ago|I meant to do it last night, but I fell asleep|I know, I know, I said the same thing yesterday
it is only because of the visitors, you know|it is the least that we can do for them|it will not be the last time, I fear|it is nothing special, just the usual|it has to do with the meeting, but that is another story
I will be over there having my coffee|I have to run now, my bus is leaving|I will be back before you know it|I am off to lunch with {person}|I shall be in {place} with my colleagues
you know how {person} is about such things|you know what they say about Mondays|you are much better at it than I am|you have done it a hundred times, after all|you were very quick the last time
well, that is that, back to my desk|well, now you know the whole story|so much for that, on with the day|right, and now I need some fresh air|okay, that was everything from my side
""".replace('\n', '|').strip('|').split('|')
# {w}: the wish, an imperative. `?` ends a question.
_LEADS = """
{w}|{w}|{w}|{w}|please {w}|please {w}|could you {w}?|could you please {w}?|would you {w}?|can you {w}?|would you mind if I asked you to {w}?|anyway, {w}|anyway, please {w}|anyway, could you {w}?|well, {w}|so please {w}|so {w}, please
what I wanted to say: {w}|what I actually wanted: {w}|long story short, {w}|to cut a long story short: {w}|to come to the point, {w}|the point is, I need you to {w}|be that as it may, {w}|would you be an angel and {w}?|be so good and {w}
if it is not too much trouble, {w}|if it is not too much to ask, could you {w}?|if you have a minute, {w}|when you find the time, please {w}|it would be lovely if you could {w}|I would be glad if you could {w}|I was wondering if you might {w}|I wonder if you could {w}
now, {w}|now, please {w}|right, {w}|okay, {w}|but enough of that, {w}|enough of that; {w}|but back to work: {w}|where was I? Ah yes, {w}|ah yes, {w}|oh, and {w}|so, what I need from you is this: {w}|my only request is that you {w}|I have just one request: {w}
that is why I ask you to {w}|which is why you should {w}|so I thought that you could {w}|and so it would be good if you could {w}|I believe it is best if you {w}|I think you had better {w}|do me the favour and {w}|do you think you could {w}?|might I ask you to {w}?
I would like you to {w}|I need you to {w}|I want you to {w}|all I want is that you {w}|all you have to do is {w}|you only have to {w}|let us get on with it: {w}|let us get going: {w}|for now, just {w}|for the moment, {w}|first of all, {w}|in any case, {w}|at any rate, {w}|that said, {w}|having said that, {w}|nevertheless, {w}|still, {w}
so could you perhaps {w}?|so would you be so kind as to {w}?|so if you could {w}, that would be great|if you would {w}, I should be happy|perhaps you could {w}|maybe you can {w}|kindly {w}|come on, {w}|go on, {w}|just {w}|please just {w}|simply {w}
""".replace('\n', '|').strip('|').split('|')
# How a wish that is no imperative follows.
PLAIN_LEADS = ('{w}', '{w}', '{w}', 'anyway, {w}', 'well, {w}', 'so, {w}', 'now, {w}', 'but back to work: {w}', 'what I wanted to say: {w}', 'long story short: {w}', 'ah yes, {w}', 'right, {w}', 'oh, and {w}')
# What joins a remark to a wish within one sentence.
GLUE = ('{r}, so {w}', '{r}, and so {w}', '{r}, but {w}', '{r}, and {w}', '{r} - {w}', '{r}; {w}', '{r}, anyway {w}', '{r}, so please {w}', '{r}, that is why I ask you to {w}', '{r}, so could you {w}?', '{r}, and I would like you to {w}', '{r}, so it would be nice if you could {w}', '{r}, but would you {w}?')

BEFORE: tuple[str, ...] = tuple(_BEFORE)
ANYWHERE: tuple[str, ...] = tuple(_ANYWHERE)
AFTER: tuple[str, ...] = tuple(_AFTER)
LEADS: tuple[str, ...] = tuple(_LEADS)
