import type { Site } from './site.ts'

/** Asks search engines not to list the answer, where the site is not to be listed. contract 13 §5. */
export function unlisted(answer: Response, { isNoindex }: Site): Response {
  if (isNoindex) answer.headers.set('x-robots-tag', 'noindex')
  return answer
}
