import { isHtml } from './content-type.ts'

const RULES = {
  public: rulesFor('public'),
  private: rulesFor('private'),
} as const

/**
 * Whether a bundler put a content hash into the file name. The name without its extension is split at `.` and `-`; the
 * last part must be 8 or more of `A-Za-z0-9_`, with at least one letter and one digit. Also accepts a path. contract
 * §6: Headers.
 */
export function hasContentHash(fileName: string): boolean {
  const name = fileName.slice(fileName.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  const stem = dot > 0 ? name.slice(0, dot) : name
  const last = stem.slice(Math.max(stem.lastIndexOf('.'), stem.lastIndexOf('-')) + 1)
  return /^\w{8,}$/.test(last) && /[A-Za-z]/.test(last) && /\d/.test(last)
}

/** The `Cache-Control` of a served file. Error responses are `no-store` and do not use this. contract §6: Headers. */
export function cacheControlOf(path: string, isPublic: boolean): string {
  const rules = isPublic ? RULES.public : RULES.private
  if (isHtml(path)) return rules.html
  return hasContentHash(path) ? rules.hashed : rules.other
}

function rulesFor(scope: 'public' | 'private') {
  return {
    html: `${scope}, max-age=0, must-revalidate`,
    hashed: `${scope}, max-age=31536000, immutable`,
    other: `${scope}, max-age=300, must-revalidate`,
  }
}
