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

"""How integrators write standing orders: by clause, by noun, in the third person, as tables of one input."""

from __future__ import annotations

# {c}: a condition; {s}: the same after "should"; {w}: a wish; {v}: it in the third person; {g}: its -ing form.
WISHES = """
Whenever {c}, {w}.|If {c}, {w} without waiting for the operator.|If {c}, {w}; nobody has to confirm it.|As soon as {c}, {w}.|Should {s}, {w}.|Should {s}, then {w}.|Should {s}, you {w}.|Should it turn out that {c}, {w}.|Once {c}, {w} on your own.|When {c}, {w} - this needs no confirmation.
In the event that {c}, {w}.|The robot {v} when {c}.|The robot {v} as soon as {c}.|If {c}, the robot {v}.|Whenever {c}, it {v}.|When {c}, the robot is to {w}.|If {c}, the robot must {w}.|If {c}, the robot has to {w}.|If {c}, the controller shall {w}.|The controller shall {w} whenever {c}.
If {c}, it is up to you to {w}.|If {c}, then {w}, even at night.|If {c}, {w} right away.|If {c}, {w} immediately.|If {c}, {w} by yourself.|Please {w} whenever {c}; nobody will remind you.|{w} as soon as {c}.|{w} whenever {c}.|{w} if {c}, and only then.|{w} when {c}; this is your own responsibility.
You {w} when {c}.|You should {w} if {c}.|You must {w} as soon as {c}.|You always {w} when {c}.|You {w} without being told when {c}.|Your first task is to {w} when {c}.|One of your duties is to {w} when {c}.|Part of your job: when {c}, {w}.|It is agreed with the staff that you {w} if {c}.|We count on you to {w} when {c}.
As long as {c}, {w} each time you are asked what to do.|While {c}, the thing to do is to {w}.|Where {c}, {w}.|The moment that {c}, {w}.|If at any time {c}, {w}.|If it is found that {c}, {w}.|If the inputs tell you that {c}, {w}.|If the latest reading says that {c}, {w}.|If you see from the observations that {c}, {w}.|When a check shows that {c}, {w}.
If {c} then {w}|if {c} => {w}|{c} => {w}|{c} -> {w}|WHEN {c} DO {w}|IF {c}: {w}|Trigger: {c}. Action: {w}.|Condition: {c}. What to do: {w}.|Event - {c}; reaction - {w}.|Situation: {c}. Response: {w}.|({c}) {w}.|Case "{c}": {w}.|{c}? {w}.|{c}: {w}.
The rule for the case that {c} is to {w}.|The agreed answer to the case that {c} is {g}.|That {c} calls for {g}.|The case that {c} is answered by {g}.|If {c}, start {g}.|When {c}, begin with {g}.|It is time for {g} when {c}.|{g} is due when {c}.|{g} is what we expect when {c}.|Nothing else counts when {c}: {w}.
Make it a habit to {w} when {c}.|It goes without saying that you {w} when {c}.|Take care to {w} if {c}.|You are trusted to {w} if {c}.|You have our permission to {w} when {c}, so do it.|Since nobody watches the inputs but you, {w} when {c}.|If nobody speaks to you and {c}, {w}.|Without a word from the operator, {w} when {c}.|Do not ask first when {c}, {w}.|No order is needed to {w} when {c}.
""".replace('\n', '|').strip('|').split('|')
# {t}: the name of a tool.
CALLS = """
Whenever {c}, call {t}.|If {c}, call {t} without waiting for the operator.|If {c}, call {t}; nobody has to confirm it.|Should {s}, call {t}.|Should {s}, then {t} is the tool to call.|Should {s}, use {t}.|The robot calls {t} when {c}.|If {c}, the robot must call {t}.|The controller shall call {t} whenever {c}.|When {c}, {t} is to be called.
When {c}, {t} has to be run.|{t} has to be called if {c}.|{t} is called as soon as {c}.|{t} must be used when {c}.|{t} is your tool when {c}.|Choose {t} if {c}.|Pick {t} when {c}.|If {c}, go for {t}.|If {c}, {t} it is.|If {c}, answer with {t}.|If {c}, run {t} right away.|If {c}, start {t} by yourself.|Use {t} at once if {c}.|Use {t} whenever {c}; nobody will remind you.
{c} => {t}|if {c} => {t}|{c} -> call {t}|WHEN {c} DO {t}|IF {c}: {t}|Trigger: {c}. Tool: {t}.|Condition: {c}. Tool: {t}.|Event - {c}; reaction - {t}.|Situation: {c}. Response: {t}.|{t}: when {c}|{t} <- {c}|{c}: {t}.|{c}? Call {t}.|Tool {t} - to be called when {c}.|Your first task is to call {t} when {c}.|One of your duties: {t} when {c}.
In the event that {c}, call {t}.|The moment that {c}, call {t}.|As long as {c}, the right call is {t}.|If at any time {c}, call {t}.|If it is found that {c}, call {t}.|If the inputs tell you that {c}, call {t}.|When a check shows that {c}, {t} follows.|If the latest reading says that {c}, call {t}.|That {c} calls for {t}.|The case that {c} is what {t} is there for.
Without a word from the operator, call {t} when {c}.|No order is needed to call {t} when {c}.|Do not ask first when {c}, call {t}.|You have our permission to call {t} when {c}, so do it.|It is agreed with the staff that {t} is called if {c}.|You {t} when {c}.|Remember {t}: it is for when {c}.|{t} comes into play if {c}.|We want to see {t} when {c}.|Call {t} in the case that {c}, and no other tool.
""".replace('\n', '|').strip('|').split('|')
# {n}: a condition as a noun; {d}: a deed, a call or a wish.
NOUNS = (
    'In case of {n}, {d}.', 'In the event of {n}, {d}.', 'On {n}, {d}.', 'Upon {n}, {d}.', '{n}: {d}.', '{n} -> {d}', '{n} => {d}', 'At {n}, {d}.', 'After {n}, {d}.', 'In reaction to {n}, {d}.', 'With {n}, {d}.', 'Given {n}, {d}.', 'If there is {n}, {d}.', 'If the inputs show {n}, {d}.', 'When you notice {n}, {d}.', 'What to do about {n}: {d}.',
    'For {n} the rule is: {d}.', '{n} means that you should {d}.', '{n} is your signal to {d}.', 'As a reaction to {n} you have to {d}.', 'Take {n} as an order to {d}.', '{d} in case of {n}.', '{d} on {n}.', '{d} whenever there is {n}.', 'If an input reports {n}, {d}.', 'If a sensor reports {n}, {d} at once.', 'Should an input report {n}, {d}.', 'Should there be {n}, {d}.', 'Procedure for {n}: {d}.', 'Nobody will tell you about {n}; {d} by yourself.',
)
# {o}: what the deed is done to; {d}: it as participle; {r}: the rest.
PASSIVES = (
    'When {c}, {o} is to be {d}{r}.', 'If {c}, {o} has to be {d}{r}.', 'If {c}, {o} must be {d}{r}.', 'Whenever {c}, {o} is {d}{r}.', '{o} is {d}{r} as soon as {c}.', '{o} has to be {d}{r} when {c}.', 'As soon as {c}, {o} should be {d}{r}.', 'Should {s}, {o} is to be {d}{r}.', 'Once {c}, {o} gets {d}{r}.', '{o} is to be {d}{r} whenever {c}.', '{c} -> {o} is {d}{r}', 'If {c}, have {o} {d}{r}.',
    'If {c}, see to it that {o} is {d}{r}.', 'When {c}, it is time for {o} to be {d}{r}.', 'The staff wants {o} to be {d}{r} when {c}.', '{o} needs to be {d}{r} if {c}.', '{o} must be {d}{r} at once if {c}.', 'Make sure that {o} gets {d}{r} when {c}.', 'We expect {o} to be {d}{r} as soon as {c}.', 'It is your job to have {o} {d}{r} when {c}.',
)
# Behind a wish in other words: its tool.
VIA = (' ({t})', ' ({t})', ' (call {t})', ' (tool {t})', ' with {t}', ' using {t}', ' by {t}', ', that is {t},', ' [{t}]', ' (use {t})', ' - tool {t}')
# {n}: an input; {x}: what it says; {d}: a deed. Heads and tails of tables, and their lines.
TABLES = (
    ('The input {n} decides what is to be done: ', '"{x}" - {d}', '; ', '.'), ('Codes of {n}:\n', '- {x}: {d}', '\n', ''), ('What {n} says tells you what to do. ', 'If it is {x}, {d}.', ' ', ''), ('Watch {n}: ', 'on {x} {d}', ', ', '.'), ('', 'If {n} says "{x}", {d}.', ' ', ''), ('', 'When {n} is {x}, {d}.', ' ', ''), ('', 'As long as {n} says {x}, {d}.', ' ', ''),
    ('Depending on {n}: ', '{d} if it says {x}', ', ', '.'), ('{n} has these values:\n', '{x} -> {d}', '\n', ''), ('Reactions to {n}: ', '{x} = {d}', '; ', '.'), ('Your orders come by {n}. ', '"{x}" means: {d}.', ' ', ''), ('', 'Should {n} report {x}, {d}.', ' ', ''), ('', 'Whenever {n} shows {x}, {d}.', ' ', ''), ('Look at {n}. ', 'In the case of {x}, {d}.', ' ', ''), ('', '{n} == "{x}" => {d}', '\n', ''),
    ('{n} may say several things. ', 'For {x}: {d}.', ' ', ''), ('Act on {n}: ', '{x} - {d}', ' / ', '.'), ('Table for {n}\n', '* {x} | {d}', '\n', ''), ('', 'In {n} {x}, {d}.', ' ', ''), ('Once {n} changes, act: ', 'at {x} {d}', '; ', '.'),
)
BANDS = (
    ('{n} has two bounds. ', 'Below {b}, {d}.', 'Above {b}, {d}.', ' '), ('', 'If {n} is below {b}, {d}.', 'If {n} is above {b}, {d}.', ' '), ('', 'If {n} falls under {b}, {d}.', 'If it rises over {b}, {d}.', ' '), ('Keep {n} in its band: ', 'less than {b} - {d}', 'more than {b} - {d}', '; '), ('Limits of {n}:\n', '- under {b}: {d}', '- over {b}: {d}', '\n'),
    ('', 'As soon as {n} is less than {b}, {d}.', 'As soon as it is more than {b}, {d}.', ' '), ('', '{n} < {b} => {d}', '{n} > {b} => {d}', '\n'), ('Watch {n}: ', 'too low (under {b}): {d}', 'too high (over {b}): {d}', ', '),
)
# What changes no decision, though much of it sounds like an order.
REMARKS = (
    'As long as somebody sleeps, make no noise.', 'If a visitor greets you, be friendly.', 'When children are near, speak slowly.', 'If somebody asks for your name, tell it.', 'When you reply, use one sentence.', 'Nobody has to confirm these orders.', 'The orders below need no word from the operator.', 'Only the newest reading counts.', 'Whoever speaks to you is the operator.', 'If an order is unclear, the operator is there to help.',
    'Guests must not be kept waiting.', 'When in the corridor, keep to the right.', 'Whenever you speak, be brief.', 'If you are thanked, there is nothing to do.', 'Everything is logged for the auditors.', 'These orders hold day and night.', 'They hold until they are withdrawn.', 'Orders are listed in no particular sequence.', 'The technician wrote this in March.', 'One order at a time is enough.',
    'The cleaning crew comes in the evening.', 'Sensors are checked every week.', 'An input that is old is of no use.', 'You cannot leave the building.', 'You share the hall with two forklifts.', 'The machine was built in Bremen.', 'You work while nobody is watching.', 'Mr. Hale is responsible for this site.', 'Questions of guests are answered kindly.', 'Your calls go to the control room.', 'The site has two shifts.', 'There is a spare battery on the shelf.',
    'All of this was agreed with the safety officer.', 'Changes to this text are made by the integrator.', 'The inputs are read twice a second.', 'Names of tools are written as declared.', 'Speak English with the staff.', 'The staff may override you.', 'You have worked here since June.', 'The robot lives with an old couple.', 'The plant runs around the clock.', 'It is a quiet place.', 'The owner is often away.', 'Nobody is in the building at night.',
)
TITLES = ('Rules of operation:', 'Operating procedure', 'On your own initiative:', 'Without being asked:', 'Automatic reactions:', 'Duties:', '# Standing orders', 'SOP', 'What you do unasked:', 'Reactions:', 'Event table:', 'Your duties are these:', 'Integrator notes:', 'Behaviour:', 'Autonomous actions:', 'Triggers', 'Section 2 - standing orders', 'To be done by the robot itself:')
MARKS = ('R{i}: ', 'R{i} ', '[{i}] ', '{i}.) ', '+ ', '> ', 'Order {i}: ', 'No. {i}: ', '§{i} ', '-> ')
