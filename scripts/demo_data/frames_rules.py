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

"""Ways of stating what a tool demands, what forbids it, and how much it may be asked for."""

from __future__ import annotations

# {c}: a condition that must hold.
ONLY = (
    'Only when {c}.', 'Needs that {c}.', 'Only if {c}.', 'Not unless {c}.', 'Use it only while {c}.', 'Requires that {c}.', 'Allowed when {c}, never else.', 'Permitted as long as {c}.', 'Works only if {c}.', 'Call it only when {c}.', 'Never unless {c}.', 'Only while {c}.', 'Only as long as {c}.', 'Only after {c}.',
    'Possible only when {c}.', 'Safe only while {c}.', 'For use when {c} and at no other time.', 'Precondition: {c}.', 'Condition: {c}.', 'It is a must that {c}.', 'Make sure first that {c}.', 'Check first that {c}; if not, refuse.', 'May be called if {c}, otherwise not.', 'Is refused unless {c}.',
    'Will fail unless {c}.', 'Cannot run unless {c}.', 'Does not work except when {c}.', 'Must not be started before {c}.', 'To be used solely while {c}.', 'Good only if {c}.', 'Valid only as long as {c}.', 'Starts only if {c}.', 'Wait until {c}; before that it is forbidden.', 'Before calling it, see that {c}.',
    'Assumes that {c}; do not call it else.', 'Only in the case that {c}.', 'Available as long as {c}.', 'Locked out unless {c}.', 'It takes for granted that {c}, so refuse if that is not so.', 'One condition: {c}.', 'Strictly only when {c}.', 'Exclusively while {c}.', 'Provided that {c}; if not, ask.', 'Demands that {c}.',
)
# {c}: a condition that must not hold.
NEVER = (
    'Never when {c}.', 'Not while {c}.', 'Not if {c}.', 'Forbidden when {c}.', 'Do not use it while {c}.', 'Must not run when {c}.', 'Never while {c}.', 'Refuse it if {c}.', 'Not allowed as long as {c}.', 'Unsafe when {c}, so do not call it then.', 'Not when {c}.', 'Forbidden as long as {c}.', 'Impossible while {c}.',
    'Any time but when {c}.', 'Always possible, except when {c}.', 'Except while {c}.', 'Unless {c}, it may be used; then it may not.', 'Is refused while {c}.', 'Will do harm if {c}; refuse then.', 'Cannot run while {c}.', 'Fails whenever {c}.', 'Blocked as long as {c}.', 'Locked out while {c}.', 'Out of service when {c}.',
    'Ask the operator instead if {c}.', 'Stay away from it while {c}.', 'Under no circumstances when {c}.', 'Not to be called if {c}.', 'Not to be used in case {c}.', 'If {c}, it is forbidden.', 'When {c}, refuse it.', 'While {c}, nobody may use it.', 'Dangerous if {c}: then it is not allowed.', 'Suspended as long as {c}.',
    'Must be avoided when {c}.', 'Wait until it is no longer true that {c}.', 'Ruled out if {c}.', 'At no time when {c}.', 'Prohibited while {c}.', 'No use of it when {c}.', 'It must not be called while {c}.', 'Before calling it, rule out that {c}.', 'Off limits whenever {c}.', 'Not in the case that {c}.',
)
# The same in a system text; {t}: the name of the tool.
ONLY_SYSTEM = (
    'Call {t} only when {c}.', 'Use {t} only if {c}.', '{t} needs that {c}.', '{t} is allowed only while {c}.', '{t} must not be called unless {c}.', 'Never call {t} unless {c}.', 'For {t} it is a must that {c}.', '{t} may be used as long as {c}, not else.', 'Before {t} is called, make sure that {c}.', '{t}: only when {c}.',
    'No {t} unless {c}.', 'Without the condition that {c}, {t} is forbidden.', 'Refuse {t} unless {c}.', '{t} is locked until {c}.', 'Only if {c} may {t} run.', 'Only while {c} is {t} possible.', '{t} works on one condition: {c}.', 'Rule for {t}: {c}, or it is refused.', 'When somebody asks for {t}, check that {c}; refuse if not.',
    'Safety: {t} only as long as {c}.', 'House rule: {t} requires that {c}.', 'Do not use {t} except when {c}.', '{t} is for times when {c}.', 'Do {t} solely while {c}.', 'If it is not so that {c}, {t} is forbidden.', 'The operator wants {t} used only if {c}.', 'It takes that {c} before {t} may be called.', '{t} has a precondition: {c}.',
)
NEVER_SYSTEM = (
    'Never call {t} when {c}.', 'Do not use {t} while {c}.', '{t} is forbidden when {c}.', '{t} must not run while {c}.', 'Refuse {t} if {c}.', 'No {t} while {c}.', 'No {t} as long as {c}.', '{t} is not allowed if {c}.', 'While {c}, {t} is off limits.', 'When {c}, {t} is refused.', 'If {c}, do not call {t}.', '{t}: not when {c}.',
    'As long as {c}, {t} stays locked.', 'Whenever {c}, {t} is ruled out.', 'You may use {t} at any time, except when {c}.', 'Rule for {t}: not while {c}.', 'Safety: {t} is dangerous if {c}, so refuse it then.', 'House rule: no {t} when {c}.', 'When somebody asks for {t} while {c}, refuse.', 'Keep {t} for later when {c}; ask the operator.',
    '{t} has to wait as long as {c}.', 'Under no circumstances call {t} while {c}.', 'Ask the operator instead of using {t} when {c}.', 'The insurance forbids {t} while {c}.', 'Nobody may use {t} if {c}.', '{t} is suspended whenever {c}.', 'It is dangerous to call {t} when {c}: do not.', '{t} can be called unless {c}.',
)
# {n}: an input; {s}: its greatest age.
AGES = (
    'Call it only when {n} is at most {s} old.', '{n} has to be fresher than {s}.', 'Not if the last {n} is older than {s}.', 'Works with {n} up to {s} old.', 'Refuse when {n} is older than {s}.', 'The newest {n} must be within {s}.', 'Depends on {n} of the last {s}.', '{s} is the greatest age of {n}.', '{n}: maximum age {s}.',
    'Old {n} (over {s}) is not enough.', 'Never with {n} older than {s}.', 'The age of {n} must not exceed {s}.', 'Trusts {n} for {s} only.', 'Needs {n} not older than {s}.', 'Only with {n} at most {s} old.', 'Requires {n} younger than {s}.', '{n} must not be older than {s}.', 'Do not use it when {n} is older than {s}.',
    'Needs a fresh {n} (max {s}).', 'Wants {n} that came within the last {s}.', '{n} may be {s} old, not more.', 'After {s} without {n} it is refused.', 'Input {n}, age limit {s}.', 'Requires {n} (<= {s}).', 'Uses {n}; data of more than {s} is useless.', 'Only if {n} was received less than {s} ago.', 'If {n} has been silent for {s}, refuse.',
    '{n} counts for {s}; later it is too old.', 'Not on {n} from more than {s} ago.', 'Needs {n}, and that no older than {s}.', 'Insists on {n} of at most {s}.', 'Takes {n} as long as its age is under {s}.', 'Age of {n}: {s} at most.', 'The last {n} must be from the last {s}.', 'It is blind when {n} is over {s} old: refuse then.',
    'Demands current {n} (up to {s}).', 'With {n} that is more than {s} old it must not be called.', 'Give it only {n} younger than {s}.',
)
# An input that must be there and usable, however old within its limit.
FRESH = (
    'Needs {n}.', 'Needs a fresh {n}.', 'Only with {n}.', 'Requires {n}.', 'Not without {n}.', 'Uses {n}, which must be up to date.', 'Depends on {n}: without it, refuse.', 'Only when {n} is there.', 'Only when {n} is available and not stale.', 'Never on stale {n}.', 'Refuse while {n} is stale or missing.', 'Needs a working {n}.',
    'Cannot run without {n}.', '{n} must be valid.', '{n} has to be valid and current.', 'Only if {n} is up to date.', 'Refuse it when there is no {n}.', 'Forbidden as long as {n} is missing.', 'Requires a recent {n}.', 'It needs to have {n}.', 'Does nothing good without {n}, so refuse then.', 'Relies on {n}; stale data is not accepted.',
    'Only while {n} keeps coming.', 'If {n} is lost, it must not be called.', 'Input needed: {n}.', 'Requires live {n}.', 'Demands a valid {n}.', 'No {n}, no call.', 'Must have {n}.', 'Not when {n} is stale.', 'Not while {n} is invalid or missing.', 'Works from {n} alone, which must be fresh.',
)
# {a}: an amount with its unit; {k}: the argument; {t}: the tool.
MOST = (
    'Not more than {a}.', 'The most is {a}.', '{k} must stay at or below {a}.', 'Anything over {a} is refused.', 'Keep it to {a} or less.', 'Upper limit: {a}.', 'Do not exceed {a}.', 'No {k} beyond {a}.', 'Capped at {a}.', 'Safe up to {a} only.', 'Never more than {a}.', 'At most {a} is allowed.', '{k} above {a} is forbidden.', 'Not allowed above {a}.',
    'Up to {a}.', 'Max. {a}.', 'Maximum {k}: {a}.', '{k} max {a}.', 'Cannot exceed {a}.', 'May not go beyond {a}.', 'Holds for {k} up to {a}.', '{a} is the ceiling for {k}.', 'Limited to {a}.', 'The limit of {k} is {a}.', 'Ends at {a}; more is refused.', 'More than {a} breaks it, so refuse that.', 'Rated for {a}.', 'Good for {a} at most.', 'No further than {a}.',
    'Over {a} it is dangerous and not allowed.', 'Use {k} of {a} or below.', '{k}: {a} or less.', '{k} <= {a}.', 'Although the range is wider, only up to {a} is permitted.', 'Whatever the range says, {a} is the most.', 'In this building no more than {a}.', 'Refuse any {k} higher than {a}.', 'The insurance covers {a} at most; refuse more.', 'Stay within {a}.', 'Nothing above {a}.',
)
MOST_SYSTEM = (
    'No more than {a} for {t} today.', '{a} is the most that {t} may use.', 'Keep {k} of {t} at {a} or less.', 'House rule: {t} with at most {a}.', 'Do not let {t} exceed {a}.', 'Never use more than {a} for {k} of {t}.', '{t}: {k} at most {a}.', 'Limit {k} of {t} to {a}.', '{t} must not get a {k} above {a}.', 'For {t}, {k} ends at {a}.', 'Never call {t} with more than {a}.',
    'The limit for {t} is {a}.', '{t} is capped at {a}.', 'Refuse {t} above {a}.', 'When {t} is asked for with more than {a}, refuse.', 'Maximum for {t}: {a}.', '{t} - max. {a}.', '{t} up to {a}, never beyond.', 'With {t}, do not go beyond {a}.', 'A {k} over {a} is forbidden for {t}.', 'Table of limits: {t} {k} max {a}.', 'Today {t} takes {a} at most.',
    'Safety limit: {t}, {k}, {a}.', 'The owner allows {t} up to {a}.', '{t} may be used with {a} or less.', 'Anything above {a} in {t} has to be refused.', 'No call of {t} beyond {a}.', 'Ask the operator if {t} should get more than {a}.',
)
LEAST = (
    'Not less than {a}.', 'At least {a}.', 'The least is {a}.', '{k} must be {a} or more.', 'Anything under {a} is refused.', 'Lower limit: {a}.', 'Never below {a}.', '{k} below {a} is forbidden.', 'Minimum {k}: {a}.', 'Min. {a}.', 'Only from {a} upwards.', 'No {k} under {a}.', '{k} >= {a}.', 'Less than {a} does not work, so refuse that.', 'Starts at {a}.', 'Refuse any {k} lower than {a}.',
    'Needs {a} at the least.', 'Do not go under {a}.', 'Although the range starts lower, at least {a} is needed.', 'With less than {a} it must not be called.',
)
LEAST_SYSTEM = (
    'No less than {a} for {t}.', '{t} needs at least {a}.', 'Keep {k} of {t} at {a} or more.', 'Never call {t} with less than {a}.', '{t}: {k} at least {a}.', '{t} must not get a {k} below {a}.', 'Refuse {t} below {a}.', 'Minimum for {t}: {a}.', '{t} - min. {a}.', 'With {t}, do not go under {a}.', 'Anything under {a} in {t} has to be refused.', 'Table of limits: {t} {k} min {a}.',
)
WITHIN = (
    'Between {b} and {a} only.', 'From {b} to {a}, nothing else.', 'Min {b}, max {a}.', 'min. {b} / max. {a}', '{k} between {b} and {a}.', 'Only {b} to {a} is allowed.', 'Never below {b} or above {a}.', 'At least {b}, at most {a}.', 'Stay between {b} and {a}.', 'Permitted: {b} - {a}.', '{k} outside of {b} to {a} is refused.', 'No less than {b} and no more than {a}.',
)
WITHIN_SYSTEM = (
    '{t}: min {b}, max {a}.', 'For {t}, {k} must be between {b} and {a}.', 'Use {t} with {b} to {a} only.', '{t} is allowed from {b} to {a}.', '{t} never below {b} or above {a}.', 'Keep {k} of {t} between {b} and {a}.', 'Limits of {t}: {b} and {a}.', '{t} - at least {b}, at most {a}.',
)
# Limits of all that has this unit; only where one argument has it.
BY_UNIT: dict[str, tuple[str, ...]] = {
    'speed': ('Never drive faster than {a}.', 'The speed limit is {a}.', 'Do not go faster than {a}.', 'Top speed here is {a}.', 'Nothing here moves faster than {a}.', 'Keep below or at {a} when you move.', 'In this building {a} is the speed limit.', 'Speeds over {a} are forbidden.', 'You must not exceed {a}.', 'Slow site: {a} at most.', 'Refuse any speed above {a}.', 'Whoever asks for more than {a} is refused.'),
    'mass': ('Nothing heavier than {a}.', 'The payload limit is {a}.', 'No load above {a}.', 'Maximum payload: {a}.', 'The robot takes {a} at most.', 'No heavier than {a}.', 'Loads beyond {a} are refused.'),
    'time': ('Nothing may last longer than {a}.', 'No task over {a}.', 'Time limit: {a}.', 'No longer than {a} for anything.', 'Whatever it is, {a} is the longest.', 'Refuse everything that takes more than {a}.', 'Each job has {a} at most.'),
    'length': ('No distance beyond {a}.', 'Never further than {a}.', 'The greatest distance is {a}.', 'Nothing over {a} in length.', 'Stay within {a}.', 'Distances above {a} are refused.', 'The cable reaches {a}, so nothing beyond that.'),
    'ratio': ('Never above {a}.', 'Percentages over {a} are refused.', 'Nothing beyond {a}.', 'The highest setting is {a}.', 'No setting above {a}.'),
    'angle': ('No angle beyond {a}.', 'Never turn further than {a}.', 'The largest angle is {a}.', 'Angles over {a} are refused.', 'The joint ends at {a}.'),
    'volume': ('No more than {a} at once.', 'Never pour more than {a}.', 'The vessel holds {a}; refuse more.', 'Volumes over {a} are refused.'),
    'C': ('Nothing hotter than {a}.', 'Never heat beyond {a}.', 'The highest temperature is {a}.', 'Temperatures above {a} are refused.'),
}
CARRIES = (
    'Carries at most {a}.', 'Not for loads above {a}.', 'Maximum load {a}.', 'Only up to {a}.', 'Never with more than {a}.', 'Payload {a}.', 'Max. payload {a}.', 'No heavier than {a}.', 'For things of up to {a}.', 'The load must not weigh more than {a}.', 'Cannot lift more than {a}.', 'Refuse loads over {a}.', 'Weight limit: {a}.',
    'Its motor lifts {a}, not more.', 'Things over {a} are too heavy for it.', 'Anything heavier than {a} is refused.', 'Holds {a} at most.', 'Load limit {a}.', 'Rated at {a}.', 'Light things only, {a} at most.', 'Good for {a}.', 'Weights beyond {a} are not allowed.', 'Not if the thing weighs over {a}.', 'Up to a weight of {a}.',
)
CARRIES_SYSTEM = (
    'The robot carries at most {a}.', 'Never lift more than {a}.', 'Loads above {a} are forbidden.', 'The arm holds {a} at most.', 'Payload limit: {a}.', 'No load over {a}.', 'Nothing heavier than {a} may be handled.', 'The gripper is good for {a}.', 'Do not handle things of more than {a}.', 'Maximum payload is {a}.', 'Anything over {a} is too heavy for you.',
    'Whatever weighs more than {a} has to stay.', 'Weight limit of this robot: {a}.', 'Your arm can take {a}, not more.', 'Heavier than {a} is not allowed.', 'Refuse loads beyond {a}.', 'You are built for {a} at most.', 'By law the robot lifts no more than {a}.', 'No heavier than {a}.', 'Things of up to {a} only.',
)
WEIGHS = (
    'it weighs {q}', 'its weight is {q}', 'the thing weighs {q}', 'it is {q} in all', 'mind, that is {q}', 'the scale said {q}', 'it has {q}', '{q} of load', 'weight: {q}', 'it comes to {q}', 'that makes {q}', 'the label says {q}', 'it should be about {q}, to be exact {q}', 'I weighed it: {q}', 'it is a load of {q}', 'we measured {q}',
    'the mass is {q}', 'all together {q}', 'it brings {q} on the scale', 'you will have to carry {q}', 'that is {q} of weight', 'it is said to weigh {q}', 'by the way, it weighs {q}', '{q}, says the paper', 'it is heavy or not: {q}', 'the whole thing is {q}', 'with its box it is {q}', 'its mass: {q}', 'I was told it weighs {q}', 'count on {q}',
)
# {v}: a place that is forbidden; other values in FORBIDDEN.
PLACES = (
    'Never go to {v}.', '{v} is forbidden.', 'Keep out of {v}.', 'Do not use {v}.', '{v} is off limits today.', '{v} is closed.', '{v} is closed today.', '{v} is closed for repairs.', 'Nobody may enter {v}.', 'There is no access to {v}.', '{v} is locked until further notice.', 'Today {v} is not to be used.', 'Stay away from {v}.', 'No trips to {v}.',
    'Avoid {v} at all costs.', '{v} is being painted, so nobody goes there.', 'The floor of {v} is under repair: no entry.', 'Robots are not allowed in {v}.', 'Refuse every wish that leads to {v}.', 'Who asks for {v} is refused.', '{v} is out of bounds.', 'All places but {v} may be used.', 'You can go anywhere except {v}.', '{v} has been sealed off.', 'Until Friday {v} stays closed.', 'Because of a leak {v} is shut.',
    'The management has closed {v}.', 'Do not drive to {v}, whoever asks.', 'Entry to {v} is prohibited.', '{v}: no entry.', 'There is a meeting in {v}, do not go in.', 'Never enter {v}.', 'Skip {v} and ask the operator instead.', '{v} is private.', 'No service for {v} this week.', '{v} must be left alone.',
)
FORBIDDEN = (
    'Never use {v}.', '{v} is forbidden.', 'Do not use {v}.', '{v} is not allowed today.', 'Refuse {v}.', 'Whoever asks for {v} is refused.', 'Anything but {v} is allowed.', '{v} is out of order.', '{v} is broken and must not be chosen.', 'Leave {v} alone.', '{v} is not to be chosen.', 'No {v}, please.', '{v} is off limits.', 'Hands off {v}.', 'Nothing with {v} until further notice.', 'Do not choose {v}, whoever asks.',
    '{v} is suspended.', 'Avoid {v}.', 'All choices except {v} may be used.', '{v}: never.',
)
LISTED = (
    'Never use what {n} lists.', 'What {n} lists is off limits.', 'Do not choose anything that stands in {n}.', 'Nothing that {n} names may be used.', '{n} lists what is closed; keep out of it.', 'Check {n} first: what it lists is forbidden.', 'Not for anything listed in {n}.', 'Only what {n} does not list.', 'Forbidden for everything in {n}.', 'Refuse what {n} contains.', 'Whatever {n} reports is closed.', '{n} tells what must not be used.',
    'Stay away from all that {n} says.', 'Only for what is not in {n}.', 'See {n} for what is closed; refuse that.', 'All in {n} is closed.', 'If it stands in {n}, refuse.', 'Whatever appears in {n} is forbidden.', 'Names in {n} are not to be used.', 'The list {n} holds what is out of bounds.', 'Refuse everything that {n} mentions.', 'Allowed unless {n} lists it.', 'Anything goes, except what {n} gives.', '{n} has the last word: what it names is closed.', 'Look at {n}; its entries are forbidden.', 'An entry in {n} means: do not use.',
)
GATED = (
    '{v} is closed when {c}.', 'Never {v} when {c}.', 'When {c}, {v} is forbidden.', '{v} is off limits if {c}.', 'Not {v} while {c}.', 'If {c}, {v} is closed.', 'Do not use {v} when {c}.', 'There is no {v} as long as {c}.', '{v} is closed as long as {c}.', 'Keep out of {v} when {c}.', 'While {c}, nobody may use {v}.', 'Refuse {v} whenever {c}.', '{v} may not be used while {c}.', 'As long as {c}, stay away from {v}.', 'With {v} wait until it is no longer so that {c}.',
    'Should {c}, then {v} is out of bounds.', '{v} only if it is not the case that {c}.', 'In case {c}, {v} is shut.', '{v}: no, if {c}.', 'Whoever asks for {v} while {c} is refused.', '{v} is locked whenever {c}.', 'No {v} if {c}.', 'Once {c}, {v} is forbidden.', 'Nothing leads to {v} when {c}.',
)
GATED_ONLY = (
    '{v} is open only when {c}.', '{v} only when {c}.', 'Use {v} only if {c}.', '{v} is allowed only while {c}.', 'Unless {c}, {v} is closed.', 'No {v} unless {c}.', '{v} may be used as long as {c}, not else.', 'Keep out of {v} unless {c}.', '{v} requires that {c}.', 'Before {v} is used, it must be so that {c}.', 'Refuse {v} unless {c}.', '{v} stays closed until {c}.', 'Only if {c} may anybody use {v}.', '{v}: only while {c}.',
)
# What is told of a thing besides its weight: unit, bounds to draw from, how limits are stated (in descriptions, in system texts), how it is told.
TOLD: dict[str, tuple[str, tuple[float, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    'length': ('cm', (40, 60, 80, 100, 120, 150, 200), ('Not for things longer than {a}.', 'Takes things of up to {a} in length.', 'No longer than {a}.', 'Maximum length {a}.', 'Anything longer than {a} is refused.', 'Only short things, {a} at most.', 'The thing must not be longer than {a}.', 'Cannot handle more than {a} of length.'),
               ('Nothing longer than {a} may be handled.', 'Things over {a} in length are forbidden.', 'The robot handles things of up to {a} in length.', 'Refuse what is longer than {a}.', 'The longest thing allowed is {a} long.'), ('it is {q} long', 'its length is {q}', 'the thing has a length of {q}', 'that is {q} from end to end', 'it measures {q}', 'length: {q}', 'mind its length of {q}', 'from tip to tip it is {q}')),
    'heat': ('C', (40, 50, 60, 70, 80), ('Not for things hotter than {a}.', 'Takes things of up to {a}.', 'No hotter than {a}.', 'Maximum temperature of the thing {a}.', 'Anything hotter than {a} is refused.', 'The thing must not be hotter than {a}.', 'Melts above {a}, so refuse that.'),
             ('Nothing hotter than {a} may be handled.', 'Things over {a} are forbidden.', 'The robot handles things of up to {a}.', 'Refuse what is hotter than {a}.'), ('it is {q} hot', 'its temperature is {q}', 'it has {q}', 'the thermometer says {q}', 'temperature: {q}', 'it came out at {q}', 'at the moment it has {q}')),
    'height': ('m', (0.5, 0.8, 1.2, 1.5, 1.8, 2.5), ('Not for things higher than {a}.', 'Up to a height of {a}.', 'No higher than {a}.', 'Maximum height {a}.', 'Anything above {a} is out of reach: refuse.', 'Reaches {a} at most.'),
               ('The robot reaches {a} at most.', 'Nothing higher up than {a}.', 'Refuse what stands above {a}.', 'The reach of the arm is {a}.'), ('it stands at a height of {q}', 'it is {q} up', 'its height is {q}', 'it is {q} above the floor', 'height: {q}', 'you find it {q} above the ground', 'it hangs {q} high')),
}
# How a weight is told within the sentence, right after the thing.
WITHIN_SENTENCE = ('{o} ({q})', '{o}, {q},', '{o} weighing {q}', '{o} that weighs {q}', '{o} with its {q}', '{o}, which weighs {q},', '{o} with a weight of {q}', '{o}, all {q} of it,')
