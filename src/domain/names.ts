import { UUID } from './uuid.ts'

/** Which names are allowed, contract §4 and §5.1. Schemas use the patterns, other code the functions beside them. */

const matcher = (pattern: string): ((text: string) => boolean) => {
  const expression = new RegExp(pattern)
  return (text) => expression.test(text)
}

const LETTERS = '(?!\\.{1,2}$)[A-Za-z0-9._-]{1,100}'

/** The first part of owner/name. It must not look like an id, because URLs accept either in the same place. */
export const OWNER_NAME = `^(?!${UUID}$)${LETTERS}$`
export const isOwnerName = matcher(OWNER_NAME)

/** The second part of owner/name. */
export const PROJECT_NAME = `^${LETTERS}$`
export const isProjectName = matcher(PROJECT_NAME)

export const ALIAS_NAME = '^[A-Za-z0-9_-]{1,64}$'
export const isAliasName = matcher(ALIAS_NAME)

/** A commit SHA, complete or abbreviated, in any case. */
export const COMMIT_SHA = '^[0-9a-fA-F]{7,64}$'
export const isCommitSha = matcher(COMMIT_SHA)

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
const INVISIBLE = `${CONTROLS}\\s\\u00ad\\u200b-\\u200f\\u2060\\ufeff`

/** What people call something: any text that shows, without control characters and what turns the direction of text. */
export const TITLE = `^(?=.*[^${INVISIBLE}])[^${CONTROLS}]*$`
export const isTitle = matcher(TITLE)

/** RFC 9110 §5.6.2. */
export const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
export const isHeaderName = matcher(HEADER_NAME)

/** RFC 9110 §5.5: a client rejects the whole response for any other character. */
export const isHeaderValue = matcher('^[\\t\\x20-\\x7e\\x80-\\xff]*$')

/** Whether this is the SHA-256 hash, in lower case, that names stored content. */
export const isSha256 = matcher('^[0-9a-f]{64}$')
