// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads `lattop export -f pprof` with the profile.proto of npm's pprof, which is the format's authors' own.
// usage: node pprof.cjs READERS LATTOP WRITE_RECORDS
// READERS is the folder that packaging/setup installs npm packages in. Exit status 77: the package is not there.
'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const [readers, lattop, writeRecords] = process.argv.slice(2);
const reader = path.resolve(readers, 'node_modules/pprof/proto/profile.js');
if (!fs.existsSync(reader)) {
    console.log("SKIPPED: npm's pprof is not installed (packaging/setup test)");
    process.exit(77);
}
const { Profile } = require(reader).perftools.profiles;

function must(holds, what) {
    if (holds) return;
    console.log(`FAILED  ${what}`);
    process.exit(1);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lattop-'));
const records = path.join(folder, 'records');
execFileSync(writeRecords, [records, '3']);
const bytes = execFileSync(lattop, ['export', '-f', 'pprof', records]);
const folded = execFileSync(lattop, ['export', '-f', 'folded', records], { encoding: 'utf8' });
fs.rmSync(folder, { recursive: true });

const profile = Profile.decode(bytes);
must(Profile.verify(profile) === null, Profile.verify(profile));
must(profile.sample.length > 0, 'empty');
const text = index => profile.stringTable[Number(index)];
const types = profile.sampleType.map(type => `${text(type.type)}/${text(type.unit)}`);
must(types.join() === 'sleeps/count,blocked/nanoseconds', `sample types ${types}`);
const functions = new Map(profile.function.map(one => [Number(one.id), text(one.name)]));
const locations = new Map(profile.location.map(one => [Number(one.id), functions.get(Number(one.line[0].functionId))]));

// The same stacks and nanoseconds as folded: outermost first there, innermost first here. Folded has no sleeps
// of no time: nanoseconds are all that it says.
const expected = new Map();
for (const line of folded.trimEnd().split('\n')) {
    const blank = line.lastIndexOf(' ');
    const stack = line.slice(0, blank).replaceAll('_[k]', ' [kernel]');
    expected.set(stack, (expected.get(stack) ?? 0) + Number(line.slice(blank + 1)));
}
const found = new Map();
for (const sample of profile.sample) {
    const names = sample.locationId.map(id => locations.get(Number(id))).reverse();
    must(names.every(name => name !== undefined), 'a location that is not in the profile');
    const stack = names.map(name => name.replaceAll(';', ':')).join(';');
    must(Number(sample.value[0]) > 0 || Number(sample.value[1]) > 0, `${stack}: a sample of nothing`);
    if (Number(sample.value[1]) > 0) found.set(stack, (found.get(stack) ?? 0) + Number(sample.value[1]));
    must(text(sample.label[0].key) === 'reason', 'a sample has no reason');
}
must(expected.size > 3, `${expected.size} folded stacks`);
must(found.size === expected.size, `${found.size} stacks, ${expected.size} folded`);
for (const [stack, ns] of expected) must(found.get(stack) === ns, `${stack}: ${found.get(stack)} ns, ${ns} folded`);
console.log(`ok      ${profile.sample.length} samples, ${functions.size} functions`);
