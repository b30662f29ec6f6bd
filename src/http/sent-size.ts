/** Size of the body as sent, in bytes; null if it is unknown until the end. */
export function sizeOf(request: Request, answer: Response): number | null {
  if (request.method === 'HEAD' || answer.status === 304 || answer.status === 204) return 0
  const length = answer.headers.get('content-length')
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null
}
