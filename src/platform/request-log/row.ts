/** What was seen of one request. The address lives only until the row is written, as part of a hash. */
export type Observed = {
  /** Milliseconds since 1970. */
  at: number
  projectId: string | null
  method: string
  host: string
  /** Without the query. */
  path: string
  status: number
  /** To the head of the answer. */
  durationMs: number
  /** Of the body; null where it was not known when the answer began. */
  sizeBytes: number | null
  /** The host alone, of another site. */
  referrer: string | null
  userAgent: string
  address: string
  /** A page that somebody may be looking at, not one of its parts. */
  isPage: boolean
  /** How many requests it stands for; see `weigh`. */
  weight: number
}

/** A row as it is kept. `visitor` is the same for the same visitor of one project on one day, and tells nothing else. */
export type LoggedRequest = Omit<Observed, 'address' | 'isPage'> & {
  /** Grows with time. 0 where rows are not kept. */
  id: number
  bot: string | null
  visitor: string | null
}
