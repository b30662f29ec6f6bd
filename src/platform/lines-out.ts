/** Writes bytes without blocking this thread, and resolves with how many the system accepted. */
export type Put = (bytes: Uint8Array) => Promise<number>

/** The buffered output of the log. */
export type LinesOut = {
  write(text: string): void
  /** Writes what is waiting now, as far as the other end accepts it within a moment. */
  flush(): Promise<void>
}

const EVERY_MS = 50
/** In characters: some ten thousand lines. */
const MAX_WAITING = 4 * 1024 * 1024
const RETRY_MS = 50
const FLUSH_MS = 500

/**
 * Batches lines and writes them a few times a second, because one system call per request would be too many. A full
 * disk, or a reader that is gone or has stopped reading, neither delays nor fails anything: excess lines are dropped.
 * `lost` gets the number of dropped lines once lines go out again.
 */
export function linesOut(put: Put, lost: (lines: number) => void): LinesOut {
  let waiting: string[] = []
  let size = 0
  let dropped = 0
  let isAtLineStart = true
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined

  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      size = 0
      const text = lines.join('')
      const sent = await sendText(put, isAtLineStart ? text : `\n${text}`)
      isAtLineStart = sent !== 'in part'
      if (sent !== 'whole') dropped += lines.length
      else if (dropped > 0) lost(dropped)
      if (sent === 'whole') dropped = 0
    }
  }
  const send = (): void => {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
  }
  return {
    write(text) {
      if (size + text.length > MAX_WAITING) {
        dropped += 1
        return
      }
      waiting.push(text)
      size += text.length
      timer ??= setTimeout(send, EVERY_MS)
    },
    async flush() {
      send()
      await Promise.race([sending, Bun.sleep(FLUSH_MS)])
    },
  }
}

/** Retries an output that is temporarily full; any other failure ends the attempt. */
async function sendText(put: Put, text: string): Promise<'whole' | 'in part' | 'not at all'> {
  const bytes = new TextEncoder().encode(text)
  let done = 0
  while (done < bytes.length) {
    try {
      done += await put(bytes.subarray(done))
    } catch (error) {
      if (!isFull(error)) return done === 0 ? 'not at all' : 'in part'
      await Bun.sleep(RETRY_MS)
    }
  }
  return 'whole'
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN'
