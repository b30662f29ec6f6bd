import type { Finding } from './findings.ts'

const SECRETS: readonly RegExp[] = [
  /^\.env(?:$|\.)/i,
  /^\.npmrc$/i,
  /^\.netrc$/i,
  /^\.git/i,
  /^\.ssh$/i,
  /^\.aws$/i,
  /^\.htpasswd$/i,
]

/** What was not taken in, and which of it would have told secrets. Only names are looked at. */
export function* findLeftOut(paths: readonly string[]): Generator<Finding> {
  for (const sent of paths) {
    const segments = sent.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.')
    const file = segments.join('/')
    const isSecret = segments.some((segment) => SECRETS.some((secret) => secret.test(segment)))
    yield {
      kind: isSecret ? 'secret-left-out' : 'left-out',
      file,
      line: null,
      target: null,
      message: isSecret
        ? 'It may hold secrets, so it was left out. See that it is not in what your build makes.'
        : 'Dot files, node_modules and __MACOSX are left out of deployments.',
    }
  }
}
