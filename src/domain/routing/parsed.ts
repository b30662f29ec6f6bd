/** What a parser of one piece of a routing file found. `error` says to the author what is wrong, without a full stop. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })
export const refused = (error: string): { ok: false; error: string } => ({ ok: false, error })

/** A line that was left out; 0 is the whole file. */
export type Problem = { line: number; message: string }
