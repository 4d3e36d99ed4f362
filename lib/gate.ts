/**
 * Holding back a host's messages until the server is complete, except the one that hosts time: `initialize`.
 *
 * @module
 */

/** Bytes within which the first line must end to go ahead of the rest. */
export const MAX_FIRST_LINE_BYTES = 65_536;

/**
 * The same bytes. A first line that holds `initialize` passes at once; everything after it, or everything when the
 * first line is another, waits for `complete`, which is called once and only then.
 */
export function initializeFirst(
  readable: ReadableStream<Uint8Array>,
  complete: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const reader = readable.getReader();
  let held: Uint8Array | undefined;
  let isOpen = false;

  async function firstLine(
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    let start = new Uint8Array();
    while (start.length < MAX_FIRST_LINE_BYTES && !start.includes(LINE_FEED)) {
      const { value, done } = await reader.read();
      if (done) break;
      start = joined(start, value);
    }
    const end = start.indexOf(LINE_FEED) + 1;
    const line = new TextDecoder().decode(start.subarray(0, end));
    if (line.includes('"initialize"')) {
      held = start.subarray(end);
      controller.enqueue(start.subarray(0, end));
      return;
    }
    await open(controller, start);
  }

  async function open(
    controller: ReadableStreamDefaultController<Uint8Array>,
    bytes: Uint8Array,
  ): Promise<void> {
    await complete();
    isOpen = true;
    if (bytes.length > 0) controller.enqueue(bytes);
    else await pass(controller);
  }

  async function pass(
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    const { value, done } = await reader.read();
    if (done) controller.close();
    else controller.enqueue(value);
  }

  return new ReadableStream({
    async pull(controller) {
      if (isOpen) await pass(controller);
      else if (held) await open(controller, held);
      else await firstLine(controller);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

const LINE_FEED = 0x0a;

function joined(
  a: Uint8Array<ArrayBuffer>,
  b: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
