import { leave } from '../../platform/outbound/read.ts'
import type { Outbound } from '../../platform/outbound.ts'

/** A request whose answer has not begun. */
export type Wait = { signal: AbortSignal; end(): void }

type Waiting = Wait & {
  since: number
  /** How often in a row the primary may say nothing before it is given up, and how often it still may. */
  tries: number
  left: number
  giveUp: () => void
} & Asked

/** `isReplaced`: another machine is the primary by now, so this one acknowledges nothing more. */
type Asked = { url: URL; outbound: Outbound; isReplaced: () => boolean }

/** After so long without an answer the primary is asked whether it lives. */
const PATIENCE_MS = 2_000
/** How long it may take to say so. */
const LIFE_SIGN_MS = 3_000
const EVERY_MS = 500
/** What was sent may be done already, so a change is not given up while the primary is only busy. */
const TRIES = { read: 1, change: 4 }

/**
 * Gives up on a primary that took requests and answers nothing: a machine that was stopped still has its connections. One that
 * works for long says that it lives.
 */
export class WaitingRequests {
  readonly #all = new Set<Waiting>()
  #timer: Timer | undefined
  #isAsking = false

  begin(asked: Asked, kind: keyof typeof TRIES): Wait {
    const controller = new AbortController()
    const wait: Waiting = {
      since: performance.now(),
      tries: TRIES[kind],
      left: TRIES[kind],
      ...asked,
      signal: controller.signal,
      giveUp: () => controller.abort(),
      end: () => this.#end(wait),
    }
    this.#all.add(wait)
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS).unref()
    return wait
  }

  #end(wait: Waiting): void {
    this.#all.delete(wait)
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    const before = performance.now() - PATIENCE_MS
    const late = [...this.#all].filter(({ since }) => since <= before)
    const [first] = late
    if (first === undefined || this.#isAsking) return
    this.#isAsking = true
    const { url, outbound } = first
    const isAlive = await livesAt(url, outbound)
    this.#isAsking = false
    for (const wait of late) {
      if (wait.outbound !== outbound) continue
      wait.left = isAlive ? wait.tries : wait.isReplaced() ? 0 : wait.left - 1
      if (wait.left === 0) wait.giveUp()
      else if (isAlive) wait.since = performance.now()
    }
  }
}

/** Any answer is a sign of life. */
const livesAt = (url: URL, outbound: Outbound): Promise<boolean> =>
  outbound
    .request(url, {
      method: 'GET',
      target: '/api/health/primary',
      headers: [['host', url.host]],
      body: null,
      headTimeoutMs: LIFE_SIGN_MS,
      idleTimeoutMs: LIFE_SIGN_MS,
      mayBePlain: true,
    })
    .then(
      (answer) => {
        void leave(answer)
        return true
      },
      () => false,
    )
