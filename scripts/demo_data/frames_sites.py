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

"""Tables of what integrators write of: states, each as a text or a Bool of an input, and readings with a bound."""

from __future__ import annotations

from dataclasses import dataclass

# Names of inputs ; said when so ; said when not ; Bools that are true when so ; Bools that are false when so ; sentences ; sentences of the contrary ; in a noun.
_SITUATIONS = """
soil_probe,bed_moisture,pot_sensor ; dry,too dry,bone dry ; moist,wet,damp enough ; soil_too_dry,pot_dry ; soil_moist,bed_watered ; the soil is dry|the plants need water|the bed has dried out|the flowers are thirsty ; the soil is moist enough|the plants have water|the bed is not dry ; dry soil
daylight_sensor,twilight_switch,sky ; dark,night,dusk ; bright,day,sunny ; after_sunset,is_dark_out ; daylight,sun_is_up ; it is dark outside|the sun has set|it gets dark|it is after dark ; it is light outside|the sun is up|it is day ; darkness
kettle_sensor,tea_water,boiler_probe ; boiling,at the boil ; cold,lukewarm,heating ; water_at_boil,kettle_boils ;  ; the water boils|the kettle has come to the boil|the tea water is boiling ; the water does not boil yet|the kettle is still cold ; boiling water
baggage_belt,belt_watch,belt_monitor ; jammed,stuck,blocked ; running,moving freely ; belt_jam,belt_stuck ; belt_runs,belt_free ; the belt is jammed|something is stuck on the belt|the belt has come to a halt ; the belt runs freely|nothing is stuck on the belt ; a jam of the belt
loading_gate,yard_gate,dock_gate ; open,wide open,ajar ; closed,shut ; gate_stands_open,gate_ajar ; gate_shut,gate_closed_tight ; the gate stands open|somebody left the gate open|the gate is not shut ; the gate is shut|the gate has been closed ; an open gate
guest_bell,reception_bell,counter_bell ; ringing,rung,pressed ; quiet,silent,not pressed ; bell_pressed,bell_rings ;  ; the bell rings|somebody rings the bell|a guest has rung the bell ; the bell is quiet|nobody rings the bell ; a ring of the bell
feeder,food_bowl,trough_sensor ; empty,eaten up,nothing left ; full,half full,some left ; bowl_empty,trough_empty ; food_left,bowl_filled ; the bowl is empty|there is no food left|the trough has been eaten empty ; there is food left in the bowl|the trough is not empty ; an empty bowl
coop,hen_house,stable_count ; all inside,everybody in ; two missing,some still outside ; all_hens_in,herd_complete ; hens_missing ; all the animals are inside|the hens are all in|the herd is complete ; some animals are still outside|the herd is not complete ; a complete herd
toilet_roll,paper_sensor,towel_dispenser ; used up,empty,out of paper ; sufficient,half,new roll ; paper_out,roll_empty ; paper_left ; the paper is used up|the dispenser has run out|no paper is left ; there is paper left|the dispenser is not empty ; a lack of paper
ink_sensor,toner,ribbon_sensor ; low,nearly empty,run out ; good,full,enough ; toner_low,ink_out ; toner_ok ; the toner runs low|the ink is nearly used up|ink is short ; there is enough ink|the toner is fine ; low toner
filter_watch,air_filter,suction_filter ; clogged,full of dust,needs cleaning ; clean,free ; filter_dirty,filter_full ; filter_clean ; the filter is clogged|the filter has to be cleaned|dust blocks the filter ; the filter is free|the filter is clean ; a clogged filter
oil_sensor,gear_oil,hydraulic_oil ; leaking,dripping ; tight,no loss ; oil_leak,oil_lost ; oil_tight ; oil leaks|oil drips from the gear|the gear loses oil ; no oil is lost|the gear is tight ; an oil leak
window_contact,pane_sensor,roof_window ; broken,smashed ; whole,intact ; glass_broken,pane_smashed ; pane_whole ; the pane is broken|a window was smashed|the glass breaks ; the pane is whole|no window is broken ; broken glass
bed_sensor,mattress_sensor,sleep_monitor ; out of bed,bed empty ; in bed,lying ; bed_left,patient_up ; patient_in_bed ; the patient has left the bed|nobody lies in the bed|the patient is out of bed ; the patient is in bed|somebody lies in the bed ; an empty bed
fall_sensor,hall_radar,care_radar ; fallen,person on the floor ; upright,walking,nobody ; fall_seen,person_fell ; all_upright ; somebody has fallen|a person lies on the floor|a fall is reported ; nobody has fallen|everybody is on their feet ; a fall
medicine_box,pill_counter,dose_watch ; not taken,dose missed ; taken,dose given ; dose_missed,pills_left ; dose_taken ; the pills were not taken|a dose was missed|the patient has forgotten the medicine ; the pills were taken|no dose was missed ; a missed dose
wash_cycle,washer_state,drum_state ; finished,done,end ; washing,rinsing,spinning ; laundry_done,wash_finished ; wash_runs ; the laundry is done|the washing has finished|the wash cycle has ended ; the washing is still running|the laundry is not done yet ; the end of the wash
bake_timer,oven_timer,pan_timer ; expired,ringing,time is up ; counting,running ; time_up,bake_over ; timer_counts ; the timer has run out|the baking time is over|the timer rings ; the timer is still counting|the baking time is not over ; the end of the baking time
dough_camera,dough_state,proofing ; risen,doubled ; flat,rising ; dough_risen,proof_done ;  ; the dough has risen|the dough is ready for the oven|the dough has doubled ; the dough has not risen yet|the dough is still flat ; risen dough
egg_scale,tray_scale_state,plate_watch ; removed,lifted off ; in place,loaded ; plate_taken,tray_gone ; plate_there ; the plate was taken away|somebody removed the tray|the tray is gone ; the plate is still there|the tray stands in its place ; a missing tray
milk_sensor,milk_tank,creamer ; sour,spoilt,off ; fresh,good ; milk_sour,milk_spoilt ; milk_fresh ; the milk has gone sour|the milk is off|the milk is spoilt ; the milk is fresh|the milk is still good ; sour milk
fridge_door,cold_room_door,chest_lid ; left open,open too long ; closed ; cold_room_open,fridge_open ; fridge_shut ; the fridge was left open|the cold room stands open|the fridge door is not closed ; the fridge is closed|the cold room is shut ; an open fridge
hive_sensor,bee_monitor,hive_sound ; swarming,about to swarm ; calm,humming ; bees_swarm,swarm_near ; hive_calm ; the bees swarm|a swarm is about to leave|the hive is swarming ; the hive is calm|the bees do not swarm ; a swarm
net_sensor,trawl,net_watch ; torn,ripped ; whole,intact ; net_torn,net_ripped ; net_whole ; the net is torn|there is a hole in the net|the net has ripped ; the net is whole|there is no hole in the net ; a torn net
anchor_watch,mooring,anchor_alarm ; dragging,adrift,slipping ; holding,fast ; anchor_drags,boat_adrift ; anchor_holds ; the anchor drags|the boat is adrift|the mooring has come loose ; the anchor holds|the boat lies fast ; a dragging anchor
bilge,bilge_sensor,hull_sensor ; water in hull,flooded ; dry hull,dry ; bilge_wet,hull_flooded ; hull_dry ; water has got into the hull|the bilge is flooded|the boat takes on water ; the hull is dry|there is no water in the bilge ; water in the bilge
tide_gauge_state,lock_side,basin_state ; ebb,falling ; flood,rising,slack ; tide_falls,ebb_tide ;  ; the tide goes out|the water is falling|it is ebb ; the tide comes in|the water is not falling ; ebb
signal_aspect,shunting_signal,stop_signal ; proceed,clear to go ; danger,halt ; line_clear,may_proceed ; signal_at_danger ; the signal shows proceed|the line is clear|you are cleared to go ; the signal shows danger|the line is not clear ; a proceed signal
barrier_state,level_crossing,boom_gate ; down,lowered ; up,raised ; crossing_closed,boom_down ; boom_up ; the barrier is down|the crossing is closed|the boom has been lowered ; the barrier is up|the crossing is open ; a lowered barrier
runway_state,landing_strip,pad_state ; iced,covered with ice ; bare,dry ; strip_iced,pad_frozen ; strip_free_of_ice ; the strip is iced over|there is ice on the pad|the runway has frozen ; there is no ice on the pad|the runway is bare ; ice on the runway
storm_warning,weather_alert,met_office ; storm,gale warning,severe weather ; none,no warning,calm ; storm_coming,gale_expected ; calm_weather ; a storm is coming|there is a storm warning|severe weather is announced ; no storm is expected|there is no warning of severe weather ; a storm warning
hail_sensor,roof_sensor_weather,precipitation ; hail,hailing ; none,dry ; hail_falls,hailing_now ;  ; it hails|hail is falling|hailstones are coming down ; it does not hail|there is no hail ; hail
greenhouse_vent,vent_state,roof_vent ; stuck open,wide open ; closed,shut ; vent_open,vent_stuck ; vent_shut ; the vent stands open|the vent does not close|the roof vent is open ; the vent is closed|the roof vent is shut ; an open vent
vine_camera,crop_camera,leaf_check ; mildew,blight,infested ; healthy,clean leaves ; leaves_sick,mildew_found ; leaves_healthy ; mildew is found on the leaves|the leaves are sick|the crop is infested ; the leaves are healthy|no mildew is found ; mildew
fruit_check,ripeness,apple_camera ; ripe,ready to pick ; green,unripe ; apples_ripe,fruit_ready ; fruit_unripe ; the apples are ripe|the fruit can be picked|it is time for the harvest ; the apples are not ripe|the fruit is still green ; ripe fruit
weed_camera,row_camera,bed_camera ; weeds,overgrown ; tidy,no weeds ; weeds_found,bed_overgrown ; bed_tidy ; weeds are growing between the rows|the bed is overgrown|weeds are found ; there are no weeds|the bed is tidy ; weeds
mole_sensor,burrow_watch,pest_trap ; caught,sprung ; set,waiting ; trap_sprung,mouse_caught ; trap_set ; something was caught in the trap|the trap has snapped|a mouse is in the trap ; nothing is in the trap|the trap is still set ; a catch in the trap
litter_box,cage_check,stall_check ; soiled,dirty,needs cleaning ; clean,fresh ; stall_soiled,litter_dirty ; litter_fresh ; the litter is dirty|the stall has to be cleaned|the cage is soiled ; the litter is fresh|the cage is clean ; dirty litter
dog_flap,kennel_watch,dog_sensor ; barking,dog at the door ; asleep,quiet ; dog_barks,dog_wants_out ; dog_quiet ; the dog barks|the dog wants to go out|the dog is at the door ; the dog is quiet|the dog sleeps ; a barking dog
crib_monitor,baby_phone,nursery_mic ; crying,awake and crying ; asleep,silent ; baby_cries,infant_awake ; baby_asleep ; the baby cries|the baby has woken up|crying is heard from the crib ; the baby sleeps|no crying is heard ; a crying baby
letter_box,post_tray,mail_slot ; mail in,letters,post has come ; nothing in it,no post ; post_came,mail_waiting ; no_mail ; the post has come|there are letters in the box|mail is waiting ; no post has come|the letter box holds nothing ; new mail
parcel_locker,drop_box,pickup_shelf ; waiting for pickup,parcel inside ; nothing inside,cleared ; parcel_waits,shelf_taken ; locker_cleared ; a parcel is waiting in the locker|something lies on the pickup shelf|a parcel was dropped off ; nothing waits in the locker|the pickup shelf has been cleared ; a waiting parcel
truck_bay,ramp_camera,yard_camera ; truck here,lorry at the ramp ; nobody there,bay free ; truck_at_ramp,lorry_here ; bay_is_free ; a lorry stands at the ramp|the truck has come|a truck is at the bay ; no lorry is at the ramp|the truck has not come ; a truck at the ramp
shelf_scanner,stock_watch,rack_watch ; out of stock,sold out ; in stock,well filled ; sold_out,rack_bare ; stock_enough ; the article is sold out|the rack has to be refilled|nothing is left on the rack ; there is stock on the rack|the article is in stock ; a gap on the rack
till_state,checkout,counter_queue ; long queue,crowded ; nobody waiting,one customer ; queue_long,till_crowded ; till_quiet ; there is a long queue at the till|many customers are waiting|people queue at the checkout ; nobody waits at the till|there is no queue at the checkout ; a long queue
shop_hours,opening_sign,store_state ; closed,after hours ; open,serving ; shop_closed,after_closing ; shop_open ; the shop has closed|it is after closing time|the store is closed ; the shop is open|the store has not closed yet ; closing time
break_board,shift_clock,crew_state ; on break,pause ; working,at work ; crew_on_break,pause_now ; crew_at_work ; the crew is on a break|the workers have a pause|everybody is at lunch ; the crew is at work|nobody is on a break ; a break
press_guard,light_curtain,safety_mat ; interrupted,stepped on,violated ; clear,undisturbed ; curtain_broken,mat_stepped_on ; curtain_clear ; the light curtain is interrupted|somebody has stepped on the mat|the safety zone is violated ; the light curtain is clear|nobody stands on the mat ; an interrupted light curtain
weld_check,seam_camera,joint_check ; cracked,porous,defective ; sound,flawless ; seam_cracked,weld_bad ; weld_good ; the seam is cracked|the weld is defective|a crack is found in the seam ; the seam is sound|the weld has no defect ; a cracked seam
drill_watch,tool_monitor,bit_sensor ; worn,blunt,broken ; sharp,as new ; bit_worn,bit_broken ; bit_sharp ; the drill bit is worn|the tool has broken|the bit has to be changed ; the drill bit is sharp|the tool is as new ; a worn bit
chip_bin,swarf_tray,scrap_box ; full,overflowing ; nearly empty,half full ; swarf_full,scrap_overflows ; scrap_has_room ; the scrap box is full|no more chips fit into the tray|the swarf overflows ; there is room in the scrap box|the swarf tray is not full ; a full scrap box
coolant_line,spindle_coolant,cooling_loop ; no flow,interrupted ; flowing,steady ; coolant_lost,no_coolant ; coolant_flows ; the coolant does not flow|the cooling has failed|there is no coolant ; the coolant flows|the cooling works ; a loss of coolant
paint_nozzle,spray_head,glue_tip ; dried up,blocked ; clear,spraying well ; nozzle_blocked,tip_dry ; nozzle_clear ; the nozzle is blocked|the glue tip has dried up|no paint comes out ; the nozzle is clear|the paint comes out well ; a blocked nozzle
mould_sensor,cast_state,resin_state ; cured,set,hardened ; liquid,soft ; resin_cured,cast_hard ; resin_soft ; the resin has cured|the cast has hardened|the mould is set ; the resin is still soft|the cast has not hardened ; cured resin
sample_rack,vial_check,tube_check ; mislabelled,no label ; labelled,all fine ; label_missing,vial_unlabelled ; vials_labelled ; a vial has no label|a tube is mislabelled|a label is missing ; all the vials are labelled|no label is missing ; a missing label
culture_dish,petri_camera,growth_check ; contaminated,mould found ; pure,clean culture ; dish_contaminated,culture_spoilt ; culture_pure ; the culture is contaminated|mould grows in the dish|the dish is spoilt ; the culture is pure|the dish is not contaminated ; a contaminated dish
centrifuge_lid,rotor_watch,rotor_state ; unbalanced,wobbling ; balanced,smooth ; rotor_wobbles,out_of_true ; rotor_smooth ; the rotor is out of balance|the centrifuge wobbles|the rotor is unbalanced ; the rotor runs smoothly|the centrifuge is balanced ; an unbalanced rotor
fume_hood,extraction,hood_airflow ; off,no draught,failed ; drawing,on ; hood_failed,no_extraction ; hood_draws ; the fume hood does not draw|the extraction has failed|there is no draught in the hood ; the fume hood draws|the extraction works ; failed extraction
exhibit_case,showcase_alarm,vitrine ; touched,opened by somebody ; untouched,closed ; case_touched,vitrine_opened ; vitrine_untouched ; somebody touches the showcase|the vitrine was opened|an exhibit is being touched ; nobody touches the showcase|the vitrine is untouched ; a touched exhibit
gallery_count,hall_state,room_watch ; empty,everybody has left ; visitors inside,in use ; hall_vacant,last_visitor_gone ; visitors_inside ; the last visitor has left|nobody is left in the hall|the hall is empty ; there are visitors in the hall|somebody is still in the hall ; an empty hall
stage_cue,prompt_desk,show_state ; curtain call,final bow ; first act,second act,interval ; show_over,final_bow ;  ; the curtain call has come|the play is at its final bow|the show is over ; the play is still on|the curtain call has not come ; the curtain call
choir_mic,hall_mic,audience_mic ; applause,clapping ; silence,music ; audience_claps,applause_on ;  ; the audience claps|there is applause|people applaud ; there is no applause|the audience is silent ; applause
projector,beamer_state,slide_state ; overheated,lamp failed ; showing,standby ; beamer_failed,lamp_out ; beamer_fine ; the projector has failed|the lamp of the beamer is out|there is no picture ; the projector works|the beamer is fine ; a failed projector
microphone_check,mic_state,speaker_check ; feedback,howling ; good,muted ; mic_howls,feedback_heard ; sound_good ; the microphone howls|there is feedback|the speakers howl ; the sound is good|there is no feedback ; feedback
room_booking,calendar_state,meeting_state ; begins now,started ; free until noon,no meeting ; meeting_begins,meeting_on ; no_meeting ; a meeting begins|the meeting has started|the room is in use for a meeting ; there is no meeting|no meeting has begun ; a meeting
classroom,lesson_clock,school_bell ; lesson over,recess ; lesson,class in session ; recess_now,lesson_over ; in_session ; the lesson is over|it is recess|the pupils have a break ; the lesson goes on|the class is in session ; recess
pool_watch,lifeguard_camera,swim_alarm ; swimmer in trouble,drowning ; fine,calm,no swimmer ; swimmer_in_trouble,drowning_alarm ; swimmers_safe ; a swimmer is in trouble|somebody is drowning|the lifeguard camera raises the alarm ; no swimmer is in trouble|all the swimmers are safe ; a swimmer in trouble
chlorine_state,pool_water,water_test ; cloudy,murky ; clear,sparkling ; pool_cloudy,water_murky ; water_sparkles ; the water is cloudy|the pool has turned murky|the water is not clear ; the water is clear|the pool is not cloudy ; cloudy water
rink_state,ice_surface,rink_watch ; scratched,rough ; smooth,polished ; ice_rough,rink_scratched ; ice_smooth ; the ice is rough|the rink is full of scratches|the ice has to be smoothed ; the ice is smooth|the rink has no scratches ; rough ice
slope_state,piste,avalanche_service ; avalanche danger,closed for danger ; safe,open ; avalanche_likely,slope_dangerous ; slope_safe ; there is danger of avalanches|the slope is dangerous|an avalanche is likely ; there is no danger of avalanches|the slope is safe ; danger of avalanches
chair_lift,gondola_state,cable_watch ; halted,standing still ; running,in service ; lift_halted,cable_stopped ; cable_runs ; the chair lift stands still|the gondola has halted|the cable does not move ; the chair lift runs|the cable is moving ; a halted lift
hall_floor,tile_camera,floor_watch ; wet,puddle ; dry,clean ; floor_puddle,tiles_wet ; tiles_dry ; there is a puddle on the tiles|the floor has got wet|water stands on the floor ; the tiles are dry|there is no puddle ; a puddle
lobby_air,smell_sensor,air_check ; burnt smell,smoke ; fresh,normal ; burning_smell,smells_burnt ; air_fresh ; it smells of burning|there is a burnt smell|smoke is in the air ; the air is fresh|nothing smells burnt ; a burnt smell
stairs_sensor,step_watch,cliff_sensor ; edge ahead,drop ; flat floor,no edge ; edge_ahead,drop_ahead ; floor_continues ; there is an edge ahead|the floor ends in front of you|a drop lies ahead ; there is no edge ahead|the floor goes on ; an edge ahead
trolley_hook,tow_hitch,coupling ; unhooked,lost the trailer ; hooked,coupled ; trailer_lost,hook_empty ; trailer_hooked ; the trailer has come off|the trolley is unhooked|the coupling has opened ; the trailer is hooked on|the coupling is shut ; a lost trailer
load_net,strap_sensor,lashing ; loose,slipped ; firm,tight ; strap_loose,load_slipped ; load_firm ; the load has slipped|a strap has come loose|the lashing is loose ; the load sits firm|the straps are tight ; a slipped load
fork_sensor,tine_contact,pallet_contact ; pallet on the forks,touching ; nothing on the forks,no contact ; pallet_on_forks,tines_loaded ; tines_bare ; there is a pallet on the forks|the forks touch a pallet|the forks carry something ; the forks are bare|there is nothing on the forks ; a pallet on the forks
crane_wind,boom_watch,jib_state ; swinging,swaying ; steady,at rest ; load_swings,jib_sways ; load_steady ; the load swings|the jib sways in the wind|the load is not steady ; the load hangs still|the jib is steady ; a swinging load
pit_sensor,sump,shaft_watch ; flooded,water rising ; dry,pumped out ; shaft_flooded,sump_full ; shaft_dry ; the shaft is flooded|water rises in the sump|the pit fills up ; the shaft is dry|no water is in the pit ; a flooded shaft
gas_watch,mine_air,methane_alarm ; gas,methane found ; clean air,no gas ; methane_found,firedamp ; air_is_clean ; methane is found|there is gas in the tunnel|the gas alarm responds ; no methane is found|the air in the tunnel is clean ; methane
tunnel_light,heading_lamps,gallery_lamps ; failed,gone out ; burning,on ; tunnel_dark,lamps_failed ; lamps_burn ; the lamps have gone out|the tunnel lies in the dark|the lighting has failed ; the lamps are on|the tunnel is lit ; failed lamps
solar_panel,panel_camera,array_state ; dusty,covered with snow ; clean,shining ; panel_dusty,panel_covered ; panel_clean ; the panel is covered with dust|the solar array is dirty|snow lies on the panel ; the panel is clean|nothing covers the solar array ; a dusty panel
dish_antenna,uplink,ground_station ; lost,no carrier ; locked,good ; uplink_lost,carrier_lost ; uplink_locked ; the uplink is lost|the antenna has lost its satellite|there is no contact with the ground station ; the uplink is good|the antenna is locked on ; a lost uplink
telescope_dome,seeing,night_sky ; overcast,clouded over ; clear sky,starry ; sky_overcast,clouds_came ; sky_clear ; the sky clouds over|clouds have come up|the sky is overcast ; the sky is clear|there are no clouds ; an overcast sky
rover_wheel,track_state,tread_watch ; slipping,spinning in sand ; gripping,good traction ; tread_slips,wheel_spins ; tread_grips ; a wheel spins in the sand|the tracks slip|the rover has no traction ; the wheels grip|the tracks do not slip ; slipping tracks
probe_depth_state,sea_floor,sonar_contact ; bottom reached,ground touched ; sinking,in open water ; bottom_reached,ground_touched ; still_sinking ; the bottom is reached|the probe touches the ground|the sea floor has been reached ; the bottom is not reached|the probe is still sinking ; ground contact
drone_link,pilot_link,remote_state ; lost,pilot silent ; good,connected ; pilot_lost,remote_silent ; pilot_there ; the pilot is not heard any more|the link to the pilot is lost|the remote control is silent ; the pilot is connected|the remote control is heard ; a lost pilot
propeller_check,rotor_check,blade_camera ; chipped,damaged ; undamaged,fine ; blade_chipped,propeller_damaged ; blade_fine ; a blade is chipped|the propeller is damaged|damage is found on a blade ; the blades are undamaged|no damage is found on the propeller ; a chipped blade
fire_watch,forest_camera,tower_camera ; smoke column,flames ; nothing,green forest ; forest_burns,flames_seen ; forest_quiet ; flames are seen in the forest|a column of smoke rises|the forest is on fire ; no flames are seen|nothing burns in the forest ; a forest fire
hydrant,hose_pressure_state,sprinkler_line ; no pressure,dead ; under pressure,ready ; hydrant_dead,line_dry ; hydrant_ready ; the hydrant has no pressure|no water comes from the line|the sprinkler line is dead ; the hydrant is under pressure|water is on the line ; a dead hydrant
exit_route,escape_door,evacuation ; ordered,evacuate now ; none,not needed ; evacuation_on,evacuate ;  ; an evacuation is ordered|everybody has to leave the building|the building is being evacuated ; no evacuation is ordered|nobody has to leave the building ; an evacuation
badge_reader_state,turnstile,door_reader ; refused,unknown badge ; accepted,no badge ; badge_refused,unknown_badge ;  ; an unknown badge is shown|a badge was refused|somebody tries to get in with a wrong badge ; no badge was refused|the badge is accepted ; a refused badge
night_guard,patrol_clock,round_state ; overdue,late ; on time,completed ; round_overdue,patrol_late ; patrol_on_time ; the round is overdue|the patrol is late|the guard has not checked in ; the round is on time|the patrol is not late ; an overdue round
power_grid,mains_watch,ups_state ; on battery,mains failed ; on mains,normal ; mains_failed,on_ups ; mains_present ; the mains have failed|the site runs on the emergency supply|the electricity has gone ; the mains are present|the site runs on normal power ; a mains failure
charge_point,car_charger,plug_state ; fully charged,charging complete ; charging,connected ; car_charged,charge_complete ; still_charging ; the car is fully charged|charging is complete|the charging has come to its end ; the car is still charging|charging is not complete ; a full charge
tyre_monitor,tyre_state,wheel_pressure ; puncture,losing air ; fine,firm ; tyre_punctured,losing_air ; tyres_firm ; a tyre loses air|there is a puncture|one of the tyres has gone flat ; the tyres are firm|no tyre loses air ; a puncture
driver_camera,cabin_camera,attention_watch ; drowsy,eyes closed ; awake,attentive ; driver_drowsy,eyes_shut ; driver_attentive ; the driver is drowsy|the driver closes his eyes|the driver falls asleep ; the driver is attentive|the driver's eyes are open ; a drowsy driver
seat_belt,belt_contact,harness ; unfastened,undone ; fastened,done up ; belt_undone,harness_open ; belt_fastened ; a seat belt is not fastened|somebody has undone the harness|a belt is open ; all the belts are fastened|the harness is done up ; an open belt
hand_rail,stop_button,request_stop ; requested,pressed ; not pressed,none ; stop_requested,passenger_wants_out ;  ; a passenger wants to get off|a stop is requested|somebody has pressed the stop button ; no stop is requested|nobody wants to get off ; a requested stop
passenger_count_state,deck_state,cabin_load ; full,no seats left ; seats free,half empty ; no_seats_left,deck_full ; seats_free ; all the seats are taken|there are no seats left|the deck is full ; there are free seats|the deck is not full ; a full deck
tray_table,bus_tray,dish_return ; piled up,full of dishes ; cleared,few dishes ; dishes_piled,tray_stack_full ; return_cleared ; dirty dishes pile up|the dish return is full|the trays have to be cleared ; the dish return has been cleared|there are few dishes ; piles of dishes
bin_watch,kerb_bin,street_bin ; overflowing,brim-full ; emptied,half full ; bin_overflows,rubbish_full ; bin_emptied ; the bin overflows|the rubbish has to be taken out|no more rubbish fits in ; the bin has been emptied|there is room in the bin ; an overflowing bin
bottle_return,deposit_machine,crate_stack ; stack complete,crate full ; gap left,crate half full ; crate_full,stack_complete ; gap_left ; the crate is full|the stack is complete|the last bottle is in ; there is a gap in the crate|the stack is not complete ; a full crate
glue_pot,wax_bath,solder_bath ; molten,hot enough ; solid,still cold ; wax_molten,bath_hot ; bath_cold ; the wax has melted|the bath is hot enough|the solder is molten ; the wax is still solid|the bath is too cold ; molten wax
loom_watch,thread_sensor,yarn_guide ; thread broken,snapped ; running,thread fine ; thread_snapped,yarn_broken ; yarn_fine ; the thread has snapped|a yarn is broken|the loom has lost its thread ; the thread is fine|no yarn is broken ; a broken thread
print_bed,layer_camera,print_watch ; warped,come loose ; flat,sticking ; print_warped,part_loose ; part_sticks ; the print has come loose|the part is warped|the layers do not stick ; the print sticks to the bed|the part is flat ; a warped part
kiln_cone,kiln_state,glaze_check ; glaze melted,matured ; not yet,firing ; glaze_melted,kiln_done ; kiln_firing ; the glaze has melted|the kiln is done|the firing is complete ; the kiln is still firing|the glaze has not melted ; a finished firing
wine_sensor,must_state,vat_watch ; fermented,still wine ; fermenting,bubbling ; vat_fermented,must_done ; vat_bubbles ; the must has fermented|the fermentation is over|the vat no longer bubbles ; the must still ferments|the vat bubbles ; the end of the fermentation
keg_sensor,tap_line,beer_tap ; keg empty,only foam ; flowing,keg half full ; keg_empty,only_foam ; keg_not_empty ; the keg is empty|only foam comes out of the tap|the beer has run out ; there is beer in the keg|the tap still flows ; an empty keg
cup_sensor,spout_watch,drip_tray ; cup under the spout,cup placed ; no cup,nothing there ; cup_under_spout,cup_placed ;  ; a cup stands under the spout|somebody has placed a cup|a cup is under the nozzle ; there is no cup under the spout|nobody has placed a cup ; a cup under the spout
coin_slot,card_terminal,pay_state ; paid,payment received ; waiting for payment,nothing paid ; payment_in,has_paid ; unpaid_yet ; the customer has paid|the payment has come in|the money was received ; the customer has not paid|no payment has come in ; a payment
dart_board,score_keeper,game_state ; game won,match over ; in play,halfway ; game_won,match_decided ; match_open ; the game is won|the match has been decided|somebody has won ; the game is still open|nobody has won yet ; a won game
chess_clock,move_clock,turn_state ; your move,robot to move ; opponent thinking,other side to move ; robots_turn,own_move ; opponents_turn ; it is your move|it is your turn to play|the opponent has made a move ; the opponent is thinking|it is not your turn ; your turn
toy_box,playroom_camera,carpet_watch ; toys everywhere,untidy ; tidy,put away ; toys_on_floor,playroom_untidy ; playroom_tidy ; toys lie everywhere|the playroom is untidy|the carpet is full of toys ; the playroom is tidy|the toys have been put away ; toys on the floor
blind_state,awning_state,shade_watch ; down,drawn ; up,rolled up ; blinds_down,awning_out ; blinds_up ; the blinds are down|the shade is drawn|the awning is out ; the blinds are up|the awning is rolled up ; drawn blinds
loft_hatch,cellar_hatch,trapdoor ; open,folded out ; closed,bolted ; trapdoor_open,loft_open ; trapdoor_shut ; the trapdoor is open|somebody opened the hatch to the loft|the cellar hatch stands open ; the trapdoor is shut|the cellar hatch is bolted ; an open trapdoor
frost_guard,pipe_sensor,line_heater ; frozen,iced up ; flowing,above zero ; pipe_frozen,line_iced ; line_warm ; the pipe is frozen|the line has iced up|there is frost in the pipe ; the pipe is not frozen|the water in the line flows ; a frozen pipe
snow_sensor,path_camera,drive_watch ; snowed in,deep snow ; cleared,no snow ; path_snowed_in,deep_snow ; path_cleared ; the path is snowed in|deep snow lies on the drive|the path has to be cleared of snow ; the path has been cleared|there is no snow on the drive ; snow on the path
leaf_sensor,gutter_watch,roof_gutter ; full of leaves,choked ; free,rinsed ; gutter_choked,leaves_in_gutter ; gutter_free ; the gutter is full of leaves|leaves block the gutter|the gutter is choked ; the gutter is free|no leaves are in the gutter ; leaves in the gutter
grass_height_state,lawn_camera,turf_watch ; too long,overgrown ; short,freshly cut ; grass_too_long,lawn_high ; lawn_short ; the grass has grown too long|the lawn is too high|the lawn has to be cut ; the grass is short|the lawn was cut ; long grass
pond_pump,aquarium_pump,aerator ; stopped,failed ; bubbling,running ; pump_failed,no_bubbles ; pump_bubbles ; the pump has failed|no air gets into the tank|the aerator has stopped ; the pump is running|the aerator bubbles ; a failed pump
fish_camera,tank_watch,reef_cam ; gasping at surface,fish dead ; lively,swimming ; fish_gasp,fish_dying ; fish_lively ; the fish gasp for air|a fish has died|the fish are at the surface ; the fish are lively|no fish is in trouble ; gasping fish
help_call,intercom_state,call_cord ; pulled,help wanted ; untouched,nobody calls ; cord_pulled,help_wanted ;  ; somebody calls for help|the cord was pulled|help is wanted ; nobody calls for help|the cord is untouched ; a call for help
gesture,hand_camera,pose_watch ; waving,hand up ; none,arms down ; person_waves,hand_up ;  ; somebody waves at you|a person raises a hand|you are waved at ; nobody waves|no hand is raised ; a wave
face_check,door_camera_face,identity ; stranger,unknown face ; owner,known face ; stranger_here,face_unknown ; face_known ; a stranger is at the door|the face is unknown|somebody unknown has come ; the face is known|no stranger is at the door ; a stranger
work_order,task_terminal,dispatch ; cancelled,withdrawn ; valid,released ; order_withdrawn,job_cancelled ; job_valid ; the order was withdrawn|the job has been cancelled|dispatch cancels the job ; the job is still valid|the order was not withdrawn ; a cancelled job
job_state,batch_state,lot_watch ; complete,last piece done ; in work,piece 3 ; batch_complete,lot_done ; batch_in_work ; the batch is complete|the last piece is done|the lot is finished ; the batch is still in work|the lot is not finished ; a complete batch
"""
# Names of inputs ; unit ; low ; high ; decimals ; more than {b} ; less than {b}.
_READINGS = """
wind_gauge,anemometer,gust_speed ; m/s ; 1 ; 30 ; 0 ; the wind is stronger than {b}|the wind exceeds {b}|it blows with more than {b}|gusts of over {b} are measured ; the wind is weaker than {b}|the wind stays below {b}|it blows with less than {b}
sun_intensity,lux_meter,facade_light ; lx ; 500 ; 90000 ; 0 ; the sun is brighter than {b}|more than {b} fall on the facade|the light exceeds {b} ; it is darker than {b}|less than {b} fall on the facade
cycles_since_service,strokes,operations ; ; 10 ; 900 ; 0 ; more than {b} cycles have been made since the last service|the counter of cycles passes {b}|{b} cycles are exceeded ; fewer than {b} cycles have been made|the counter of cycles is below {b}
cups_served,portions_today,servings ; ; 5 ; 400 ; 0 ; more than {b} portions were served|the number of servings exceeds {b}|over {b} cups have gone out ; fewer than {b} portions were served|the number of servings is under {b}
boom_pressure,bag_pressure_kpa,bellows_pressure ; kPa ; 10 ; 400 ; 0 ; the pressure in the bag is above {b}|the bag holds more than {b}|the bellows have over {b} ; the pressure in the bag is below {b}|the bag holds less than {b}
fork_level,lift_height_m,mast_height ; m ; 0 ; 6 ; 1 ; the fork is higher than {b}|the mast is raised above {b}|the lift stands over {b} ; the fork is lower than {b}|the mast is below {b}
visitors_inside_count,head_count,door_counter ; ; 1 ; 200 ; 0 ; more than {b} people are inside|over {b} visitors are counted|the hall holds more than {b} people ; fewer than {b} people are inside|less than {b} visitors are counted
waiting_minutes,queue_minutes,wait_time_min ; min ; 1 ; 90 ; 0 ; somebody has waited longer than {b}|the waiting time is over {b}|people wait more than {b} ; the waiting time is under {b}|nobody has waited {b}
co2_level,air_quality_ppm,room_co2 ; ppm ; 350 ; 3000 ; 0 ; the air is worse than {b}|the CO2 rises above {b}|there are more than {b} of CO2 ; the air is better than {b}|the CO2 is below {b}
tank_percent,cistern_fill,reservoir_percent ; % ; 2 ; 100 ; 0 ; the tank is more than {b} full|the cistern is filled above {b}|the reservoir stands over {b} ; the tank is less than {b} full|the cistern has fallen below {b}|the reservoir is down to under {b}
milk_yield,basket_weight,hopper_load ; kg ; 1 ; 300 ; 0 ; the hopper holds more than {b}|the basket is heavier than {b}|over {b} lie in the hopper ; the hopper holds less than {b}|the basket is lighter than {b}
river_level,sluice_level,basin_depth_cm ; cm ; 10 ; 600 ; 0 ; the water stands higher than {b}|the river has risen above {b}|the level at the sluice is over {b} ; the water stands lower than {b}|the river is below {b}
drum_speed,mixer_rpm,spindle_rpm ; rpm ; 20 ; 6000 ; 0 ; the drum turns faster than {b}|the spindle runs at more than {b} ; the drum turns slower than {b}|the spindle runs at less than {b}
motor_current_a,drive_current,pump_amps ; A ; 1 ; 60 ; 0 ; the motor draws more than {b}|the drive takes over {b} ; the motor draws less than {b}|the drive takes under {b}
gear_temperature_c,bearing_heat,core_heat ; C ; 20 ; 180 ; 0 ; the bearing gets hotter than {b}|the gear is warmer than {b}|the core exceeds {b} ; the bearing is cooler than {b}|the gear stays below {b}
freezer_c,cold_store_c,ice_box_c ; C ; -30 ; 12 ; 0 ; the cold store is warmer than {b}|the freezer has warmed up above {b} ; the cold store is colder than {b}|the freezer is below {b}
room_celsius,ward_celsius,nursery_celsius ; C ; 8 ; 36 ; 0 ; it is warmer than {b} in the room|the room heats up over {b} ; it is colder than {b} in the room|the room cools down below {b}
days_since_watering,days_since_check,days_idle ; days ; 1 ; 60 ; 0 ; the last check was more than {b} ago|it has been longer than {b} ; the last check was less than {b} ago|it has not been {b} yet
pages_left,labels_left,cups_left ; ; 2 ; 500 ; 0 ; more than {b} are left|the supply is above {b} ; fewer than {b} are left|the supply is down to under {b}
rope_tension,line_pull,winch_load ; kN ; 1 ; 80 ; 0 ; the rope pulls with more than {b}|the winch carries over {b} ; the rope pulls with less than {b}|the winch carries under {b}
noise_db_hall,playground_db,ward_db ; dB ; 25 ; 110 ; 0 ; it is louder than {b}|the noise rises above {b} ; it is quieter than {b}|the noise is below {b}
ground_slope,slope_deg,roll_deg ; deg ; 1 ; 45 ; 0 ; the ground is steeper than {b}|you lean more than {b} ; the ground is flatter than {b}|you lean less than {b}
dust_ug,pollen_count,fine_dust ; ug/m3 ; 5 ; 400 ; 0 ; there is more dust than {b}|the dust exceeds {b} ; there is less dust than {b}|the dust is under {b}
link_quality_percent,signal_percent,wifi_percent ; % ; 2 ; 100 ; 0 ; the signal is better than {b}|the link is above {b} ; the signal is worse than {b}|the link drops below {b}
ph_milli,acid_value,salt_g ; g/l ; 1 ; 60 ; 0 ; the solution is stronger than {b}|the water has more than {b} of salt ; the solution is weaker than {b}|the water has less than {b} of salt
snow_cm,snow_depth_cm,drift_cm ; cm ; 2 ; 150 ; 0 ; the snow is deeper than {b}|more than {b} of snow have fallen ; the snow is not {b} deep|less than {b} of snow have fallen
grass_mm,blade_length_mm,turf_mm ; mm ; 10 ; 300 ; 0 ; the grass is longer than {b}|the turf has grown over {b} ; the grass is shorter than {b}|the turf is under {b}
humidity_rh,cellar_rh,store_rh ; % ; 10 ; 98 ; 0 ; the air is damper than {b}|the humidity climbs over {b} ; the air is drier than {b}|the humidity falls under {b}
paid_cents,till_cents,coin_sum ; cents ; 10 ; 900 ; 0 ; more than {b} were paid|over {b} lie in the till ; less than {b} were paid|under {b} lie in the till
heart_rate,pulse_bpm,patient_pulse ; bpm ; 35 ; 190 ; 0 ; the pulse is faster than {b}|the heart beats more than {b} ; the pulse is slower than {b}|the heart beats less than {b}
bed_hours,run_hours,burn_hours ; h ; 1 ; 5000 ; 0 ; it has run for more than {b}|the hours of operation exceed {b} ; it has run for less than {b}|the hours of operation are under {b}
catch_kg,net_kg,egg_kg ; kg ; 1 ; 900 ; 0 ; the catch weighs more than {b}|the net is heavier than {b} ; the catch weighs less than {b}|the net is lighter than {b}
errors_per_hour,rejects_today,misprints ; ; 1 ; 90 ; 0 ; there are more than {b} rejects|the rejects exceed {b} ; there are fewer than {b} rejects|the rejects are below {b}
gap_mm,seam_gap_mm,clearance_mm ; mm ; 1 ; 90 ; 0 ; the gap is wider than {b}|the clearance is over {b} ; the gap is narrower than {b}|the clearance is under {b}
"""


@dataclass(frozen=True)
class Situation:
    """A state, what inputs say of it, and how people do."""

    names: tuple[str, ...]
    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    flags: tuple[str, ...]
    contrary_flags: tuple[str, ...]
    texts: tuple[str, ...]
    contrary: tuple[str, ...]
    noun: str


@dataclass(frozen=True)
class Reading:
    """A number with a bound, and how more and less of it are said."""

    names: tuple[str, ...]
    unit: str
    low: float
    high: float
    decimals: int
    more: tuple[str, ...]
    less: tuple[str, ...]


def _parts(text: str, by: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(by) if part.strip())


def _situation(line: str) -> Situation:
    names, shown, hidden, flags, contrary_flags, texts, contrary, noun = line.split(';')
    return Situation(_parts(names, ','), _parts(shown, ','), _parts(hidden, ','), _parts(flags, ','), _parts(contrary_flags, ','), _parts(texts, '|'), _parts(contrary, '|'), noun.strip())


def _reading(line: str) -> Reading:
    names, unit, low, high, decimals, more, less = line.split(';')
    return Reading(_parts(names, ','), unit.strip(), float(low), float(high), int(decimals), _parts(more, '|'), _parts(less, '|'))


SITUATIONS: tuple[Situation, ...] = tuple(map(_situation, _SITUATIONS.strip().split('\n')))
READINGS: tuple[Reading, ...] = tuple(map(_reading, _READINGS.strip().split('\n')))


def input_names() -> set[str]:
    """Return all names that these inputs may have."""
    found = {name for reading in READINGS for name in reading.names}
    for one in SITUATIONS:
        found |= {*one.names, *one.flags, *one.contrary_flags}
    return found
