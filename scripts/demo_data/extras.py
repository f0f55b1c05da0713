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

"""
Arguments that any skill may have besides its own: flags, choices, lists and numbers.

Most are composed, so that what they mean stands in their description alone.
"""

from __future__ import annotations

from dataclasses import replace
import random

from demo_data import rare
from demo_data.skills import Arg
from demo_data.skills import Skill

# names; description; said when true; said when false
_FLAGS = tuple(tuple(part.split('|') for part in line.split(';')) for line in """
lights|lamps_on|with_light|lit;Whether the lights are on meanwhile.|True: with the lights on.|Light during the task.;with the lights on|lights on|and keep it lit|with light;with the lights off|lights off|in the dark|without any light
silent|quiet|mute|no_sound;Whether to make no sound.|True to be silent.|Suppress all sounds.;without a sound|silently|and be quiet about it|in silence;with sound|you may be noisy|and let it be heard|not silently
report|notify|send_report|tell_after;Whether to report afterwards.|True to send a report.|Report when it is over.;and report afterwards|with a report|and write a report|and let me know after it;without a report|no report needed|but spare me the report|and do not report
dry_run|simulate|pretend|test_only;Only simulate it.|True: a test without effect.|Whether it is a rehearsal.;as a dry run|only as a test|but just simulate it|as a rehearsal;for real|not as a test|no simulation|in earnest
return_after|come_back|go_home_after;Come back when it is done.|Whether to return afterwards.|True to return at the end.;and come back|and return afterwards|then come back to me, all in one go|with the way back;and stay there|without coming back|one way only|and do not return
photo|take_picture|snapshot|with_photo;Take a photo of it.|Whether a picture is made.|True to document it by a photo.;and take a photo of it|with a picture|and snap it|with a photo;without a photo|no pictures|and take no photo|but without any picture
careful|gentle|cautious|soft;Whether to be careful.|True for extra care.|Do it with great care.;carefully|with great care|and be careful|with caution;no special care needed|you need not be careful|roughly is fine|without special care
urgent|rush|high_priority|now_first;Whether it comes before other jobs.|True if it is urgent.|Jump the queue.;it is urgent|with priority|before everything else|urgently;it is not urgent|without priority|there is no rush with it|when its turn comes
wait|blocking|wait_until_done|hold_on;Wait until it is over.|Whether to wait for the end.|True to block until finished.;and wait until it is over|and wait for the end|waiting until it has finished|and block until then;and do not wait for it|without waiting|no need to wait for the end|and do not block
confirm|ask_first|needs_ok|double_check;Ask for confirmation before.|Whether somebody must confirm.|True: only after a confirmation.;with a confirmation|but have it confirmed before|and ask for an ok before|after a confirmation;without confirmation|no confirmation needed|nobody has to confirm it|without asking anyone
log|record|keep_log|write_down;Whether to log it.|True to record what happens.|Keep a log of it.;and log it|and record it|with a log|and keep a record;without a log|and do not log it|off the record|no record of it
cover|covered|keep_closed|lid_on;Whether the cover stays on.|True: with the cover on.|Keep the lid closed.;with the cover on|with the lid closed|covered|keep the lid on;with the cover off|without the lid|uncovered|leave the lid off
all|everything|complete|whole;Whether all of it is meant.|True for the whole of it.|Do it completely.;completely|all of it|the whole of it|from beginning to end;not all of it|only a part of it|just partly|not the whole of it
heated|warm|with_heat|heater;Whether it is heated.|True: with the heater on.|Heat it meanwhile.;heated|with the heater on|warm|and heat it;not heated|with the heater off|cold|without heat
reverse|backwards|inverted;Do it the other way round.|Whether the order is reversed.|True for the reverse direction.;in reverse|the other way round|backwards|in reverse order;not in reverse|the normal way round|in the usual order|not backwards
sealed|locked|secure|shut_after;Whether it is locked afterwards.|True to lock it at the end.|Seal it when done.;and lock it afterwards|and seal it|sealed|with a lock at the end;but leave it unlocked|unsealed|without locking it|and do not lock it
knock|ring_first|knock_first;Knock before entering.|Whether to knock.|True to knock first.;and knock first|but knock before|with a knock|knock, please;no need to knock|without knocking|and do not knock|just walk in
brake|keep_brakes|brakes_on;Keep the brakes on.|Whether the brakes are used.|True: brakes applied.;brakes on|with the brakes on|and use the brakes|brakes applied;brakes off|with the brakes off|release the brakes|no brakes
music|with_music|play_tune;Music meanwhile.|Whether a tune plays.|True for music.;with music|play a tune with it|music on|to music;without music|no music|music off|leave the tune out
gloves|wear_gloves|with_gloves;Wear gloves.|Whether gloves are worn.|True: with gloves on.;with gloves|gloves on|and wear gloves|gloved;without gloves|bare-handed|no gloves|gloves off
windows|open_windows|air_it;Windows open.|Whether the windows are open.|True to open the windows.;with open windows|windows open|and let air in|open the windows for it;windows shut|with the windows closed|keep the windows closed|no open windows
alarm|arm_alarm|with_alarm;Alarm on.|Whether the alarm is armed.|True arms the alarm.;with the alarm on|alarm on|and arm the alarm|alarm armed;with the alarm off|alarm off|do not arm the alarm|no alarm
overwrite|replace_old|force;Overwrite what is there.|Whether old data is replaced.|True to overwrite.;and overwrite the old one|overwriting what is there|force it|replace the old one;and keep the old one|without overwriting|do not overwrite anything|leave the old one alone
once|single|only_once;Do it only once.|Whether it is done a single time.|True: no repetition.;only once|just one time|a single time|once and no more;again and again|repeatedly|more than once|not only once
recursive|with_parts|include_all;Include all parts.|Whether parts count as well.|True to go into the parts.;with all its parts|parts included|including the parts|and everything in it;without its parts|parts excluded|not the parts|only itself
visible|show_it|on_display;Whether people see it.|Show it openly.|True: shown to all.;for all to see|openly|visibly|in plain view;out of sight|hidden|where nobody sees it|not visibly
guests|public|for_guests;Whether guests may come.|Guests allowed.|True: open to guests.;guests welcome|with guests|open to everybody|guests allowed;no guests|without guests|staff only|closed to guests
fragile|handle_softly|delicate_load;The load is fragile.|Whether it may break.|True for fragile things.;it is fragile|it may break|mind that it breaks easily|fragile;it is not fragile|it cannot break|nothing fragile|unbreakable
insured|with_insurance|covered_risk;Whether it is insured.|Take out insurance.|True: insured.;insured|with insurance|and insure it|insurance yes;uninsured|without insurance|no insurance|insurance no
refill|top_up_after|fill_again;Refill afterwards.|Whether it is filled again.|True to refill.;and refill it|fill it up again after|with a refill|and top it up;no refill|without refilling|and leave it empty|do not refill it
autopilot|self_drive|automatic;Use the autopilot.|Whether it runs by itself.|True: automatic.;on autopilot|automatically|by itself|in automatic operation;by hand|manually|without the autopilot|not automatically
mirror|mirrored|flip_sides;Mirror it.|Whether left and right are swapped.|True: sides swapped.;mirrored|sides swapped|with left and right swapped|as in a mirror;not mirrored|sides as they are|unmirrored|without swapping sides
filter|with_filter|filtered;Use the filter.|Whether the filter is in.|True: filter in place.;with the filter|filter in|filtered|through the filter;without the filter|filter out|unfiltered|bypassing the filter
sample|take_sample|keep_sample;Keep a sample.|Whether a sample is kept.|True to take a sample.;and keep a sample|with a sample|and take a sample of it|sample included;no sample|without a sample|and take no sample|skip the sample
share|shared|with_others;Share the result.|Whether others get it too.|True to share.;and share it|shared with all|and let the others have it|for everybody;and keep it private|not shared|without sharing it|just for us
warmup|preheat|warm_first;Warm up first.|Whether to preheat.|True: preheated.;with a warm-up|preheated|warm it up first|after warming up;without a warm-up|not preheated|from cold|skip the warm-up
skip_spin|no_spin|omit_spin;Leave out the spinning.|True: no spin.|Whether spinning is skipped.;no spinning|and skip the spin|without a spin|leave the spin out;and spin it too|with a spin|give it a spin as well|spinning included
skip_check|no_check|unchecked;Leave out the check.|True: nothing is checked.|Whether the check is skipped.;and skip the check|without checking|no check needed|spare me the check;and check it as well|with a check|check it too|do not skip the check
no_lights|lights_off|dark;Keep the lights off.|True: no lights.|Whether the lights stay off.;no lights|keep it dark|with the lights out|in darkness;with lights|lights on|have the lights on|let there be light
no_horn|quiet_mode|mute_horn;Do not honk.|True: the horn is silent.|Whether honking is forbidden.;no honking|without the horn|keep the horn quiet|do not honk;honk if you must|honking is fine|use the horn|with the horn
without_cover|leave_open|no_lid;Leave it uncovered.|True: no cover.|Whether it stays open.;without a cover|leave it open|uncovered|no lid on it;cover it|with a cover|put the lid on|close it up
disable_filter|bypass_filter|no_filter;Bypass the filter.|True: unfiltered.|Whether the filter is off.;unfiltered|bypass the filter|without filtering|no filter;filtered|with the filter in|filter it|use the filter
no_wait|dont_wait|skip_wait;Do not wait.|True: go on at once.|Whether waiting is skipped.;without waiting|do not wait|go on at once|no waiting;and wait|waiting for it|wait for it first|with the wait
ignore_order|any_order|unordered;Any order will do.|True: order does not matter.|Whether the order is free.;in any order|the order does not matter|as they come|never mind the order;in that order|one after the other as I said|keep to the order|the order matters
keep_wet|stay_wet|no_drying;Do not dry it.|True: it stays wet.|Whether drying is left out.;leave it wet|no drying|without drying it|it may drip;dry it too|and dry it|with drying|dry it afterwards
shoes_off|barefoot|no_shoes;Take the shoes off.|True: without shoes.|Whether shoes come off.;barefoot|in socks|without shoes|shoes off;keep the shoes on|with shoes on|in boots|shod
steam|with_steam|use_steam;Use steam.|True: with steam.|Whether steam is used.;with steam|steam it|let it steam|steamy;dry|without steam|no steam|steam off
bolted|keep_bolted|fasten;Keep it bolted.|True: bolted.|Whether the bolts stay in.;bolted|with the bolts in|fasten it|keep it bolted down;unbolted|it must not stay bolted|take the bolts out|bolts out
skip_rinse|no_rinse|omit_rinse;Leave out the rinsing.|True: nothing is rinsed.|Whether the rinse is skipped.;and skip the rinse|no rinsing|rinsing is not necessary|do not bother to rinse;and rinse as well|with a rinse|rinse it too|do not skip the rinse
keep_door_open|door_open|hold_door;Whether the door stays open.|True: the door is not shut.|Leave the door open.;and leave the door open|the door may stay open|do not shut the door|door open, please;and shut the door behind you|with the door closed|door shut, please|do not leave the door open
heavy_first|big_first|largest_first;Begin with the heavy ones.|Whether the heaviest come first.|True: heaviest first.;heaviest first|start with the heavy ones|the heavy stuff comes first|beginning with the heaviest;lightest first|start with the light ones|the heavy ones come last|not the heavy ones first
uninterrupted|no_breaks|nonstop;Without breaks.|Whether it goes on without a break.|True: no pauses.;without a break|in one go|no pauses|non-stop;with breaks|pauses are fine|take breaks in between|not all in one go
polite|courteous|say_please;Whether to be polite.|Use polite words.|True for good manners.;politely|mind your manners|be nice about it|in a friendly way;never mind the manners|no need to be polite|bluntly|spare the niceties
at_night|overnight|night_mode;Whether it happens at night.|True: during the night.|Do it overnight.;overnight|during the night|while everybody sleeps|at night;in the daytime|by day|not at night|not overnight
paid|charge_customer|billable;Whether it costs money.|True: put it on the bill.|Bill it.;on the bill|they pay for it|charge them for it|put it on their account;free of charge|for nothing|on the house|they need not pay for it
wet|damp|use_water;Whether water is used.|True: wet.|Work with water.;wet|with water|use plenty of water|damp;dry|no water|keep it dry|do not use any water
disarm_sensor|ignore_sensor|sensor_off;Ignore the sensor.|True: the sensor is not heeded.|Whether the sensor is switched off.;ignoring the sensor|disarm the sensor|pay no heed to the sensor|with the sensor off;heed the sensor|leave the sensor armed|with the sensor on|do not ignore the sensor
hide_name|anonymous|unnamed;Leave the name away.|Whether the name is hidden.|True: nobody learns the name.;anonymously|do not mention the name|the name stays secret|without a name on it;with the name on it|the name may be known|put the name on it|not anonymously
gift|wrap_up|as_present;Whether it is a present.|Wrap it up.|True: as a gift.;as a present|it is a gift|nicely wrapped|wrap it up, please;not a present|no wrapping|it need not be wrapped|unwrapped
lid|with_lid|put_lid;Put a lid on.|Whether it gets a lid.|True: with a lid.;pop a lid on|with a lid, please|lid on|it needs a lid;no lid, thanks|forget the lid|lid off|it needs no lid
spare_corners|skip_corners|no_corners;Leave out the corners.|Whether corners are skipped.|True: not in the corners.;but not the corners|leave the corners out|skip the corners|corners are not needed;and the corners too|mind the corners|do the corners as well|with all corners
eco|save_power|low_energy;Whether to save energy.|True: economical.|Use little power.;save energy|on the economy setting|use as little power as you can|economically;full power is fine|no need to save energy|energy does not matter|at normal consumption
allow_spill|may_drip|drip_ok;Whether spilling is allowed.|True: drops do not matter.|It may drip.;a few drops are fine|spilling does not matter|it may drip|never mind the drips;not a drop spilled|it must not drip|no dripping|without spilling any
stay_inside|indoors|inside_only;Stay indoors.|Whether to remain inside.|True: never outside.;stay inside|indoors only|do not go outside|within the building;you may go outside|outdoors too|outside is fine|not just indoors
announce|tell_before|warn_people;Warn people before.|Whether it is announced.|True: announce it.;tell everybody before|give a warning first|with an announcement|warn the people;unannounced|no need to tell anybody|without a warning|do not warn anyone
reuse|used_ok|second_hand;Take used material.|Whether used parts will do.|True: used ones.;a used one will do|take used ones|second-hand is fine|reuse the old material;only new ones|nothing used|with new material|brand-new, please
face_mask|mask|with_mask;Whether a mask is worn.|True: mask on.|Wear the mask.;with a mask|mask on|wear your mask|masked;mask off|no mask needed|unmasked|you can do without the mask
tidy|tidy_after|clean_up;Tidy up afterwards.|Whether to clean up at the end.|True: leave it tidy.;and tidy up|leave it tidy|and clean up after yourself|with the cleaning up;no need to tidy up|leave the mess|you need not clean up|do not bother to tidy
inform_owner|tell_owner|owner_informed;Tell the owner.|Whether the owner is told.|True: the owner hears of it.;and let the owner know|the owner should hear of it|tell the owner|with word to the owner;the owner need not know|keep it from the owner|not a word to the owner|do not tell the owner
shuffle|random_order|mixed;In random order.|Whether the order is mixed.|True: shuffled.;shuffled|in any old order|mix up the order|at random;in the given order|one after another as listed|not shuffled|keep the order
loop|forever|endless;Go on without an end.|Whether it repeats.|True: until stopped.;on and on|over and over|until I say stop|in a loop;just the one time|one pass only|no repeats|not in a loop
""".strip().split('\n'))
# names; description; choices as `choice=said/said`
_CHOICES = tuple(tuple(line.split(';')) for line in """
priority|prio|rank;How important it is.|Place in the queue.;low=with low priority/when there is nothing better to do;normal=with normal priority/as an ordinary job;high=with high priority/as a top job
effort|strength|intensity;How strongly.|Effort to make.;light=lightly/with little effort;medium=with medium effort/moderately;strong=strongly/with much effort
pace|tempo|speed_class;How fast it is done.|The pace.;slow=slowly/at a slow pace;normal=at a normal pace/at medium speed;fast=fast/at a fast pace
side|edge|which_side;From which side.|The side to start at.;left=from the left/starting on the left;right=from the right/starting on the right
hand|arm|limb;Which hand does it.|The hand to use.;left=with the left hand/left-handed;right=with the right hand/right-handed;both=with both hands/two-handed
sound|signal|tone;Signal at the end.|What is heard when it is done.;beep=with a beep/and beep at the end;bell=with a bell/and ring a bell at the end;none=without a signal/and no signal at the end
quality|detail|grade;How exactly.|Grade of the result.;draft=in draft quality/as a draft;fine=in fine quality/very finely;best=in the best quality/as well as you can
""".strip().split('\n'))
_NUMBERS = (
    (('repeat', 'times', 'count', 'rounds'), ('How often.', 'Number of rounds.'), '', 1, 12, 'x', (' {extra} times', ', {extra} times in all', ', {extra} rounds of it')),
    (('delay', 'wait_s', 'start_in'), ('Delay before it starts.', 'When to begin, from now.'), 's', 5, 900, 's', (' in {extra_u}', ' after {extra_u}', ', starting in {extra_u}')),
    (('duration', 'seconds', 'how_long'), ('How long it lasts.', 'Time to spend on it.'), 's', 5, 900, 's', (' for {extra_u}', ', it shall last {extra_u}', ' during {extra_u}')),
    (('power', 'level', 'load'), ('Power in percent.', 'How much power to use.'), '%', 5, 100, '%', (' at {extra_u} power', ' with {extra_u} of the power', ', power {extra_u}')),
    (('margin', 'clearance', 'gap'), ('Distance to keep.', 'Clearance.'), 'm', 0.1, 3, 'm', (' with {extra_u} of clearance', ', keeping {extra_u} away', ' at a distance of {extra_u}')),
)
_LISTS = (' with {extra}', ' together with {extra}', ', and mind {extra}', ' along with {extra}', ', using {extra}')


_WITH = (
    'with the {t}', 'using the {t}', 'and use the {t}', 'by means of the {t}', '{t} on', 'with {t}', 'the {t} included', 'including the {t}', 'and switch the {t} on', 'the {t} should be on', 'plus the {t}', 'the {t} too', 'and do not forget the {t}', 'mind to use the {t}', 'with the {t} switched on', 'take the {t} for it',
    '{t}: yes', 'yes to the {t}', 'I want the {t} with it', 'employing the {t}', 'and put the {t} to use', 'and the {t} as well', 'together with the {t}', 'with its {t}', 'the {t} is wanted', 'enable the {t}',
)
_WITHOUT = (
    'without the {t}', 'but not with the {t}', 'and do not use the {t}', 'no {t}', '{t} off', 'without {t}', 'leave out the {t}', 'leaving out the {t}', 'and switch the {t} off', 'the {t} should be off', 'minus the {t}', 'except for the {t}', 'not the {t}', 'skip the {t}', 'with the {t} switched off', 'spare the {t}',
    '{t}: no', 'no need for the {t}', 'I do not want the {t} with it', 'avoiding the {t}', 'and let the {t} rest', 'we can do without the {t}', 'never mind the {t}', 'forget about the {t}', 'the {t} is not wanted', 'disable the {t}', 'the {t} is not needed',
)


def argument_names() -> set[str]:
    """Return the names that listed arguments may have."""
    return {n for names, *_ in _FLAGS for n in names} | {n for names, *_ in _CHOICES for n in names.split('|')} | {n for names, *_ in _NUMBERS for n in names}


def choices() -> set[str]:
    """Return the choices that are listed here."""
    return {each.partition('=')[0] for _, _, *found in _CHOICES for each in found}


def extended(rng: random.Random, skill: Skill, *, only_flags: bool = False) -> Skill:
    """Return a skill with one more argument, or the same where none fits it."""
    if not skill.says or skill.is_motion or skill.key in ('dock', 'say', 'follow') or any(a.kind in ('text', 'boolean') for a in skill.args):
        return skill
    roll = rng.random()
    if only_flags or roll < 0.5:
        return replace(skill, args=(*skill.args, _flag(rng, is_optional=rng.random() < 0.65)))
    if roll < 0.7:
        arg, phrases = _choice(rng)
    elif roll < 0.85:
        arg, phrases = _number(rng)
    else:
        names = ('items', 'extras', 'parts', 'also', 'accessories') if rng.random() < 0.7 else (rare.noun(rng), f'{rare.noun(rng)}s')
        arg, phrases = Arg('extra', 'objects', names, ('Things to use with it.', 'What to take along.', 'More things, a list.'), True), _LISTS
    plain = [t for t in skill.says if not t.startswith('!') and not t.endswith(('?', '"', '.')) and '{count}' not in t and '{time}' not in t]
    if not plain:
        return skill
    said = tuple(f'{t}{rng.choice(phrases)}' for t in rng.sample(plain, min(len(plain), max(2, len(skill.says) // 2))))
    return replace(skill, args=(*skill.args, arg), says=(*skill.says, *said))


def optioned(rng: random.Random, skill: Skill, count: int) -> list[Skill]:
    """Return tools of one deed that differ by an argument that only one of them has; fewer than two where that cannot be."""
    plain = [t for t in skill.says if not t.startswith('!') and not t.endswith(('?', '"', '.')) and '{count}' not in t and '{time}' not in t]
    if not plain or skill.is_motion or any(a.kind in ('text', 'boolean') or a.optional for a in skill.args):
        return []
    found: list[Skill] = []
    taken = {n for a in skill.args for n in a.names}
    for _ in range(3 * count):
        if len(found) == count:
            break
        phrases: tuple[str, ...] = ('',)
        if rng.random() < 0.7:
            arg = _flag(rng, is_optional=False)
        else:
            arg, phrases = _choice(rng) if rng.random() < 0.5 else _number(rng)
            arg = replace(arg, optional=False)
        if taken & {*arg.names}:
            continue
        taken |= {*arg.names}
        said = tuple(f'{t}{rng.choice(phrases)}' for t in rng.sample(plain, min(len(plain), 6)))
        found.append(replace(skill, args=(*skill.args, arg), says=said))
    return found


def _flag(rng: random.Random, *, is_optional: bool) -> Arg:
    if rng.random() < 0.45:
        names, abouts, true, false = (tuple(part) for part in rng.choice(_FLAGS))
    else:
        thing = rng.choice((rare.noun(rng), rare.syllables(rng), f'{rare.adjective(rng)} {rare.noun(rng)}'))
        key = thing.replace(' ', '_').replace('-', '_')
        names = (key, f'use_{key}', f'with_{key}', f'{key}_on', 'flag', 'option')
        abouts = (f'Whether to use the {thing}.', f'True: with the {thing}.', f'Use the {thing} for it.', f'With the {thing} (true) or without.')
        true = tuple(t.replace('{t}', thing) for t in _WITH)
        false = tuple(t.replace('{t}', thing) for t in _WITHOUT)
        labels = (key.replace('_', ' '),)
        true = (*true, *(f'{label} {end}' for label in labels for end in ('true', 'yes', 'on')))
        false = (*false, *(f'{label} {end}' for label in labels for end in ('false', 'no', 'off')))
    return Arg('extra', 'boolean', names, abouts, is_optional, says_true=true, says_false=false)


def _choice(rng: random.Random) -> tuple[Arg, tuple[str, ...]]:
    if rng.random() < 0.5:
        names, abouts, *found = rng.choice(_CHOICES)
        spoken = {c: tuple(said.split('/')) for c, said in (each.split('=') for each in found)}
        return Arg('extra', 'choice', tuple(names.split('|')), tuple(abouts.split('|')), True, choices=tuple(spoken), spoken=spoken), (' {extra}', ', {extra}')
    what = rng.choice(('mode', 'program', 'profile', 'style', 'pattern', 'setting', 'variant', 'method'))
    choices = tuple(dict.fromkeys(rng.choice((rare.syllables(rng), rare.noun(rng), rare.adjective(rng))) for _ in range(rng.randint(2, 6))))
    phrases = (f' in {what} {{extra}}', f' with {what} {{extra}}', f', {what} {{extra}}', f', the {what} is {{extra}}', ' the {extra} way', f', use {{extra}} as the {what}')
    return Arg('extra', 'choice', (what, f'{what}_name', 'how', 'kind'), (f'The {what}.', f'Which {what} to use.', f'{what.capitalize()} of it.'), True,
               choices=choices, spoken={c: (c.replace('_', ' '),) for c in choices}), phrases


def _number(rng: random.Random) -> tuple[Arg, tuple[str, ...]]:
    names, abouts, _, low, high, unit, phrases = rng.choice(_NUMBERS)
    kind = 'integer' if unit == 'x' else 'number'
    return Arg('extra', kind, names, abouts, True, low=low, high=high, step=1, unit=unit), phrases
