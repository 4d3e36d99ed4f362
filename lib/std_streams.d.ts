/** Types of the npm build of `@std/streams/text-line-stream`, which ships none. */
export class TextLineStream extends TransformStream<string, string> {
  /** A stream of lines without their ends. */
  constructor(options?: { allowCR?: boolean });
}
