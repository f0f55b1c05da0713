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

"""Remarks on what a tool's description names: its age, its price, who likes it; nothing is asked."""

from __future__ import annotations

import re

from demo_data import speech
from demo_data import values
from demo_data import words
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action

_NOUN = re.compile(r'\b(?:the|a|an|its) ([a-z]{4,})(?= (?:of|in|on|from|so|and|at|with|to|that|is|into|for|between|by|or|when)\b|[.,:;]|$)')
_VAGUE = frozenset('robot thing item place tool object pose time area person position speed name target value sentence request message amount number kind side unit other same right left front rear top bottom while direction base hour'.split())
# {x}: the thing; {p}: a person. Nobody could take these for a wish.
_FRAMES = tuple(line.strip() for line in """
the {x} [is|was] [older than I am|from my grandmother|a present from {p}|a bargain|made in [Italy|Korea|Sweden|Brazil|Poland]|older than this building|not cheap]
[{p}|my uncle|the boss|our trainee|a colleague|the neighbour] [paid for|chose|ordered|designed|found|recommended|inherited|photographed|drew|insured] the {x}
the {x} [reminds me of|looks like one from|is the same as in] [my childhood|the old days|a film|the other branch|a museum]
I [like|love|adore|hate|dislike|never liked|got used to] [the|that|this] {x}
[{p}|my sister|the inspector|a visitor] [likes|praised|admired|laughed at|asked me about|wrote about|dreams of|knows all about] the {x}
[nice|lovely|strange|fancy|impressive] {x}, [isn't it|that one|don't you think]
the {x} [won a prize|was in the newspaper|is famous here|has a long history|has a name, we call it {p}]
the {x} and I [are old friends|go back a long way|do not get along]
we [bought|got|built|installed|found|rented|tested|insured] the {x} [last year|in spring|ten years ago|before the war|when {p} was boss|in {n} minutes|on a Monday]
the {x} [was|has been] [checked|repaired|serviced|measured|cleaned|painted|replaced|inspected] [yesterday|last week|this morning|by {p}|by the night shift], [all is well|it is fine|so that is done|no complaints]
[everything|all] [is|looks] [fine|in order|as it should be] with the {x}
nothing is wrong with the {x}
the {x} [works|is doing|looks|is] [fine|well|perfect|as always|as good as new]
there was [a film|an article|a song|a lecture|a joke] about a {x} [last night|on the radio|yesterday]
[yesterday|last year|once|on Monday] {p} [fell asleep by|tripped over|sang to|took a picture of|forgot] the {x}
in [Japan|France|my country|the old place|our other house] [the {x} is different|they have another {x}|nobody has a {x}]
the {x} [costs|cost] more than [my car|a house|I earn|you think]
the {x} [weighs|weighed] {n} kilos, [they say|I read|{p} says]
{p} [works|used to work|trained] with [a|another|the same kind of] {x} [in Leeds|abroad|at sea|somewhere else]
my [son|daughter|dentist|landlord|aunt] has a {x} [too|at home|as well|as a hobby]
[once|years ago|in the beginning] there was no {x}, [can you imagine|we managed|those were the days]
[people|visitors|children|tourists] [always|often|sometimes] [stare at|ask about|take pictures of|talk about] the {x}
[I know|everybody knows|{p} knows] [nothing|all there is to know|a lot] about the {x}
the word {x} [is older than I thought|comes from Latin|is hard to spell|sounds funny]
[that|this] {x} [is the third one|was the first of its kind|is the pride of {p}|has seen better days, but it does its job]
the {x} is [not mine|on loan|a copy|rented|under warranty|nothing to worry about|bigger than it looks in pictures|the best part of this place]
[it was {p} who|the company that] [built|sold us|paid for|invented] the {x} [retired|is on holiday|went bankrupt|moved to Spain]
[we talked|they talked|I read] about the {x} [at lunch|in the meeting|for an hour|all evening]
[thanks|thank you] for [what you did with|looking after|taking care of] the {x}
{p} will [look after|take over|inspect|admire|paint|sell] the {x} [next week|in summer|some day|when the money is there]
a new {x} [is planned|is on its way|comes next year|was ordered by {p}]
[from here|from my window] I can [almost |]see the {x}
the {x} [gets its own room|moves to another building|will be in the brochure] [next year|soon|in spring]
without the {x} [we would be lost|this job would be dull|nothing went well in the old days]
so this is the {x} [{p} told me about|I heard of|from the brochure]
""".strip().splitlines())


def remark(m: CaseMaker) -> Case | None:
    """Say something about a thing that a tool works with, which asks for nothing."""
    rng = m.rng
    nouns = [noun for tool in m.book.tools for noun in _NOUN.findall(tool.declaration.description.lower()) if noun not in _VAGUE]
    if not nouns:
        return None
    person = rng.choice(words.PEOPLE) if rng.random() < 0.4 else values.person(rng)
    frame = rng.choice(_FRAMES).replace('{x}', rng.choice(nouns)).replace('{p}', person)
    return Case('chat', m.say(speech.free(rng, f'!{frame}'), noise=0.5, polite=False), no_action(IDLE))
