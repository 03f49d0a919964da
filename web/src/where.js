// Conditions as --where has them (user/report/model/where.h), or a text to search for.

const BLANK = /[ \t\n]/;

class Parser {
  constructor(text, data) {
    this.text = text;
    this.data = data;
    this.at = 0;
    this.negated = false;
    this.found = []; // what frames are searched for
  }

  fail(what) {
    throw new Error(`at character ${this.at + 1}: ${what}`);
  }

  skip() {
    while (BLANK.test(this.text[this.at] ?? ""))
      this.at++;
  }

  word(word) {
    this.skip();
    const after = this.text[this.at + word.length];
    if (!this.text.startsWith(word, this.at) || (after !== undefined && !/[ \t\n()]/.test(after)))
      return false;
    this.at += word.length;
    return true;
  }

  char(c) {
    this.skip();
    if (this.text[this.at] !== c)
      return false;
    this.at++;
    return true;
  }

  value() {
    this.skip();
    const quote = this.text[this.at];
    if (quote === '"' || quote === "'") {
      const end = this.text.indexOf(quote, this.at + 1);
      if (end < 0)
        this.fail("the quote has no end");
      const value = this.text.slice(this.at + 1, end);
      this.at = end + 1;
      return value;
    }
    const value = /^[^ \t\n()]*/.exec(this.text.slice(this.at))[0];
    if (!value)
      this.fail("a value is missing, as in lock_class=*Table*");
    this.at += value.length;
    return value;
  }

  is() {
    const name = /^[a-z_]*/.exec(this.text.slice(this.at))[0];
    if (!name)
      this.fail("an aspect is missing, as in lock_class=*Table*");
    if (!Object.hasOwn(this.data.byName, name))
      this.fail(`there is no aspect '${name}'; there are ${this.data.order.join(", ")}`);
    this.at += name.length;
    const not = this.char("!");
    if (!this.char("="))
      this.fail("= or != is missing");
    const glob = this.value(), test = matcher(this.data, name, glob);
    if (this.data.byName[name].chains && this.negated === not) {
      const pattern = globPattern(glob);
      this.found.push(text => pattern.test(text));
    }
    return not ? i => !test(i) : test;
  }

  unary() {
    if (this.word("not")) {
      this.negated = !this.negated;
      const test = this.unary();
      this.negated = !this.negated;
      return i => !test(i);
    }
    if (this.char("(")) {
      const test = this.or();
      if (!this.char(")"))
        this.fail("a ) is missing");
      return test;
    }
    this.skip();
    return this.is();
  }

  and() {
    let test = this.unary();
    while (this.word("and")) {
      const left = test, right = this.unary();
      test = i => left(i) && right(i);
    }
    return test;
  }

  or() {
    let test = this.and();
    while (this.word("or")) {
      const left = test, right = this.and();
      test = i => left(i) || right(i);
    }
    return test;
  }

  all() {
    const test = this.or();
    this.skip();
    if (this.at < this.text.length)
      this.fail("'and' or 'or' is missing");
    return test;
  }
}

// fnmatch(3)'s patterns, of the whole text.
export function globPattern(glob) {
  let source = "";
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i];
    if (c === "*") {
      source += "[^]*";
    } else if (c === "?") {
      source += "[^]";
    } else if (c === "\\" && i + 1 < glob.length) {
      source += escaped(glob[++i]);
    } else if (c === "[") {
      const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(glob.slice(i));
      source += set ? `[${set[1] ? "^" : ""}${set[2].replace(/[\\\]^[]/g, "\\$&")}]` : "\\[";
      i += set ? set[0].length - 1 : 0;
    } else {
      source += escaped(c);
    }
  }
  return new RegExp(`^${source}$`, "u");
}

function escaped(c) {
  return /[\\^$.*+?()[\]{}|/]/.test(c) ? `\\${c}` : c;
}

// By key, as cells have few keys.
function remembered(keys, decide) {
  const known = new Map();
  return i => {
    const key = keys[i];
    if (!known.has(key))
      known.set(key, decide(key));
    return known.get(key);
  };
}

function frames(data, chain, test) {
  for (let at = data.chain_nodes[chain]; at; at = data.node_callers[at - 1])
    if (data.node_methods[at - 1] && test(data.node_methods[at - 1]))
      return true;
  return false;
}

function matcher(data, name, glob) {
  const pattern = globPattern(glob), test = text => pattern.test(text);
  const aspect = data.byName[name];
  return remembered(aspect.keys, key => {
    const chain = aspect.chains?.[key];
    return chain !== undefined && data.chain_nodes[chain] ? frames(data, chain, test) : test(aspect.texts[key]);
  });
}

// A text anywhere in what a cell is about, also within folded frames.
function search(data, text) {
  const wanted = text.toLowerCase(), test = t => t.toLowerCase().includes(wanted);
  const tests = Object.values(data.byName).map(aspect => remembered(aspect.keys, key => {
    const chain = aspect.chains?.[key];
    return chain !== undefined && data.chain_nodes[chain] ? frames(data, chain, test) : test(aspect.texts[key]);
  }));
  return i => tests.some(one => one(i));
}

// {test, error, found}; test is null where all cells are chosen. A text without = is searched for. found: of a frame's
// text, whether it is what was searched for; null: no frame is.
export function parseWhere(data, text) {
  if (!text.trim())
    return {test: null, error: "", found: null};
  if (!text.includes("=")) {
    const wanted = text.trim(), lower = wanted.toLowerCase();
    return {test: search(data, wanted), error: "", found: frame => frame.toLowerCase().includes(lower)};
  }
  try {
    const parser = new Parser(text, data), test = parser.all(), {found} = parser;
    return {test, error: "", found: found.length ? frame => found.some(one => one(frame)) : null};
  } catch (error) {
    return {test: () => false, error: error.message, found: null};
  }
}

// A value of a condition, with quotes if it needs them and what a pattern would take for its own.
export function quoted(text) {
  const plain = text.replace(/[*?[\\]/g, "\\$&");
  if (!plain.includes("'"))
    return `'${plain}'`;
  return plain.includes('"') ? `'${plain.replace(/'/g, "?")}'` : `"${plain}"`;
}
