/** Types of the npm build of `@std/streams/text-line-stream`, which ships none. */
export class TextLineStream extends TransformStream<string, string> {
  constructor(options?: { allowCR?: boolean });
}
