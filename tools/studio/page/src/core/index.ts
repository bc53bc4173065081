// SPDX-License-Identifier: Apache-2.0
// The modules without document and network, for the unit tests.
export * as colours from './colours';
export * as flame from './flame';
export * as fragment from './fragment';
export * as frames from './frames';
export * as json from './json';
export * as names from './names';
export * as parameters from './parameters';
export * as scale from './scale';
export * as steps from './steps';
export * as tile from './tile';
export * as time from './time';
export { GapMarks } from '../data/gap-marks';
export { hasManyLevels, hiddenLevels, LaneTree } from '../timeline/lanes';
export { bindingOf, keyName, KEYS } from '../timeline/keys';
export { View } from '../timeline/view';
