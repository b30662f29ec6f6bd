export type SeenRequest = { method: string; path: string; bodyBytes: number }

type State =
  | { kind: 'head' }
  | { kind: 'body'; left: number }
  | { kind: 'chunk-size' }
  | { kind: 'chunk'; left: number }

const LINE_END = '\r\n'

/** Follows the HTTP/1.1 requests of one connection. Body bytes are those of the content, without chunk framing. */
export class RequestCounter {
  readonly #requests: SeenRequest[]
  #pending: Buffer = Buffer.alloc(0)
  #state: State = { kind: 'head' }
  #current: SeenRequest = { method: '', path: '', bodyBytes: 0 }

  constructor(requests: SeenRequest[]) {
    this.#requests = requests
  }

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    while (this.#pending.length > 0 && this.#step());
  }

  /** False when more bytes are needed. */
  #step(): boolean {
    if (this.#state.kind === 'head') return this.#readHead()
    if (this.#state.kind === 'chunk-size') return this.#readChunkSize()
    const { kind, left } = this.#state
    const taken = Math.min(left, this.#pending.length)
    this.#pending = this.#pending.subarray(taken)
    // A chunk is followed by a line end, which is no content.
    this.#current.bodyBytes += kind === 'chunk' ? Math.max(0, Math.min(taken, left - LINE_END.length)) : taken
    if (taken < left) this.#state = { kind, left: left - taken }
    else this.#state = { kind: kind === 'chunk' ? 'chunk-size' : 'head' }
    return true
  }

  #readHead(): boolean {
    const head = this.#take(LINE_END + LINE_END)
    if (head === undefined) return false
    const [method = '', path = ''] = head.split(' ', 2)
    this.#current = { method, path, bodyBytes: 0 }
    this.#requests.push(this.#current)
    const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0)
    if (/^transfer-encoding:.*chunked/im.test(head)) this.#state = { kind: 'chunk-size' }
    else if (length > 0) this.#state = { kind: 'body', left: length }
    return true
  }

  #readChunkSize(): boolean {
    const line = this.#take(LINE_END)
    if (line === undefined) return false
    const size = Number.parseInt(line, 16)
    // The last chunk is empty; without trailers one more line end closes the body.
    if (size > 0) this.#state = { kind: 'chunk', left: size + LINE_END.length }
    else if (line === '') this.#state = { kind: 'head' }
    return true
  }

  #take(end: string): string | undefined {
    const at = this.#pending.indexOf(end)
    if (at === -1) return undefined
    const text = this.#pending.toString('latin1', 0, at)
    this.#pending = this.#pending.subarray(at + end.length)
    return text
  }
}
