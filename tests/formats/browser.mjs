// SPDX-License-Identifier: GPL-2.0-or-later
//
// Opens what lattop exports in a browser, as its readers would: the flame graph, searched and clicked with the mouse, and the
// profiles in speedscope's own page. Called by make browser; Chromium (120 MB) is not for every test run.
// usage: node browser.mjs READERS LATTOP WRITE_RECORDS FOLDER [RECORDING]
// Pictures go to FOLDER. RECORDING instead of a written one, for pictures of real work: what is searched and clicked is the same.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, lattop, writeRecords, folder, recording] = process.argv.slice(2);
const speedscope = path.resolve(readers, 'node_modules/speedscope/dist/release');

/** Chromium, told what to do through two pipes. */
class Browser {
    constructor(profile) {
        const options = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', `--user-data-dir=${profile}`,
            '--allow-file-access-from-files', '--window-size=1400,900'];
        this.child = spawn('chromium', options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
        this.child.on('error', () => { console.log('FAILED  there is no chromium (packaging/setup browser)'); process.exit(1); });
        this.waiting = new Map();
        this.next = 1;
        let text = '';
        this.child.stdio[4].setEncoding('utf8').on('data', more => {
            const parts = (text + more).split('\0');
            text = parts.pop();
            for (const part of parts) this.take(JSON.parse(part));
        });
    }
    take(message) {
        const [done, failed] = this.waiting.get(message.id) ?? [];
        this.waiting.delete(message.id);
        if (message.error) failed?.(new Error(message.error.message));
        else done?.(message.result);
    }
    send(method, params = {}, sessionId = this.session) {
        const id = this.next++;
        this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
        return new Promise((done, failed) => this.waiting.set(id, [done, failed]));
    }
    async open(url) {
        const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' }, undefined);
        this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true }, undefined)).sessionId;
        await this.send('Page.navigate', { url });
        await this.until('document.readyState === "complete"');
    }
    async ask(expression) {
        const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true });
        if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
        return result.value;
    }
    async until(expression) {
        for (let i = 0; i < 600; ++i) {
            if (await this.ask(expression)) return;
            await new Promise(later => setTimeout(later, 100));
        }
        throw new Error(`never true: ${expression}`);
    }
    /** Presses the mouse in the middle of the element that `expression` gives. */
    async click(expression) {
        const box = await this.ask(`(() => { const b = (${expression}).getBoundingClientRect();
            return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; })()`);
        for (const type of ['mousePressed', 'mouseReleased'])
            await this.send('Input.dispatchMouseEvent', { type, ...box, button: 'left', clickCount: 1 });
    }
    async picture(name) {
        const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
        fs.writeFileSync(path.join(folder, name), Buffer.from(data, 'base64'));
    }
}

async function flameGraph(browser, records) {
    const page = path.join(folder, 'flamegraph.html');
    execFileSync(lattop, ['export', '-f', 'flamegraph', '-o', page, records]);
    const folded = execFileSync(lattop, ['export', '-f', 'folded', records], { encoding: 'utf8' }).trimEnd().split('\n');
    const ns = lines => lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    await browser.open(pathToFileURL(page).href);
    const boxes = '[...document.querySelectorAll("#graph div")]';
    const all = await browser.ask(`${boxes}.length`);
    assert(all > 10, `${all} boxes`);
    await browser.picture('flamegraph.png');

    await browser.click('document.getElementById("search")');
    await browser.send('Input.insertText', { text: 'FUTEX' });
    const found = await browser.ask('document.getElementById("found").textContent');
    const wanted = `${(100 * ns(folded.filter(line => line.includes('futex'))) / ns(folded)).toFixed(2)}% of the time`;
    assert(found.startsWith(wanted), `found "${found}", wanted ${wanted}`);
    const hits = await browser.ask(`${boxes}.filter(box => box.classList.contains("hit")).length`);
    assert(hits > 0, 'nothing is marked');
    await browser.picture('flamegraph-search.png');

    const command = `${boxes}.filter(box => !box.classList.contains("above"))[1]`;
    const name = await browser.ask(`${command}.title`);
    await browser.click(command);
    const zoomed = await browser.ask(`${boxes}.length`);
    const wide = await browser.ask(`${boxes}.find(box => box.title === ${JSON.stringify(name)}).getBoundingClientRect().width`);
    assert(wide === await browser.ask('graph.getBoundingClientRect().width'), `a click makes ${name} ${wide} wide`);
    await browser.picture('flamegraph-zoom.png');
    await browser.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 });
    assert.equal(await browser.ask(`${boxes}.length`), all, 'Escape does not bring the whole graph back');
    console.log(`ok      flame graph: ${all} boxes, ${hits} found (${found}), ${zoomed} below "${name}"`);
}

/** As speedscope's own command opens a file: a script that hands it to the page. */
async function openInSpeedscope(browser, format, records, title) {
    const bytes = execFileSync(lattop, ['export', '-f', format, records], { maxBuffer: 1 << 30 });
    const script = path.join(folder, `speedscope-${format}.js`);
    fs.writeFileSync(script, `speedscope.loadFileFromBase64("recording.${format}", "${bytes.toString('base64')}")`);
    await browser.open(`${pathToFileURL(path.join(speedscope, 'index.html')).href}#localProfilePath=${path.resolve(script)}`);
    await browser.until('document.title !== "speedscope"');
    const shown = await browser.ask('document.title');
    assert(shown.includes(title), `speedscope calls it "${shown}"`);
    assert(!/error|unrecognized/i.test(await browser.ask('document.body.innerText')), 'speedscope says error');
    await new Promise(later => setTimeout(later, 500));  // it draws on a canvas, in its own time
    await browser.picture(`speedscope-${format}.png`);
    console.log(`ok      speedscope opens ${format}: "${shown}"`);
}

fs.mkdirSync(folder, { recursive: true });
const records = recording ?? path.join(folder, 'records');
if (!recording) execFileSync(writeRecords, [records, '4']);
const browser = new Browser(fs.mkdtempSync(path.join(path.resolve(folder), 'profile-')));
let status = 0;
try {
    await flameGraph(browser, records);
    if (!fs.existsSync(speedscope)) console.log("SKIPPED speedscope: npm's package is not installed (packaging/setup browser)");
    else for (const format of ['speedscope', 'pprof', 'perfetto']) await openInSpeedscope(browser, format, records, format === 'speedscope' ? 'Linux' : `recording.${format}`);
} catch (error) {
    console.log(`FAILED  ${error.message}`);
    status = 1;
}
browser.child.kill();
process.exit(status);
