/**
 * URI templates of RFC 6570 level 1: text with `{name}` in it.
 *
 * @module
 */

/** Characters of a URI beyond which no template is tried. */
export const MAX_URI_CHARS = 4096;

/** A template, ready to match URIs. */
export class UriTemplate {
  /** The template as it was written. */
  readonly text: string;
  /** The variables' names, in order. */
  readonly names: readonly string[];
  readonly #pattern: RegExp;

  /**
   * Reads a template.
   *
   * @throws {TypeError} for a name that is not letters, digits and `_`, one that is there twice, and two variables
   * with nothing between them.
   */
  constructor(text: string) {
    const names: string[] = [];
    let pattern = "";
    for (const part of text.split(/(\{[^{}]*\})/)) {
      const name = /^\{(.*)\}$/.exec(part)?.[1];
      if (name === undefined) {
        pattern += part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
        continue;
      }
      if (!/^\w+$/.test(name) || names.includes(name)) {
        throw new TypeError(
          `Cannot use the URI template "${text}": {${name}} is not a simple variable, or is there twice`,
        );
      }
      names.push(name);
      pattern += "([^/?#]+)";
    }
    if (/[{}]/.test(text.replace(/\{\w+\}/g, "")) || text.includes("}{")) {
      throw new TypeError(
        `Cannot use the URI template "${text}": write {name}, with text between two of them`,
      );
    }
    this.text = text;
    this.names = names;
    this.#pattern = new RegExp(`^${pattern}$`);
  }

  /** The variables' values, percent-decoded; undefined when the URI is none of this template's. */
  match(uri: string): Record<string, string> | undefined {
    if (uri.length > MAX_URI_CHARS) return undefined;
    const values = this.#pattern.exec(uri)?.slice(1);
    if (!values) return undefined;
    try {
      return Object.fromEntries(
        values.map((value, i) => [this.names[i]!, decodeURIComponent(value)]),
      );
    } catch {
      return undefined;
    }
  }
}
