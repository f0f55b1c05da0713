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

"""Choices that are everyday words of one sort: some are declared, and people also ask for the others."""

from __future__ import annotations

from dataclasses import replace
import random

from demo_data import coined
from demo_data import rare
from demo_data.cases import ask
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.motion import RELATIVE
from demo_data.procedural import inflected
from demo_data.skills import Arg
from demo_data.skills import Skill

# Names of the argument ; a thing that the choice describes, or - ; verbs ; words of the sort.
_SORTS = """
side,direction,quarter ; tank,basin,gate,wall,slope,entrance,field ; rinse,inspect,paint,drain,guard ; north,south,east,west,northeast,northwest,southeast,southwest,central
flank,position,which ; door,lamp,panel,wheel,brush,camera,hatch ; check,wipe,oil,test,unlock ; front,rear,left,right,middle,upper,lower,inner,outer
board,where,side ; hatch,sail,winch,anchor,rail ; secure,grease,repair,watch ; port,starboard,bow,stern,midship
colour,paint,shade ; panel,cube,flag,thread,ribbon,tile ; print,sort,fetch,dye,stack ; red,white,grey,green,blue,yellow,black,orange,purple,brown,pink,beige,turquoise,silver,golden
material,stuff,kind ; sheet,plate,pipe,rod,box,crate ; cut,polish,press,weigh ; steel,copper,plastic,wooden,glass,rubber,leather,cardboard,aluminium,brass,ceramic,cork,nylon
size,format,measure ; cup,shirt,crate,envelope,bag ; pack,hand out,fold,order ; small,medium,large,family,travel,pocket
room,where,chamber ; - ; vacuum,mop,air,heat,tidy,dust ; kitchen,hall,bedroom,living room,bathroom,cellar,attic,pantry,nursery,garage,study,balcony,laundry,terrace,guest room
department,ward,unit ; - ; visit,supply,disinfect,notify ; surgery,radiology,maternity,oncology,cardiology,dermatology,neurology,pharmacy,intensive care,outpatients,emergency,paediatrics
letter,section,block ; ward,wing,row,gate,hangar ; clean,serve,close,inspect ; A,B,C,D,E,F,G,H
day,weekday,when ; shift,menu,tour,delivery ; plan,cancel,confirm,print ; monday,tuesday,wednesday,thursday,friday,saturday,sunday
month,when,period ; report,calendar,bill,schedule ; print,archive,send,check ; january,february,march,april,may,june,july,august,september,october,november,december
season,time_of_year,mode ; programme,decoration,menu,planting ; start,prepare,load,show ; spring,summer,autumn,winter
drink,beverage,what ; - ; pour,serve,brew,mix,dispense ; coffee,tea,cocoa,milk,water,lemonade,cider,orange juice,beer,wine,soda
dish,meal,what ; - ; cook,serve,warm up,prepare ; soup,pasta,pizza,curry,salad,stew,omelette,pancakes,risotto,burgers,fish,rice pudding,lasagne
fruit,sort,crop ; - ; pick,wash,peel,slice,press ; apples,pears,cherries,plums,grapes,peaches,oranges,lemons,figs,berries,melons,apricots
vegetable,crop,what ; - ; harvest,plant,chop,steam,weed ; carrots,onions,potatoes,leeks,beans,peas,cabbage,spinach,broccoli,pumpkins,tomatoes,radishes
animal,species,which ; - ; feed,groom,milk,count,stroke ; cows,goats,sheep,horses,pigs,rabbits,hens,ducks,donkeys,llamas,cats,parrots,penguins
pet,animal,for_whom ; bowl,basket,cage,bed ; clean,fill,move,check ; dog,cat,hamster,budgie,tortoise,ferret,goldfish
language,tongue,speech ; tour,menu,leaflet,announcement ; start,print,read out,offer ; english,german,french,spanish,italian,polish,turkish,japanese,arabic,danish,swahili
era,hall,collection ; gallery,exhibition,hall,showcase ; open,light,explain,guard ; egyptian,roman,asian,medieval,baroque,modern,prehistoric,islamic,african
instrument,part,voice ; - ; tune,play,mute,record ; violin,flute,piano,drums,trumpet,cello,harp,guitar,organ,clarinet,tuba
genre,style,music ; music,playlist,radio,concert ; play,start,fade in,record ; classical,jazz,rock,folk,blues,reggae,techno,gospel,country
waste,fraction,kind ; bin,container,sack,skip ; empty,weigh,swap,wash ; paper,glass,organic,plastic,metal,textile,residual,hazardous
fabric,cloth,textile ; load,shirt,curtain,blanket ; wash,iron,dry,steam ; cotton,wool,silk,linen,velvet,denim,fleece,polyester
cycle,programme,mode ; cycle,programme,wash ; start,choose,run,extend ; eco,gentle,intensive,quick,normal,overnight
meal_time,when,serving ; buffet,trolley,service,bell ; set up,clear,announce,refill ; breakfast,brunch,lunch,dinner,midnight snack
spice,herb,flavour ; - ; add,grind,sprinkle,stir in ; pepper,cinnamon,basil,thyme,paprika,saffron,ginger,mint,oregano,nutmeg,cumin,garlic
bread,pastry,product ; - ; bake,slice,glaze,box up ; rolls,baguettes,pretzels,croissants,muffins,bagels,rye bread,scones,doughnuts,brioche
cheese,sort,which ; - ; grate,slice,melt,wrap ; cheddar,gouda,brie,feta,mozzarella,parmesan,camembert,edam,ricotta
sauce,topping,extra ; - ; add,squirt,spread,refill ; ketchup,mustard,mayonnaise,pesto,gravy,hummus,salsa,chutney
tree,species,wood ; - ; prune,water,fell,plant ; oaks,beeches,pines,birches,maples,willows,spruces,elms,poplars,larches
flower,plant,which ; - ; water,cut,repot,arrange ; roses,tulips,lilies,daisies,orchids,violets,sunflowers,geraniums,dahlias,peonies
soil,bed,ground ; bed,plot,heap,layer ; rake,dig,level,cover ; sandy,clay,peat,gravel,loamy,chalky,rocky
fuel,supply,medium ; tank,line,burner,valve ; fill,close,test,vent ; diesel,petrol,gas,hydrogen,kerosene,ethanol,coal
gas,medium,cylinder ; cylinder,bottle,line,valve ; open,change,check,label ; oxygen,nitrogen,argon,helium,propane,acetylene,methane
metal,alloy,melt ; - ; melt,pour,weigh,stamp ; iron,tin,zinc,lead,nickel,bronze,silver,titanium,gold,platinum
shape,form,figure ; cutter,mould,block,tile ; press,place,stack,paint ; round,square,oval,triangular,hexagonal,star,heart,diamond
vehicle,type,which ; - ; wash,park,charge,tow ; car,van,lorry,bus,tram,motorbike,tractor,ambulance,taxi,trailer,scooter
tool,implement,attachment ; - ; mount,sharpen,fetch,hang up ; hammer,saw,drill,pliers,chisel,file,wrench,spade,rake,axe,scissors,screwdriver
clothing,garment,item ; - ; iron,fold,hang up,mend ; shirts,trousers,skirts,coats,socks,scarves,gloves,jackets,dresses,pyjamas
furniture,piece,what ; - ; move,dust,cover,assemble ; chairs,tables,sofas,beds,cupboards,desks,benches,stools,bookcases,wardrobes
body_part,limb,where ; - ; massage,bandage,scan,cool ; shoulder,knee,elbow,ankle,back,neck,wrist,hip,foot,forehead
sport,game,court ; court,field,team,scoreboard ; prepare,light,mark out,book ; tennis,football,basketball,hockey,badminton,rugby,handball,volleyball,cricket
toy,play,what ; - ; hand out,put away,disinfect,repair ; blocks,dolls,puzzles,balls,trains,teddies,kites,marbles,crayons
subject,class,lesson ; lesson,quiz,worksheet,film ; start,print,show,collect ; maths,biology,history,physics,art,geography,chemistry,music,religion,latin
planet,target,body ; - ; track,photograph,point at,explain ; mars,venus,jupiter,saturn,mercury,neptune,uranus,the moon,pluto,the sun
country,region,origin ; stamp,parcel,flag,map ; sort,scan,hoist,show ; france,spain,italy,norway,poland,japan,brazil,kenya,canada,peru,greece,india
city,destination,stop ; train,announcement,parcel,ticket ; announce,route,print,load ; paris,london,madrid,oslo,vienna,prague,rome,lisbon,dublin,athens,berlin,warsaw
chess_piece,piece,man ; - ; move,capture,set up,lift ; pawn,knight,bishop,rook,queen,king
card,suit,pile ; pile,card,deck ; shuffle,deal,turn over,count ; hearts,spades,clubs,diamonds,jokers
currency,money,coin ; coins,notes,account,drawer ; count,change,roll,lock ; euro,dollar,pound,yen,franc,krone,zloty,rupee
speed,pace,gear ; pace,conveyor,fan,walk ; select,set,try,engage ; slow,normal,fast,eco,sport
weather,scene,effect ; effect,scene,scenery,sound ; play,start,fade out,load ; rain,thunder,wind,snow,fog,sunshine,hail
mood,lighting,scene ; light,scene,lighting ; switch to,start,try,save ; reading,party,cinema,romantic,cleaning,night,dinner,work
sample,fluid,tube ; sample,tube,vial ; label,spin,store,dispatch ; blood,urine,saliva,plasma,tissue,sweat,stool,bone marrow
medicine,drug,tablet ; - ; dispense,order,count,deliver ; aspirin,ibuprofen,insulin,paracetamol,morphine,penicillin,cortisone,antacid,vitamins,iron tablets
gesture,move,sign ; - ; show,repeat,practise,begin ; wave,nod,bow,salute,shrug,thumbs up,wink,curtsy
emotion,face,expression ; face,expression,smile ; show,display,put on,try ; happy,sad,angry,surprised,sleepy,bored,scared,proud
greeting_time,occasion,card ; card,cake,wreath,song ; print,order,pack,play ; birthday,wedding,christmas,easter,retirement,graduation,valentine,anniversary,funeral
visitor,group,guests ; group,tour,queue,bus ; welcome,lead,count,seat ; school,family,senior,business,press,vip,tourist,student
craft,ship,boat ; - ; moor,refuel,hail,launch ; ferry,tug,yacht,barge,trawler,canoe,lifeboat,freighter,dinghy
aircraft,plane,type ; - ; marshal,de-ice,refuel,tow ; glider,helicopter,jet,airliner,balloon,biplane,cargo plane,seaplane
rail,train,kind ; train,platform,timetable ; announce,clear,clean,hold ; express,regional,freight,night,suburban,steam,special
fish,species,tank ; - ; feed,catch,count,move ; trout,carp,eels,salmon,perch,cod,herring,mackerel,pike
insect,pest,trap ; trap,bait,net ; set,check,renew,remove ; wasp,ant,moth,mosquito,fly,cockroach,beetle
post,mail,item ; - ; sort,frank,deliver,weigh ; letters,parcels,newspapers,postcards,magazines,registered mail,leaflets,catalogues
document,form,paper ; - ; print,scan,file,shred ; invoice,contract,receipt,delivery note,timesheet,certificate,visa,leaflet,permit
relative,person,contact ; - ; call,write to,remind,invite ; mother,father,sister,brother,aunt,uncle,grandmother,cousin,nephew,son,daughter
staff,role,team ; - ; page,call in,inform,relieve ; nurse,doctor,porter,cleaner,cook,driver,engineer,guard,secretary,gardener
surface,floor,cover ; floor,path,surface ; sweep,polish,seal,scrub ; parquet,tiled,carpeted,stone,concrete,vinyl,marble,cork
heat,level,stage ; burner,plate,setting ; set,select,try,hold ; low,medium,high,off,boost
nut,grain,seed ; - ; roast,mill,shell,sow ; almonds,walnuts,wheat,rye,barley,oats,maize,sunflower seeds,hazelnuts,peanuts
element,lesson_material,model ; - ; fetch,project,explain,draw ; heart,lung,skeleton,brain,eye,ear,kidney,liver,tooth
tyre,season_type,set ; tyres,set,wheels ; mount,store,balance,order ; summer,winter,all-season,racing,studded,spare
layer,storey,level ; floor,storey,deck ; clean,light,serve,lock ; ground,first,second,third,fourth,fifth,top,basement,mezzanine
"""
_THINGS = ('{v} the {c} {t}', '{v} the {c} {t}', '{v} the {c} {t}', '{v} the {t}, the {c} one', '!the {c} {t} needs {g}', '!{c} {t}, {v} it', '!I want the {c} {t} {d}', '!you should {v} the {c} {t}', '!how about {g} the {c} {t}?', '!it is the {c} {t} that has to be {d}', 'go on and {v} the {c} {t}', '!the {c} {t}, please {v} it', '!the {t} to {v} is the {c} one', '!now the {c} {t}: {v} it')
_BARE = ('{v} {c}', '{v} {c}', '{v} {c}', '{v} the {c}', '!I want you to {v} {c}', '!it is time for {g} {c}', '!how about {g} {c}?', '!{c} - {v} that', '!we need you to {v} {c}', 'go on and {v} {c}', 'start {g} {c}', '!{c} is what you should {v}', '!{c}, please, {v} it', '!next {v} {c}')


def _sort(line: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.strip() for part in field.split(',')) for field in line.split(';'))


SORTS: tuple[tuple[tuple[str, ...], ...], ...] = tuple(map(_sort, _SORTS.strip().split('\n')))
_MEMBERS = tuple(frozenset(word.lower() for word in sort[3]) for sort in SORTS)


def draw_sorted(rng: random.Random) -> Skill:
    """Make a skill with a choice of words of one sort, of which it declares some."""
    labels, things, verbs, members = rng.choice(SORTS)
    verb = rng.choice(verbs)
    thing = '' if things == ('-',) else rng.choice(things)
    chosen = tuple(rng.sample(members, min(len(members), rng.choice((2, 2, 3, 3, 4, 5, 6)))))
    says = tuple(t.replace('{v}', verb).replace('{t}', thing).replace('{g}', inflected(verb, 'g')).replace('{d}', inflected(verb, 'd')) for t in (_THINGS if thing else _BARE))
    third = inflected(verb, 's').capitalize()
    about = (f'{third} a {thing}.', f'{verb.capitalize()} one {thing}', f'For {inflected(verb, "g")} a {thing}.') if thing else (f'{third} what is named.', f'{verb.capitalize()} one sort', f'For {inflected(verb, "g")}, one sort a call.')
    first = verb.replace(' ', '_').replace('-', '_')
    name = f'{first}_{thing}' if thing else f'{first}_{labels[0]}'
    arg = Arg('c', 'choice', (*labels, coined.coin(rng)), ('Which one.', 'Which of them.', f'The {labels[0].replace("_", " ")}.'), choices=chosen, keeps_all=True)
    return Skill(f'p:s:{name}', (name, f'{first}_{rare.noun(rng)}', f'{labels[0]}_{first}'), about, says, (arg,), near=(f'v:{verb.split()[0]}',))


def absent(m: CaseMaker) -> Case | None:
    """A word of the same sort as a tool's choices that is none of them: the operator is asked."""
    rng = m.rng
    found = []
    for tool in m.book.tools:
        for arg in tool.skill.args:
            slot = tool.slots.get(arg.key)
            if slot is None or not slot.choices or tool.side is not None or tool.skill.key in RELATIVE:
                continue
            known = {word.replace('_', ' ').lower() for c, said in slot.choices.items() for word in (c, *said)}
            fitting = [sort for sort in _MEMBERS if {c.replace('_', ' ').lower() for c in slot.choices} <= sort]
            if fitting:
                found.append((tool, arg, known, rng.choice(fitting)))
    if not found:
        return None
    tool, arg, known, sort = rng.choice(found)
    left = sorted(w for w in sort if not any(w == k or w in k.split() or k in w.split() for k in known))
    wish = m.wish(tool)
    if wish is None or not left or arg.key not in wish.said.values:
        return None
    value = rng.choice(left)
    value = value.upper() if len(value) == 1 else value
    said = replace(wish.said, values={**wish.said.values, arg.key: value}, fixed=wish.said.fixed | {arg.key})
    return Case('unknown_choice', m.say(said, noise=0.4), ask(f'I do not know {value}. Which {tool.slots[arg.key].path[-1]} should I use?'))


def choices() -> set[str]:
    """Return all words that may be choices."""
    return {word for sort in SORTS for word in sort[3]}
