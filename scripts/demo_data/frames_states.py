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

"""Tables of things that are in one of two states, of quantities, and of how both are spoken of."""

from __future__ import annotations

# One state = its synonyms ; the other one ; things that are in them.
_PAIRS = """
open=not shut,opened ; closed=shut,not open ; door,lid,hatch,drawer,flap,roof panel,side door,cover,locker,cabinet,service hatch,tap,feed gate,shutter,vent,fire door,oven door,freezer,tailgate,barrier
locked=bolted,not unlocked ; unlocked=not locked,unbolted ; door,lock,cabinet,joint lock,case,exit,wheel lock,toolbox,keypad,rear door
docked=on its dock,in the dock ; undocked=off its dock,away from the dock ; robot,base,shuttle,cart,trolley,drone
on=switched on,turned on,not off ; off=switched off,turned off,not on ; lamp,pump,heater,fan,conveyor,light,laser,compressor,vacuum,mixer,beacon,cooling,spotlight,extractor,sprinkler
present=there,in place ; absent=missing,gone,not there ; pallet,part,key,tray,operator,trailer,cup,filter,label,bottle,badge,crate,workpiece
empty=with nothing in it,not loaded ; loaded=full,not empty ; gripper,tray,cart,basket,hopper,shelf,fork,bin,basin,truck bed,magazine,cassette
attached=mounted,fitted ; detached=taken off,not attached ; tool,trailer,brush,nozzle,hose,mop,cart,bucket,camera,suction cup,gripper head
sealed=closed tight,with an intact seal ; unsealed=broken open,not sealed ; container,bag,sample tube,box,tank,envelope,canister
armed=live,not disarmed ; disarmed=safe,not armed ; alarm,trap,launcher,burglar alarm,charge,siren
occupied=taken,in use,not free ; free=vacant,unoccupied ; lift,charger,parking bay,table,seat,lane,meeting desk,loading ramp,washroom,slot
wet=damp,not dry ; dry=not wet ; floor,ground,grass,towel,surface,soil,road
clean=spotless,not dirty ; dirty=soiled,not clean ; lens,window,filter,tray,carpet,sensor,nozzle,mirror
running=going,working,not stopped ; stopped=standing,idle,not running ; motor,belt,fan,washer,spindle,generator,assembly line,escalator,mill
raised=up,lifted ; lowered=down,not raised ; fork,mast,boom,platform,blade,ramp,plough,bar,landing gear
extended=stretched out,reaching out ; retracted=pulled in,not extended ; arm,ladder,antenna,piston,leg,outrigger,probe
engaged=set,applied ; released=loose,not engaged ; brake,clutch,latch,parking brake,clamp,interlock,emergency button
blocked=obstructed,not clear ; clear=passable,not blocked ; path,aisle,chute,corridor,exit,gangway,crossing,track
connected=online,linked ; disconnected=offline,not connected ; network,server,gateway,remote control,printer,base station,tablet
enabled=allowed,active ; disabled=forbidden,inactive ; autopilot,night mode,remote access,motor power,arm control,eco mode,voice output
lit=bright,illuminated ; dark=unlit,not lit ; corridor,stairwell,yard,hall,basement,sign,warning lamp
hot=heated up,not cold ; cold=cooled down,not hot ; plate,oven,iron,kettle,grill,welding tip,radiator
inflated=pumped up,hard ; flat=deflated,without air ; tyre,balloon,cushion,life raft,ball
folded=tucked in,collapsed ; unfolded=spread out,not folded ; arm,wing,table,ladder,awning,stand
held=gripped,in the gripper ; dropped=lost,not held ; cup,part,box,tool,load,bottle
ready=prepared,waiting ; busy=occupied with something,not ready ; press,oven,machine,station,scanner,elevator,lathe,kitchen
known=certain,localized ; unknown=lost,not known ; position,pose,location,target,route
valid=in order,not expired ; expired=out of date,not valid ; ticket,permit,certificate,calibration,badge,licence
safe=secured,not dangerous ; unsafe=dangerous,not safe ; area,cell,zone,ladder,bridge,scaffold
awake=up,not asleep ; asleep=sleeping,not awake ; patient,baby,dog,guard,cat,guest
visible=in sight,to be seen ; hidden=out of sight,not visible ; marker,beacon,line,target,charger sign,horizon
high=tall,not low ; low=not high ; water,fuel,sun,tide,stock
plugged in=plugged,on the cable ; unplugged=not plugged in,off the cable ; charger,cable,lamp cord,mower,kettle,drill
full=filled up,not empty ; half empty=not full,partly used ; jar,bag,canister,printer tray,soap dispenser,water butt
straight=in line,aligned ; crooked=out of line,misaligned ; shelf unit,pallet stack,picture,track section,antenna mast
tight=firm,fastened ; loose=slack,not tight ; screw,bolt,belt drive,rope,strap,hose clamp
warm=heated,not cool ; cool=chilled,not warm ; engine,room,bath,incubator,soup pot
active=in operation,switched on ; inactive=out of operation,switched off ; scanner beam,security zone,curfew,ventilation,sprayer,geofence
complete=all there,finished ; incomplete=something missing,unfinished ; map,order,inventory,set,parts kit,list
sharp=keen,not blunt ; blunt=dull,not sharp ; blade,knife,drill bit,saw,chisel
booked=reserved,not free ; available=bookable,not booked ; room,car,court,boat,hall
moving=in motion,not still ; still=at rest,not moving ; carousel,forklift,crane,door wing,train,swing
covered=under a sheet,not bare ; bare=uncovered,not covered ; pool,bed,table top,machine bed,pond
alive=responding,not silent ; silent=dead,not responding ; heartbeat,controller,radio link,node,sensor board
inside=indoors,not outside ; outside=outdoors,not inside ; cat,robot,hen,mower,guest
paid=settled,not unpaid ; unpaid=open,not settled ; bill,ticket,order,parking fee
over=finished,at an end ; under way=going on,not over ; shift,break,meeting,lesson,match,show,concert,wash cycle
arrived=here,at the stop ; on its way=not here,still coming ; lift,bus,ferry,courier,tram,supply van
green=on green,not red ; red=on red,not green ; signal,traffic light,status lamp,tower light,crossing light
"""
Pair = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def _pair(line: str) -> Pair:
    one, other, things = line.split(' ; ')
    return (*((word, *more.split(',')) for word, more in (part.split('=') for part in (one, other))), tuple(things.strip().split(',')))  # type: ignore[return-value]


PAIRS: tuple[Pair, ...] = tuple(_pair(line) for line in _PAIRS.strip().split('\n'))

# Events: names of inputs ; said when it is so ; said when it is not. Commas in names and `|` in sentences part alternatives.
_EVENTS = """
raining,rain,rain_sensor;it is raining|it rains|rain falls|rain is reported;it is not raining|it is dry outside|there is no rain
snowing,snow,snowfall;it is snowing|it snows|snow is falling;it is not snowing|there is no snow
smoke,smoke_alarm,smoke_sensor;smoke is detected|there is smoke|you notice smoke|the smoke sensor responds;no smoke is detected|there is no smoke|the air is free of smoke
leak,leak_sensor,water_leak;a leak is detected|there is a leak|water is leaking|a leak is reported;no leak is detected|there is no leak|nothing leaks
motion,motion_sensor,pir;motion is detected|something moves|the motion sensor fires;no motion is detected|nothing moves|all is still
intruder,intrusion,break_in;an intruder is detected|there is an intruder|somebody has broken in;there is no intruder|no intruder is detected|nobody has broken in
power_cut,power_failure,mains_lost;the mains power is lost|there is a power cut|the power has failed;the mains power is there|there is no power cut|the power works
bell,doorbell_rung,ring;somebody rings the bell|the bell rings|the doorbell was pressed;nobody rings the bell|the bell is silent
night,is_night,after_dark;it is night|it is dark outside|night has fallen;it is day|it is light outside|it is not night
emergency_pressed,panic_button,red_button;the emergency button is pressed|somebody pressed the emergency button|the panic button was pushed;the emergency button is not pressed|nobody pressed the emergency button
collision,bumper,bumped;the bumper is hit|a collision is reported|the robot has hit something;the bumper is free|no collision is reported|nothing was hit
overload,too_heavy,load_alarm;the load is too heavy|there is an overload|the robot is overloaded;the load is fine|there is no overload|the robot is not overloaded
slipping,wheel_slip,slip;the wheels slip|a wheel is slipping|wheel slip is reported;the wheels grip|no wheel is slipping
jam,paper_jam,jammed;something is jammed|there is a jam|a jam is reported;nothing is jammed|there is no jam
full_bin,bin_alarm,waste_full;the waste bin is full|the bin has to be emptied|no more fits in the bin;the waste bin is not full|there is room in the bin
clogged,filter_clogged,blocked_filter;the filter is clogged|the filter is blocked|nothing gets through the filter;the filter is free|the filter is not clogged
boiling,water_boils,boil;the water boils|the water is boiling;the water does not boil|the water is not boiling yet
delivered,parcel_here,delivery;a parcel has come|a delivery has arrived|the parcel is here;no parcel has come|the delivery has not arrived|no delivery is there
goal_reached,at_goal,arrived;the goal is reached|you have arrived|the robot is at its goal;the goal is not reached|you have not arrived yet|the robot is not at its goal
link_lost,no_signal,radio_lost;the radio link is lost|the signal is lost|there is no radio link;the radio link is fine|the signal is there|the link is up
stuck,robot_stuck,wedged;the robot is stuck|you are stuck|you cannot move on;the robot is not stuck|you are free to move
lost,lost_localization,not_localized;the robot is lost|you do not know where you are|localization is lost;the robot is localized|you know where you are
crowd,crowded,many_people;there is a crowd|it is crowded|many people are around;there is no crowd|it is not crowded|few people are around
visitor,visitor_waiting,guest_here;a visitor is waiting|a guest is here|there is a visitor;no visitor is waiting|no guest is here
child_near,kid_near,child;a child is near|there is a child close by;no child is near|there are no children around
calling,nurse_call,call_button;the call button is pressed|somebody calls|a call has come in;nobody calls|the call button is not pressed|there is no call
fire_alarm,fire,alarm_bell;the fire alarm sounds|the fire alarm is ringing|there is a fire alarm;the fire alarm is silent|there is no fire alarm
alarm,alarm_active,alarm_ringing;the alarm goes off|the alarm sounds|there is an alarm|the alarm is ringing;the alarm is quiet|there is no alarm|the alarm does not sound
frost,freezing,ice;there is frost|it freezes|ice has formed;there is no frost|it does not freeze
gas,gas_leak,gas_sensor;gas is detected|there is gas in the air|the gas sensor responds;no gas is detected|the air is free of gas
train_coming,train,approach;a train is coming|a train approaches;no train is coming|the line is free of trains
break_time,pause_time,lunch;it is break time|the staff has a break|it is time for lunch;it is not break time|nobody has a break
harvest_due,ripe,is_ripe;the fruit is ripe|the harvest is due;the fruit is not ripe|the harvest is not due
thirsty,dry_soil,needs_water;the plants need water|the soil is too dry|the plants are thirsty;the plants have enough water|the soil is moist
spill,spill_seen,puddle;something was spilt|there is a spill|there is a puddle;nothing was spilt|there is no spill
order_waiting,new_order,order_in;a new order has come in|an order is waiting|there is a new order;no order is waiting|there is no new order
queue_open,people_waiting,line_up;people are waiting in line|there is a queue;nobody is waiting in line|there is no queue
update_ready,new_version,update;an update is ready|a new version is there;no update is ready|there is no new version
theft,tamper,tampered;somebody tampers with the robot|tampering is reported;nobody tampers with the robot|no tampering is reported
maintenance_due,service_due,check_due;maintenance is due|it is time for maintenance|a service is needed;no maintenance is due|no service is needed
hands_full,carrying_load,has_load;you carry something|the robot carries a load|your hands are full;you carry nothing|the robot carries no load|your hands are free
"""
EVENTS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = tuple(
    (tuple(names.split(',')), tuple(yes.split('|')), tuple(no.split('|'))) for names, yes, no in (line.split(';') for line in _EVENTS.strip().split('\n')))

# What things do ; as a base form ; as an input says it ; what it says otherwise ; things.
_DOINGS = """
boils;boil;boiling;cold,heating;kettle,soup,water bath,pot
rings;ring;ringing;silent,quiet;phone,bell tower,timer,alarm clock
runs;run;running;stopped,idle;pump,engine,treadmill,mill
leaks;leak;leaking;tight,dry;pipe,tank,hose,roof,valve block
burns;burn;burning;out,dark;stove,torch,candle,boiler flame
spins;spin;spinning;still,stopped;drum,turbine,fan wheel,centrifuge
beeps;beep;beeping;quiet,silent;monitor,scanner,smoke box
overflows;overflow;overflowing;draining,empty;sink,gutter,basin,trough
blinks;blink;blinking;steady,off;signal lamp,beacon,indicator
sleeps;sleep;sleeping;awake,playing;baby,dog,guest,night guard
waits;wait;waiting;gone,served;visitor,taxi,customer,patient
turns;turn;turning;still,locked;carousel,crane head,antenna,mixer arm
smokes;smoke;smoking;clear,cold;chimney,motor,oven,exhaust
vibrates;vibrate;vibrating;calm,still;sieve,table,conveyor,press
"""
Doing = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


def _doing(line: str) -> Doing:
    does, base, doing, others, things = line.split(';')
    return does, base, doing, tuple(others.split(',')), tuple(things.split(','))


DOINGS: tuple[Doing, ...] = tuple(map(_doing, _DOINGS.strip().split('\n')))
PLURALS = (
    ('person', 'persons'), ('person', 'people'), ('child', 'children'), ('dog', 'dogs'), ('pallet', 'pallets'), ('box', 'boxes'), ('chair', 'chairs'), ('cone', 'cones'), ('bicycle', 'bicycles'), ('bottle', 'bottles'), ('sheep', 'sheep'),
)
# Of quantities: what is more, and less.
COMPARED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'temperature': (('warmer', 'hotter'), ('colder', 'cooler')), 'weight': (('heavier',), ('lighter',)), 'height': (('taller', 'higher'), ('lower', 'shorter')), 'distance': (('farther away', 'further off'), ('nearer', 'closer')),
    'speed': (('faster',), ('slower',)), 'humidity': (('damper', 'more humid'), ('drier',)), 'brightness': (('brighter', 'lighter'), ('darker', 'dimmer')), 'noise': (('louder', 'noisier'), ('quieter', 'softer')), 'thickness': (('thicker',), ('thinner',)),
    'depth': (('deeper',), ('shallower', 'less deep')), 'width': (('wider', 'broader'), ('narrower',)), 'force': (('stronger',), ('weaker',)), 'runtime': (('longer',), ('shorter',)), 'tilt': (('steeper',), ('flatter',)), 'flow': (('stronger', 'faster'), ('weaker', 'slower')), 'queue': (('longer',), ('shorter',)),
}

# How a state is said: {o} the thing, {w} its state, {x} the other state.
STATE_TEXTS = (
    'the {o} is {w}', 'the {o} is {w}', 'the {o} is {w}', 'the {o} is reported {w}', 'the {o} is reported as {w}', 'the {o} is not {x}', 'the {o} is said to be {w}', 'the {o} turns out to be {w}', 'you find the {o} {w}',
    'the {o} happens to be {w}', 'a {o} is reported {w}', 'the inputs say that the {o} is {w}', 'the {o} is seen to be {w}', 'the {o} reads {w}', 'the {o} shows up as {w}', 'it is known that the {o} is {w}', 'the {o} goes {w}', 'the {o} is still {w}',
    'the observations show the {o} {w}', 'we have the {o} {w}', 'the {o} remains {w}', 'the {o} is no longer {x}', 'the {o} has become {w}', 'the sensor of the {o} tells that it is {w}',
)
# How a state is said by the input's name: {n} the input, {v} what it says.
NAME_TEXTS = ('{n} is {v}', '{n} is {v}', '{n} says {v}', '{n} reports {v}', '{n} reads {v}', '{n} = {v}', '{n} shows {v}', '{n} gives {v}', 'the value of {n} is {v}', 'you read {v} in {n}', '{n} turns {v}', '{n} has the value {v}')

# spoken name ; unit ; low ; high ; decimals
_QUANTITIES = """
temperature;C;-10;95;1
pressure;bar;0;12;1
level;%;0;100;0
weight;kg;0;80;1
height;cm;0;250;0
distance;m;0;50;1
voltage;V;0;60;1
current;A;0;40;1
flow;l/min;0;90;1
speed;rpm;0;3000;0
load;%;0;100;0
count;;0;60;0
fill;%;0;100;0
humidity;%;5;98;0
angle;deg;0;180;0
vibration;mm/s;0;30;1
brightness;lx;0;1500;0
stock;;0;200;0
wear;%;0;100;0
concentration;ppm;0;3000;0
width;mm;0;900;0
force;N;0;200;1
runtime;h;0;5000;0
noise;dB;20;110;0
thickness;mm;0;60;1
depth;m;0;40;1
tilt;deg;0;60;0
queue;;0;40;0
dose;ml;0;500;0
energy;kWh;0;90;1
"""
QUANTITIES: tuple[tuple[str, str, float, float, int], ...] = tuple(
    (name, unit, float(low), float(high), int(decimals)) for name, unit, low, high, decimals in (line.split(';') for line in _QUANTITIES.strip().split('\n')))
# Comparisons; "{b}" is the bound with its unit.
LESS = ('below {b}', 'under {b}', 'less than {b}', 'lower than {b}', 'smaller than {b}', 'at most {b}', 'no more than {b}', 'not above {b}', 'beneath {b}', '{b} or less', 'not more than {b}', 'short of {b}', 'down to {b} or lower', 'not even {b}', '< {b}', 'not over {b}', 'anything under {b}')
MORE = ('above {b}', 'over {b}', 'more than {b}', 'higher than {b}', 'greater than {b}', 'at least {b}', 'no less than {b}', 'not below {b}', 'beyond {b}', '{b} or more', 'not less than {b}', 'past {b}', 'up to {b} or higher', 'in excess of {b}', '> {b}', 'not under {b}', 'larger than {b}')
FALLS = ('drops below {b}', 'falls under {b}', 'sinks below {b}', 'goes under {b}', 'comes down to less than {b}', 'gets lower than {b}', 'dips below {b}', 'does not reach {b}')
RISES = ('rises above {b}', 'climbs over {b}', 'goes beyond {b}', 'exceeds {b}', 'gets higher than {b}', 'reaches more than {b}', 'passes {b}', 'is in excess of {b}')
INSIDE = ('between {l} and {h}', 'from {l} to {h}', 'within {l} and {h}', 'in the range {l} to {h}', 'somewhere from {l} up to {h}', 'more than {l} but less than {h}')
OUTSIDE = ('not between {l} and {h}', 'outside {l} to {h}', 'outside of the range {l} to {h}', 'less than {l} or more than {h}', 'out of the band from {l} to {h}')
NUMBER_SUBJECTS = ('the {o}', 'the {o}', 'the {o}', '{n}', '{n}', 'the value of {n}', 'the {o} reading', 'the reported {o}', 'the measured {o}', 'what {n} reports', 'the number in {n}')
FULLNESS = ((25, ('a quarter full', 'one quarter full')), (50, ('half full', 'half-way up')), (75, ('three quarters full', 'three-quarters full')))
# "{p}": the exact number that must be read.
EXACTLY = ('exactly {p}', 'just {p}', 'equal to {p}', '{p}', '= {p}', '{p} sharp')
NOT_EXACTLY = ('not {p}', 'anything but {p}', 'different from {p}', 'other than {p}')


def input_names() -> set[str]:
    """Return the names that inputs of listed things in one of two states may have."""
    found = {name for names, _, _ in EVENTS for name in names}
    for one, other, things in PAIRS:
        for thing in things:
            key = thing.replace(' ', '_')
            found |= {key, f'{key}_state', f'{key}_status', *(f'{key}_{word}' for word in (one[0], other[0]))}
    return found
