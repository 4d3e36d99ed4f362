/**
 * The entry point of a worker that searches batches of files.
 *
 * @module
 */
import * as files from "node:fs";
import {
  type BatchResult,
  Search,
  type SearchFile,
  type SearchJob,
  type SearchTools,
  searchTools,
} from "./search.ts";

/** What a worker is sent: batches, each with the job. */
export interface BatchRequest {
  /** Tells which batch an answer belongs to. */
  id: number;
  /** The same in every message to a worker. */
  job: SearchJob;
  /** One 32-bit integer: not 0 once nobody wants the answer any more. A worker that is busy hears nothing else. */
  stop: SharedArrayBuffer;
  /** The files. */
  batch: SearchFile[];
}

/** What a worker answers. */
export interface BatchAnswer {
  /** The batch. */
  id: number;
  /** What it gave. */
  result: BatchResult;
}

interface WorkerScope {
  onmessage: ((event: MessageEvent<BatchRequest>) => void) | null;
  postMessage(message: BatchAnswer): void;
}

serveBatches(globalThis as unknown as WorkerScope);

function serveBatches(scope: WorkerScope): void {
  let tools: SearchTools | undefined;
  scope.onmessage = ({ data: { id, job, stop, batch } }) => {
    tools ??= searchTools(job, files); // a worker lives for one job
    const search = new Search(job, tools);
    const stopped = new Int32Array(stop);
    for (const _ of search.run(batch)) {
      if (Atomics.load(stopped, 0) !== 0) return;
    }
    scope.postMessage({ id, result: search.result() });
  };
}
