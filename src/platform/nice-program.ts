import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

declare const self: Worker
/** Put before this text by nice-threads.ts. */
declare const NICENESS: number
/** Put behind this text by nice-threads.ts. */
declare function work(job: unknown): unknown

export type Reply<Answer> = { answer: Answer } | { failure: string }

try {
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICENESS)
} catch {
  // Only Linux has this.
}
self.onmessage = ({ data }: MessageEvent<unknown>) => {
  try {
    postMessage({ answer: work(data) })
  } catch (error) {
    postMessage({ failure: String(error) })
  }
}
