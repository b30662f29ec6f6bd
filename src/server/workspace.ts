import type { Serving } from './serving.ts'

/** What a process serves. */
export type Workspace = {
  readonly serving: Serving
  /** Sets the port that the system chose for `PORT=0`, for links. */
  listensOn(port: number): void
  /** Starts what is done beside answering. */
  begin(): Promise<void>
  /** Ends it, as far as it has begun. */
  end(): Promise<void>
  /** After the last request. */
  close(): Promise<void>
}
