import { METHODS } from 'node:http'

/** The path pattern and method of a rule file; `null` means every method. */
export type Route = { pathPattern: string; method: string | null; folder: string }

const USUAL = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'any']
const KNOWN = new Set([...METHODS.map((method) => method.toLowerCase()), 'any'])

/** Whether a rule file may have this name: a method in lower case, or `any`. */
export const isMethodWord = (word: string): boolean => KNOWN.has(word)

/** Whether the file name marks a rule, valid or not: `post.rule.yaml`, `post/rule.yaml`. */
export const isRuleFile = (path: string): boolean => /(^|\/)([^/]*\.)?rule\.ya?ml$/.test(path)

/**
 * Reads `rules/api/contact/post.rule.yaml` or `rules/api/contact/post/rule.yaml`, or returns what is wrong. spec: Rules
 * as code.
 */
export function readRoute(path: string): { route: Route } | { problem: string } {
  if (path.endsWith('.yml')) return { problem: 'must end in .yaml' }
  const parts = path.split('/').slice(1)
  const file = parts.pop() ?? ''
  const word = file === 'rule.yaml' ? parts.pop() : file.slice(0, -'.rule.yaml'.length)
  if (word === undefined || !isMethodWord(word))
    return {
      problem: `${word === undefined ? 'this' : `"${word}"`} is not a method; name a rule file after one of ${USUAL.join(', ')}`,
    }
  const segments: string[] = []
  for (const part of parts) {
    const segment = segmentOf(part)
    if (segment === null)
      return {
        problem: `the folder "${part}" must be a segment of the path, [name] or [...name], without * ? # { } < > and without a leading colon`,
      }
    segments.push(segment)
  }
  const folder = path.slice(0, path.lastIndexOf('/'))
  const method = word === 'any' ? null : word.toUpperCase()
  return { route: { pathPattern: `/${segments.join('/')}`, method, folder } }
}

function segmentOf(part: string): string | null {
  if (/^\[(\.\.\.)?[A-Za-z_][\w-]*\]$/.test(part)) return '*'
  // Other tools write a [name] this way. As a plain segment it would never match a request.
  return /[[\]*?#{}<>]|^:/.test(part) ? null : part
}

/** Most file systems allow 255 bytes. */
const LONGEST_FOLDER = 200

/** The folder for a pattern: `/api/*` is `api/[...path]`. Null for a pattern that folders cannot express. */
export function folderOfPattern(pathPattern: string): string | null {
  if (pathPattern === '/') return ''
  if (!pathPattern.startsWith('/')) return null
  const segments = pathPattern.slice(1).split('/')
  const folders = segments.map((segment, i) => {
    if (segment === '*') return i === segments.length - 1 ? '[...path]' : '[any]'
    const isName = /^([A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.well-known)$/.test(segment)
    const isFree = segment !== 'node_modules' && segment.length <= LONGEST_FOLDER && !isNameOfFile(segment)
    return isName && isFree ? segment : null
  })
  return folders.includes(null) ? null : folders.join('/')
}

/** `get.rule.yaml` and `get.step.js` are names of rule files, so no folder beside them can have such a name. */
const isNameOfFile = (segment: string): boolean =>
  /\.(rule\.yaml|js)$/.test(segment) && isMethodWord(segment.slice(0, segment.indexOf('.')))
