import { UUID } from './uuid.ts'

/** How things may be named, contract §4 and §5.1: schemas take the pattern, all others ask the question beside it. */

const matcher = (pattern: string): ((text: string) => boolean) => {
  const expression = new RegExp(pattern)
  return (text) => expression.test(text)
}

const LETTERS = '(?!\\.{1,2}$)[A-Za-z0-9._-]{1,100}'

/** Of the first part of owner/name: not shaped like an id, as both can stand in the same place of an address. */
export const OWNER_NAME = `^(?!${UUID}$)${LETTERS}$`
export const isOwnerName = matcher(OWNER_NAME)

/** Of the second part of owner/name. */
export const PROJECT_NAME = `^${LETTERS}$`
export const isProjectName = matcher(PROJECT_NAME)

export const ALIAS_NAME = '^[A-Za-z0-9_-]{1,64}$'
export const isAliasName = matcher(ALIAS_NAME)

/** A commit SHA, whole or how it begins, in whatever case. */
export const COMMIT_SHA = '^[0-9a-fA-F]{7,64}$'
export const isCommitSha = matcher(COMMIT_SHA)

/** RFC 9110 §5.6.2. */
export const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
export const isHeaderName = matcher(HEADER_NAME)

/** How contents are named: by their hash, in lower case. */
export const isSha256 = matcher('^[0-9a-f]{64}$')
