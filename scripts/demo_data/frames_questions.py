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

"""More ways of asking for the state of the robot and of its inputs."""

from __future__ import annotations

MORE: dict[str, tuple[str, ...]] = {
    'battery': ('what percentage is the battery at?', 'how much charge is in the battery?', 'is the battery all right, how much is in it?', 'tell me how much energy remains', 'what is the charge level [now|at the moment]?', 'how high is the charge?', 'give me the battery in percent', 'the battery, please, in percent', 'how far down is the battery?', 'I want to know the battery level',
                'may I know your charge?', 'can you tell me how full the battery is?', 'how much power have you got?', 'how many percent of power do you still have?', 'before you go, how full is the battery?', 'what does your battery stand at?', 'charge level?', 'show me the charge'),
    'low': ('is the charge below twenty percent?', 'are you running out of power?', 'do you have to go to the charger?', 'is there too little charge?', 'should I worry about the battery?', 'is the battery about to die?'),
    'charging': ('is the charger connected?', 'do you get power right now?', 'is charging going on?', 'are you being charged at the moment?', 'is the battery being filled?', 'tell me if you are charging', 'is the robot charging?', 'do you charge?'),
    'where': ('what is your location on the map?', 'give me x and y', 'at what place on the map are you?', 'on which coordinates do you stand?', 'say where you are', 'where exactly are you?', 'what are x and y?', 'I need your position', 'can you tell me where you are?', 'do you know where you are?', 'what does the odometry say about your position?', 'report where you are', 'tell me your pose', 'which spot are you on?', 'let me know your coordinates'),
    'heading': ('in what direction are you turned?', 'what is your yaw angle?', 'how are you oriented?', 'tell me your heading', 'which angle do you face?', 'what is your orientation?', 'what does yaw say?', 'how many degrees is your heading?'),
    'speed': ('what is your current speed?', 'how many metres per second are you doing?', 'how fast is the robot?', 'how fast do you move?', 'what is the velocity?', 'at which rate are you moving?', 'report the speed', 'speed, please', 'can you tell me how fast you are?', 'what does the speedometer read?'),
    'see': ('what things are in view?', 'what objects have you found?', 'tell me what the camera sees', 'is there anything to see?', 'what is visible?', 'which things can be made out now?', 'report the detections', 'what did you detect?', 'what stands before you?', 'give me a list of what you see', 'which things did the camera find?', 'can you see anything?', 'name the things around you'),
    'count': ('how many objects are in view?', 'what is the number of detections?', 'how many things did the camera find?', 'tell me how many things you see', 'number of objects?', 'how many items are around you?'),
    'nearest': ('what is next to you?', 'which thing is the closest one?', 'tell me the nearest object', 'which of the objects is nearest?', 'what is the closest thing that you see?'),
    'have': ('tell me whether you see {object}', 'does the camera see {object}?', 'is {object} among the things you see?', 'do you have {object} in view?', 'can {object} be seen?', 'is {object} somewhere in sight?', 'did you detect {object}?'),
    'far': ('how many metres is it to {object}?', 'how near is {object}?', 'what distance do you have to {object}?', 'how close is {object}?', 'give me the distance to {object}', 'how far away from you is {object}?'),
    'spot': ('what are the coordinates of {object}?', 'where on the map is {object}?', 'give me x and y of {object}', 'where did you see {object}?', 'where can I find {object}?', 'tell me where {object} is'),
    'front': ('how much free space is before you?', 'what is the distance to the obstacle in front?', 'how near is the next obstacle in front?', 'is there room ahead, how much?', 'what does the scan say for the front?', 'how far is it to the wall in front?', 'how many metres are free ahead?'),
    'mode': ('tell me your mode', 'which mode is on?', 'what state are you in?', 'what is the current mode?', 'in what mode is the robot?', 'are you in a mode, which one?', 'name the mode', 'report the mode'),
    'error': ('is there an error?', 'is there any fault?', 'do you report an error?', 'what went wrong?', 'are there faults to report?', 'is the robot healthy?', 'tell me about errors', 'which error is there?', 'do the diagnostics show an error?', 'any alarms?', 'has something failed?', 'what problem is reported?'),
    'temperature': ('what is the temperature in here?', 'how many degrees does the thermometer show?', 'tell me the temperature', 'is it warm, how many degrees?', 'what temperature do you measure?', 'how cold is it in degrees?', 'give me the temperature'),
    'named': ('what is the reading of {name}?', 'how much is {name}?', 'which value has {name}?', 'what value does {name} have [now|at the moment]?', 'read {name} to me', 'what does the input {name} tell?', 'I need the value of {name}', 'can you tell me {name}?', 'show {name}', 'what is the current {name}?', 'please give the {name}', 'how does {name} stand?', 'let me know {name}', 'which {name} do you have?'),
    'flag': ('is {name} on?', 'what value has {name}?', 'tell me {name}', 'report {name}', 'is the flag {name} set?', 'true or false: {name}?', 'does {name} say true?', 'what is the state of {name}?', 'what about {name}?', 'give me {name}', 'is it so that {name}?', 'can you check {name} for me?'),
    'fix': ('is the gps fixed?', 'does the gps have a fix?', 'do the satellites give a position?', 'has the gps got a fix?', 'is satellite positioning there?', 'tell me whether the gps has a fix'),
    'note': ('what text is in {name}?', 'what stands on {name}?', 'tell me what {name} says', 'what is the text of {name}?', 'what did {name} report?', 'quote {name}', 'give me the words of {name}', 'what message is on {name}?', 'what can be read on {name}?'),
    'age': ('how long ago did {name} come?', 'what is the age of the last {name}?', 'how many seconds old is {name}?', 'since when is {name} here?', 'tell me the age of {name}', 'how fresh is {name}, in seconds?'),
}
