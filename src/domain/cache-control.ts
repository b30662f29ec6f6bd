import { hasContentHash } from './content-hash.ts'
import { isHtml } from './content-type.ts'

const RULES = {
  public: rulesFor('public'),
  private: rulesFor('private'),
} as const

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

const DIRECTIVES = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g

/** The same for one visitor alone: without `public` and lifetimes for shared caches. RFC 9111 §5.2.2. */
export function privateCacheControl(value: string): string {
  const directives = (value.match(DIRECTIVES) ?? []).map((one) => one.trim())
  const kept = directives.filter(
    (one) => one !== '' && !/^(?:public|private|s-maxage|proxy-revalidate)\b/i.test(one),
  )
  return kept.some((one) => /^no-store$/i.test(one)) ? 'no-store' : ['private', ...kept].join(', ')
}
