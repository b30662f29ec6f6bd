import { chooseRule } from './choose-rule.ts'
import type { Site } from './resolve-site.ts'

/** Whether only files can answer: the site is public, the same for everybody, and no rule takes the request. */
export const isFileOnly = (site: Site, method: string, plain: string): boolean =>
  site.isOpen || (site.isShared && site.split === null && chooseRule(site.rules, method, plain) === undefined)

/** The same for a private site, once the visitor may see it. */
export const isFileOnlyOnceSeen = (site: Site, method: string, plain: string): boolean =>
  !site.isShared && site.split === null && chooseRule(site.rules, method, plain) === undefined
