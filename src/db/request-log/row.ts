/** One observed request. The address is kept only until the row is written, which contains a hash of it. */
export type Observed = {
  /** Milliseconds since 1970. */
  at: number
  projectId: string | null
  method: string
  host: string
  /** As sent, without the query. A stored row has only its beginning. */
  path: string
  /** The clean address of the file that answered; of a path form, the path within its site. Else the plain path. */
  canonicalPath?: string
  status: number
  /** Until the head of the response. */
  durationMs: number
  /** Of the body; null if it was unknown when the response began. */
  sizeBytes: number | null
  /** Only the host, and only of another site. */
  referrer: string | null
  /** Of an answer 404: the path of the page on a site of the project, or the host of another site, that links here. */
  linkedFrom: string | null
  userAgent: string
  address: string
  /** A page that somebody may be looking at, not one of its assets. */
  isPage: boolean
  /** The number of requests that it stands for; see `weigh`. */
  weight: number
}

/** A row as stored. `visitor` is the same for one visitor of one project on one day, and reveals nothing else. */
export type LoggedRequest = Omit<Observed, 'address' | 'canonicalPath' | 'isPage' | 'linkedFrom'> & {
  /** Increases with time. 0 if rows are not kept. */
  id: number
  bot: string | null
  visitor: string | null
}
