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
  scope.onmessage = ({ data: { id, job, batch } }) => {
    tools ??= searchTools(job, files); // a worker lives for one job
    const search = new Search(job, tools);
    for (const _ of search.run(batch));
    scope.postMessage({ id, result: search.result() });
  };
}
