import { X509Certificate } from 'node:crypto'

/** What an authority says of when to renew, and what it is told of what an order replaces. RFC 9773. */
export class RenewalDesk {
  /** In its directory, which a server reads once. */
  isOffered = false
  /** Null: it has none, 404. */
  window: { start: unknown; end: unknown; retryAfter?: string } | null = null
  /** Answers wait for it. */
  until: Promise<void> = Promise.resolve()
  /** The identifiers that were asked about. */
  readonly asked: string[] = []
  /** What each order named, null for nothing. */
  readonly replaced: (string | null)[] = []
  readonly #hosts = new Map<string, string>()

  issued(pem: string, host: string, issuerKeyId: Buffer): void {
    const serial = Buffer.from(new X509Certificate(pem).serialNumber, 'hex')
    this.#hosts.set(`${issuerKeyId.toString('base64url')}.${serial.toString('base64url')}`, host)
  }

  /** `GET renewal/<id>`, which nothing is signed for. */
  async answer(request: Request, id: string): Promise<Response> {
    this.asked.push(id)
    await this.until
    if (request.method !== 'GET' || this.window === null || !this.#hosts.has(id))
      return Response.json({ type: 'urn:ietf:params:acme:error:malformed' }, { status: 404 })
    const { start, end, retryAfter } = this.window
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
    return Response.json({ suggestedWindow: { start, end } }, { headers })
  }

  /** Whether the order may be made. Each certificate is replaced once. RFC 9773 §5. */
  takes(replaces: unknown, host: string): boolean {
    const id = typeof replaces === 'string' ? replaces : null
    const isFine = id === null || (this.#hosts.get(id) === host && !this.replaced.includes(id))
    if (isFine) this.replaced.push(id)
    return isFine
  }
}
