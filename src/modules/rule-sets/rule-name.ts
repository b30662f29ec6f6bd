import { storedMethod } from '../proxy-rules/methods.ts'

const LONGEST_NAME = 200

/** A rule's name for people: `POST /api/contact`. */
export const nameOf = (rule: { pathPattern: string; method?: string | null | undefined }): string =>
  `${storedMethod(rule.method) ?? 'ANY'} ${rule.pathPattern.slice(0, LONGEST_NAME)}`
