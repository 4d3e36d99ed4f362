/**
 * URI templates of RFC 6570: level 1, text with `{name}` in it, and at the end `{?name,other}` for a query.
 *
 * @module
 */

/** Characters of a URI beyond which no template is tried. */
export const MAX_URI_CHARS = 4096;

/** A template, ready to match URIs. */
export class UriTemplate {
  /** The template as it was written. */
  readonly text: string;
  /** The variables' names, in order; those of the query last. */
  readonly names: readonly string[];
  readonly #inPath: readonly string[];
  readonly #inQuery: readonly string[];
  readonly #pattern: RegExp;

  /**
   * Reads a template.
   *
   * @throws {TypeError} for a name that is not letters, digits and `_`, one that is there twice, two variables with
   * nothing between them, and a query that is not the end.
   */
  constructor(text: string) {
    const fail = (problem: string): never => {
      throw new TypeError(`Cannot use the URI template "${text}": ${problem}`);
    };
    const query = /\{\?(\w+(?:,\w+)*)\}$/.exec(text);
    const path = query ? text.slice(0, query.index) : text;
    if (/[{}]/.test(path.replace(/\{\w+\}/g, "")) || path.includes("}{")) {
      fail(
        "write {name}, with text between two of them, and at the end {?name,other}",
      );
    }
    if (query && path.includes("?")) fail("it has two queries");
    let pattern = "";
    const inPath: string[] = [];
    for (const part of path.split(/(\{\w+\})/)) {
      const name = /^\{(.*)\}$/.exec(part)?.[1];
      if (name === undefined) {
        pattern += part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
      } else {
        inPath.push(name);
        pattern += "([^/?#]+)";
      }
    }
    this.text = text;
    this.#inPath = inPath;
    this.#inQuery = query ? query[1]!.split(",") : [];
    this.names = [...this.#inPath, ...this.#inQuery];
    const twice = this.names.find((name, i) => this.names.indexOf(name) !== i);
    if (twice !== undefined) fail(`{${twice}} is there twice`);
    this.#pattern = new RegExp(
      `^${pattern}${query ? "(?:\\?([^#]*))?" : ""}$`,
    );
  }

  /**
   * The values of the variables, percent-decoded; undefined when the URI is none of this template's. Those of the query
   * may come in any order and be absent; one that the template does not name, or that comes twice, matches nothing.
   */
  match(uri: string): Record<string, string> | undefined {
    if (uri.length > MAX_URI_CHARS) return undefined;
    const found = this.#pattern.exec(uri)?.slice(1);
    if (!found) return undefined;
    const pairs = this.#inPath.map((name, i): [string, string] => [
      name,
      found[i]!,
    ]);
    const query = found[this.#inPath.length];
    for (const pair of query ? query.split("&") : []) {
      const [, name, value] = /^([^=]*)=?(.*)$/s.exec(pair)!;
      if (
        !this.#inQuery.includes(name!) || pairs.some(([one]) => one === name)
      ) return undefined;
      pairs.push([name!, value!]);
    }
    try {
      return Object.fromEntries(
        pairs.map(([name, value]) => [name, decodeURIComponent(value)]),
      );
    } catch {
      return undefined;
    }
  }
}
