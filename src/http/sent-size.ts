const SIZE = Symbol('bytes of the body')

type Sized = Response & { [SIZE]?: number }

/** Notes how long a body is, where that is known before it is sent: the request log asks, and a body cannot be asked. */
export function withSize(answer: Response, sizeBytes: number): Response {
  const sized: Sized = answer
  sized[SIZE] = sizeBytes
  return answer
}

/** Bytes of the body as they are sent; null where nobody knows before the end. */
export function sizeOf(request: Request, answer: Response): number | null {
  if (request.method === 'HEAD' || answer.status === 304 || answer.status === 204) return 0
  const known = (answer as Sized)[SIZE]
  if (known !== undefined) return known
  const length = answer.headers.get('content-length')
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null
}
