/** The assertions that the tests use; the npm build of the Deno standard library ships no types. */
declare module "@std/assert" {
  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertStrictEquals<T>(
    actual: unknown,
    expected: T,
    msg?: string,
  ): asserts actual is T;
  export function assertStringIncludes(
    actual: string,
    expected: string,
    msg?: string,
  ): void;
  export function assertMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertNotMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertExists<T>(
    actual: T,
    msg?: string,
  ): asserts actual is NonNullable<T>;
  export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
  export function assertGreaterOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertLess<T>(actual: T, expected: T, msg?: string): void;
  export function assertLessOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertObjectMatch(
    // deno-lint-ignore no-explicit-any
    actual: Record<PropertyKey, any>,
    expected: Record<PropertyKey, unknown>,
    msg?: string,
  ): void;
  export function assertInstanceOf<
    T extends abstract new (...args: never[]) => unknown,
  >(
    actual: unknown,
    expected: T,
    msg?: string,
  ): asserts actual is InstanceType<T>;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    // deno-lint-ignore no-explicit-any
    ErrorClass?: abstract new (...args: any[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    // deno-lint-ignore no-explicit-any
    ErrorClass?: abstract new (...args: any[]) => E,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
  export function fail(msg?: string): never;
}
