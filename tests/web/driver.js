// node driver.js MODULES: obeys JSON lines {"do": NAME, ...} on standard input, one answer each, with Debian's
// Chromium.
//
// open: {page, hash, scheme, width, height, ready: a selector}   eval: {script} in the page   press: {keys, in}   drag: {from, to}
// shot: {path, at}  axe   pdf: {path}   logs: what the browser has complained about, and what it has asked the network
// for
const path = require("path");
const readline = require("readline");

const modules = process.argv[2];
const {chromium} = require(path.join(modules, "playwright-core"));
const AXE = path.join(modules, "axe-core", "axe.min.js");
let browser, context, page, logs = [];

async function open({file, hash, scheme, width, height, ready}) {
  await context?.close();
  // The page's own policy refuses any script but its own, also those of a test: axe is put in by the debugger.
  context = await browser.newContext(
      {viewport: {width: width ?? 1280, height: height ?? 800}, colorScheme: scheme ?? "light", offline: true});
  logs = [];
  page = await context.newPage();
  page.on("console", message => logs.push(`console: ${message.text()}`));
  page.on("pageerror", error => logs.push(`error: ${error.message}`));
  page.on("dialog", dialog => { logs.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", request => {
    if (request.url() !== `file://${file}${hash ?? ""}` && request.url() !== `file://${file}`)
      logs.push(`request: ${request.url()}`);
  });
  const begin = Date.now();
  await page.goto(`file://${file}${hash ?? ""}`);
  await page.waitForSelector(ready ?? "html[data-ready]", {state: "attached", timeout: 60000});
  return Date.now() - begin;
}

const DO = {
  open,
  eval: ({script, arg}) => page.evaluate(`(${script})(${JSON.stringify(arg ?? null)})`),
  async press({keys, at}) {
    if (at)
      await page.focus(at);
    for (const key of keys)
      await page.keyboard.press(key);
  },
  type: ({at, text}) => page.fill(at, text),
  click: ({at}) => page.click(at),
  drag: ({from, to}) => page.dragAndDrop(from, to),
  async mouse({at, from, to}) {
    await page.locator(at).scrollIntoViewIfNeeded();
    const box = await page.locator(at).boundingBox();
    await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, box.y + box.height / 2, {steps: 5});
    await page.mouse.up();
  },
  back: () => page.goBack({waitUntil: "commit"}).then(() => null),
  shot: ({path: to, full, at}) =>
    (at ? page.locator(at).screenshot({path: to}) : page.screenshot({path: to, fullPage: full ?? false})).then(() => null),
  pdf: ({path: to}) => page.pdf({path: to}).then(() => null),
  print: () => page.emulateMedia({media: "print"}),
  async axe() {
    await page.evaluate(require("fs").readFileSync(AXE, "utf8"));
    const found = await page.evaluate("axe.run({resultTypes: ['violations']})");
    return found.violations.filter(v => ["serious", "critical"].includes(v.impact))
      .map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")}`);
  },
  logs: () => logs,
};

async function main() {
  browser = await chromium.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
                                   args: process.getuid() ? [] : ["--no-sandbox"]});
  for await (const line of readline.createInterface({input: process.stdin})) {
    const command = JSON.parse(line);
    let answer;
    try {
      answer = {is: await DO[command.do](command) ?? null};
    } catch (error) {
      answer = {error: String(error.stack ?? error)};
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await browser.close();
}

main().catch(error => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
