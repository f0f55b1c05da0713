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

"""Frames of conditions, of what is left out, and of sentences that ask for nothing."""

from __future__ import annotations

# {c} the condition, {a} what is done if it holds, {b} what is done if not.
BRANCHES = (
    'if {c}, {a}, otherwise {b}', 'if {c}, {a}, else {b}', '{a} if {c}, otherwise {b}', '{a} if {c}, else {b}', 'if {c} then {a}, if not {b}', 'when {c}, {a}; otherwise {b}', 'if {c}, {a}. If not, {b}', 'if {c}, {a}. Otherwise {b}', 'if {c}, {a}. Else {b}', '{a} if {c}, or else {b}',
    '{a} if {c}; failing that, {b}', 'if {c}, {a}; failing that, {b}', 'should {c}, {a}; should it not be so, {b}', 'in case {c}, {a}; in any other case {b}', 'provided that {c}, {a}. Otherwise {b}', 'supposing {c}, {a}; if not, {b}', 'assuming that {c}, {a} - if that is wrong, {b}', '{b}, but if {c}, {a}',
    '{b} - unless {c}: then {a}', 'unless {c}, {b}; if it is so, {a}', '{b} unless {c}, in which case {a}', 'normally {b}, but {a} if {c}', 'by default {b}; if {c}, however, {a}', 'check whether {c}: if so, {a}, if not, {b}', 'look if {c}. If yes, {a}. If no, {b}', 'find out whether {c}; yes means {a}, no means {b}',
    'depending on whether {c}, {a} or {b}', 'either {a} or {b}: the first if {c}, else the second', '{a} or {b}, according to whether {c} or not', 'is it so that {c}? Then {a}. If it is not, {b}', 'as long as {c}, {a}; when that is over, {b}', '{a} only if {c}; in all other cases {b}', 'only if {c} {a}, else {b}',
    'if it is true that {c}, {a}, and if it is not, {b}', 'if {c} {a} and if not {b}', 'given that {c}, {a}; given the opposite, {b}', 'two cases: if {c}, {a}; else {b}', 'when you find that {c}, {a}; when you do not, {b}', '{a} on condition that {c}; without that, {b}', 'where {c}, {a}; where not, {b}',
    'if {c}, I want you to {a}, and if not I want you to {b}', 'please {a} if {c} and {b} if not', '{b} if it is not so that {c}; if it is, {a}', 'I would say {a}, if {c}, and {b} in the other case', 'in the event that {c}, {a}; in the opposite event {b}',
    'as {c} or not, {a} or {b}', 'plan A, if {c}: {a}. Plan B: {b}', 'first choice {a}, but only when {c}; second choice {b}', 'whenever {c} the answer is to {a}, else to {b}',
)
ONE_BRANCH = (
    'if {c}, {a}', '{a} if {c}', 'only if {c}, {a}', '{a}, but only if {c}', 'in case {c}, {a}', '{a} in case {c}', 'when {c}, {a}', '{a} provided that {c}', 'provided {c}, {a}', 'should {c}, {a}', '{a}, supposing that {c}', 'on condition that {c}, {a}', '{a}, assuming {c}', 'in the event that {c}, {a}',
    'if {c}, {a}, else do nothing', 'if {c}, {a}, if not, leave it', 'if {c}, {a}; otherwise stay as you are', '{a} - that is, if {c}', '{a}, as long as {c}', 'as long as {c}, {a}', 'given that {c}, {a}', 'if it is true that {c}, {a}', 'if and only if {c}, {a}', 'check whether {c}; if so, {a}', 'look whether {c}. If yes, {a}',
    'is it so that {c}? Then {a}', 'if you find that {c}, {a}', '{a}, if you see that {c}', 'if the observations say that {c}, {a}', 'supposing {c}: {a}', '{a} where {c}', 'do this only when {c}: {a}', 'on one condition, namely that {c}, {a}', 'under the condition that {c}, {a}', '{a}, provided {c}; if not, no need',
    'I want you to {a} if {c}', 'you may {a} if {c}, so do it then', 'if {c}, then please {a}', 'please {a} in the case that {c}', '{a} if it happens that {c}', 'so long as {c}, {a}', 'only when {c} should you {a}', '{a}, and that only while {c}', 'make it depend: {a} if {c}, nothing otherwise', 'if {c} - and only then - {a}', 'since it may be that {c}: if so, {a}',
)
# These are done where {c} does not hold.
UNLESS_ONE = (
    'unless {c}, {a}', '{a} unless {c}', '{a}, unless {c}', '{a}, but not if {c}', '{a}, except when {c}', 'if it is not so that {c}, {a}', '{a}, only not when {c}', '{a} as long as it is not the case that {c}', 'if {c}, do nothing; if not, {a}', 'if {c}, leave it, otherwise {a}', 'do nothing if {c}, else {a}', '{a}, save when {c}',
    'in any case but this - {c} - {a}', 'I want you to {a} unless {c}', 'should it not be so that {c}, {a}', '{a} if it is wrong that {c}', 'leave it if {c}; if not, {a}', 'nothing to do if {c}, but else {a}', 'except where {c}, {a}', 'stay as you are if {c}; otherwise {a}', 'not if {c}, but else {a}', 'barring that {c}, {a}',
)

# What people say instead of a value, by the kind of the argument.
VAGUE: dict[str, tuple[str, ...]] = {
    'place': ('that place', 'the usual place', 'somewhere', 'the place we talked about', 'the other one', 'you know where', 'the place I told you', 'it', 'there', 'over there', 'somewhere else', 'the same place as always', 'that room', 'the room', 'the other room', 'the next one', 'the one on the left', 'where I said', 'where you were told', 'where they want it', 'that spot', 'some place',
              'the right place', 'my favourite place', 'the place you know', 'the place from yesterday', 'the agreed place', 'the correct one', 'another place', 'the other side', 'that corner you know', 'the location', 'its place', 'the spot', 'one of the rooms', 'the first one', 'the last one', 'that one', 'this one'),
    'object': ('that', 'the thing', 'it', 'something', 'that one', 'the usual one', 'the other one', 'you know what', 'the one I like', 'this', 'this one', 'them', 'one of those', 'one of them', 'the same thing as always', 'what I told you', 'what we talked about', 'the right one', 'my thing', 'that stuff', 'the stuff', 'the item', 'some of it', 'another one', 'the first one', 'the last one',
               'the next one', 'those', 'these', 'the correct one', 'the one from yesterday', 'his thing', 'what you know', 'the object', 'the one they want', 'the thing over there', 'the big one', 'the small one', 'that thing you know', 'the one on the left', 'the one I mean'),
    'person': ('somebody', 'someone', 'the person', 'you know who', 'that guy', 'one of them', 'him', 'her', 'them', 'the one I told you', 'that person', 'the other one', 'the usual person', 'some person', 'the guy', 'the lady', 'the man there', 'the right person', 'the person from yesterday', 'my friend', 'that woman', 'whoever it was', 'the one we talked about', 'the same person as always'),
    'number': ('some amount', 'a certain amount', 'the usual amount', 'as much as I told you', 'you know how much', 'a bit', 'a little', 'some', 'quite a lot', 'the right amount', 'as always', 'the same as always', 'the usual value', 'enough', 'a few', 'that much', 'so much', 'the amount we agreed on', 'what I said', 'something suitable', 'a suitable value', 'some more', 'a reasonable amount', 'the value from yesterday', 'a certain number', 'the correct value'),
}
VAGUE |= {'surface': VAGUE['place'], 'places': VAGUE['place'], 'objects': VAGUE['object'], 'plural': VAGUE['object'], 'code': VAGUE['object'], 'choice': VAGUE['object'], 'integer': VAGUE['number']}
# What stands where the rest of the sentence broke off; {s} is its beginning.
BROKEN_OFF = ('{s}', '{s}', '{s}...', '{s} ...', '{s}, er', '{s}, hm', '{s} - no, wait', '{s}, you know', '{s} -', '{s}, let me think', '{s} uh', '{s}. I forgot the rest', '{s}, what was it called', '{s}, I cannot remember the name', '{s}, sorry, one moment', '{s} um', '{s} well', '{s}, I will tell you in a second')
# A tool asked for without what it needs; {t}: its name.
BARE_CALLS = (
    'call {t}', 'use {t}', 'run {t}', 'start {t}', 'please {t}', 'do {t}', 'execute {t}', 'now {t}', '{t}', '{t}, please', 'I want {t}', 'I would like {t} now', 'time for {t}', 'go for {t}', 'launch {t}', 'do the {t} thing', 'let us have {t}', 'we need {t}', '{t} again with something else', 'begin {t}', 'trigger {t}', 'can you do {t}?', 'is it possible to {t}?', 'start with {t}', '{t} now',
    'apply {t}', 'perform {t}', 'make a {t} call', 'one {t}, please', 'next: {t}', 'it is time to {t}', 'your task: {t}', 'just {t}', 'try {t}', 'what about {t}?', 'give me {t}', 'activate {t}', 'carry out {t}', 'switch to {t}', '{t} it is',
)
INDIRECT = (
    'I would like you to {a}', 'I want you to {a}', 'it would be nice if you could {a}', 'you should {a}[ now|]', 'I need you to {a}', 'maybe you could {a}', 'we need you to {a}', 'you have to {a}', '{person} wants you to {a}', '{person} asks you to {a}', '{person} said that you should {a}', '{robot}, {a}', '{robot}, could you {a}?', 'hey {robot}, {a}', 'it is your turn to {a}',
    'it is time to {a}', 'your job is to {a}', 'next thing for you: {a}', 'I expect you to {a}', 'I am asking you to {a}', 'may I ask you to {a}?', 'is it possible for you to {a}?', 'I was hoping that you would {a}', 'here is what I need: {a}', 'the plan is that you {a}', 'you are the one to {a}', 'your next task, robot: {a}', 'we decided that you {a}', 'before lunch I want you to {a}', 'how about you {a}?',
    'in the name of {person}: {a}', 'as {person} wished, {a}', '{person} has no time, so {a}', 'a job for you: {a}', 'this is your order: {a}', 'be a dear and {a}', 'I would be glad if you could {a}', 'see if you can {a}', 'you can {a} now', 'nobody but you can {a}, so do it',
)

TO_SOMEBODY = (
    '{person}, do {a}', 'dear {person}, {a}', '{person}, I told you to {a}', '{person}, why do you not {a}?', '{person}, did you {a}?', '{person}, remember to {a}', '{person}, it would be kind of you to {a}', '{person}, you promised to {a}', '{person}, leave the robot alone and {a} yourself', '{person}, come here and {a}', 'you there, {person}, {a}', 'I am speaking to {person}: {a}',
    'this is for {person}, not for the robot: {a}', 'message for {person}, who will {a}', '{person} is the one to {a} this week', '{person} was told to {a}', '{person} had to {a} all morning', '{person} and the others will {a} later', '{person} always had to {a} at school', '{person} cannot {a}, he has a bad back', '{person} learned how to {a}', '{person} taught me how to {a}',
    '{person} is busy trying to {a}', '{person} is already on the way to {a}', '{person} would rather {a} alone', '{person} is paid to {a}', '{person} once tried to {a}', '{person} decided to {a} after work', '{person} hates to {a}', '{person} asked whether he may {a}', '{person} thought about how to {a}', 'I said to {person}: {a}', 'I shall {a} when I have time', 'I am going to {a} now, you can rest',
    'I managed to {a} without any help', 'I would love to {a} one day, all by myself', 'I have to {a} before I go home', 'I had no time to {a}, but that is fine', 'let me {a}', 'let me {a} myself', 'allow me to {a}', 'my brother used to {a} for a living', 'my father taught us to {a}', 'we humans will {a} this time', 'the night shift will {a}', 'the new trainee has to {a}', 'another team came to {a}', 'the other robot will {a}',
    'the plumber is here to {a}', 'the neighbours had to {a}', 'it was fun to {a} with {person}', 'it was hard to {a} in those days', 'in the film they {a}', 'people used to {a} by hand', 'children like to {a}', 'the manual explains how to {a}', 'the ad says they {a} for free', 'nobody had to {a} today', 'there was no reason to {a} yesterday', 'thanks to {person} there is nobody left who must {a}',
)
FORBID = (
    "!don't you dare {a}", '!do not {a} today', '!do not {a} any more', '!do not {a} yet', '!no, do not {a}', '!please never {a}', '!never ever {a}', '!you are not to {a}', '!you may not {a}', "!you can't {a}, it is forbidden", '!I forbid you to {a}', '!I ask you not to {a}', '!I told you not to {a}', '!try not to {a}', '!be careful not to {a}', '!make sure that you do not {a}', '!see that you do not {a}',
    '!it is not your job to {a}', '!it is not allowed to {a}', '!it would be wrong to {a}', '!there is no point in it, so do not {a}', '!better not {a}', '!you had better not {a}', '!nobody wants you to {a}', '!{person} does not want you to {a}', '!{person} says you must not {a}', '!on no account {a}', '!by no means {a}', '!in no case {a}', '!I would not like you to {a}', '!we do not want you to {a}',
    '!we do not need you to {a}', '!you have been told not to {a}', '!today nobody has to {a}, not even you', "!let's not {a}", '!let us not {a}', '!I would rather you did not {a}', '!not now, so do not {a}', '!avoid this: {a}', '!one thing you must not do: {a}', '!what you must not do is {a}', '!the rule is not to {a}', '!remember not to {a}', '!it is a bad idea to {a}, so leave it', '!hands off, do not {a}', '!leave it, you need not {a}',
    '!there will be no need to {a}', '!you can save yourself the trouble to {a}', '!I can do without it, no need to {a}', '!we changed our minds, do not {a}',
)
# A wish that is taken back.
CANCELLED = (
    '!{a}. No, forget it', '!{a} - no, leave it', '!{a}? No, not needed', '!{a}, oh no, never mind', '!{a}. Sorry, I take that back', '!{a}. Wait, do not', '!{a}... no, do not do it', '!{a}, hm, no, let it be', '!{a}. On second thought, do nothing', '!{a} - cancel that', '!{a}. Cancel that, it is done already', '!{a}, ah, it has been done, so no', '!I wanted you to {a}, but that is no longer needed',
    '!I was going to ask you to {a}, but there is no need', '!I would have asked you to {a}, but {person} did it', '!I thought of asking you to {a}; forget it', '!I almost said {a}, but no', '!earlier I wanted you to {a}, now I do not', '!you were to {a}, but that is off', '!the order to {a} is withdrawn', '!the plan to {a} was dropped', '!forget that I asked you to {a}', '!ignore my wish to {a}', '!no longer {a}',
    '!scratch that, no need to {a}', '!we wanted to have you {a}, but it is too late now', '!it is too late to {a}, so do nothing', '!{person} has done it, you do not have to {a}', '!{a}? That is done already, thanks', '!{a}? No thanks', '!you could {a}, but better do nothing', '!{a}: not today', '!{a}? Let us not', '!nothing of it: no {a}, nothing',
)
NEWS = (
    '!{person} got a new job', '!{person} married last week', '!{person} has a new {object}', '!{person} came home late', '!{person} was ill all week', '!{person} will be forty soon', '!{person} sends greetings', '!{person} is my oldest friend', '!{person} has lost weight', '!{person} is better now', '!{person} told a good story', '!{person} was on the radio', '!{person} never eats breakfast', '!{person} dreams of {object}', '!{person} writes a book about {place}',
    '!{person} has been promoted', '!{person} found {object} in the attic', '!{person} knows a lot about {object}', '!{person} is looking for {object}, but not here', '!{person} collects such things as {object}', '!{person} gave {object} to {place}', '!{place} has changed a lot', '!{place} is bigger than I thought', '!{place} was sold last year', '!{place} looks better than before', '!{place} is where I grew up', '!{place} is my favourite', '!{place} used to be a mill',
    '!{place} has new curtains', '!{place} is {n} years old', '!{place} is in all the papers', '!{place} got a prize', '!there were {n} people in {place} last night', '!there is a concert in {place} next week', '!there was a storm near {place}', '!they say that {place} is haunted', '!they are building something behind {place}', '!{object} costs {n} euros now', '!{object} is out of fashion', '!{object} reminds me of {person}', '!{object} was a gift', '!{object} came with the post', '!{object} is older than me',
    '!{object} looks like new', '!{object} is called so for a reason', '!{object} is what I always wanted', '!{object} was on sale', '!I have had {object} for {n} years', '!I was at {place} on Sunday', '!I used to live in {place}', '!I met {person} in {place}', '!I slept badly', '!I slept very well', '!I feel good today', '!I am a bit tired', '!I am hungry', '!I am new here', '!I have a headache', '!I am only passing by', '!I am just looking around', '!I am waiting for {person}', '!I am on my break',
    '!I am reading about {place}', '!I am thinking of {person}', '!I heard about it', '!I know that already', '!I read that in the paper', '!I see what you mean', '!I think so too', '!I agree', '!I do not mind', '!I had forgotten about that', '!I am glad that it worked', '!I am proud of you', '!I was afraid it would fail, but it did not', '!I trust you', '!I had a good day', '!I have no wishes', '!I want nothing', '!I need nothing at the moment', '!I will think about it', '!I will come back to you later', '!I will let you know',
    '!it is my birthday', '!it is Friday at last', '!it is a public holiday tomorrow', '!it is warmer than yesterday', '!it is getting late', '!it is very quiet today', '!it is snowing outside', '!it was a long winter', '!it was {person} who said so', '!it was worth it', '!it all went well', '!it works as it should', '!it makes me happy', '!it could be worse', '!it does not matter', '!it is not important', '!it is no problem', '!it is fine as it is', '!it is all the same to me', '!it is not your fault',
    '!we won the game', '!we lost {n} to {n2}', '!we have new neighbours', '!we were in {place} for {n} days', '!we talked about {object}', '!we are happy with you', '!we are finished here', '!we are all set', '!we got what we wanted', '!we have all we need', '!we can talk later', '!we are early', '!the sun is shining', '!the train was late again', '!the game starts at {n}', '!the meeting was short', '!the meeting is over', '!the guests have gone', '!the guests liked {place}', '!the soup was good', '!the radio plays jazz',
    '!the holidays begin next week', '!the week is nearly over', '!the price of {object} went up', '!the roof of {place} was repaired last year', '!the book about {object} is good', '!the boss is in a good mood', '!the kids are at school', '!the cat sleeps on {object}', '!the neighbour bought {object}', '!the old {object} was better', '!the news is good', '!the rest can wait', '!the rest is up to {person}', '!the job is done', '!that is very kind', '!that is kind of you', '!that is good news', '!that is sad', '!that is funny', '!that is all I wanted to say',
    '!that is enough for today', '!that is exactly right', '!that is what {person} said', '!that was quick', '!that was a good idea', '!that was easy', '!that looks good', '!that helps a lot', '!that will do', '!that makes sense', '!thank you, that is all', '!thanks for your help', '!thanks for everything', '!thanks, you can rest now', '!thanks, I have got it', '!thank you, nothing more', '!thank you so much', '!thank you for {object}', '!a thousand thanks', '!much obliged', '!you are a great help', '!you are faster than the old one', '!you are getting better', '!you did your best',
    '!you did everything right', '!you have done enough', '!you have earned a rest', '!you made {person} happy', '!you look new', '!you were very careful', '!you are my favourite robot', '!bravo', '!brilliant', '!wonderful', '!superb', '!first class', '!no more for today', '!nothing today', '!nothing special', '!no news', '!no idea', '!no wishes at the moment', '!not bad at all', '!not so important', '!good afternoon', '!good day to you', '!hello, robot', '!hi {person}', '!welcome back', '!see you on Monday', '!so long', '!take care', '!have a nice day', '!until tomorrow', '!good luck',
    '!all is quiet', '!all went according to plan', '!everything is in order here', '!everything worked out', '!everyone is happy', '!everyone has gone home', '!somebody laughed', '!somebody rang at the door of {place}', '!yes', '!yes, I know', '!yes, that is right', '!no', '!no, thank you', '!maybe later', '!right', '!I see, thanks', '!aha', '!fair enough', '!true', '!of course', '!indeed', '!well, well', '!what a coincidence', '!what a beautiful day', '!what a nice surprise', '!how nice', '!how interesting', '!oh dear', '!oh, it is you', '!too bad', '!never mind, it was a slip of the tongue',
)
# Statements that name a value of a tool and ask for nothing; {v}: the value.
MENTIONS: dict[str, tuple[str, ...]] = {
    'place': ('the carpet in {v} is new', '{v} closes at six', '{v} opens at nine on weekdays', '{v} has two windows', 'the walls of {v} are white', '{v} is on the second floor', '{v} is next to the stairs', 'there are nine people in {v}', '{v} was painted in spring', 'the lights of {v} are pretty', '{v} belongs to the other department', 'the meeting in {v} went well', '{v} holds forty people', 'I was in {v} on Sunday', 'my aunt works in {v}', '{v} was built long ago', 'I like {v}', '{v} is my favourite place', 'they took a photo of {v}', '{person} once got lost in {v}', '{v} has a nice view', 'we had lunch in {v} yesterday', '{person} told me a story about {v}', 'there was music in {v} last night', '{v} is bigger than I thought', 'the name {v} is funny', '{v} was renamed last year', 'I have never been to {v}', '{person} has been to {v} before',
              'somebody wrote an article about {v}', '{v} got a prize', 'I left {v} an hour ago', 'I came from {v}', '{person} is in {v} with a friend', 'it was crowded in {v} this morning', '{v} is nearer than I remembered', 'we used to call it {v}', 'in {v} they serve good coffee', 'the people in {v} are nice', 'I spent the morning in {v}', '{v} looks lovely', 'you were in {v} last week', 'the party in {v} was fun', 'my office used to be next to {v}', 'the clock in {v} is old', 'nothing new from {v}', 'all is well in {v}', 'I am fine here in {v}', 'I am in {v} now, just so you know'),
    'object': ('{v} is next to the window', '{v} uses little power', 'I love the colour of {v}', '{v} is made of wood', '{v} was repaired last week', '{v} weighs next to nothing', '{v} works again', '{v} is on my desk', '{v} comes with a manual', 'well done with {v}', '{v} was bought in 2019', 'my sister has {v} too', '{v} was cheap', 'I bought {v} last year', '{person} likes {v}', '{v} was a present', 'I dreamt of {v}', '{v} is older than me', 'they make {v} in Italy', 'I once lost {v}', 'I found {v} in the attic years ago', '{v} belongs to {person}', 'somebody praised {v}', '{person} asked me about {v} yesterday', 'a book was written about {v}', 'I saw {v} on television', 'the story of {v} is long', 'I am proud of {v}', '{v} cost a lot', '{v} is fine as it is', 'nothing is wrong with {v}', '{v} can stay as it is',
               'nobody complained about {v}', 'we talked about {v} at lunch', '{v} has been here for years', 'I have got used to {v}', 'I will tell you about {v} one day', '{person} drew a picture of {v}', 'I know {v} very well', 'what a fine thing {v} is', '{v} has a funny name', 'I read about {v} in the paper', '{v} made me laugh'),
    'person': ('{v} is my cousin', '{v} turned forty', '{v} was here yesterday', '{v} is a good friend', '{v} lives next door', 'I met {v} on the train', '{v} speaks four languages', '{v} sends greetings', '{v} is on holiday', '{v} likes gardening', 'I went to school with {v}', '{v} has a new car', '{v} wrote me a letter last week', 'I had a chat with {v}', '{v} was on the radio', '{v} is happy with you', '{v} laughed a lot', '{v} is as tall as I am', 'I know {v} from work', '{v} has two children', '{v} is feeling better', '{v} told a good joke', '{v} went home early', '{v} did well today'),
    'number': (),
}
MENTIONS |= {'surface': MENTIONS['place'], 'plural': MENTIONS['object'], 'code': MENTIONS['object']}
# Words of one sort: where one of them is a choice, the others are near it.
ALIKE: tuple[tuple[str, ...], ...] = tuple(tuple(line.split()) for line in """
red green blue yellow white black purple orange pink brown grey turquoise violet beige gold silver
english german french spanish italian dutch polish greek turkish russian chinese japanese korean arabic hindi swedish danish finnish latin
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
wood metal steel plastic glass paper cardboard rubber cotton wool leather stone concrete copper brass aluminium
circle square triangle oval star hexagon rectangle spiral heart cross
dog cat horse cow sheep goat pig hen duck rabbit donkey goose
coffee tea milk juice water cocoa lemonade soup beer wine
apple pear banana cherry plum grape melon orange lemon peach
bread cheese rice pasta pizza salad soup curry steak fish
waltz tango polka samba rumba swing foxtrot salsa
chess draughts poker dominoes cards bingo checkers ludo
guitar piano violin flute drum trumpet harp cello
rose tulip lily daisy orchid violet daffodil
salt pepper paprika basil oregano thyme cumin mustard
spring summer autumn winter
breakfast lunch dinner supper brunch
jazz rock pop folk opera blues reggae techno
bow nod wave clap shrug wink salute
carrots beans onions maize wheat potatoes peas radishes
""".strip().split('\n'))
